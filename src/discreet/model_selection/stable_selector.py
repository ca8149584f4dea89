"""Any selector of columns, made private by votes of blocks of rows."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

from discreet import _checks
from discreet.estimators.block_estimator import (
    VotingSelector,
    blocks_for_support,
    name_classes,
    procedure_of,
)
from discreet.estimators.bounded_entries import widths_of
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.mechanisms import StabilityRelease
from discreet.policy.task import Asked
from discreet.questions import BlockVote


@with_fields
class StableSelector(VotingSelector):
    """What a selector chooses on most of many small blocks of rows, differentially private.

    The selector may be anything: scikit-learn's, or a function. Rows are dealt to blocks at random,
    in secret, and it runs on each block by itself, so one record changes one vote. The choice that
    leads is released if it is far enough ahead; otherwise that no answer is stable, at the same
    cost. A block on which the selector raises, or says what is no choice of columns, has chosen
    none.

    Parameters
    ----------
    procedure
        A scikit-learn selector, of which a clone is fitted to each block, or a function of rows and
        labels that returns a mask or places. What it says of a block may depend on that block
        alone; whatever it draws from is in the same state on every block. A function, or what is
        not scikit-learn's, runs in a process of its own for each block, silently, and must be
        picklable. What it writes is outside the promise.
    epsilon, delta
        The privacy budget of one fit; ``delta`` has to be positive.
    columns
        What each column can hold, as for :class:`~discreet.LinearClassifier`; the selector sees the
        encoded features, and a category is chosen if one of its levels is.

    Attributes
    ----------
    selected_
        The places of the columns; empty if there is no stable answer.
    is_stable_
        Whether there is an answer: not if none is far enough ahead, nor if most blocks choose no
        column.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Thakurta (2013), PhD thesis; Smith & Thakurta (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(4000, 12))
    >>> y = X[:, 2] + X[:, 5] > 0
    >>> selector = StableSelector(SelectKBest(k=2), epsilon=1.0).fit(X, y)
    >>> selector.is_stable_, selector.get_support(indices=True)
    (True, array([2, 5]))
    """

    must_declare: ClassVar[Declarations] = (("procedure",),)

    epsilon: float = 1.0
    delta: float = 1e-9
    procedure: Any = field(default=None, kw_only=False)

    def _check(self) -> None:
        super()._check()
        procedure_of(self.procedure)
        _checks.delta(delta=self.delta)

    def _ask(self, fit: Fit) -> Asked:
        target = fit.need_target()
        vote = BlockVote(
            self._bounds(fit.shape),
            name_classes(procedure_of(self.procedure), target),
            self._count_blocks(fit.shape, blocks_for_support(fit.budget)),
            widths=widths_of(fit.features),
            assumed=target.assumed,
        )
        return Asked(vote, StabilityRelease(self._workers()), self._facts(fit))

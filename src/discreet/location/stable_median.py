"""The private median with noise of a proposed size, if the data bear it."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Booleans, Vector
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.location.base import ColumnEstimator
from discreet.mechanisms import Mechanism, ProposeTestRelease
from discreet.mechanisms.stability_release import STABLE
from discreet.policy.task import Asked
from discreet.privacy import Budget, Unit
from discreet.questions import Bounds, ProposedMedian, Question


@with_fields
class StableMedian(ColumnEstimator):
    """The median of each column by propose-test-release: noise of a size that you propose.

    First it is tested, privately, that no few records could make one record move the median by more
    than the proposal. If so, the median is released with noise for the proposal, however wide the
    bounds are; otherwise only that it is not stable. Both cost the same.
    :class:`~discreet.location.Median` always answers, and is mostly nearer.

    Parameters
    ----------
    proposal
        How far one record may move a median, in the units of the columns. The noise is
        ``2 * proposal / epsilon`` for each column; with n records near the median, spread over a
        width w, the test passes if the proposal is well above ``w / n`` times 40/epsilon.
    epsilon, delta
        The privacy budget of one fit; ``delta`` has to be positive. Columns share it.
    bounds
        The declared range of values, as (low, high); others are clipped to it. Two lists give each
        column its own. Choose it without looking at the data; a wide range costs nothing here.
    steps
        Every value is rounded to one of ``steps + 1`` evenly spaced points of the range.

    Attributes
    ----------
    location_
        The released median of each column; NaN where it is not stable.
    answers_
        The same, but zero where it is not stable.
    is_stable_
        Whether each column has an answer.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Dwork & Lei (2009), propose-test-release; Nissim, Raskhodnikova & Smith (2007).

    Examples
    --------
    >>> ages = np.random.default_rng(0).normal(50, 10, size=(5000, 1))
    >>> model = StableMedian(proposal=0.5, epsilon=1.0, bounds=(0, 1e6)).fit(ages)
    >>> model.is_stable_.tolist(), bool(abs(model.location_[0] - 50) < 20)
    ([True], True)
    """

    learns = frozenset(["answers_", "is_stable_"])
    must_declare: ClassVar[Declarations] = (("proposal",),)

    answers_: Vector = field(init=False)
    is_stable_: Booleans = field(init=False)

    epsilon: float = 1.0
    delta: float = 1e-9
    proposal: float | None = field(default=None, kw_only=False)
    steps: int = 2**30

    def _check(self) -> None:
        super()._check()
        _checks.positive_number(proposal=self.proposal)

    def _choose(
        self, width: int, max_rows: int, budget: Budget, unit: Unit
    ) -> tuple[Mechanism, Question]:
        declared = Bounds(self.row_region(width), n_features=width, max_rows=max_rows)
        proposal = _checks.positive_number(proposal=self.proposal)
        return ProposeTestRelease(), ProposedMedian(declared, proposal, self.steps)

    def _keep(self, asked: Asked, fit: Fit) -> None:
        is_stable, answers = np.split(np.array(self.release_.value), 2)
        self.is_stable_, self.answers_ = is_stable == STABLE, answers

    @property
    def location_(self) -> Vector:  # type: ignore[override]
        """The released median of each column; NaN where it is not stable."""
        check_is_fitted(self, "answers_")
        return np.where(self.is_stable_, self.answers_, np.nan)

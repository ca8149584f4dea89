"""Columns of largest covariance with the target, drawn one after another (peeling)."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from discreet import _checks
from discreet.errors import InputError
from discreet.estimators.bounded_entries import SupportSelector, widths_of
from discreet.estimators.chosen_columns import check_size
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.mechanisms import Peeling
from discreet.policy.task import Asked
from discreet.questions import StrongestColumns


@with_fields
class PeelingSupport(SupportSelector):
    """The columns of largest covariance with the target, differentially private.

    Each column is scored by its covariance with the target, summed over rows. Columns are drawn one
    after another by the exponential mechanism, exactly: the stronger, the likelier. There is always
    an answer. Rows are only summed, so a million sparse columns, files and clusters are fine.

    Parameters
    ----------
    n_features_to_select
        How many columns; at most as many as there are. They share the budget.
    epsilon, delta
        The privacy budget of one fit. ``delta=0`` asks for pure epsilon, which is also what few
        columns are drawn with.
    columns
        What each column can hold, as for :class:`~discreet.LinearClassifier`: numbers are brought
        to [-1, 1], and a category is worth as much as the best of its levels.
    data_range
        The declared range of entries, if it is not symmetric: for counts clipped to one, ``(0, 1)``
        is twice as good as a bound of one. Sparse tables need a range with zero in it.
    center
        Whether means are subtracted from entries and target. That costs two to four times the
        noise, and is worth it unless one of the two is centred: otherwise a column of ones goes
        with classes of unequal size.

    Attributes
    ----------
    selected_
        The places of the columns, in the order in which they were drawn.
    is_stable_
        True: there is always an answer.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    McSherry & Talwar (2007); Durfee & Rogers (2019), peeling; Cai, Wang & Zhang (2021).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(5000, 100))
    >>> y = X[:, 3] - X[:, 7] > 0
    >>> selector = PeelingSupport(2, epsilon=1.0, entry_bound=1.0).fit(X, y)
    >>> selector.get_support(indices=True)
    array([3, 7])
    >>> selector.transform(X).shape
    (5000, 2)
    """

    must_declare: ClassVar[Declarations] = (("columns", "entry_bound", "data_range"),)

    epsilon: float = 1.0
    delta: float = 1e-9
    n_features_to_select: int = field(default=5, kw_only=False)
    center: bool = True

    def _check(self) -> None:
        super()._check()
        _checks.whole(n_features_to_select=self.n_features_to_select, at_least=1)
        _checks.truth(center=self.center)

    def _check_features(self, features: FeatureMap) -> None:
        if not self.center and getattr(features, "origin", 0.0) != 0:
            raise InputError(
                "without means, zero has to be in data_range: an entry of zero says nothing."
            )

    def _ask(self, fit: Fit) -> Asked:
        shape, widths = fit.shape, widths_of(fit.features)
        question = StrongestColumns(
            self._bounds(shape),
            check_size(self.n_features_to_select, len(widths) or shape.n_features),
            entries=self._entries(),
            is_centred=bool(self.center),
            widths=widths,
            assumed=fit.need_target().assumed,
        )
        return Asked(question, Peeling(), self._facts(fit))

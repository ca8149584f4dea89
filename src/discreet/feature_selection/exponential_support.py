"""The best few columns together, drawn among all subsets."""

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
from discreet.mechanisms import ExponentialSampling
from discreet.policy.task import Asked
from discreet.questions import BestSubset


@with_fields
class ExponentialSupport(SupportSelector):
    """The columns on which a linear model predicts best together, differentially private.

    Every subset of so many columns is scored by the least squared error of a linear model on it,
    and one is drawn by the exponential mechanism, exactly: the smaller the error, the likelier.
    There is always an answer, of pure epsilon. For few columns: at most 100,000 subsets.

    Parameters
    ----------
    n_features_to_select
        How many columns.
    epsilon, delta
        The privacy budget of one fit; ``delta`` is not used.
    columns
        What each column can hold: numbers, no categories.
    target_range
        The declared range of targets that are numbers; others are clipped to it. Left out, targets
        are two classes.
    coef_bound
        The largest absolute value of a coefficient, entries and targets being scaled to [-1, 1].
        The smaller, the less noise; too small a bound scores strong columns too low.
    fit_intercept
        Whether models have a constant, which lies within the same bound.

    Attributes
    ----------
    selected_
        The places of the columns.
    is_stable_
        True: there is always an answer.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    McSherry & Talwar (2007), the exponential mechanism; Kifer, Smith & Thakurta (2012).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(5000, 12))
    >>> y = 0.7 * X[:, 3] - 0.7 * X[:, 7]
    >>> selector = ExponentialSupport(2, epsilon=1.0, entry_bound=1.0, target_range=(-1, 1))
    >>> selector.fit(X, y).get_support(indices=True)
    array([3, 7])
    >>> selector.privacy_.epsilon(0.0)
    1.0
    """

    must_declare: ClassVar[Declarations] = (("columns", "entry_bound", "data_range"),)

    epsilon: float = 1.0
    delta: float = 1e-9
    n_features_to_select: int = field(default=2, kw_only=False)
    coef_bound: float = 1.0
    fit_intercept: bool = True

    def _check(self) -> None:
        super()._check()
        _checks.whole(n_features_to_select=self.n_features_to_select, at_least=1)
        _checks.positive(coef_bound=self.coef_bound)
        _checks.truth(fit_intercept=self.fit_intercept)

    def _check_features(self, features: FeatureMap) -> None:
        if widths_of(features):
            raise InputError(
                "ExponentialSupport chooses among numbers; use PeelingSupport for categories."
            )

    def _ask(self, fit: Fit) -> Asked:
        question = BestSubset(
            self._bounds(fit.shape),
            check_size(self.n_features_to_select, fit.shape.n_features),
            float(self.coef_bound),
            has_constant=bool(self.fit_intercept),
            assumed=fit.need_target().assumed,
        )
        return Asked(question, ExponentialSampling(), self._facts(fit))

"""A private regression of few columns, by noisy iterative hard thresholding."""

from __future__ import annotations

from typing import ClassVar

from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.regressor import LinearRegressorBase
from discreet.estimators.sparse_model import ThresholdingModel
from discreet.losses import Huber, Loss

USUAL_REACH = 4.0
"""So many halves of the range of targets can be reached by a row of one entry at its bound."""


@with_fields
class HardThresholding(ThresholdingModel, LinearRegressorBase):  # type: ignore[misc]
    r"""Sparse least squares of clipped residuals by iterative hard thresholding, private.

    Gradient steps, after each of which the largest coefficients are drawn by the exponential
    mechanism and released with Gaussian noise; the others are zero. Unlike in
    :class:`~discreet.linear_model.SparseRegressor`, a column that another one explains is dropped
    again; the budget is shared by all steps, so it needs more rows.

    Parameters
    ----------
    threshold
        Residuals are clipped to it, in units of the target; by default a quarter of half the range.
    radius
        The largest Euclidean norm of coefficients of encoded columns. By default four halves of the
        range of targets over the largest entry.
    fit_intercept
        Whether there is a constant column, of which the coefficient is drawn like others. Targets
        are counted from the middle of their range then.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    selected_
        The places of the features that were drawn last, in their order.
    n_features_selected_
        How many these are.
    n_iter_
        The number of steps.
    release_, privacy_
        The release and its guarantee. The value is the places of the coefficients, the intercept's
        after those of all features, and then the coefficients.

    References
    ----------
    Blumensath & Davies (2009); Cai, Wang & Zhang (2021); Dong, Durfee & Rogers (2020).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 300))
    >>> y = 0.6 * X[:, 3] - 0.4 * X[:, 7]
    >>> model = HardThresholding(
    ...     epsilon=1.0, entry_bound=1.0, target_range=(-1, 1), n_features_to_select=2,
    ...     expected_rows=20_000, fit_intercept=False,
    ... ).fit(X, y)
    >>> model.get_support(indices=True), bool(model.score(X, y) > 0.9)
    (array([3, 7]), True)
    """

    must_declare: ClassVar[Declarations] = (("columns", "entry_bound"), ("target_range",))

    alpha: ClassVar[None] = None  # type: ignore[misc]

    threshold: float | None = None

    def _half_range(self) -> float:
        interval = self._range()
        return (interval.high - interval.low) / 2

    def _usual_radius(self) -> float:
        return USUAL_REACH * self._half_range() / self._largest_entry()

    def margin_loss(self) -> Loss:
        return Huber(self._half_range() / 4 if self.threshold is None else self.threshold)

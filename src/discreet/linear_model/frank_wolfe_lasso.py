"""A private lasso for very many columns."""

from __future__ import annotations

from typing import ClassVar

from discreet import _checks
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.regressor import LinearRegressorBase
from discreet.estimators.sparse_model import CornerStepsModel
from discreet.losses import Huber, Loss, Squared

LOSSES = ("squared", "huber")

USUAL_REACH = 2.0
"""Twice half the range of targets can be reached by an entry at its bound."""


@with_fields
class FrankWolfeLasso(CornerStepsModel, LinearRegressorBase):  # type: ignore[misc]
    r"""A lasso in an l1 ball by private Frank-Wolfe steps, for any number of columns.

    It minimises the sum of losses over :math:`\|w\|_1 \le c` by the Frank-Wolfe method: each step
    goes towards a corner of the ball, so one column enters, and which one is drawn by the
    exponential mechanism. Noise grows with the logarithm of the number of columns only, and at most
    as many coefficients as there are steps are not zero. Rows are only summed; of sparse rows, only
    those whose residual changes.

    Parameters
    ----------
    loss
        ``"squared"``, or ``"huber"`` with the ``threshold``.
    threshold
        The residual at which Huber's loss turns from a parabola to a line, in units of the target;
        by default a quarter of half the range. The noise is in proportion to it; that of the
        squared loss is in proportion to the largest residual there can be.
    l1_radius
        What absolute values of the coefficients of encoded columns sum to at most, the intercept's
        included, with a constant column of ``entry_bound`` (or 1). By default twice half the range
        of targets over the largest entry. The noise grows with it.
    fit_intercept
        Whether there is a constant column. Targets are counted from the middle of their range then.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    selected_
        The places of the features that were drawn, in their order; other coefficients are zero.
    n_features_selected_
        How many these are.
    n_iter_
        The number of steps.
    release_, privacy_
        The release and its guarantee. The value is a corner for each step: the number of a feature
        counted from one, with a sign; the number after the last is the intercept's.

    References
    ----------
    Frank & Wolfe (1956); Talwar, Thakurta & Zhang (2015); Raff, Khanna & Lu (2023).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 300))
    >>> y = 0.6 * X[:, 3] - 0.4 * X[:, 7]
    >>> model = FrankWolfeLasso(epsilon=1.0, entry_bound=1.0, target_range=(-1, 1), l1_radius=1.0)
    >>> model = model.fit(X, y)
    >>> bool(model.score(X, y) > 0.8), set(model.selected_) >= {3, 7}
    (True, True)
    """

    must_declare: ClassVar[Declarations] = (("columns", "entry_bound"), ("target_range",))

    alpha: ClassVar[None] = None  # type: ignore[misc]

    loss: str = "squared"
    threshold: float | None = None

    def _check(self) -> None:
        super()._check()
        _checks.one_of(LOSSES, loss=self.loss)
        self.margin_loss()

    def _half_range(self) -> float:
        interval = self._range()
        return (interval.high - interval.low) / 2

    def _usual_radius(self) -> float:
        return USUAL_REACH * self._half_range() / self._largest_entry()

    def margin_loss(self) -> Loss:
        if self.loss == "squared":
            return Squared(self._target(None).labels.magnitude)
        return Huber(self._half_range() / 4 if self.threshold is None else self.threshold)

"""A private regression on a few columns, which it chooses itself."""

from __future__ import annotations

import math
from typing import ClassVar

from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.linear import INTERCEPT_SHARE
from discreet.estimators.regressor import LinearRegressorBase
from discreet.estimators.selected_model import SelectedModel
from discreet.geometry import L1L2Ball
from discreet.losses import Loss, PseudoHuber
from discreet.policy.task import LinearTask, Standardising
from discreet.questions import Bounds


@with_fields
class SparseRegressor(SelectedModel, LinearRegressorBase):  # type: ignore[misc]
    r"""A linear regression on few columns of many: chosen first, then learnt, both private.

    A part of the budget draws the columns that go most with the target; the rest pays for a model
    of these alone, as :class:`~discreet.LinearRegressor` learns it. Both stages are one release,
    charged once. All other coefficients are zero.

    Parameters
    ----------
    alpha
        Regularisation strength, of the penalty :math:`\alpha \|w\|^2/2` on the coefficients of the
        chosen features, scaled to [-1, 1]. By default the weakest that costs no privacy.
    fit_intercept
        Whether there is an intercept. Targets are counted from the middle of their range then.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    selected_
        The places of the chosen features, in the order in which they were drawn.
    n_features_selected_
        How many these are.
    is_stable_
        False if no column was chosen: the votes of blocks had no stable answer, or chose none. Then
        coefficients are zero.
    release_, privacy_
        The release and its guarantee. The value is the model of the chosen features, followed by
        their places.

    References
    ----------
    Kifer, Smith & Thakurta (2012), two stages; Durfee & Rogers (2019), peeling; Chaudhuri &
    Monteleoni (2008).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(10_000, 500))
    >>> y = 0.6 * X[:, 3] - 0.4 * X[:, 7]
    >>> model = SparseRegressor(
    ...     epsilon=1.0, entry_bound=1.0, target_range=(-1, 1), n_features_to_select=2
    ... ).fit(X, y)
    >>> model.get_support(indices=True), bool(model.score(X, y) > 0.9)
    (array([3, 7]), True)
    """

    must_declare: ClassVar[Declarations] = (
        ("columns", "entry_bound", "data_range"),
        ("target_range",),
    )

    threshold: float | None = None

    def margin_loss(self) -> Loss:
        interval = self._range()
        usual = (interval.high - interval.low) / 8
        return PseudoHuber(usual if self.threshold is None else self.threshold)

    def _ridge(self) -> float | None:
        return LinearRegressorBase._ridge(self)

    def _second_task(self, size: int, fit: Fit) -> LinearTask:
        return LinearTask(
            loss=self.margin_loss(),
            bounds=Bounds(
                L1L2Ball(float(size), math.sqrt(size)),
                size,
                labels=fit.shape.labels,
                intercept=INTERCEPT_SHARE if self.fit_intercept else None,
                max_rows=fit.shape.max_rows,
            ),
            budget=fit.budget,
            unit=fit.unit,
            ridge=self._ridge(),
            raises_ridge=True,
            domain=None,
            mechanism="auto",
            standardising=Standardising(expected_rows=self._expect_rows(fit.shape)),
        )

"""A private classifier of a few columns, which it chooses itself."""

from __future__ import annotations

import math
from dataclasses import field
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet._types import Array
from discreet.estimators.classifier import LinearClassifierBase, ProbabilisticClassifier
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.probability_curve import ProbabilityCurve
from discreet.estimators.selected_model import SelectedModel
from discreet.geometry import ConvexSet, L1L2Ball, L2Ball
from discreet.losses import Loss, MarginLogistic
from discreet.mechanisms.signal_rules import Settings, SignalRules, find_settings
from discreet.policy.task import Asked, LinearTask, Standardising
from discreet.questions import Bounds

USUAL_MARGIN = 2.0
"""What the loss asks for where no rule settles it."""


@with_fields
class SparseClassifier(SelectedModel, ProbabilisticClassifier):  # type: ignore[misc]
    r"""A linear classifier of few columns of many: chosen first, then learnt, both private.

    A part of the budget draws the columns that go most with the classes; the rest pays for a model
    of these alone, as :class:`~discreet.LinearClassifier` learns it: columns standardised
    privately, a logistic loss that asks for a margin, three or more classes at once. The noise of
    the second stage is that of so many columns, however many there were. Both stages are one
    release, charged once. All other coefficients are zero.

    Parameters
    ----------
    fit_intercept
        Whether there is an intercept; without one columns are not standardised.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    selected_
        The places of the chosen features, in the order in which they were drawn.
    n_features_selected_
        How many these are.
    is_stable_
        False if no column was chosen: the votes of blocks had no stable answer, or chose none. Then
        coefficients are zero.
    multiclass_
        How three or more classes were learnt: ``"softmax"`` or ``"one_vs_rest"``. None for two.
    margin_
        The margin that the loss asked for.
    settings_
        What the noisy sums of the second stage settled; None where nothing waited for them.
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
    >>> y = X[:, 3] - X[:, 7] > 0
    >>> model = SparseClassifier(
    ...     epsilon=1.0, entry_bound=1.0, n_features_to_select=2, classes=[False, True]
    ... ).fit(X, y)
    >>> model.get_support(indices=True), bool(model.score(X, y) > 0.9)
    (array([3, 7]), True)
    """

    learns = ProbabilisticClassifier.learns | SelectedModel.learns | {"margin_"}

    must_declare: ClassVar[Declarations] = (("columns", "entry_bound", "data_range"),)

    margin_: float = field(init=False)

    margin: float | None = None

    def margin_loss(self) -> MarginLogistic:
        return MarginLogistic(USUAL_MARGIN if self.margin is None else self.margin)

    def fitted_loss(self) -> Loss:
        return MarginLogistic(self.margin_)

    def _ridge(self) -> float | None:
        return LinearClassifierBase._ridge(self)

    def _second_task(self, size: int, fit: Fit) -> LinearTask:
        region: ConvexSet = L2Ball(math.sqrt(size))
        if fit.budget.delta == 0:
            region = L1L2Ball(float(size), math.sqrt(size))
        rules = SignalRules(settles_margin=self.margin is None, settles_ridge=self.C is None)
        return LinearTask(
            loss=self.margin_loss(),
            bounds=Bounds(
                region,
                size,
                labels=fit.shape.labels,
                intercept=1.0 if self.fit_intercept else None,
                max_rows=fit.shape.max_rows,
            ),
            budget=fit.budget,
            unit=fit.unit,
            ridge=self._ridge(),
            raises_ridge=False,
            domain=None,
            mechanism="auto",
            standardising=Standardising(
                is_usual=True,
                entry_bound=1.0,
                learns_at_once=True,
                expected_rows=self._expect_rows(fit.shape),
                rules=rules,
            ),
        )

    def _keep(self, asked: Asked, fit: Fit) -> None:
        LinearClassifierBase._keep(self, asked, fit)
        settings = self.settings_
        self.margin_ = self.margin_loss().margin if settings is None else settings.margin

    def _vectors(self) -> int:
        count = int(self.classes_.size)
        return 1 if count == 2 else count

    @property
    def settings_(self) -> Settings | None:
        """What noisy sums settled of the objective; None where nothing waited for them."""
        check_is_fitted(self)
        size = int(self.n_features_to_select)
        return find_settings(self.released_model(), size + bool(self.fit_intercept))

    def released_model(self) -> Array:
        size = int(self.n_features_to_select)
        return np.asarray(self.release_.value)[:-size].reshape(self._vectors(), -1)

    def probability_curve(self) -> ProbabilityCurve | None:
        return ProbabilityCurve.usual(self.margin_)

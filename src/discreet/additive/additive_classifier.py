"""Classes from a sum of functions, one of each column."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from sklearn.base import ClassifierMixin

from discreet import _checks
from discreet._types import Array
from discreet.additive.additive_estimator import AdditiveEstimator
from discreet.additive.cell_features import CellFeatures
from discreet.data.given_column import GivenColumn
from discreet.estimators import predicting
from discreet.estimators.classifier import CALIBRATIONS
from discreet.estimators.fields import with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.probability_curve import ProbabilityCurve
from discreet.estimators.targets import ClassTarget, class_target
from discreet.losses import MarginLogistic
from discreet.mechanisms.additive_model import AdditiveModelPlan
from discreet.mechanisms.additive_objectives import TwoClasses
from discreet.mechanisms.additive_release import AdditiveRelease
from discreet.policy.choosing_additive import AdditiveTask
from discreet.policy.task import Asked
from discreet.questions import LabelSet


@with_fields
class AdditiveClassifier(ClassifierMixin, AdditiveEstimator):  # type: ignore[misc]
    r"""Classes by a curve for each column, learnt privately and added up.

    .. math:: \mathrm{score}(x) = b + f_1(x_1) + f_2(x_2) + \dots

    A score above zero speaks for the second class. Each function is a table with a value for each
    of 256 cells of a declared range, or for each declared level; so shapes can be looked at
    (``shapes_``, ``plot_shapes``), and each prediction explained (``explain``). A small part of the
    budget pays for the noisy marginals of all columns, from which the functions are made; the rest
    for how much each of them counts.

    Parameters
    ----------
    margin
        What the loss asks for; zero is logistic regression. None for the rule, by how much noise
        there is: from 3, where noise dominates, down to 0, where it hardly matters.
    calibration
        ``"curve"`` spends 3 % of the budget on counts of scores, of which probabilities of two
        classes are made, if enough rows are expected; with ``"none"``, log-odds are the score over
        1 + margin / 2, which costs nothing.
    expected_rows
        Roughly how many rows there will be, declared and not counted. None for their number where
        that is public, and ``max_rows`` otherwise.

    Attributes
    ----------
    cell_values_, cell_shares_
        What each cell adds to the score, a line, or one for each of three or more classes; and how
        large a share of rows it holds by the noisy marginals: the cells of all columns one after
        another. ``shapes_`` has them by column.
    cell_bands_
        How far noise may have moved each cell's value, if ``bands`` were asked for; else None.
    pair_weights_, cell_places_
        What the product of two places adds, for each pair of columns of numbers, and how many
        deviations each cell is above the mean of its column; None without ``interactions``, or
        where the noise left no room for them. ``interactions_`` has them by pair.
    intercept_
        The score of an average row, or one for each of three or more classes.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    multiclass_
        ``"softmax"`` for three or more classes, which are learnt at once; None for two.
    margin_
        The margin that the loss asked for.
    probability_curve_
        Two rows, scores and log-odds of the second class; lines between them, and the outer ones
        go on. None for three or more classes, whose probabilities are those of the loss.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Hastie & Tibshirani (1990); Nori et al. (2021), for additive models that are private. The
    mechanism and its proof are in ``mechanisms/additive_model.md``.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.preprocessing import Category, Numeric
    >>> generator = np.random.default_rng(0)
    >>> age = generator.uniform(20, 80, size=5000)
    >>> smokes = generator.choice(["no", "yes"], size=5000)
    >>> X = np.column_stack([age, smokes]).astype(object)
    >>> y = np.where(abs(age - 50) + 10 * (smokes == "yes") > 20, "ill", "well")
    >>> model = AdditiveClassifier(
    ...     columns=[Numeric(18, 100), Category(["no", "yes"])], classes=["ill", "well"]
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.85)
    True
    >>> list(model.importance_), model.shapes_["x0"].values.shape
    (['x0', 'x1'], (256,))
    """

    learns = AdditiveEstimator.learns | {
        "classes_", "multiclass_", "margin_", "probability_curve_",
    }  # fmt: skip

    objective = TwoClasses

    classes: Any = None
    margin: float | None = None
    calibration: str = "curve"
    expected_rows: int | None = None

    classes_: Any = field(init=False)
    multiclass_: str | None = field(init=False)
    margin_: float = field(init=False)
    probability_curve_: Array | None = field(init=False)

    def _check(self) -> None:
        super()._check()
        _checks.one_of(CALIBRATIONS, calibration=self.calibration)
        if self.expected_rows is not None:
            _checks.whole(expected_rows=self.expected_rows, at_least=1)
        if self.margin is not None:
            _checks.not_negative(margin=self.margin)

    def _target(self, y: GivenColumn | None) -> ClassTarget:
        return class_target(self.classes, y)

    def _labels(self, target: Any = None) -> LabelSet:
        count = len(self.classes_ if target is None else target.classes)
        return LabelSet([-1, 1] if count == 2 else range(count))

    def _restate(self, task: AdditiveTask) -> AdditiveTask:
        return replace(
            task,
            margin=self.margin,
            counts_scores=self.calibration == "curve",
            expected_rows=self.expected_rows,
        )

    def _keep(self, asked: Asked, fit: Fit) -> None:
        if isinstance(fit.target, ClassTarget):
            self.classes_ = fit.target.classes
        self.multiclass_ = None if self.classes_.size == 2 else "softmax"
        super()._keep(asked, fit)

    def _keep_shapes(self, plan: AdditiveModelPlan, features: CellFeatures) -> AdditiveRelease:
        read = super()._keep_shapes(plan, features)
        self.margin_, self.probability_curve_ = read.settings.margin, None
        if read.counts is not None and plan.counts is not None:
            counts, variance = read.counts, plan.counts.variance
            curve = ProbabilityCurve.of_counts(counts, variance, self.margin_)
            self.probability_curve_ = curve.points
        elif self.classes_.size == 2:
            self.probability_curve_ = ProbabilityCurve.usual(self.margin_).points
        return read

    def fitted_loss(self) -> MarginLogistic:
        """Return the loss that the model was fitted with, margin and all."""
        return MarginLogistic(self.margin_)

    def probability_curve(self) -> ProbabilityCurve | None:
        """Return what makes probabilities of the margins of two classes; None for the loss."""
        points = self.probability_curve_
        return None if points is None else ProbabilityCurve(points)

    decision_function = predicting.decision_function
    predict = predicting.predict
    predict_proba = predicting.predict_proba
    predict_log_proba = predicting.predict_log_proba

    def _adds(self) -> str:
        if self.classes_.size > 2:
            return "adds to the scores of classes"
        return f"adds to the score, which above zero speaks for {self.classes_[-1]}"

    def _lines(self) -> list[Any]:
        return list(self.classes_.tolist())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # a handful of rows cannot be learnt privately
        return tags

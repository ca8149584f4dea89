"""Classes from a sum of functions, one of each column."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from discreet import _checks
from discreet._types import Array
from discreet.additive.additive_estimator import AdditiveEstimator
from discreet.data.given_column import GivenColumn
from discreet.errors import InputError
from discreet.estimators.class_model import ProbabilityModel
from discreet.estimators.fields import with_fields
from discreet.estimators.probability_curve import ProbabilityCurve
from discreet.estimators.targets import ClassTarget, LearningTarget
from discreet.losses import MarginLogistic
from discreet.mechanisms.additive_objectives import TwoClasses
from discreet.policy.task import Asked
from discreet.questions import LabelSet


@with_fields
class AdditiveClassifier(ProbabilityModel, AdditiveEstimator):
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

    Attributes
    ----------
    cell_values_, cell_shares_
        What each cell adds to the score, one line, and how large a share of rows it holds by the
        noisy marginals: the cells of all columns one after another. ``shapes_`` has them by column.
    intercept_
        The score of an average row.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    multiclass_
        None: there are two classes.
    margin_
        The margin that the loss asked for.
    probability_curve_
        Two rows, scores and log-odds of the second class; lines between them, and the outer ones
        go on.
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

    margin: float | None = None

    margin_: float = field(init=False)
    probability_curve_: Array | None = field(init=False)

    def _check(self) -> None:
        super()._check()
        if self.margin is not None:
            _checks.not_negative(margin=self.margin)

    def _target(self, y: GivenColumn | None) -> ClassTarget:
        target = super()._target(y)
        if target.classes.size > 2:  # in the words of scikit-learn
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass. "
                "Use LinearClassifier for three or more classes."
            )
        return target

    def _labels(self) -> LabelSet:
        return LabelSet([-1, 1])

    def _stated_margin(self) -> float | None:
        return self.margin

    def _keep(self, asked: Asked, target: LearningTarget | None) -> None:
        super()._keep(asked, target)
        if isinstance(target, ClassTarget):
            self.classes_ = target.classes
        self.multiclass_ = None
        self.margin_ = self.settings_.margin
        self.probability_curve_ = ProbabilityCurve.usual(self.margin_).points

    def fitted_loss(self) -> MarginLogistic:
        return MarginLogistic(self.margin_)

    def probability_curve(self) -> ProbabilityCurve | None:
        points = self.probability_curve_
        return None if points is None else ProbabilityCurve(points)

    def _adds(self) -> str:
        return f"adds to the score, which above zero speaks for {self.classes_[-1]}"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

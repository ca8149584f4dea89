"""A private threshold that tells two classes apart."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from discreet._types import Vector
from discreet.data.given_column import GivenColumn
from discreet.errors import InputError
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.features import (
    COLUMNS_FOUND,
    FeatureMap,
    PlainFeatures,
    read_rows,
    vector_as_table,
)
from discreet.estimators.fields import with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.predicting import row_by_row
from discreet.estimators.targets import ClassTarget, class_target
from discreet.geometry import Box, ConvexSet, WholeSpace
from discreet.location.base import limits_for, limits_of
from discreet.mechanisms import ExponentialSampling
from discreet.policy.task import Asked
from discreet.questions import BestThreshold, Bounds, LabelSet


@with_fields
class Threshold(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """A decision stump: two classes by a threshold on one column, differentially private.

    Of all columns, thresholds on a fine grid and directions one is drawn by the exponential
    mechanism, exactly: an error more makes it less likely by a factor of exp(-epsilon), or
    exp(-epsilon/2) if records are replaced. Pure epsilon.

    Parameters
    ----------
    epsilon, delta
        The privacy budget of one fit; ``delta`` is not used.
    classes
        The two classes, if they are not public in the labels.
    steps
        Thresholds lie midway between ``steps + 1`` evenly spaced points of the range.

    Attributes
    ----------
    threshold_, column_, direction_
        Rows with more than the threshold in this column are of the second class if the direction
        is 1, of the first if it is -1.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    McSherry & Talwar (2007), the exponential mechanism.

    Examples
    --------
    >>> ages = np.random.default_rng(0).uniform(0, 100, size=(2000, 1))
    >>> model = Threshold(epsilon=1.0, bounds=(0, 120)).fit(ages, ages[:, 0] > 65)
    >>> bool(abs(model.threshold_ - 65) < 2), model.predict([[20.0], [90.0]])
    (True, array([False,  True]))
    """

    learns = frozenset(["threshold_", "column_", "direction_", "classes_"])

    threshold_: float = field(init=False)
    column_: int = field(init=False)
    direction_: int = field(init=False)
    classes_: Any = field(init=False)

    bounds: Any = (-1.0, 1.0)
    classes: Any = None
    steps: int = 2**20

    def _check(self) -> None:
        limits_of(self.bounds)

    def _as_table(self, X: Any) -> Any:
        return vector_as_table(X)

    def feature_map(self) -> FeatureMap:
        return PlainFeatures(WholeSpace())

    def row_region(self, width: int) -> ConvexSet:
        return Box(*limits_for(self.bounds, width))

    def _target(self, y: GivenColumn | None) -> ClassTarget:
        target = class_target(self.classes, y)
        if target.classes.size > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass. "
                "Use LogisticRegression for several classes."
            )
        return target

    def _ask(self, fit: Fit) -> Asked:
        target, shape = fit.need_target(), fit.shape
        bounds = Bounds(
            self.row_region(shape.n_features),
            n_features=shape.n_features,
            labels=LabelSet([-1, 1]),
            max_rows=shape.max_rows,
        )
        question = BestThreshold(bounds, self.steps, target.assumed)
        return Asked(question, ExponentialSampling(), (COLUMNS_FOUND, target.fact))

    def _keep(self, asked: Asked, fit: Fit) -> None:
        if isinstance(fit.target, ClassTarget):
            self.classes_ = fit.target.classes
        column, threshold, direction = (float(part) for part in self.release_.value)
        self.column_, self.threshold_, self.direction_ = int(column), threshold, int(direction)

    @row_by_row
    def decision_function(self, X: Any) -> Vector:
        """Return how far each row is on the second class's side of the threshold.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        """
        column = read_rows(self, X)[:, [self.column_]]
        values = np.asarray(column.toarray() if hasattr(column, "toarray") else column)[:, 0]
        return np.asarray(self.direction_ * (values - self.threshold_))

    @row_by_row
    def predict(self, X: Any) -> Any:
        """Return the class of each row.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        """
        margins = self.decision_function(X)
        return self.classes_[(margins > 0).astype(int)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # a handful of rows cannot be learnt privately
        return tags

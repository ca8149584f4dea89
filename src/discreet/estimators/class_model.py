"""Classes and their probabilities from margins: one for two classes, else one for each class."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin

from discreet._types import Array
from discreet.data.given_column import GivenColumn
from discreet.errors import InputError
from discreet.estimators.fields import with_fields
from discreet.estimators.predicting import row_by_row
from discreet.estimators.probability_curve import ProbabilityCurve
from discreet.estimators.targets import ClassTarget, find_classes, list_classes
from discreet.losses import Loss, ProbabilisticLoss
from discreet.losses.logistic import softmax_of


def class_target(classes: Any, y: GivenColumn | None) -> ClassTarget:
    """Return declared classes, or those found in the labels, which stored ones are not read for."""
    if classes is not None:
        return ClassTarget(list_classes(classes), is_found=False)
    if y is None:
        raise InputError(
            "declare the classes with classes=; they are not looked for in files, whose rows "
            "are read only after the ledger was charged."
        )
    return ClassTarget(find_classes(y), is_found=True)


@with_fields
class ClassModel(ClassifierMixin):  # type: ignore[misc]
    """A model that tells classes by their margins."""

    classes: Any = None

    classes_: Any = field(init=False)
    multiclass_: str | None = field(init=False)

    if TYPE_CHECKING:

        def _margins(self, X: Any) -> Array:
            """Return the margins of each row: a column, or one for each of several classes."""

    def _target(self, y: GivenColumn | None) -> ClassTarget:
        return class_target(self.classes, y)

    @row_by_row
    def decision_function(self, X: Any) -> Array:
        """Return the margins: positive for the second of two classes, else one for each class.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        """
        margins = self._margins(X)
        return margins[:, 0] if self.classes_.size == 2 else margins

    @row_by_row
    def predict(self, X: Any) -> Any:
        """Return the likeliest class of each row.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        """
        margins = self._margins(X)
        if self.classes_.size == 2:
            return self.classes_[(margins[:, 0] > 0).astype(int)]
        return self.classes_[margins.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # a handful of rows cannot be learnt privately
        return tags


class ProbabilityModel(ClassModel):
    """A model whose margins stand for probabilities."""

    @abstractmethod
    def fitted_loss(self) -> Loss:
        """Return the loss that the model was fitted with, margin and all."""

    def probability_curve(self) -> ProbabilityCurve | None:
        """Return what makes probabilities of the margins of two classes; None for the loss."""
        return None

    @row_by_row
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for each row.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        """
        loss = self.fitted_loss()
        if not isinstance(loss, ProbabilisticLoss):
            raise InputError(f"{loss!r} gives no probabilities; use decision_function.")
        margins = self._margins(X)
        together = softmax_of(loss) if self.multiclass_ == "softmax" else None
        if together is not None:
            return together.probability(margins.T).T
        curve = self.probability_curve()
        probability = loss.probability if curve is None else curve.probability
        chances = np.asarray(probability(margins))
        if self.classes_.size == 2:
            return np.column_stack([1 - chances[:, 0], chances[:, 0]])
        total = chances.sum(axis=1, keepdims=True)
        share = np.full_like(chances, 1 / chances.shape[1])
        normed: Array = np.divide(chances, total, out=share, where=total > 0)
        return normed

    @row_by_row
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of each class for each row.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

"""Classes and their probabilities from margins: one for two classes, else one for each class.

Functions that become methods of any model that has ``_margins`` and ``classes_``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet._types import Array
from discreet.data.given_column import GivenColumn
from discreet.errors import InputError
from discreet.estimators.predicting import row_by_row
from discreet.estimators.targets import ClassTarget, find_classes, list_classes
from discreet.losses import ProbabilisticLoss
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


@row_by_row
def decide(self: Any, X: Any) -> Array:
    """Return the margins: positive for the second of two classes, else one for each class.

    Parameters
    ----------
    X
        Rows, as for ``fit``.
    """
    margins = self._margins(X)
    return margins[:, 0] if self.classes_.size == 2 else margins


@row_by_row
def predict_classes(self: Any, X: Any) -> Any:
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


@row_by_row
def predict_chances(self: Any, X: Any) -> Array:
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
def predict_log_chances(self: Any, X: Any) -> Array:
    """Return the logarithm of the probability of each class for each row.

    Parameters
    ----------
    X
        Rows, as for ``fit``.
    """
    with np.errstate(divide="ignore"):
        return np.log(self.predict_proba(X))

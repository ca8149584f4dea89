"""Predictions, row by row: for rows in memory, in files, or with the workers of Dask.

Classes and their probabilities, which become methods of models that have margins: one for two
classes, else one for each class. They have scikit-learn's names, by which it calls them.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet._types import Array
from discreet.data.stored import is_table, map_rows
from discreet.errors import InputError
from discreet.estimators.features import series_as_table
from discreet.losses import ProbabilisticLoss
from discreet.losses.logistic import softmax_of

Method = TypeVar("Method", bound=Callable[..., Any])


def row_by_row(method: Method) -> Method:
    """Let a method that speaks of each row by itself speak of stored rows as well.

    Files are read a few rows at a time; of Dask's rows it speaks lazily, on the workers.
    """

    @wraps(method)
    def speak(self: Any, X: Any) -> Any:
        check_is_fitted(self, "release_")
        X = series_as_table(X)
        if not is_table(X):
            return method(self, X)
        is_named = hasattr(self, "feature_names_in_")
        travelling = copy(self)
        travelling.ledger = None  # workers have no business with the ledger
        columns = self.feature_map().find_again(self) if is_named else None
        return map_rows(partial(method, travelling), X, columns)

    return speak  # type: ignore[return-value]


@row_by_row
def decision_function(self: Any, X: Any) -> Array:
    """Return the margins: positive for the second of two classes, else one for each class.

    Parameters
    ----------
    X
        Rows, as for ``fit``.
    """
    margins: Array = self._margins(X)
    return margins[:, 0] if self.classes_.size == 2 else margins


@row_by_row
def predict(self: Any, X: Any) -> Any:
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
def predict_proba(self: Any, X: Any) -> Array:
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
def predict_log_proba(self: Any, X: Any) -> Array:
    """Return the logarithm of the probability of each class for each row.

    Parameters
    ----------
    X
        Rows, as for ``fit``.
    """
    with np.errstate(divide="ignore"):
        logarithms: Array = np.log(self.predict_proba(X))
    return logarithms

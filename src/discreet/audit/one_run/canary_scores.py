"""Scores of canaries: the larger, the more likely planted; and how many guesses they get right.

Membership inference: a margin or a residual is the test statistic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet._types import Booleans, Integers, Vector
from discreet.audit.one_run.planted_rows import PlantedRows
from discreet.errors import InputError


def default_score(model: Any, X: Any, y: Any) -> Vector:
    """Score canaries by how well a linear model fits them.

    With ``decision_function`` and two classes: the margin on the side of the label. Otherwise minus
    the squared residual of ``predict``. This is a good score when a planted canary moves its own
    prediction more than other rows do; where rows overlap, write a score that subtracts what the
    model would say anyway.

    Parameters
    ----------
    model
        What was fitted; it has ``decision_function`` and two classes, or ``predict``.
    X, y
        The canaries, planted or not, and their labels.

    Examples
    --------
    >>> class Model:
    ...     def predict(self, X):
    ...         return X[:, 0]
    >>> default_score(Model(), np.array([[1.0], [2.0]]), np.array([1.0, 0.0])).tolist()
    [-0.0, -4.0]
    """
    if y is None:
        raise InputError("canaries without labels need a score of their own; give score=.")
    if hasattr(model, "decision_function"):
        margins = np.asarray(model.decision_function(X), dtype=np.float64)
        classes = np.asarray(getattr(model, "classes_", ()))
        if classes.size != 2 or margins.ndim != 1:
            raise InputError("the default score knows two classes only; give score=.")
        return np.where(np.asarray(y) == classes[1], margins, -margins)
    if hasattr(model, "predict"):
        residuals = np.asarray(y, dtype=np.float64) - np.asarray(model.predict(X), dtype=np.float64)
        return np.asarray(-(residuals**2))
    raise InputError(
        "the default score needs a model with decision_function or predict; give score=."
    )


def scores_of(score: Callable[[Any, Any, Any], ArrayLike], model: Any, rows: PlantedRows) -> Vector:
    try:
        scores = np.asarray(score(model, rows.X, rows.y), dtype=np.float64)
    except Exception as error:
        error.add_note("This was raised by the score of audit_in_one_run; nothing was certified.")
        raise
    if scores.shape != (rows.count,):
        raise InputError(
            f"score must return one number for each of the {rows.count} canaries; "
            f"got an array of shape {scores.shape}."
        )
    if not np.isfinite(scores).all():
        raise InputError("score must return finite numbers; got NaN or infinity.")
    return scores


def count_correct(scores: Vector, coins: Booleans, guesses: int) -> int:
    order: Integers = np.argsort(scores, kind="stable")
    left_out = guesses // 2
    planted = guesses - left_out
    return int((~coins[order[:left_out]]).sum() + coins[order[len(order) - planted :]].sum())

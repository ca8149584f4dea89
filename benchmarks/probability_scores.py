"""How good probabilities are: log loss, Brier score, calibration error and AUC, beside accuracy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

BINS = 15


class Scores(NamedTuple):
    """Of one model on rows that it has not seen; ``ece`` is of the likeliest class."""

    accuracy: float
    auc: float
    log_loss: float
    brier: float
    ece: float


def score_model(model: Any, X: Any, y: np.ndarray) -> Scores:
    """Return all scores of a fitted classifier; AUC is the mean of each class from the rest."""
    return score_chances(model.classes_, model.predict_proba(X), y)


def score_chances(classes: np.ndarray, chances: np.ndarray, y: np.ndarray) -> Scores:
    """Return all scores of probabilities, a column for each class."""
    truth = np.asarray(y)[:, None] == classes
    likeliest = chances.argmax(axis=1)
    is_right = truth[np.arange(len(truth)), likeliest]
    brier = ((chances - truth) ** 2).sum(axis=1).mean()
    if len(classes) == 2:
        auc, brier = roc_auc_score(truth[:, 1], chances[:, 1]), brier / 2
        ece = calibration_error(chances[:, 1], truth[:, 1])
    else:
        auc = np.mean([roc_auc_score(t, c) for t, c in zip(truth.T, chances.T, strict=True)])
        ece = calibration_error(chances.max(axis=1), is_right)
    loss = log_loss(truth.argmax(axis=1), chances, labels=np.arange(len(classes)))
    return Scores(float(is_right.mean()), float(auc), float(loss), float(brier), ece)


def calibration_error(chances: np.ndarray, happened: np.ndarray) -> float:
    """Return the mean distance, over bins of equal width, of what was said and what happened."""
    bins = np.minimum((chances * BINS).astype(int), BINS - 1)
    apart = np.bincount(bins, weights=happened - chances, minlength=BINS)
    return float(np.abs(apart).sum() / len(chances))

"""Columns that explain a target one after another: what a block of rows chooses if nobody says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Array, Vector


@dataclass(frozen=True)
class MatchingPursuit:
    r"""Orthogonal matching pursuit with an intercept, stopped where only noise is left.

    The column of largest correlation with the residuals is taken, the target is regressed on all
    columns taken so far, and so on, until there are ``size`` of them or no correlation exceeds
    :math:`\sqrt{2 \log(p) / n}`, which p columns of noise reach by chance. Of several classes, each
    is a target of one and zero, and the largest correlation counts.

    Examples
    --------
    >>> X = np.eye(40)[:, :5]
    >>> MatchingPursuit(size=2)(X, X[:, 3] - 2 * X[:, 1])
    [1, 3]
    """

    size: int
    classes: int = 0

    def __call__(self, X: Any, y: Vector) -> list[int]:
        """Return the places of the columns, in the order in which they were taken."""
        targets = self._targets(y)
        count, width = X.shape
        norms = _centred_norms(X)
        residuals, taken = targets.copy(), list[int]()
        while len(taken) < min(self.size, count - 2):
            products = np.abs(np.asarray((X.T @ residuals.T).T))
            sizes = np.sqrt((residuals**2).sum(axis=1))[:, None] * norms
            with np.errstate(all="ignore"):
                correlations = np.where(sizes > 0, products / sizes, 0.0).max(axis=0)
            correlations[taken] = 0.0
            best = int(correlations.argmax())
            if not correlations[best] > math.sqrt(2 * math.log(max(width, 2)) / count):
                break
            taken.append(best)
            residuals = _regress(_columns(X, taken), targets)
        return taken

    def _targets(self, y: Vector) -> Array:
        """Return targets less their means, a line for each class if there are three or more."""
        lines = np.array([y == value for value in range(self.classes)]) if self.classes > 2 else y
        targets = np.atleast_2d(np.asarray(lines, dtype=np.float64))
        return np.asarray(targets - targets.mean(axis=1, keepdims=True))


def _centred_norms(X: Any) -> Vector:
    """Return the norm of each column less its mean; zero for what is constant."""
    count = X.shape[0]
    means = np.asarray(X.mean(axis=0)).ravel()
    squares = np.square(X) if isinstance(X, np.ndarray) else X.multiply(X)
    total = np.asarray(squares.sum(axis=0)).ravel()
    spread = total - count * means**2
    return np.sqrt(np.where(spread > 1e-12 * total, spread, 0.0))


def _columns(X: Any, places: list[int]) -> Array:
    chosen = X[:, places]
    return np.asarray(chosen if isinstance(chosen, np.ndarray) else chosen.toarray())


def _regress(columns: Array, targets: Array) -> Array:
    """Return what is left of centred targets after a regression on columns and a constant."""
    centred = columns - columns.mean(axis=0)
    fit, *_ = np.linalg.lstsq(centred, targets.T, rcond=None)
    return np.asarray(targets - (centred @ fit).T)

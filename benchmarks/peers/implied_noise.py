"""Scores for classifiers that perturb a logistic objective, from the noise that a fit implies.

A fit that ends at a minimum says which noise was drawn: minus the gradient of the objective
without noise. An attacker computes it for either data set, and asks under which it is likelier.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from discreet.audit.scores import Score

_LARGEST = 100.0
_SMALLEST = 1e-12


@dataclass(frozen=True)
class Objective:
    """How diffprivlib perturbs a sum of logistic losses, as read from its source.

    ``penalty`` multiplies half the squared coefficients, ``ridge`` half the squares of all numbers
    including the intercept; noise has density exp(-norm / scale).

    Examples
    --------
    >>> plan = Objective.planned(1.0, data_norm=1.0, C=1.0, classes=1, fit_intercept=False)
    >>> plan.penalty, plan.ridge, round(plan.scale, 3)
    (1.0, 0.0, 3.612)
    """

    penalty: float
    ridge: float
    scale: float
    fit_intercept: bool

    @classmethod
    def planned(
        cls, epsilon: float, *, data_norm: float, C: float, classes: int, fit_intercept: bool
    ) -> Objective:
        """Repeat the arithmetic of ``LogisticRegression`` and its mechanism ``Vector``."""
        norm = math.hypot(data_norm, 1.0) if fit_intercept else data_norm
        epsilon, penalty, ridge = epsilon / classes, 1 / C, 0.0
        left = epsilon - 2 * math.log1p(0.25 * norm / penalty)
        if left <= 0:
            left, ridge = epsilon / 2, 0.25 * norm / math.expm1(epsilon / 4) - penalty
        return cls(penalty, ridge, 2 * norm / left, fit_intercept)

    def noise(self, values: np.ndarray, X: np.ndarray, hit: np.ndarray) -> np.ndarray:
        """Return the noise that each fit (a row of ``values``) implies; ``hit`` are 0/1 labels."""
        rows, curbs = self._rows(X), self._curbs(X)
        return -(expit(values @ rows.T) - hit) @ rows - values * curbs

    def log_volume(self, values: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Return the logarithm of how much noise space one unit of fits takes."""
        rows = self._rows(X)
        chances = expit(values @ rows.T)
        bends = np.einsum("ti,ij,ik->tjk", chances * (1 - chances), rows, rows)
        return np.linalg.slogdet(bends + np.diag(self._curbs(X)))[1]

    def _rows(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([X, np.ones(len(X))]) if self.fit_intercept else X

    def _curbs(self, X: np.ndarray) -> np.ndarray:
        weights = np.full(X.shape[1], self.penalty + self.ridge)
        return np.append(weights, self.ridge) if self.fit_intercept else weights


@dataclass(frozen=True, eq=False)
class LikelihoodRatio(Score):
    """The logarithm of the ratio of the densities of a fit, if noise is drawn for each class."""

    objective: Objective
    first: Any
    second: Any
    name: str = "likelihood ratio"

    def learn(self, first: np.ndarray, second: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        return lambda values: _difference(
            self._log(values, self.second), self._log(values, self.first)
        )

    def _log(self, values: np.ndarray, data: Any) -> np.ndarray:
        X, y = data
        total = np.zeros(len(values))
        for fit, hit in _by_class(values, y):
            noise = np.linalg.norm(self.objective.noise(fit, X, hit), axis=1)
            total += self.objective.log_volume(fit, X) - noise / self.objective.scale
        return total


@dataclass(frozen=True, eq=False)
class SharedNoise(Score):
    """How much better the classes agree on one noise if the second data set was fitted."""

    objective: Objective
    first: Any
    second: Any
    name: str = "noise shared by classes"

    def learn(self, first: np.ndarray, second: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        return lambda values: _difference(
            -self._disagreement(values, self.second), -self._disagreement(values, self.first)
        )

    def _disagreement(self, values: np.ndarray, data: Any) -> np.ndarray:
        X, y = data
        noises = np.array([self.objective.noise(fit, X, hit) for fit, hit in _by_class(values, y)])
        return np.log(np.linalg.norm(np.ptp(noises, axis=0), axis=1) + _SMALLEST)


def _by_class(values: np.ndarray, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split the numbers of every fit by class, each with its 0/1 labels."""
    classes = np.unique(y)
    positive = classes[1:] if classes.size == 2 else classes
    fits = np.split(values, positive.size, axis=1)
    return [(fit, (y == c).astype(float)) for fit, c in zip(fits, positive, strict=True)]


def _difference(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Subtract, and keep what is infinite or undefined (fits without a minimum) in bounds."""
    with np.errstate(invalid="ignore"):
        gap = one - other
    return np.clip(
        np.nan_to_num(gap, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST), -_LARGEST, _LARGEST
    )

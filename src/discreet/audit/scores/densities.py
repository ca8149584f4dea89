"""Scores that estimate both densities and compare them.

Density ratios: a histogram, quadratic discriminant analysis, logistic regression.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._types import Vector
from discreet.audit.scores.base import Matrix, Score, Scorer
from discreet.audit.scores.directions import WIDEST, discriminant

_CELLS = 64
_DISTINCT = 256


@dataclass(frozen=True)
class Histogram(Score):
    """The logarithm of the ratio of two histograms of the best linear score.

    Cells hold equally many values; a value with few distinct outcomes gets a cell for each, so that
    answers from a finite set, and atoms, are compared one by one.

    Parameters
    ----------
    name
        What results call it.

    Examples
    --------
    >>> score = Histogram().learn(np.array([[0.0], [0.0], [1.0]]), np.array([[0.0], [1.0], [1.0]]))
    >>> score(np.array([[0.0], [1.0]])).round(2).tolist()
    [-0.51, 0.51]
    """

    name: str = "histogram"

    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        direction = np.ones(1) if first.shape[1] == 1 else discriminant(first, second)
        one, other = first @ direction, second @ direction
        together = np.concatenate([one, other])
        distinct = np.unique(together)
        if distinct.size <= _DISTINCT:
            edges = (distinct[1:] + distinct[:-1]) / 2
        else:
            edges = np.unique(np.quantile(together, np.linspace(0, 1, _CELLS + 1)[1:-1]))

        def masses(scores: Vector) -> Vector:
            cells = np.bincount(np.searchsorted(edges, scores), minlength=edges.size + 1)
            shares: Vector = (cells + 0.5) / (scores.size + 0.5 * (edges.size + 1))
            return shares

        ratio = np.log(masses(other)) - np.log(masses(one))
        return lambda values: ratio[np.searchsorted(edges, values @ direction)]


@dataclass(frozen=True)
class QuadraticDiscriminant(Score):
    """The logarithm of the ratio of two Gaussian densities, each with its own covariance.

    Parameters
    ----------
    name
        What results call it.

    Examples
    --------
    >>> narrow, wide = np.array([[-1.0], [1.0]]), np.array([[-3.0], [3.0]])
    >>> score = QuadraticDiscriminant().learn(narrow, wide)
    >>> (score(np.array([[0.0], [5.0]])) > 0).tolist()
    [False, True]
    """

    name: str = "quadratic discriminant"

    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        one, other = _log_density(first), _log_density(second)
        return lambda values: other(values) - one(values)


def _log_density(sample: Matrix) -> Scorer:
    """Return the logarithm of a Gaussian density fitted to a sample, up to a constant."""
    centre, variances = sample.mean(axis=0), sample.var(axis=0)
    spread = np.sqrt(np.where(variances > 0, variances, 1.0))
    scaled = (sample - centre) / spread
    covariance = np.diag((scaled**2).mean(axis=0))
    if centre.size <= min(WIDEST, len(sample) // 8):
        covariance = scaled.T @ scaled / len(sample)
    covariance = covariance + 1e-6 * np.eye(centre.size)
    precision = np.linalg.inv(covariance)
    constant = -0.5 * np.linalg.slogdet(covariance)[1] - np.log(spread).sum()

    def density(values: Matrix) -> Vector:
        away = (values - centre) / spread
        log: Vector = constant - 0.5 * np.einsum("ij,jk,ik->i", away, precision, away)
        return log

    return density


@dataclass(frozen=True)
class SmallClassifier(Score):
    """A logistic regression on the values, their sizes and their squares.

    Parameters
    ----------
    name
        What results call it.

    Examples
    --------
    >>> score = SmallClassifier().learn(np.array([[0.0], [1.0]]), np.array([[4.0], [5.0]]))
    >>> (score(np.array([[0.5], [4.5]])) > 0).tolist()
    [False, True]
    """

    name: str = "small classifier"

    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        values = np.concatenate([first, second])
        centre, spread = values.mean(axis=0), values.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)

        def features(values: Matrix) -> Matrix:
            scaled = np.clip((values - centre) / spread, -10, 10)
            return np.column_stack([np.ones(len(scaled)), scaled, np.abs(scaled), scaled**2])

        labels = np.repeat([-1.0, 1.0], [len(first), len(second)])
        weights = _fit_logistic(features(values), labels)
        return lambda values: features(values) @ weights


def _fit_logistic(
    features: Matrix, labels: Vector, *, ridge: float = 1.0, steps: int = 12
) -> Vector:
    """Fit by Newton's method; good enough is good enough here."""
    weights = np.zeros(features.shape[1])
    for _ in range(steps):
        chances = 1 / (1 + np.exp(np.clip(labels * (features @ weights), -30, 30)))
        slope = ridge * weights - features.T @ (labels * chances)
        bend = (features.T * (chances * (1 - chances))) @ features
        weights -= np.linalg.solve(bend + ridge * np.eye(weights.size), slope)
    return weights

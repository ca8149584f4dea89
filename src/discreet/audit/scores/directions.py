"""Scores that are linear in the released value.

A known direction, the best coordinate, and Fisher's linear discriminant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet._types import Vector
from discreet.audit.scores.base import Matrix, Score, Scorer
from discreet.errors import InputError

WIDEST = 500
"""The width up to which covariances are estimated."""


@dataclass(frozen=True, eq=False)
class Direction(Score):
    """The inner product with a known direction, such as that of the worst-case pair.

    Parameters
    ----------
    direction
        As many numbers as a released value has.
    name
        What results call it.

    Examples
    --------
    >>> Direction([1.0, -1.0]).learn(None, None)([[3.0, 1.0]]).tolist()
    [2.0]
    """

    direction: ArrayLike
    name: str = "direction"

    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        direction = np.asarray(self.direction, dtype=np.float64)

        def score(values: Matrix) -> Vector:
            values = np.asarray(values)
            if values.shape[1] != direction.size:
                raise InputError(
                    f"the direction has {direction.size} numbers, released values have "
                    f"{values.shape[1]}."
                )
            return values @ direction

        return score


@dataclass(frozen=True)
class BestCoordinate(Score):
    """The one number of the released value whose means differ most.

    Parameters
    ----------
    name
        What results call it.

    Examples
    --------
    >>> first, second = np.array([[0.0, 1.0], [1.0, 2.0]]), np.array([[0.0, 8.0], [1.0, 9.0]])
    >>> BestCoordinate().learn(first, second)(np.array([[3.0, 5.0]])).tolist()
    [5.0]
    """

    name: str = "best coordinate"

    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        gap = second.mean(axis=0) - first.mean(axis=0)
        spread = np.sqrt(first.var(axis=0) + second.var(axis=0))
        best = int(np.argmax(np.abs(gap) / np.where(spread > 0, spread, 1.0)))
        sign = 1.0 if gap[best] >= 0 else -1.0
        return lambda values: sign * values[:, best]


@dataclass(frozen=True)
class LinearDiscriminant(Score):
    """The best direction for Gaussian values of equal covariance.

    Parameters
    ----------
    name
        What results call it.

    Examples
    --------
    >>> first, second = np.array([[0.0], [1.0]]), np.array([[4.0], [5.0]])
    >>> score = LinearDiscriminant().learn(first, second)
    >>> bool(np.diff(score(np.array([[0.5], [4.5]])))[0] > 0)
    True
    """

    name: str = "linear discriminant"

    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        direction = discriminant(first, second)
        return lambda values: values @ direction


def discriminant(first: Matrix, second: Matrix) -> Vector:
    """Return the difference of means, whitened by the common covariance (slightly shrunk)."""
    gap: Vector = second.mean(axis=0) - first.mean(axis=0)
    centred = np.concatenate([first - first.mean(axis=0), second - second.mean(axis=0)])
    variances = centred.var(axis=0)
    spread = np.sqrt(np.where(variances > 0, variances, 1.0))
    if gap.size > WIDEST or gap.size > len(centred) // 4:
        weighted: Vector = gap / spread**2
        return weighted
    scaled = centred / spread
    covariance = scaled.T @ scaled / len(scaled) + 1e-6 * np.eye(gap.size)
    whitened: Vector = np.linalg.solve(covariance, gap / spread) / spread
    return whitened

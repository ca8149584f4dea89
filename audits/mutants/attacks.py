"""Attacks that only some mutants need."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet._types import Vector
from discreet.audit.scores import Score
from discreet.audit.scores.base import Matrix, Scorer


@dataclass(frozen=True, eq=False)
class Nearness(Score):
    """Minus the distance to a point: noise that is too dense in its middle shows here."""

    point: ArrayLike
    name: str = "nearness"

    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        point = np.asarray(self.point, dtype=np.float64)
        return lambda values: -np.linalg.norm(values - point, axis=1)


@dataclass(frozen=True, eq=False)
class Combination(Score):
    """A weighted sum of all that is released."""

    weights: ArrayLike
    name: str = "combination"

    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        weights = np.asarray(self.weights, dtype=np.float64)
        return lambda values: np.asarray(values @ weights)


@dataclass(frozen=True)
class SeenBefore(Score):
    """How often exactly this value was released on the second data set, less on the first."""

    name: str = "seen before"

    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        here, there = (Counter(map(_key, values)) for values in (first, second))

        def score(values: Matrix) -> Vector:
            keys = map(_key, values)
            return np.array([float(there[key] - here[key]) for key in keys])

        return score


def _key(row: Vector) -> bytes:
    return row.tobytes()

"""The radial basis function kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Array, Vector
from discreet.geometry import limits
from discreet.kernels.base import ELEMENTARY, Domain, Kernel
from discreet.kernels.squared_distances import (
    negative_squared_distances,
    negative_squared_distances_alone,
    squared_distance_error,
    squares,
)

ROUGHLY = 1024.0
"""Exponents that are differences of numbers up to this have three digits in half precision."""


@dataclass(frozen=True)
class RBF(Kernel):
    r"""The radial basis function kernel, also called Gaussian or squared exponential.

    .. math:: K(x, z) = e^{-\gamma \lVert x - z \rVert^2}

    Parameters
    ----------
    gamma
        How fast it falls with the squared distance; public, or tuned with budget.

    Examples
    --------
    >>> RBF(gamma=0.5).evaluate([[0.0], [1.0]], [[1.0]]).round(4)
    array([[0.6065],
           [1.    ]])
    """

    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", limits.size(gamma=self.gamma))

    def _evaluate(self, rows: Array, points: Array) -> Array:
        exponents = negative_squared_distances(rows, points, self.gamma)
        return np.exp(exponents, out=exponents)

    def evaluate_roughly(self, rows: Array, points: Array) -> Any:
        largest = max(float(squares(one).max(initial=0.0)) for one in (rows, points))
        if not self.gamma * largest <= ROUGHLY:
            return super().evaluate_roughly(rows, points)
        here: Any = rows.astype(np.float32)
        there: Any = points.astype(np.float32)
        exponents = negative_squared_distances(here, there, self.gamma)
        return np.exp(exponents, out=exponents)

    def _evaluate_alone(self, rows: Array, points: Array, largest: float) -> Array:
        exponents = negative_squared_distances_alone(rows, points, self.gamma, largest)
        return np.exp(exponents, out=exponents)

    def _diagonal(self, rows: Array) -> Vector:
        return np.ones(len(rows))

    def _error(self, bounds: Domain) -> float:
        return squared_distance_error(bounds, self.gamma) + ELEMENTARY

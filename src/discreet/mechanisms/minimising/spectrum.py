"""Ridge solutions of a symmetric matrix from its eigenvalues, in a ball if there is one.

Tikhonov regularisation by an eigendecomposition; the multiplier of the ball by bisection.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Vector

MOST_HALVINGS = 200


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A symmetric matrix by its eigenvalues, negative ones taken for zero."""

    values: Vector
    vectors: Array

    @classmethod
    def of(cls, matrix: Array) -> Spectrum:
        values, vectors = np.linalg.eigh(matrix)
        return cls(np.maximum(values, 0.0), vectors)

    def solve(self, vector: Vector, ridge: float) -> Vector:
        """Return the vector divided by the matrix plus ``ridge`` times the identity."""
        return np.asarray(self.vectors @ ((self.vectors.T @ vector) / (self.values + ridge)))

    def matrix(self, ridge: float) -> Array:
        """Return the matrix plus ``ridge`` times the identity."""
        return np.asarray((self.vectors * (self.values + ridge)) @ self.vectors.T)

    def multiplier(self, vector: Vector, ridge: float, radius: float) -> float:
        """Return the least ridge to add so that the solution has norm at most ``radius``.

        The solution with it is the minimiser of the quadratic over the ball.
        """
        parts = self.vectors.T @ vector

        def fits(more: float) -> bool:
            return bool(np.linalg.norm(parts / (self.values + (ridge + more))) <= radius)

        if fits(0.0):
            return 0.0
        low, high = 0.0, 2 * float(np.linalg.norm(parts)) / radius
        for _ in range(MOST_HALVINGS):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            low, high = (low, middle) if fits(middle) else (middle, high)
        return high

"""What a solver sees of a problem, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from discreet._types import Vector

Inverse = Callable[[Vector], Vector]
"""Applies the inverse of a positive definite matrix."""


class Objective(Protocol):
    """A smooth, strongly convex function."""

    dimension: int
    strong_convexity: float

    def value_and_gradient(self, point: Vector) -> tuple[float, Vector]:
        """Return the value and the gradient."""
        ...

    def rough_inverse(self, point: Vector) -> Inverse:
        """Return the inverse of an approximate Hessian: cheap, from some of the rows."""
        ...

    def full_inverse(self, point: Vector) -> Inverse:
        """Return the inverse of the Hessian itself."""
        ...

    def rough_start(self, point: Vector) -> Vector:
        """Return the minimiser of a cheap stand-in for this objective, as a place to start."""
        ...


@dataclass(frozen=True, eq=False)
class Solution:
    """A point, and the norm of the gradient computed there."""

    point: Vector
    gradient_norm: float

    def is_within(self, tolerance: float) -> bool:
        """Say whether the computed gradient is small enough."""
        return self.gradient_norm <= tolerance

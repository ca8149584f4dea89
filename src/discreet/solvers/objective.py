"""What a solver sees of a problem, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from discreet._types import Array, Vector

Inverse = Callable[[Vector], Vector]
"""Applies the inverse of a positive definite matrix."""


class Smooth(Protocol):
    """A smooth, strongly convex function."""

    dimension: int
    strong_convexity: float

    def value_and_gradient(self, point: Vector) -> tuple[float, Vector]:
        """Return the value and the gradient."""
        ...


class Objective(Smooth, Protocol):
    """A smooth function whose Hessian is only ever inverted, roughly or fully."""

    passes_per_hessian: float
    """What a full Hessian costs, in evaluations of the gradient."""

    def rough_inverse(self, point: Vector) -> Inverse:
        """Return the inverse of an approximate Hessian: cheap, from some of the rows."""
        ...

    def full_inverse(self, point: Vector) -> Inverse:
        """Return the inverse of the Hessian itself."""
        ...

    def known_inverse(self, point: Vector) -> Inverse | None:
        """Return the inverse of the Hessian if the last evaluation found it in passing."""
        ...

    def rough_start(self, point: Vector) -> Vector:
        """Return the minimiser of a cheap stand-in for this objective, as a place to start."""
        ...


class DenseObjective(Smooth, Protocol):
    """A smooth function of moderate width, whose Hessian can be written down."""

    def hessian(self, point: Vector) -> Array:
        """Return the Hessian, a new array of shape (dimension, dimension)."""
        ...


@dataclass(frozen=True, eq=False)
class Solution:
    """A point, and the norm of the residual computed there.

    The residual is the gradient; with a penalty, the gradient plus a subgradient of the penalty.

    Parameters
    ----------
    point
        What was found.
    residual
        The norm, as computed; infinite if it was not.

    Examples
    --------
    >>> import numpy as np
    >>> Solution(np.zeros(2), residual=1e-9).is_within(1e-6)
    True
    """

    point: Vector
    residual: float

    def is_within(self, tolerance: float) -> bool:
        """Say whether the computed residual is small enough."""
        return self.residual <= tolerance

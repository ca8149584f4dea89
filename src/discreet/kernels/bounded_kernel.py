"""A kernel whose feature vectors are clipped, each point by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Array, Vector
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.kernels.base import Domain, Kernel, as_points

SLACK = 1 + 2.0**-20
"""Rounding lets the norm of a clipped feature vector exceed the radius by this factor at most."""


@dataclass(frozen=True)
class BoundedKernel(Kernel):
    r"""A kernel whose feature vectors are clipped to a radius, each point by itself.

    .. math:: K_R(x, z) = c(x) \, c(z) \, K(x, z) + a, \qquad
        c(x) = \min\Big(1, \frac{R}{\sqrt{K(x, x)}}\Big)

    Parameters
    ----------
    kernel
        The kernel; a point at which K(x, x) is negative or not finite has c(x) = 0.
    radius
        The largest norm R of a feature vector without the constant; public.
    constant
        The square a of a feature that is the same for all points, which stands in for an
        intercept; zero for none.

    Notes
    -----
    The factor c(x) is, to the last bit, a function of its point alone, so one record cannot change
    how others are clipped, and K_R is the exact kernel of the clipped features.

    Examples
    --------
    >>> from discreet.kernels import Linear
    >>> kernel = BoundedKernel(Linear(), radius=2.0)
    >>> kernel.evaluate([[3.0], [1.0]], [[10.0], [-1.0]])
    array([[ 4., -2.],
           [ 2., -1.]])
    >>> kernel.evaluate([[np.inf]], [[1.0]])
    array([[0.]])
    """

    kernel: Kernel
    radius: float
    constant: float = 0.0

    def __post_init__(self) -> None:
        _checks.instance(Kernel, kernel=self.kernel)
        if isinstance(self.kernel, BoundedKernel):
            raise InputError("a kernel is clipped once; give the kernel without bounds.")
        _checks.not_negative(constant=self.constant)
        object.__setattr__(self, "radius", limits.size(radius=self.radius))
        object.__setattr__(self, "constant", float(self.constant))
        if self.constant > limits.LARGEST:
            raise InputError(f"constant must be at most {limits.LARGEST:g}; got {self.constant}.")

    @property
    def reach(self) -> float:
        """The largest norm of a feature vector, constant and rounding included."""
        return limits.round_up(math.hypot(self.radius * SLACK, math.sqrt(self.constant)))

    @property
    def assumed(self) -> tuple[str, ...]:
        return self.kernel.assumed

    def factors(self, X: ArrayLike) -> Vector:
        """Return c(x) for each row."""
        squares = self.kernel.diagonal(X)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.minimum(1.0, self.radius / np.sqrt(squares))
        return np.where(np.isfinite(squares) & (squares >= 0), found, 0.0)

    def check_points(self, Z: ArrayLike) -> Array:
        """Return query points as a matrix, refusing those at which the kernel is not defined.

        What is refused depends on the queries alone, which are public.
        """
        points = as_points(Z)
        if not np.isfinite(points).all():
            raise InputError("query points must be finite numbers.")
        squares = self.kernel.diagonal(points)
        if not (np.isfinite(squares) & (squares >= 0)).all():
            raise InputError(f"K(z, z) must be defined and not negative; {self.kernel!r} is not.")
        return points

    def scale(self, X: ArrayLike) -> tuple[Array, Vector]:
        """Return points, zeros for those that are not finite, with their factors c(x)."""
        rows, factors = as_points(X), self.factors(X)
        is_finite = np.isfinite(rows).all(axis=1, keepdims=True)
        return (rows if is_finite.all() else np.where(is_finite, rows, 0.0)), factors

    def evaluate_scaled(
        self,
        rows: Array,
        row_factors: Vector,
        points: Array,
        point_factors: Vector,
        *,
        roughly: bool = False,
    ) -> Any:
        """Return entries for points whose factors are known from :meth:`scale`.

        Parameters
        ----------
        rows, row_factors
            Finite points, one a row, and their factors.
        points, point_factors
            Others.
        roughly
            Whether half as many digits will do, with no bound on their error.
        """
        evaluate = self.kernel.evaluate_roughly if roughly else self.kernel.evaluate
        with np.errstate(over="ignore"):
            entries = evaluate(rows, points)
        return self._clip(entries, row_factors, point_factors)

    def evaluate_roughly(self, rows: Array, points: Array) -> Any:
        return self.evaluate_scaled(*self.scale(rows), *self.scale(points), roughly=True)

    def _clip(self, entries: Array, row_factors: Vector, point_factors: Vector) -> Array:
        """Return entries times the factors of their two points, in place; each by itself."""
        if not (row_factors.min(initial=1.0) == 1.0 == point_factors.min(initial=1.0)):
            entries[row_factors == 0] = 0.0
            entries[:, point_factors == 0] = 0.0
            entries *= row_factors[:, None]
            entries *= point_factors
        if self.constant:
            entries += self.constant
        return entries

    def _evaluate(self, rows: Array, points: Array) -> Array:
        entries: Array = self.evaluate_scaled(*self.scale(rows), *self.scale(points))
        return entries

    def _evaluate_alone(self, rows: Array, points: Array, largest: float) -> Array:
        finite, factors = self.scale(rows)
        sound, point_factors = self.scale(points)
        with np.errstate(over="ignore"):
            entries = self.kernel.evaluate_alone(finite, sound, largest)
        return self._clip(entries, factors, point_factors)

    def diagonal(self, X: ArrayLike) -> Vector:
        """Return K_R(x, x) for each row; it is defined everywhere."""
        return self._diagonal(as_points(X))

    def _diagonal(self, rows: Array) -> Vector:
        finite, factors = self.scale(rows)
        squares = np.nan_to_num(self.kernel.diagonal(finite), posinf=0.0, neginf=0.0)
        return factors * squares * factors + self.constant

    def _error(self, bounds: Domain) -> float:
        """Bound the error of an entry, refusing bounds at which clipping would not be exact enough.

        A computed diagonal within ``error`` of the truth leaves the norm of a clipped feature
        vector within sqrt(1 + error / R^2) of R, which has to be within the slack.
        """
        error = self.kernel.error_within(bounds, self.radius)
        square = self.radius * self.radius
        if not error <= square * 2.0**-20:
            raise InputError(
                f"entries of {self.kernel!r} err by up to {error:.3g} within these bounds, too "
                f"much for radius {self.radius:g}; declare smaller bounds or a larger radius."
            )
        return error + 8 * limits.UNIT * (square + self.constant)

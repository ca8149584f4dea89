"""Lasso penalties: alone, with a ridge (an elastic net), and within a convex set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Booleans, Vector
from discreet.errors import InputTypeError
from discreet.geometry import (
    Box,
    ConvexSet,
    L1Ball,
    L1L2Ball,
    L2Ball,
    LinfBall,
    Simplex,
    WholeSpace,
)
from discreet.geometry.limits import UNIT
from discreet.penalties.base import Penalty, underflow
from discreet.penalties.l2 import L2


@dataclass(frozen=True)
class L1(Penalty):
    r"""The sum of absolute values, times a weight.

    .. math:: P(w) = a \lVert w \rVert_1

    Parameters
    ----------
    weight : float
        The weight a, zero or more.
    spares_last : bool
        Whether the last coefficient, that of an intercept, is left out of the sum.

    Notes
    -----
    The prox moves every coefficient towards zero by a step, and stops there.

    Examples
    --------
    >>> L1(weight=2.0).value(np.array([1.0, -3.0]))
    8.0
    >>> L1(weight=2.0).prox(np.array([1.0, -3.0]), step=1.0)
    array([ 0., -1.])
    >>> L1(weight=2.0, spares_last=True).prox(np.array([1.0, -3.0]), step=1.0)
    array([ 0., -3.])
    """

    strong_convexity: ClassVar[float] = 0.0

    weight: float
    spares_last: bool = False

    def __post_init__(self) -> None:
        _checks.not_negative(weight=self.weight)
        object.__setattr__(self, "weight", float(self.weight))

    @np.errstate(over="ignore")
    def value(self, w: Vector) -> float:
        counted = w[:-1] if self.spares_last else w
        return float(np.sum(self.weight * np.abs(counted)))

    def _prox(self, w: Vector, step: float) -> Vector:
        return soft_threshold(w, self.distances(w.size, step))

    def _prox_derivative(self, w: Vector, step: float) -> Array:
        return np.diag(is_kept(w, self.distances(w.size, step)).astype(np.float64))

    def distances(self, width: int, step: float) -> float | Vector:
        """Return how far the prox may move each coefficient."""
        if not self.spares_last:
            return self.weight * step
        distances = np.full(width, self.weight * step)
        distances[-1] = 0.0
        return distances

    def prox_error(self, size: float, dimension: int, step_error: float = 0.0) -> float:
        # Roundings: one in the distance, one in the difference, and underflow. An entry that stays
        # zero is exact; any other is at least as large as the distance, up to its error, so the
        # distance errs by at most a relative u of the entry.
        return (3 * UNIT + 2 * step_error) * size + underflow(dimension)


def soft_threshold(w: Vector, distance: float | Vector) -> Vector:
    """Move every entry towards zero by ``distance``, stopping at zero."""
    return np.asarray(w - np.clip(w, -distance, distance))


def is_kept(w: Vector, distance: float | Vector) -> Booleans:
    """Say which entries a soft threshold leaves different from zero."""
    kept: Booleans = np.abs(w) > distance
    return kept


@dataclass(frozen=True)
class L1L2(Penalty):
    r"""Absolute values and squares, each with its own weight.

    .. math:: P(w) = a \lVert w \rVert_1 + \frac{b}{2} \lVert w \rVert_2^2

    Parameters
    ----------
    l1_weight, l2_weight : float
        The weights a and b, zero or more.

    Notes
    -----
    The prox moves every coefficient towards zero by a step, then divides it by 1 + b step.

    References
    ----------
    Zou, Hastie (2005), Regularization and variable selection via the elastic net.

    Examples
    --------
    >>> import numpy as np
    >>> net = L1L2(l1_weight=1.0, l2_weight=1.0)
    >>> net.value(np.array([1.0, -2.0]))
    5.5
    >>> net.prox(np.array([0.5, -2.0]), step=1.0)
    array([ 0. , -0.5])
    """

    l1_weight: float
    l2_weight: float

    def __post_init__(self) -> None:
        _checks.not_negative(l1_weight=self.l1_weight, l2_weight=self.l2_weight)
        object.__setattr__(self, "l1_weight", float(self.l1_weight))
        object.__setattr__(self, "l2_weight", float(self.l2_weight))

    def value(self, w: Vector) -> float:
        return L1(self.l1_weight).value(w) + L2(self.l2_weight).value(w)

    @property
    def strong_convexity(self) -> float:
        return self.l2_weight

    def _prox(self, w: Vector, step: float) -> Vector:
        return soft_threshold(w, self.l1_weight * step) / (1 + self.l2_weight * step)

    def _prox_derivative(self, w: Vector, step: float) -> Array:
        kept = is_kept(w, self.l1_weight * step)
        return np.diag(kept / (1 + self.l2_weight * step))

    def prox_error(self, size: float, dimension: int, step_error: float = 0.0) -> float:
        # The division only shrinks the error of the threshold.
        parts = L1(self.l1_weight), L2(self.l2_weight)
        return sum(part.prox_error(size, dimension, step_error) for part in parts)


REGIONS = (Box, L1Ball, L1L2Ball, L2Ball, LinfBall, Simplex, WholeSpace)


@dataclass(frozen=True)
class L1Within(Penalty):
    r"""The sum of absolute values inside a convex set, infinite outside.

    .. math:: P(w) = a \lVert w \rVert_1 \text{ if } w \in C, \quad \infty \text{ otherwise}

    Parameters
    ----------
    lasso : L1
        The sum of absolute values, of all coefficients or all but the last.
    region : ConvexSet
        The set C: a box, an l1, l2 or maximum ball, their intersections, or a simplex.

    Notes
    -----
    The prox is a soft threshold and then a projection. *Balls.* Let u be the soft threshold of z,
    so that z - u is a subgradient of a \|.\|_1 at u, and t the projection of u on a set that no
    change of signs alters. Coordinates of t have the sign of those of u or are zero, hence z - u is
    a subgradient at t as well, and u - t is normal to C at t: together z - t is a subgradient of P.
    *Boxes.* Each coordinate by itself: the minimum of a convex function over an interval is its
    minimum brought into the interval. *The simplex.* No coefficient is negative there, so that the
    sum is a linear function: entries fall by the distance, whatever their sign, before they are
    projected; since all may be raised alike, those that are spared are raised instead.

    Examples
    --------
    >>> net = L1Within(L1(1.0), L2Ball(1.0))
    >>> net.prox(np.array([6.0, -0.5]), step=1.0)
    array([1., 0.])
    >>> net.value(np.array([0.5, -0.5])), net.value(np.array([2.0, 0.0]))
    (1.0, inf)
    """

    strong_convexity: ClassVar[float] = 0.0

    lasso: L1
    region: ConvexSet

    def __post_init__(self) -> None:
        _checks.instance(L1, lasso=self.lasso)
        if not isinstance(self.region, REGIONS):
            raise InputTypeError(
                f"an l1 penalty within {self.region!r} has no known prox; use a ball, a box or a "
                "simplex."
            )

    def value(self, w: Vector) -> float:
        is_inside = self.region.contains(w, tolerance=1e-9)
        return self.lasso.value(w) if is_inside else math.inf

    def radius(self, dimension: int) -> float:
        return self.region.reach(dimension)

    def nearest(self, w: Vector) -> Vector:
        return self.region.project(w)

    def _point_to_project(self, w: Vector, step: float) -> Vector:
        """Return what is projected."""
        if not isinstance(self.region, Simplex):
            return soft_threshold(w, self.lasso.distances(w.size, step))
        if not self.lasso.spares_last:
            return w
        # Beyond the second number the last coefficient has everything already.
        most = self.region.total + 2 * float(np.abs(w).max())
        raised = w.copy()
        raised[-1] += min(self.lasso.weight * step, most)
        return raised

    def _prox(self, w: Vector, step: float) -> Vector:
        return self.region.project(self._point_to_project(w, step))

    def _prox_derivative(self, w: Vector, step: float) -> Array:
        derivative = self.region.projection_derivative(self._point_to_project(w, step))
        if isinstance(self.region, Simplex):
            return derivative
        kept = is_kept(w, self.lasso.distances(w.size, step))
        return derivative * np.outer(kept, kept)

    def prox_error(self, size: float, dimension: int, step_error: float = 0.0) -> float:
        # A projection does not enlarge what was lost before it. On a simplex, what the last entry
        # is raised by, at most the total and twice the point, errs by two roundings and by twice
        # the step's error, and the sum by one more rounding.
        if not isinstance(self.region, Simplex):
            before = self.lasso.prox_error(size, dimension, step_error)
            return before + self.region.projection_error(size, dimension)
        most = self.region.total + 2 * size
        before = (4 * UNIT + 2 * step_error) * (most + size) + underflow(dimension)
        return before + self.region.projection_error(size + 2 * most, dimension)

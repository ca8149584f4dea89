"""The points that a sampler may return: a fixed lattice inside a bounded set.

Discretisation of the domain, decided by each lattice point alone to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Booleans, Integers, Vector
from discreet.errors import NotAccepted
from discreet.geometry import Box, ConvexSet

STEP_BITS = 30
"""Steps of the lattice along each axis, as a power of two."""


@dataclass(frozen=True)
class Ball:
    """Points whose distance from ``centre`` is at most ``radius`` in a norm of order 1 or 2."""

    centre: tuple[float, ...]
    radius: float
    order: int

    def holds(self, points: Array) -> Booleans:
        """Say which points lie inside; to the last bit, a matter of each point alone."""
        total = np.zeros(len(points))
        for axis, middle in enumerate(self.centre):  # no reduction, whose order may vary
            apart = points[:, axis] - middle
            total += np.abs(apart) if self.order == 1 else apart * apart
        return total <= (self.radius if self.order == 1 else self.radius * self.radius)


@dataclass(frozen=True)
class Region:
    """Lattice points of a box that lie in some balls; public.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> disc = region_of(L2Ball(1.0), 2, step_bits=1)
    >>> disc.holds(np.array([[0, 0], [1, 0], [1, 2], [3, 1]]))
    array([False,  True,  True, False])
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    balls: tuple[Ball, ...] = ()
    within: ConvexSet | None = None  # the convex set that all of it lies in, to project on
    step_bits: int = STEP_BITS

    @property
    def width(self) -> int:
        return len(self.lower)

    @property
    def steps(self) -> int:
        return 1 << self.step_bits

    @property
    def spacing(self) -> Vector:
        """The distance of neighbours along each axis."""
        return np.subtract(self.upper, self.lower) * 2.0**-self.step_bits

    @property
    def diameter(self) -> float:
        """Bound the distance of two points."""
        sides = float(np.linalg.norm(np.subtract(self.upper, self.lower)))
        return min([sides, *(2 * ball.radius for ball in self.balls)]) * (1 + 1e-14)

    def points(self, places: Integers) -> Array:
        """Return the coefficients at lattice points; to the last bit, a matter of each alone."""
        points = np.asarray(self.lower) + places.astype(np.float64) * self.spacing
        return np.clip(points, self.lower, self.upper)

    def holds(self, places: Integers) -> Booleans:
        """Say which places are lattice points of the region."""
        held: Booleans = np.all((places >= 0) & (places <= self.steps), axis=1)
        if held.any():
            points = self.points(places[held])
            inside = np.ones(len(points), dtype=np.bool_)
            for ball in self.balls:
                inside &= ball.holds(points)
            held[held] = inside
        return held

    def support(self, directions: Array) -> Vector:
        """Bound the largest inner product of any point with each direction."""
        ends = directions * np.where(directions > 0, self.upper, self.lower)
        largest, size = ends.sum(axis=1), np.abs(ends).sum(axis=1)
        for ball in self.balls:
            middle = directions @ np.asarray(ball.centre)
            order = 2 if ball.order == 2 else np.inf
            long = ball.radius * np.linalg.norm(directions, ord=order, axis=1)
            largest = np.minimum(largest, middle + long)
            size = np.maximum(size, long + np.abs(directions * ball.centre).sum(axis=1))
        return np.asarray(largest + 2.0**-44 * size)

    def project(self, points: Array) -> Array:
        """Return points of the convex hull, up to rounding; the same ones if they are in it."""
        if self.within is not None:
            points = np.asarray(self.within.project(points))
        for ball in self.balls:
            if ball.order == 2:
                centre = np.asarray(ball.centre)
                length = np.linalg.norm(points - centre, axis=1, keepdims=True)
                shrink = ball.radius / np.maximum(length, ball.radius)
                nearer = centre + (points - centre) * shrink
                points = np.where(length > ball.radius, nearer, points)
        return np.clip(points, self.lower, self.upper)


def region_of(domain: ConvexSet, width: int, *, step_bits: int = STEP_BITS) -> Region:
    """Return the lattice of a box or a ball around the origin; refuse other sets."""
    if isinstance(domain, Box):
        if not all(low < high for low, high in zip(domain.lower, domain.upper, strict=True)):
            raise NotAccepted("a box to sample from needs a lower limit below the upper one.")
        lower, upper = tuple(domain.lower), tuple(domain.upper)
        return Region(lower, upper, within=domain, step_bits=step_bits)
    order = domain.norm_order
    if order is None:
        raise NotAccepted(
            f"{domain!r} is no set to sample from; use a ball or a box, or objective_perturbation."
        )
    reach = domain.reach(width, math.inf)
    balls = () if order == math.inf else (Ball((0.0,) * width, reach, int(order)),)
    return Region((-reach,) * width, (reach,) * width, balls, domain, step_bits)


def region_around(
    centre: Vector, radius: float, domain: ConvexSet | None, *, step_bits: int = STEP_BITS
) -> Region:
    """Return the lattice of a ball around a public point, inside of the domain if there is one."""
    middle = tuple(float(entry) for entry in centre)
    balls = [Ball(middle, radius, 2)]
    lower, upper = centre - radius, centre + radius
    if domain is not None:
        whole = region_of(domain, centre.size)
        lower, upper = np.maximum(lower, whole.lower), np.minimum(upper, whole.upper)
        balls.extend(whole.balls)
    return Region(tuple(lower.tolist()), tuple(upper.tolist()), tuple(balls), domain, step_bits)

r"""From bounds on delta at some epsilons to the best convex profile below them.

A true profile is convex and non-increasing in :math:`\alpha = e^\epsilon`, equals one at
:math:`\alpha = 0`, and lies above :math:`(1 - \alpha)_+`. So the lower convex hull, in alpha, of
any upper bounds is again an upper bound; it also fills gaps in which no bound was stated. A bound
that holds in both orders of the pair gives points at negative epsilons by the identity
:math:`\delta(-\epsilon) = 1 - e^{-\epsilon}(1 - \delta(\epsilon))`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Vector
from discreet.privacy.profile import SAFETY

_ROUNDS = 12
"""How often corners are left out all at once, before one after the other."""


@dataclass(frozen=True, eq=False)
class Hull:
    """The lower convex hull of points (e**epsilon, delta)."""

    epsilons: Vector  # increasing, the first stands for minus infinity
    deltas: Vector

    def __call__(self, epsilons: Vector) -> Vector:
        """Return the hull at epsilons, rounded up."""
        right = np.searchsorted(self.epsilons, epsilons, side="left")
        right = np.clip(right, 1, self.epsilons.size - 1)
        left = right - 1
        # Positions between the corners in alpha, computed relative to the right corner.
        gap = np.expm1(np.minimum(epsilons - self.epsilons[right], 0.0))
        with np.errstate(divide="ignore"):
            width = np.expm1(self.epsilons[left] - self.epsilons[right])
        share = np.clip(gap / width, 0.0, 1.0)  # 1 at the left corner
        rise = self.deltas[left] - self.deltas[right]
        return np.minimum(1.0, (self.deltas[right] + share * rise) * SAFETY)

    def below(self, epsilons: Vector, direct: Vector) -> Vector:
        """Return the better of a direct bound and the hull, up to where the hull ends."""
        return np.where(epsilons < self.epsilons[-1], np.minimum(direct, self(epsilons)), direct)


def lower_hull(epsilons: Vector, deltas: Vector, reverse: Vector | None = None) -> Hull:
    """Return the hull of bounds at epsilons >= 0 and of their mirror images.

    ``reverse`` are the bounds for the pair in reverse order, if they differ.

    Examples
    --------
    >>> hull = lower_hull(np.array([1.0, 2.0]), np.array([0.2, 0.01]))
    >>> hull(np.array([0.0, 1.0])).round(3).tolist()
    [0.57, 0.2]
    """
    behind = deltas if reverse is None else reverse
    mirrored = -np.expm1(-epsilons) + np.exp(-epsilons) * behind
    points = np.concatenate([[-np.inf], -epsilons[::-1], epsilons])
    values = np.concatenate([[1.0], mirrored[::-1], deltas])
    order = np.lexsort((values, points))
    points, values = points[order], values[order]
    first = np.concatenate([[True], points[1:] > points[:-1]])
    points, values = points[first], values[first]
    points, values, is_done = _thin_out(points, values)
    if is_done:
        return Hull(points, values)
    return _scan(points, values)


def _scan(points: Vector, values: Vector) -> Hull:
    """Keep the corners of the hull, from left to right: each takes back those above its chord.

    Corner b lies on or above the chord from a to c if its delta is at least that of the chord, in
    alpha relative to the one at c: large epsilons do not overflow.
    """
    expm1 = math.expm1
    places: list[float] = []
    deltas: list[float] = []
    for c, delta in zip(points.tolist(), values.tolist(), strict=True):
        while len(places) > 1:
            chord = (deltas[-2] - delta) * (expm1(places[-1] - c) / expm1(places[-2] - c))
            if not deltas[-1] >= delta + chord:
                break
            places.pop()
            deltas.pop()
        places.append(c)
        deltas.append(delta)
    return Hull(np.array(places), np.array(deltas))


def _thin_out(points: Vector, values: Vector) -> tuple[Vector, Vector, bool]:
    """Leave out corners above their neighbours' chord, a few times; say whether none is left.

    Any corners give an upper bound. One on or above a chord between others is none of the hull,
    whichever of them are left out with it, so all are left out at once; what rounding makes of
    nearly straight runs is an upper bound all the same.
    """
    for _ in range(_ROUNDS):
        if points.size < 3:
            return points, values, True
        to_a, to_b = np.expm1(points[:-2] - points[2:]), np.expm1(points[1:-1] - points[2:])
        chord = values[2:] + (values[:-2] - values[2:]) * (to_b / to_a)
        is_corner = np.concatenate([[True], ~(values[1:-1] >= chord), [True]])
        if is_corner.all():
            return points, values, True
        points, values = points[is_corner], values[is_corner]
    return points, values, False

"""Newton's method near the limits of floats: points that are worth a certificate, one by one.

Damped Newton steps whose line search compares slopes (``find_crossing``), with gradients as careful
as those of the certificate. Where kinks of a loss lie within a few floats of the minimum, whole
steps go to and fro between them, and values no longer tell which way is down; slopes do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from discreet._types import Array, Vector
from discreet.penalties import Penalty
from discreet.solvers.objective import Inverse
from discreet.solvers.quadratic import Hessian, Quadratic

Gradient = Callable[[Vector], Vector]


def steady_newton(
    gradient: Gradient, inverse: Callable[[Vector], Inverse], start: Vector, *, smoothness: float
) -> Iterator[Vector]:
    """Yield points with smaller and smaller gradients, without end.

    Parameters
    ----------
    gradient
        Returns the gradient at a point, as carefully computed as the certificate has to be.
    inverse
        Returns, for a point, what applies the inverse of a Hessian.
    start
        Where to begin.
    smoothness
        A bound on the largest curvature.

    Yields
    ------
    point
        Whoever looks on decides when one is good enough.

    Examples
    --------
    >>> points = steady_newton(
    ...     lambda w: 2 * w - 6.0, lambda w: lambda vector: vector / 2, np.zeros(1), smoothness=2.0
    ... )
    >>> next(points).round(9)
    array([3.])
    """
    point = start
    while True:
        here = gradient(point)
        downhill = -here / smoothness
        direction = -inverse(point)(here)
        if not float(here @ direction) < 0:
            direction = downhill
        length = find_crossing(_slope(gradient, point, direction))
        moved = point + length * direction
        yield moved
        there = gradient(moved)
        if not np.linalg.norm(there) < np.linalg.norm(here):
            moved = moved - there / smoothness
            yield moved
        point = moved


def steady_proximal_newton(
    gradient: Gradient,
    hessian: Callable[[Vector], Array],
    penalty: Penalty,
    start: Vector,
    *,
    smoothness: float,
    tolerance: float,
) -> Iterator[Vector]:
    """Yield points with smaller and smaller residuals, without end.

    Parameters
    ----------
    gradient
        Returns the gradient at a point, as carefully computed as the certificate has to be.
    hessian
        Returns the Hessian at a point, a square array.
    penalty
        What is added to the smooth function.
    start
        Where to begin.
    smoothness
        A bound on the largest curvature.
    tolerance
        How well each quadratic model is minimised: to a tenth of this.

    Yields
    ------
    point
        Whoever looks on decides when one is good enough.

    Examples
    --------
    >>> from discreet.penalties import L1
    >>> points = steady_proximal_newton(
    ...     lambda w: w - 3.0,
    ...     lambda w: np.eye(1),
    ...     L1(1.0),
    ...     np.zeros(1),
    ...     smoothness=1.0,
    ...     tolerance=1e-9,
    ... )
    >>> next(points).round(9)
    array([2.])
    """
    point = penalty.prox(start, 1 / smoothness)
    while True:
        here = gradient(point)
        model = Quadratic(point, here, Hessian(hessian(point)))
        whole = model.minimise(penalty, 0.1 * tolerance).point
        yield whole
        direction = whole - point
        rise = penalty.value(whole) - penalty.value(point)
        slope = _slope(gradient, point, direction, rise if np.isfinite(rise) else 0.0)
        length = find_crossing(slope, is_bounded=True)
        point = whole if length >= 1 else point + length * direction
        point = penalty.prox(point - gradient(point) / smoothness, 1 / smoothness)
        yield point


def _slope(
    gradient: Gradient, point: Vector, direction: Vector, rise: float = 0.0
) -> Callable[[float], float]:
    """Return the slope along a direction; a penalty counts as if it rose evenly."""
    return lambda length: float(gradient(point + length * direction) @ direction) + rise


GOOD_PROGRESS = 0.1
MOST_STRETCHES = 12
MOST_STEPS = 80
"""Enough to halve an interval down to neighbouring floats."""


def find_crossing(slope: Callable[[float], float], *, is_bounded: bool = False) -> float:
    """Return a length at which the slope along a direction is nearly zero.

    Values of a function agree to rounding long before its slopes do, so near a minimum slopes are
    the better guide. The slope is expected to rise from below zero at 0; the length found is
    between two that it has opposite signs at, as close together as it takes, and at most 1 if the
    way is bounded.

    Examples
    --------
    >>> find_crossing(lambda length: length - 0.75)
    0.75
    """
    first = low_slope = slope(0.0)
    low, high = 0.0, 1.0
    high_slope = slope(high)
    for _ in range(MOST_STRETCHES):
        if is_bounded or high_slope >= GOOD_PROGRESS * first:
            break
        low, low_slope, high = high, high_slope, 4 * high
        high_slope = slope(high)
    if high_slope < 0:
        return high
    length, here = high, high_slope
    for step in range(MOST_STEPS):
        if abs(here) <= GOOD_PROGRESS * abs(first):
            return length
        length = (low + high) / 2
        if step % 2 == 0 and high_slope > low_slope:
            # As if the slope were a straight line; every other time, lest one end should stick.
            length = low - low_slope * (high - low) / (high_slope - low_slope)
        if not low < length < high:
            length = (low + high) / 2
        if not low < length < high:
            break
        here = slope(length)
        if here < 0:
            low, low_slope = length, here
        else:
            high, high_slope = length, here
    return low if abs(low_slope) < abs(high_slope) else high

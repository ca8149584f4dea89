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
from discreet.solvers.line_search import find_crossing
from discreet.solvers.objective import Inverse
from discreet.solvers.quadratic import Hessian, Quadratic

Gradient = Callable[[Vector], Vector]


def steady_newton(
    gradient: Gradient, inverse: Callable[[Vector], Inverse], start: Vector, *, smoothness: float
) -> Iterator[Vector]:
    """Yield points with smaller and smaller gradients, without end."""
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
    """Yield points with smaller and smaller residuals, without end."""
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

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

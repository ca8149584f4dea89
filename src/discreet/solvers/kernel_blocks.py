"""Dual ascent in a kernel's space, a block of rows at a time: those farthest from right.

Each is a quadratic function on a box: projected Newton steps, or an interior path if they stall.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from discreet._types import Array, Integers, Vector
from discreet.solvers.kernel_duals import QuadraticDual
from discreet.solvers.kernel_matrix import KernelMatrix

STEPS = 15
PATH_STEPS = 60
SHORTEST = 2.0**-12
NEAR = 1e-7
"""Of the distance of two limits: a point as near to one, if slopes lead there, is there."""


def minimise_on_box(
    matrix: Array, linear: Vector, lower: Vector, upper: Vector, start: Vector, *, gap: float
) -> Vector:
    r"""Minimise :math:`\frac12 v^\top Q v - b^\top v` between limits, as far as steps lead.

    Examples
    --------
    >>> Q, one = np.eye(2), np.ones(2)
    >>> minimise_on_box(Q, np.array([0.5, 3.0]), -one, one, 0 * one, gap=1e-12)
    array([0.5, 1. ])
    """
    point = _project_newton(matrix, linear, lower, upper, start, gap)
    if _gap(matrix @ point - linear, lower, upper, point) <= gap:
        return point
    inner = _follow_path(matrix, linear, lower, upper, gap)
    gaps = [_gap(matrix @ one - linear, lower, upper, one) for one in (point, inner)]
    return point if gaps[0] <= gaps[1] else inner


def _gap(slopes: Vector, lower: Vector, upper: Vector, point: Vector) -> float:
    return float(np.abs(slopes) @ np.where(slopes > 0, point - lower, upper - point))


def _project_newton(
    matrix: Array, linear: Vector, lower: Vector, upper: Vector, start: Vector, gap: float
) -> Vector:
    """Take Newton steps for entries that are free to move, projected on the box."""
    point, slopes = start.copy(), matrix @ start - linear
    for _ in range(STEPS):
        if _gap(slopes, lower, upper, point) <= gap:
            break
        free = np.flatnonzero(np.where(slopes > 0, point - lower, upper - point) > 0)
        system = matrix[np.ix_(free, free)]
        system[np.diag_indices_from(system)] += 1e-10 * (float(np.einsum("ii->", system)) or 1.0)
        try:
            root = cho_factor(system, lower=True, check_finite=False, overwrite_a=True)
        except LinAlgError:
            break
        step = np.zeros_like(point)
        step[free] = -cho_solve(root, slopes[free], check_finite=False)
        moved = _search(matrix, slopes, lower, upper, point, step)
        if moved is None:
            break
        slopes = slopes + matrix @ (moved - point)
        point = moved
    return point


def _search(
    matrix: Array, slopes: Vector, lower: Vector, upper: Vector, point: Vector, step: Vector
) -> Vector | None:
    """Return a better point on the projected way, or None if there is none."""
    length = 1.0
    while length > SHORTEST:
        moved: Vector = np.clip(point + length * step, lower, upper)
        way = moved - point
        fall = float(slopes @ way)
        if fall + float(way @ (matrix @ way)) / 2 < 0.05 * fall < 0:
            return moved
        length /= 2
    return None


def _follow_path(matrix: Array, linear: Vector, lower: Vector, upper: Vector, gap: float) -> Vector:
    """Follow the path of a primal-dual interior method, with a predictor and a corrector."""
    point = lower.copy()
    inside = np.flatnonzero(upper > lower)
    if not inside.size:
        return point
    Q = matrix[np.ix_(inside, inside)]
    b = (
        linear[inside]
        - matrix[np.ix_(inside, np.flatnonzero(upper <= lower))] @ (point[upper <= lower])
    )
    point[inside] = _follow_inside(Q, b, lower[inside], upper[inside], gap)
    return point


def _follow_inside(Q: Array, b: Vector, lower: Vector, upper: Vector, gap: float) -> Vector:
    v = (lower + upper) / 2
    slopes = Q @ v - b
    size = max(float(np.abs(slopes).mean()), 1e-300)
    z, w = np.maximum(slopes, 0) + size, np.maximum(-slopes, 0) + size
    best = v
    for _ in range(PATH_STEPS):
        s, t = v - lower, upper - v
        best = _snap(slopes, lower, upper, v)
        if _gap(Q @ best - b, lower, upper, best) <= gap:
            break
        mean = float(s @ z + t @ w) / (2 * len(v))
        system = Q.copy()
        system[np.diag_indices_from(system)] += z / s + w / t
        try:
            root = cho_factor(system, lower=True, check_finite=False, overwrite_a=True)
        except (LinAlgError, ValueError):
            break
        dv, dz, dw = _direction(root, slopes, s, t, z, w, 0.0, 0.0)
        length = _longest(s, t, z, w, dv, dz, dw)
        ahead = (s + length * dv) @ (z + length * dz) + (t - length * dv) @ (w + length * dw)
        center = mean * (float(ahead) / (2 * len(v) * mean)) ** 3
        dv, dz, dw = _direction(root, slopes, s, t, z, w, center - dv * dz, center + dv * dw)
        length = 0.995 * _longest(s, t, z, w, dv, dz, dw)
        if not length > 0 or not np.isfinite(dv).all():
            break
        v, z, w = v + length * dv, z + length * dz, w + length * dw
        v = np.clip(v, np.nextafter(lower, upper), np.nextafter(upper, lower))
        slopes = Q @ v - b
    return best


def _direction(
    root: tuple[Array, bool],
    slopes: Vector,
    s: Vector,
    t: Vector,
    z: Vector,
    w: Vector,
    low: Vector | float,
    high: Vector | float,
) -> tuple[Vector, Vector, Vector]:
    """Return the step to products ``low`` with s and ``high`` with t."""
    dv: Vector = cho_solve(root, low / s - high / t - slopes, check_finite=False)
    return dv, (low - z * dv) / s - z, (high + w * dv) / t - w


def _longest(
    s: Vector, t: Vector, z: Vector, w: Vector, dv: Vector, dz: Vector, dw: Vector
) -> float:
    """Return the longest step, at most one, at which nothing turns negative."""
    longest = 1.0
    for value, change in ((s, dv), (t, -dv), (z, dz), (w, dw)):
        falls = change < 0
        if falls.any():
            longest = min(longest, float((value[falls] / -change[falls]).min()))
    return longest


def _snap(slopes: Vector, lower: Vector, upper: Vector, point: Vector) -> Vector:
    near = NEAR * (upper - lower)
    moved = np.where((slopes > 0) & (point - lower <= near), lower, point)
    return np.where((slopes < 0) & (upper - point <= near), upper, moved)


BLOCK = 1200
ROUNDS = 400
STALLED = 8
"""Rounds without progress after which another method is tried."""


def maximise_in_blocks(
    dual: QuadraticDual, matrix: KernelMatrix, start: Vector, *, ridge: float, gap: float
) -> Vector:
    """Return slopes whose gaps add up to less than ``gap``, or the best that were found.

    In each round the rows with the largest gaps, and after them those between their limits, are
    solved for together while all others stay.
    """
    slopes = start.copy()
    margins = -matrix.multiply(slopes) / ridge if slopes.any() else np.zeros(matrix.size)
    best, least, stalled = slopes.copy(), np.inf, 0
    for _ in range(ROUNDS):
        gaps = dual.gaps(slopes, margins)
        total = float(gaps.sum())
        stalled = 0 if total < 0.98 * least else stalled + 1
        if total < least:
            best, least = slopes.copy(), total
        if total <= gap or stalled > STALLED:
            break
        block = _choose(dual, slopes, gaps)
        part = dual.pick(block)
        inner = matrix.block(block)
        inner /= ridge
        rest = margins[block] + inner @ slopes[block]
        inner[np.diag_indices_from(inner)] += part.width
        found = minimise_on_box(
            inner,
            rest - part.turn,
            part.lower,
            part.upper,
            slopes[block],
            gap=max(0.1 * gap, 1e-3 * float(gaps[block].sum())),
        )
        margins -= matrix.multiply_columns(block, found - slopes[block]) / ridge
        slopes[block] = found
    return best


def _choose(dual: QuadraticDual, slopes: Vector, gaps: Vector) -> Integers:
    """Return the rows of the next block."""
    if len(slopes) <= BLOCK:
        return np.arange(len(slopes))
    is_free = (slopes > dual.lower) & (slopes < dual.upper)
    score = gaps + 1e-12 * is_free * float(gaps.max())
    chosen = np.argpartition(score, -BLOCK)[-BLOCK:]
    return np.sort(chosen[score[chosen] > 0])

"""Dual ascent in a kernel's space, a block of rows at a time: those farthest from right."""

from __future__ import annotations

import numpy as np

from discreet._types import Integers, Vector
from discreet.solvers.kernel_box import minimise_on_box
from discreet.solvers.kernel_duals import QuadraticDual
from discreet.solvers.kernel_matrix import KernelMatrix

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

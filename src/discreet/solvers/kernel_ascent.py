"""Dual ascent one row at a time: slow, and sure to end at a certified point."""

from __future__ import annotations

import math

import numpy as np

from discreet._types import Vector
from discreet.solvers.kernel_certificate import KernelAccuracy
from discreet.solvers.kernel_duals import Dual
from discreet.solvers.kernel_matrix import KernelMatrix

AT_ONCE = 64
"""Rows that are moved between two careful products, if more than one is wrong."""


def ascend(
    dual: Dual, matrix: KernelMatrix, start: Vector, accuracy: KernelAccuracy, tolerance: float
) -> Vector:
    """Return certified slopes, however long it takes; ``kernel_certificate.py`` has the proof."""
    slopes, ridge = start.copy(), accuracy.ridge
    shares = np.maximum(matrix.diagonal(), 0.0) / ridge
    back = 2 * (accuracy.margin_error + accuracy.step_error)
    many = AT_ONCE
    least = math.inf
    while True:
        margins = matrix.multiply_carefully(-slopes / ridge)
        gaps = accuracy.bound_gap(dual, slopes, margins)
        if accuracy.bound_distance(gaps) <= tolerance:
            return slopes
        total = float(gaps.sum())
        many = many if total < least else max(1, many // 2)
        least = min(least, total)
        rows = np.argsort(gaps)[::-1][:many]
        columns = matrix.columns(rows)
        for position, row in enumerate(rows.tolist()):
            slope, margin = float(slopes[row]), float(margins[row])
            best = dual.best_slope(row, slope, margin, float(shares[row]))
            toward = margin - math.copysign(back, best - slope)
            moved = dual.best_slope(row, slope, toward, float(shares[row]))
            if (moved - slope) * (best - slope) > 0:
                margins -= columns[:, position] * ((moved - slope) / ridge)
                slopes[row] = moved

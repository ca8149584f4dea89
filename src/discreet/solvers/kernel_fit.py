"""Minimisers in a kernel's space, with a certificate of how near they are."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Array, Vector
from discreet.errors import InputError
from discreet.kernels import BoundedKernel
from discreet.solvers.kernel_blocks import maximise_in_blocks
from discreet.solvers.kernel_certificate import KernelAccuracy
from discreet.solvers.kernel_duals import Dual, QuadraticDual, dual_of
from discreet.solvers.kernel_matrix import KernelMatrix, sum_carefully
from discreet.solvers.kernel_newton import approach_kinks, least_width, minimise_smooth

MEMORY = 2**31
"""How many bytes the matrix of a kernel may take to be kept."""

NARROW = 0.01
"""Of the margins at which losses turn: they are taken for kinks if they turn faster than this."""

HALF_DIGITS = 2.0**-24
"""The rounding of numbers of half as many digits, relative to their size."""

AIMS = (0.5, 0.1)
"""Shares of the tolerance at which fast methods stop, one after the other."""


@dataclass(frozen=True, eq=False, repr=False)
class KernelFit:
    r"""A model :math:`f(z) = \sum_i a_i K(x_i, z)`; private, it holds rows.

    Parameters
    ----------
    kernel
        The kernel, clipped.
    points
        The rows that have a coefficient.
    coefficients
        One a point.
    distance
        How far it is at most from the exact minimiser, in the kernel's norm: the tolerance that was
        asked for, which is public.

    Examples
    --------
    >>> from discreet.kernels import Linear
    >>> kernel = BoundedKernel(Linear(), 10.0)
    >>> KernelFit(kernel, np.array([[2.0]]), np.array([0.5]), 1e-3).evaluate([[3.0], [-1.0]])
    array([ 3., -1.])
    """

    kernel: BoundedKernel
    points: Array
    coefficients: Vector
    distance: float

    def __repr__(self) -> str:
        return "KernelFit(<private>)"

    @cached_property
    def _scaled(self) -> tuple[Array, Vector]:
        return self.kernel.scale(self.points)

    def evaluate(self, Z: ArrayLike) -> Vector:
        """Return f at each query, which has to be finite.

        Each is computed by itself, the same whatever else is asked, and errs by at most
        ``KernelAccuracy.margin_error``.
        """
        queries, factors = self.kernel.scale(self.kernel.check_points(Z))
        found = np.zeros(len(queries))
        points, point_factors = self._scaled
        for index in range(len(queries)):
            here = slice(index, index + 1)
            found[here] = sum_carefully(
                self.kernel, points, point_factors, self.coefficients, queries[here], factors[here]
            )
        return found


def fit_in_rkhs(
    accuracy: KernelAccuracy,
    X: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    tolerance: float | None = None,
    memory: int = MEMORY,
) -> KernelFit:
    r"""Minimise the sum of losses plus half the ridge times the squared norm, in a kernel's space.

    .. math:: \sum_i \ell(y_i, f(x_i)) + \frac\Lambda2 \|f\|_K^2

    What is returned is certified, rounding included (``kernel_certificate.py``); a certificate can
    be had whatever the rows are.

    Parameters
    ----------
    accuracy
        Loss, kernel, ridge and what is declared about rows.
    X
        Points, one a row, within declared bounds; at most ``max_rows``.
    y
        Labels, within declared bounds.
    weights
        How much each row counts, up to ``max_weight``; None for once.
    tolerance
        How far the model may be from the minimiser, in the kernel's norm; at least
        ``accuracy.tolerance``, which is the default.
    memory
        How many bytes of the matrix of the kernel may be kept, in half as many digits where they
        suffice; the rest is made in blocks, as often as it is needed.

    Returns
    -------
    KernelFit
        The model.

    Examples
    --------
    >>> from discreet.kernels import RBF
    >>> from discreet.losses import Logistic
    >>> accuracy = KernelAccuracy(
    ...     Logistic(), BoundedKernel(RBF(1.0), 1.0), ridge=1.0, entry_error=1e-13, max_rows=100)
    >>> fit = fit_in_rkhs(accuracy, [[0.0], [1.0], [2.0]], [-1.0, 1.0, 1.0])
    >>> fit.evaluate([[0.0], [2.0]]).round(1)
    array([-0.3,  0.5])
    """
    rows, labels = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(rows) > accuracy.max_rows:
        raise InputError("there are more rows than max_rows.")
    wanted = accuracy.tolerance if tolerance is None else tolerance
    _checks.positive(tolerance=wanted)
    if wanted < accuracy.tolerance:
        raise InputError(
            f"tolerance must be at least {accuracy.tolerance:.4g}, which rounding allows for so "
            f"many rows; got {wanted:g}."
        )
    often = None if weights is None else np.asarray(weights, dtype=np.float64)
    dual = dual_of(accuracy.loss, labels, often)
    matrix = KernelMatrix(
        accuracy.kernel, rows, memory, is_exacting=_is_steep(dual, accuracy, len(rows))
    )
    slopes = _certify(dual, matrix, accuracy, wanted)
    used = np.flatnonzero(slopes)
    return KernelFit(accuracy.kernel, rows[used], -slopes[used] / accuracy.ridge, wanted)


def _is_steep(dual: Dual, accuracy: KernelAccuracy, count: int) -> bool:
    """Say whether systems (I + S K S / ridge) x = b would be lost in half as many digits.

    Rounding disturbs K by up to its trace times half a digit; that, between the roots S of
    curvatures, has to be far below the identity.
    """
    least = least_width(dual)
    return not HALF_DIGITS * count * accuracy.kernel.reach**2 <= 0.05 * accuracy.ridge * least


def _certify(
    dual: Dual, matrix: KernelMatrix, accuracy: KernelAccuracy, tolerance: float
) -> Vector:
    """Return slopes of a model within the tolerance.

    A fast method may fail in any way that arithmetic knows: that costs time, and nothing else.
    """
    slopes = np.zeros(matrix.size)
    for method, aim in zip(_methods(dual), AIMS, strict=True):
        with contextlib.suppress(ArithmeticError, ValueError), np.errstate(all="ignore"):
            found = method(dual, matrix, slopes, accuracy.ridge, aim * tolerance)
            slopes = np.clip(np.nan_to_num(found), dual.lower, dual.upper)
        margins = matrix.multiply_carefully(-slopes / accuracy.ridge)
        gaps = accuracy.bound_gap(dual, slopes, margins)
        if accuracy.bound_distance(gaps) <= tolerance:
            return slopes
        if not matrix.is_exacting:
            matrix.use_all_digits()
            if method is _by_blocks:  # begin again
                slopes = np.zeros(matrix.size)
    return ascend(dual, matrix, slopes, accuracy, tolerance)


Method = Callable[[Any, KernelMatrix, Vector, float, float], Vector]
"""Returns slopes, given losses, kernel, slopes to begin with, the ridge and a distance."""


def _methods(dual: Dual) -> tuple[Method, Method]:
    """Return what to try, one after the other: blocks where losses have kinks, or nearly so."""
    if not isinstance(dual, QuadraticDual):
        return _by_newton, _by_newton
    narrow = NARROW * float(np.abs(dual.turn).max(initial=0.0))
    bends = dual.width * (dual.upper - dual.lower)  # over which margins slopes turn
    is_kinked = float(bends.max(initial=0.0)) <= narrow
    return (_by_blocks if is_kinked else _by_newton), _by_blocks


def _by_newton(
    dual: Dual, matrix: KernelMatrix, start: Vector, ridge: float, distance: float
) -> Vector:
    return minimise_smooth(dual, matrix, ridge=ridge, distance=distance)


def _by_blocks(
    dual: QuadraticDual, matrix: KernelMatrix, start: Vector, ridge: float, distance: float
) -> Vector:
    if not start.any():
        start = np.clip(approach_kinks(dual, matrix, ridge=ridge), dual.lower, dual.upper)
    gap = ridge * distance * distance
    return maximise_in_blocks(dual, matrix, start, ridge=ridge, gap=gap)


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

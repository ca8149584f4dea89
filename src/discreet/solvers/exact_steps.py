r"""Proximal steps in whole numbers of any length: slow, and sure to end.

Coefficients are whole multiples of :math:`2^{-192}`. With S a power of two that is at least the
largest curvature, a step :math:`t^+ = \mathrm{prox}(t - g/S)` brings the minimiser nearer by a
factor of :math:`1 - \mu/S` or less, whatever the rows are, up to what is rounded off: at most
:math:`(n + 4) 2^{-192}` in each entry of g. So steps become shorter than any tolerance that is not
absurd, and then a subgradient at :math:`t^+` has norm :math:`2 S \|t^+ - t\|` at most.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._types import Array, Vector

ENTRY_BITS = 32
"""Entries and labels are whole multiples of 2**-32."""

BITS = 192
"""Coefficients are whole multiples of 2**-192."""


def minimise_exactly(
    X: Array,
    y: Vector,
    *,
    threshold: float,
    ridge: float,
    weight: float,
    tolerance: float,
    spares_last: bool = False,
) -> Vector:
    r"""Minimise Huber's loss of all rows, a ridge and an l1 penalty, without rounding to speak of.

    Examples
    --------
    >>> X, y = np.ones((8, 1)), np.full(8, 0.5)
    >>> minimise_exactly(X, y, threshold=1.0, ridge=2.0, weight=1.0, tolerance=1e-9)
    array([0.3])
    """
    table = _whole(X)
    labels = _whole(y) * (1 << (BITS - ENTRY_BITS))
    bend, stiffness = _in_steps(threshold), _in_steps(ridge)
    largest = float(np.square(X).sum()) * (1 + 1e-6) + ridge
    shift = max(math.ceil(math.log2(largest)) + 1, 0)
    enough = int(Fraction(tolerance) * 2**BITS) >> (shift + 3)
    point = np.zeros(X.shape[1], dtype=object) + 0
    costs = point + (_in_steps(weight) >> shift)
    if spares_last:
        costs[-1] = 0
    while True:
        residuals = labels - ((table @ point) >> ENTRY_BITS)
        slopes = np.clip(residuals, -bend, bend)
        gradient = ((stiffness * point) >> BITS) - ((table.T @ slopes) >> ENTRY_BITS)
        before = point - (gradient >> shift)
        moved = before - np.clip(before, -costs, costs)
        step = moved - point
        point = moved
        if int(step @ step) <= enough * enough:
            return np.array([float(Fraction(int(each), 2**BITS)) for each in point])


def _whole(values: Any) -> Any:
    return np.rint(np.asarray(values) * 2.0**ENTRY_BITS).astype(np.int64).astype(object)


def _in_steps(value: float) -> int:
    return int(Fraction(value) * 2**BITS)

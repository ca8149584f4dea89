r"""Coefficients of a banded Toeplitz factor with the least error.

With c the coefficients of C and b those of B, :math:`b(x) = 1 / ((1 - x) c(x))`, the squared error
of T running sums is :math:`\|c\|^2 \sum_j w_j b_j^2`, where :math:`w_j = (T - j)/T` for the mean
over all steps and one for the last step, whose error is the largest. Its logarithm is minimised by
a quasi-Newton method, in the drops of c, which stay positive, so that coefficients never grow.
After many times the band b does not change any more, so only its beginning is computed. Nothing
here touches privacy: whatever the coefficients are, their norm is what is accounted for.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import minimize

from discreet import _checks
from discreet._types import Vector

AIMS = ("mean", "largest")
SETTLED = 32
"""So many times the band, and the coefficients of B have settled."""

MOST_OPTIMISED = 256
"""Longer bands are left at the square root's coefficients."""

ROUNDS = 150

FEWER, LONG = 16, 64
"""Of more steps than so many bands, the search begins at the optimum for a fraction of them."""


def optimise_band(steps: int, start: Vector, aim: str) -> Vector:
    """Return coefficients of least error, the first of them one."""
    _checks.one_of(AIMS, aim=aim)
    if start.size == 1 or start.size > MOST_OPTIMISED or start.size >= steps:
        return start
    return _optimise(steps, tuple(start.tolist()), aim).copy()


@lru_cache(maxsize=64)
def _optimise(steps: int, start: tuple[float, ...], aim: str) -> Vector:
    error = _Error(steps, len(start), aim)
    known = [np.array(start)]
    if steps > LONG * len(start):
        known.append(_optimise(steps // FEWER, start, aim))
    if aim == "largest":
        known.append(_optimise(steps, start, "mean"))
    first = min(known, key=lambda one: error.of(one)[0])
    drops = -np.diff(first, append=0.0)  # c_k is the sum of all drops from k on
    found = minimize(
        error.of_logarithms, np.log(drops), jac=True, method="L-BFGS-B",
        options={"maxiter": ROUNDS, "maxfun": 2 * ROUNDS, "ftol": 1e-13, "gtol": 1e-9},
    )  # fmt: skip
    better = _coefficients(found.x)
    better /= better[0]
    np.minimum.accumulate(better, out=better)
    return better if error.of(better)[0] <= error.of(first)[0] else first


def _coefficients(logarithms: Vector) -> Vector:
    drops = np.exp(logarithms)
    return np.asarray(np.cumsum(drops[::-1])[::-1])


def invert_series(c: Vector, count: int) -> Vector:
    """Return the first coefficients of one over a power series, by Newton's method.

    Examples
    --------
    >>> invert_series(np.array([1.0, -0.5]), 4).round(12)
    array([1.   , 0.5  , 0.25 , 0.125])
    """
    inverse, size = np.array([1 / c[0]]), 1
    while size < count:
        size = min(2 * size, count)
        square = multiply_series(inverse, inverse, size)
        step = multiply_series(square, c[:size], size)
        inverse = 2 * np.pad(inverse, (0, size - inverse.size)) - step
    return inverse


def multiply_series(one: Vector, other: Vector, count: int) -> Vector:
    """Return the first coefficients of the product of two power series."""
    size = 1 << (one.size + other.size - 2).bit_length()
    product = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)[:count]
    return np.pad(product, (0, count - product.size))


class _Error:
    """The logarithm of the squared error, and its gradient."""

    def __init__(self, steps: int, band: int, aim: str) -> None:
        self.band, self.count = band, min(steps, max(2**11, SETTLED * band))
        places = np.arange(self.count)
        self.weights = (steps - places) / steps if aim == "mean" else np.ones(self.count)
        rest = steps - self.count
        self.rest = rest * (rest + 1) / 2 / steps if aim == "mean" else float(rest)

    def of(self, c: Vector) -> tuple[float, Vector]:
        """Return the error of coefficients and its gradient."""
        inverse = invert_series(c, self.count)
        b = np.cumsum(inverse)
        settled = 1 / c.sum()
        size, spread = float(c @ c), float(b * b @ self.weights + self.rest * settled**2)
        # The derivative of b by c_k is minus b moved by k, through the inverse of c.
        back = multiply_series(inverse, (2 * self.weights * b)[::-1], self.count)
        slope = -multiply_series(back, b, self.count)[::-1][: self.band]
        slope -= 2 * self.rest * settled**3
        return float(np.log(size) + np.log(spread)), 2 * c / size + slope / spread

    def of_logarithms(self, logarithms: Vector) -> tuple[float, Vector]:
        """Return the same as a function of the logarithms of drops."""
        value, slope = self.of(_coefficients(logarithms))
        return value, np.cumsum(slope) * np.exp(logarithms)

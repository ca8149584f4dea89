r"""The public grid on which values are snapped before integer noise is added.

With :math:`g` the step, :math:`q` the snapped value and :math:`X` exact noise, a release is

.. math:: g (q + \lfloor 2^k X \rfloor + 1/2) = g (\lfloor q + 2^k X \rfloor + 1/2),

a fixed function of :math:`g q + \sigma X` with :math:`\sigma = 2^k g`: post-processing of the
textbook mechanism applied to :math:`g q`. Snapping moves a coordinate by at most :math:`g`.

The grid that meets a noise multiplier has a step of ``scale / 2**bits``: what snapping adds to the
sensitivity is a multiple of the scale itself, and the calibration closes in one line.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Array, Integers
from discreet.errors import CalibrationError, InputError
from discreet.noise import law
from discreet.noise.noise import Noise

MOST_UNITS = 2.0**52
"""Units of a grid up to here are whole numbers that floats hold exactly."""

LARGEST = 2.0**1000
"""Noise of more than 2**23 scales, beyond all chance, would be needed to overflow."""
_BLOCK = 1 << 16
_UP = 1 + 2.0**-50


@dataclass(frozen=True)
class Grid:
    """Public lattice of step ``scale / 2**bits``, for values of magnitude at most ``bound``.

    Parameters
    ----------
    scale
        The scale of the noise: a standard deviation, or that of a Laplace law.
    bits
        So many halvings of the scale are one step, from 12 to 50.
    bound
        The largest magnitude of a value; larger ones are clipped to it. It may be at most 2**52
        steps.

    Examples
    --------
    >>> grid = Grid(scale=2.0, bits=20, bound=10.0)
    >>> grid.step == 2.0 ** -19
    True
    >>> grid.snap([0.0, 1.0, 99.0, float("nan")]).tolist()
    [0, 524288, 5242880, 0]
    """

    scale: float
    bits: int
    bound: float

    def __post_init__(self) -> None:
        _checks.positive(scale=self.scale, bound=self.bound)
        _checks.whole(bits=self.bits, at_least=law.MIN_BITS, at_most=law.MAX_BITS)
        for name, kind in (("scale", float), ("bits", int), ("bound", float)):
            object.__setattr__(self, name, kind(getattr(self, name)))  # plain numbers, exactly
        if self.scale > LARGEST or self.bound > LARGEST:
            raise CalibrationError("scale and bound must stay below 2**1000; rescale the data.")
        if self.step < sys.float_info.min:
            raise CalibrationError(
                f"the noise scale {self.scale} is too small for a grid of {self.bits} bits; "
                "rescale the data to ordinary magnitudes."
            )
        if not self.bound / self.step <= MOST_UNITS:
            raise CalibrationError(
                f"values up to {self.bound} do not fit a grid of step {self.step}; "
                "declare a smaller bound or use fewer bits."
            )

    @property
    def step(self) -> float:
        return math.ldexp(self.scale, -self.bits)

    def snap(self, values: ArrayLike) -> Integers:
        """Return the nearest grid units; NaN counts as zero, the rest is clipped to the bound."""
        whole = self.snap_as_floats(values)
        with np.errstate(all="ignore"):
            return whole.astype(np.int64)

    def cut(self, values: ArrayLike) -> Integers:
        """Return grid units towards zero; NaN counts as zero, the rest is clipped to the bound.

        However many values, their units add up to no more than their sizes do, but for one part in
        2**51: to the nearest, many small ones could add up to far more.

        Examples
        --------
        >>> Grid(scale=2.0, bits=20, bound=10.0).cut([1.9 * 2.0**-19, -1.9 * 2.0**-19]).tolist()
        [1, -1]
        """
        whole = self._in_steps(values, None)
        with np.errstate(all="ignore"):
            return np.trunc(whole, out=whole).astype(np.int64)

    def snap_as_floats(self, values: ArrayLike, out: Array | None = None) -> Array:
        """Return what :meth:`snap` does, as floats; in ``out``, if there is one."""
        out = self._in_steps(values, out)
        return np.rint(out, out=out)

    def _in_steps(self, values: ArrayLike, out: Array | None) -> Array:
        """Return values in steps of the grid, before they are made whole."""
        with np.errstate(all="ignore"):  # no value may cause an error: tiny ones underflow
            if out is None:
                out = values = np.array(values, dtype=np.float64)
            np.clip(values, -self.bound, self.bound, out=out)
            if np.isnan(out.sum()):  # of bounded numbers, unless one is none
                out[np.isnan(out)] = 0.0
            out /= self.step
            return out

    def sums_exactly(self, rows: int) -> bool:
        """Say whether sums of so many whole numbers are exact in floats, in any order."""
        return rows * (self.bound / self.step + 1) < 2.0**53

    def values(self, units: Integers) -> Array:
        """Return the middle of the cells: ``step * (units + 1/2)``."""
        values = units.astype(np.float64)
        values += 0.5
        values *= self.step
        return values

    def spread_l2(self, dimension: int) -> float:
        """Bound how much further apart snapping moves two vectors: 2 step sqrt(p), rounded up."""
        return 2 * self.step * math.sqrt(dimension) * _UP

    def spread_l1(self, dimension: int) -> float:
        """Bound how much further apart snapping moves two vectors in l1: 2 step p, rounded up."""
        return 2 * self.step * dimension * _UP


def release_gaussian(values: ArrayLike, grid: Grid, noise: Noise) -> Array:
    """Release values with exact Gaussian noise of standard deviation ``grid.scale``.

    Parameters
    ----------
    values
        A vector; what is beyond the bound of the grid is clipped, NaN counts as zero.
    grid
        The public lattice, whose scale is the standard deviation.
    noise
        The source of randomness.

    Examples
    --------
    >>> from discreet.noise import RehearsalNoise
    >>> grid = Grid(scale=1.0, bits=30, bound=100.0)
    >>> release_gaussian([10.0, 20.0], grid, RehearsalNoise(1)).round(3)
    array([ 9.132, 19.579])
    """
    return _release(values, grid, noise.gaussian)


def release_laplace(values: ArrayLike, grid: Grid, noise: Noise) -> Array:
    """Release values with exact Laplace noise of scale ``grid.scale``.

    Parameters
    ----------
    values
        A vector; what is beyond the bound of the grid is clipped, NaN counts as zero.
    grid
        The public lattice, whose scale is that of the noise.
    noise
        The source of randomness.

    Examples
    --------
    >>> from discreet.noise import RehearsalNoise
    >>> grid = Grid(scale=1.0, bits=30, bound=100.0)
    >>> release_laplace([10.0, 20.0], grid, RehearsalNoise(1)).shape
    (2,)
    """
    return _release(values, grid, noise.laplace)


def _release(values: ArrayLike, grid: Grid, draw: Callable[[int, int], Integers]) -> Array:
    with np.errstate(all="ignore"):  # no value may cause an error
        values = np.asarray(values, dtype=np.float64)
    if values.ndim > 1:
        raise InputError(f"values must be a vector; got {values.ndim} axes.")
    values = np.atleast_1d(values)
    released = np.empty_like(values)
    for start in range(0, values.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        units = grid.snap(values[block])
        units += draw(units.size, grid.bits)
        released[block] = grid.values(units)
    return released


FINE_BITS = 24
"""How many times finer than its noise a grid usually is, in bits."""

FINEST_BITS = 46
"""How much finer a grid can be."""

CUT_BITS = 36
"""Where values are cut towards zero: finer, because many small ones would lose much together."""
NEGLIGIBLE = 2.0**-20
MOST_DIMENSIONS = 2**48
_WIDER = 1 + 2.0**-40


def gaussian_grid(
    *,
    multiplier: float,
    sensitivity: float,
    dimension: int,
    bound: float,
    error: float = 0.0,
    room: float = MOST_UNITS,
    bits: int = FINE_BITS,
) -> Grid:
    r"""Return the grid whose Gaussian scale is ``multiplier`` times the widened l2 sensitivity.

    .. math:: \sigma = \nu (\Delta_2 + 2 \beta) / (1 - 2 \nu \sqrt p \, 2^{-k})

    Parameters
    ----------
    multiplier
        :math:`\nu`, the standard deviation over the l2 sensitivity.
    sensitivity
        :math:`\Delta_2`, before values are snapped.
    dimension
        :math:`p`, the number of values.
    bound
        The largest magnitude of a value.
    error
        :math:`\beta`, how far a computed vector may be from the ideal one, in Euclidean distance.
    room
        The most steps of the grid that a value of size ``bound`` may take.
    bits
        How many halvings of the scale are to be one step, if there is room.

    Examples
    --------
    >>> grid = gaussian_grid(multiplier=5.0, sensitivity=1.0, dimension=20_000_000, bound=1e5)
    >>> grid.bits, round(grid.scale, 4)
    (36, 5.0)
    """
    _checks.positive(multiplier=multiplier, sensitivity=sensitivity, bound=bound)
    _checks.not_negative(error=error)
    _checks.whole(dimension=dimension, at_least=1, at_most=MOST_DIMENSIONS)
    multiplier, sensitivity, error = float(multiplier), float(sensitivity), float(error)
    widening = 2 * multiplier * math.sqrt(dimension)
    return _grid(multiplier * (sensitivity + 2 * error), widening, bound, room, bits)


def laplace_grid(
    *,
    epsilon: float,
    sensitivity: float,
    dimension: int,
    bound: float,
    error: float = 0.0,
    room: float = MOST_UNITS,
    bits: int = FINE_BITS,
) -> Grid:
    r"""Return the grid whose Laplace scale gives ``epsilon`` for the widened l1 sensitivity.

    .. math:: s = (\Delta_1 + 2 \sqrt p \beta) / (\epsilon - 2 p \, 2^{-k})

    Parameters
    ----------
    epsilon
        What the release may cost.
    sensitivity
        :math:`\Delta_1`, the l1 sensitivity before values are snapped.
    dimension
        :math:`p`, the number of values.
    bound
        The largest magnitude of a value.
    error
        :math:`\beta`, how far a computed vector may be from the ideal one, in Euclidean distance.
    room
        The most steps of the grid that a value of size ``bound`` may take.
    bits
        How many halvings of the scale are to be one step, if there is room.

    Examples
    --------
    >>> grid = laplace_grid(epsilon=0.5, sensitivity=1.0, dimension=10, bound=1000.0)
    >>> grid.bits, round(grid.scale, 4)
    (26, 2.0)
    """
    _checks.positive(epsilon=epsilon, sensitivity=sensitivity, bound=bound)
    _checks.not_negative(error=error)
    _checks.whole(dimension=dimension, at_least=1, at_most=MOST_DIMENSIONS)
    epsilon, sensitivity, error = float(epsilon), float(sensitivity), float(error)
    widened = sensitivity + 2 * math.sqrt(dimension) * error
    return _grid(widened / epsilon, 2 * int(dimension) / epsilon, bound, room, bits)


def _grid(numerator: float, widening: float, bound: float, room: float, finest: int) -> Grid:
    """Solve scale = numerator / (1 - widening / 2**bits) for the finest grid that fits."""
    bound, room = float(bound), min(float(room), MOST_UNITS)
    while finest < FINEST_BITS and widening * 2.0**-finest > NEGLIGIBLE:
        finest += 1
    for bits in range(finest, law.MIN_BITS - 1, -1):
        share = widening * 2.0**-bits
        if share > 0.5:
            break
        scale = numerator / (1 - share) * _WIDER
        if math.isfinite(scale) and bound * 2.0**bits <= scale * room:
            return Grid(scale=scale, bits=bits, bound=bound)
    raise CalibrationError(
        "no grid is fine enough for this budget and coarse enough for these bounds; "
        "use a smaller bound, fewer dimensions or a larger epsilon."
    )

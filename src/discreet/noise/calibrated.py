"""The grid and scale that meet a noise multiplier after snapping has widened the sensitivity.

The step is ``scale / 2**bits``, so the widening is a multiple of the scale itself and the
calibration closes in one line. Everything here is arithmetic on public numbers.
"""

from __future__ import annotations

import math

from discreet import _checks
from discreet.errors import CalibrationError
from discreet.noise import law
from discreet.noise.grid import MOST_UNITS, Grid

FINE_BITS, FINEST_BITS = 24, 46
NEGLIGIBLE = 2.0**-20
MOST_DIMENSIONS = 2**48
_UP = 1 + 2.0**-40


def gaussian_grid(
    *,
    multiplier: float,
    sensitivity: float,
    dimension: int,
    bound: float,
    error: float = 0.0,
    room: float = MOST_UNITS,
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
    return _grid(multiplier * (sensitivity + 2 * error), widening, bound, room)


def laplace_grid(
    *,
    epsilon: float,
    sensitivity: float,
    dimension: int,
    bound: float,
    error: float = 0.0,
    room: float = MOST_UNITS,
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
    return _grid(widened / epsilon, 2 * int(dimension) / epsilon, bound, room)


def _grid(numerator: float, widening: float, bound: float, room: float) -> Grid:
    """Solve scale = numerator / (1 - widening / 2**bits) for the finest grid that fits."""
    bound, room = float(bound), min(float(room), MOST_UNITS)
    finest = FINE_BITS
    while finest < FINEST_BITS and widening * 2.0**-finest > NEGLIGIBLE:
        finest += 1
    for bits in range(finest, law.MIN_BITS - 1, -1):
        share = widening * 2.0**-bits
        if share > 0.5:
            break
        scale = numerator / (1 - share) * _UP
        if math.isfinite(scale) and bound * 2.0**bits <= scale * room:
            return Grid(scale=scale, bits=bits, bound=bound)
    raise CalibrationError(
        "no grid is fine enough for this budget and coarse enough for these bounds; "
        "use a smaller bound, fewer dimensions or a larger epsilon."
    )

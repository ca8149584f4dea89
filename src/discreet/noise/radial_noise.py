r"""Vectors with density proportional to :math:`\exp(-\|b\| / \lambda)`, and how far off they are.

.. math:: b = \lambda \|m\| n, \quad m \sim N(0, I_{p+1}), \; n \sim N(0, I_p)

has exactly that density (a Gaussian whose variance is a chi-squared variable). In floating point
the code draws a vector within :attr:`RadialDraw.coupling_error` of an exact one, except with
probability 2**-79; a mechanism must cover that error with a mask on its output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet import _checks
from discreet._types import Array, Integers, Vector
from discreet.errors import CalibrationError
from discreet.noise.noise import Noise

BITS = 48
SMALLEST, LARGEST = 2.0**-900, 2.0**900
_BLOCK = 256


@dataclass(frozen=True, eq=False)
class RadialDraw:
    """A drawn vector and the public bound on its distance from the ideal one.

    Parameters
    ----------
    vector
        What was drawn.
    coupling_error
        How far it is from an exact draw, in Euclidean distance, but for a chance of 2**-79.

    Examples
    --------
    >>> from discreet.noise import RehearsalNoise
    >>> draw_radial(3, 1.0, RehearsalNoise(5)).coupling_error == coupling_error(3, 1.0)
    True
    """

    vector: Vector
    coupling_error: float


def coupling_error(dimension: int, scale: float) -> float:
    """Return 2**-44 * scale * (sqrt(p) + 12)**2, rounded up."""
    return 2.0**-44 * scale * (math.sqrt(dimension) + 12) ** 2 * (1 + 2.0**-40)


def draw_radial(dimension: int, scale: float, noise: Noise) -> RadialDraw:
    r"""Draw a vector whose norm is Gamma(dimension, scale) and whose direction is uniform.

    Parameters
    ----------
    dimension
        Entries of the vector; at least one.
    scale
        :math:`\lambda`, the scale of the norm; from 2**-900 to 2**900.
    noise
        The source of randomness.

    Examples
    --------
    >>> from discreet.noise import RehearsalNoise
    >>> drawn = draw_radial(3, 2.0, RehearsalNoise(5))
    >>> drawn.vector.shape, drawn.coupling_error < 1e-10
    ((3,), True)
    """
    _checks.whole(dimension=dimension, at_least=1)
    _checks.positive(scale=scale)
    scale = float(scale)
    if not SMALLEST <= scale <= LARGEST:
        raise CalibrationError("scale must lie between 2**-900 and 2**900; rescale the data.")
    length = math.sqrt(_sum_of_squares(_standard(noise.gaussian(dimension + 1, BITS))))
    vector = _standard(noise.gaussian(dimension, BITS))
    vector *= scale * length
    return RadialDraw(vector, coupling_error(dimension, scale))


def draw_radials(dimension: int, scale: float, count: int, noise: Noise) -> Array:
    """Draw several such vectors, one a row, each within the same error of an ideal one."""
    if dimension >= _BLOCK:  # a sum of squares would need more than one block
        return np.array([draw_radial(dimension, scale, noise).vector for _ in range(count)])
    lengths = _standard(noise.gaussian((dimension + 1) * count, BITS)).reshape(count, -1)
    vectors = _standard(noise.gaussian(dimension * count, BITS)).reshape(count, -1)
    sizes = np.sqrt(np.einsum("ij,ij->i", lengths, lengths))
    drawn: Array = vectors * (scale * sizes)[:, None]
    return drawn


def _standard(units: Integers) -> Vector:
    values = units.astype(np.float64)  # below 2**52 in magnitude, so exact
    values += 0.5
    values *= 2.0**-BITS
    return values


def _sum_of_squares(values: Vector) -> float:
    """Add squares in blocks of 256, then exactly: the coupling error rests on this order."""
    whole = values.size - values.size % _BLOCK
    blocks = values[:whole].reshape(-1, _BLOCK)
    partial = np.einsum("ij,ij->i", blocks, blocks).tolist()
    rest = values[whole:]
    return math.fsum([*partial, float(np.einsum("i,i->", rest, rest))])

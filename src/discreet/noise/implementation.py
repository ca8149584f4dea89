"""How far the noise as computed is from the noise of the theorems.

A truncated Gaussian is within total variation 2**-189 of the real one in each coordinate, and AES
in counter mode within 2**-82 of true randomness for a release of 160 MB. Two neighbours
together cost (1 + e**epsilon) times such a distance in delta. Distances of several releases add.
"""

from __future__ import annotations

import math

from discreet import _checks

CIPHER = 2.0**-80
"""Enough for 2**25 draws under one key: 2**24 blocks, 2**48 / 2**129."""
COUPLING = 2.0**-79


def _cipher(dimension: int) -> float:
    return CIPHER * max(1.0, dimension * 2.0**-25) ** 2


def distance_of_gaussian(dimension: int) -> float:
    """Bound the distance of a Gaussian release from the ideal one.

    Examples
    --------
    >>> distance_of_gaussian(1000) < 1e-24
    True
    """
    _checks.whole(dimension=dimension, at_least=1)
    return (dimension * 2.0**-188 + _cipher(dimension)) * (1 + 2.0**-50)


def distance_of_radial(dimension: int) -> float:
    """Bound the distance of a radial draw from one within its coupling error.

    Examples
    --------
    >>> distance_of_radial(1000) < 1e-23
    True
    """
    _checks.whole(dimension=dimension, at_least=1)
    return (COUPLING + dimension * 2.0**-187 + _cipher(dimension)) * (1 + 2.0**-50)


def delta_of_implementation(dimension: int, epsilon: float) -> float:
    """Return what a Gaussian release adds to delta at ``epsilon``.

    Examples
    --------
    >>> delta_of_implementation(1000, 1.0) < 1e-23
    True
    """
    _checks.not_negative(epsilon=epsilon)
    if epsilon > 700:
        return 1.0
    return min(1.0, (1 + math.exp(epsilon)) * distance_of_gaussian(dimension))

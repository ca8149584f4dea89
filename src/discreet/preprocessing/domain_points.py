"""Synthetic public points: quasi-random ones that fill a declared domain evenly."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from discreet._types import Array
from discreet.preprocessing.columns import Category, Column

MOST_COLUMNS = 21_201
"""Sobol's sequence is known up to so many columns."""

KEPT = 2**16
"""Numbers of points that are kept: one fit asks for the same ones several times."""


def fill_box(columns: Sequence[Column], count: int) -> Array:
    """Return encoded rows that fill the declared columns: numbers in [-1, 1], levels centred.

    Examples
    --------
    >>> from discreet.preprocessing import Numeric
    >>> fill_box([Numeric(0, 10), Category(["a", "b"])], 4)
    array([[-1. ,  0.5, -0.5],
           [ 0. , -0.5,  0.5],
           [ 0.5,  0.5, -0.5],
           [-0.5, -0.5,  0.5]])
    """
    shares = _spread(len(columns), count)
    parts = []
    for column, share in zip(columns, shares.T, strict=True):
        if isinstance(column, Category):
            places = np.minimum((share * column.width).astype(int), column.width - 1)
            parts.append(np.eye(column.width)[places] - 1 / column.width)
        else:
            parts.append(2 * share[:, None] - 1)
    return np.concatenate(parts, axis=1)


def fill_ball(width: int, radius: float, count: int) -> Array:
    """Return points that fill a Euclidean ball.

    Examples
    --------
    >>> bool((np.linalg.norm(fill_ball(3, 2.0, 50), axis=1) <= 2.0).all())
    True
    """
    shares = (_spread(width + 1, count) + 0.5 / count) / (1 + 1 / count)
    directions = ndtri(shares[:, 1:])
    lengths = np.maximum(np.linalg.norm(directions, axis=1), 1e-12)
    points: Array = directions * (radius * shares[:, 0] ** (1 / width) / lengths)[:, None]
    return points


def _spread(width: int, count: int) -> Array:
    """Return the first points of Sobol's sequence in the unit cube; not to be written to."""
    make = _spread_again if width * count <= KEPT else _spread_anew
    return make(width, count)


def _spread_anew(width: int, count: int) -> Array:
    from scipy.stats import qmc  # slow to import

    drawn: Array = qmc.Sobol(width, scramble=False).random_base2((count - 1).bit_length())[:count]
    drawn.flags.writeable = False
    return drawn


_spread_again = lru_cache(maxsize=32)(_spread_anew)

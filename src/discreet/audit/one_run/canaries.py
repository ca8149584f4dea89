"""Canaries that leave traces of their own.

Orthogonal rows, for membership inference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Array
from discreet.errors import InputError

MOST_CANARIES = 10**7


def orthogonal_canaries(
    count: int,
    width: int | None = None,
    norm: float = 1.0,
    *,
    classes: tuple[Any, Any] = (-1, 1),
) -> tuple[Array, Any]:
    """Return canaries (X, y): each has a column of its own, and labels look random.

    The labels follow the sequence of Thue and Morse, so nothing is drawn.

    Parameters
    ----------
    count
        How many canaries, up to 10**7.
    width
        How many columns, at least one for each canary; None for as many as canaries.
    norm
        Of each row.
    classes
        The two labels.

    Examples
    --------
    >>> X, y = orthogonal_canaries(4, width=5, norm=2.0)
    >>> X[1].tolist(), y.tolist()
    ([0.0, 2.0, 0.0, 0.0, 0.0], [-1, 1, 1, -1])
    """
    _checks.whole(count=count, at_least=1, at_most=MOST_CANARIES)
    width = count if width is None else width
    _checks.whole(width=width, at_least=1)
    if width < count:
        raise InputError(
            f"{count} orthogonal canaries need at least as many columns; got {width}. "
            "Plant fewer canaries, or make your own."
        )
    _checks.positive(norm=norm)
    if len(classes) != 2:
        raise InputError(f"classes must be two labels; got {len(classes)}.")
    rows = np.zeros((count, width))
    np.fill_diagonal(rows, norm)
    odd = [number.bit_count() % 2 for number in range(count)]
    return rows, np.asarray(classes)[odd]

"""What one cell is, by itself: a number, a label, or neither; none is ever an error."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from discreet._types import Vector

PLAIN = frozenset([float, int, bool, type(None)])
"""What lists and arrays of objects usually hold."""

NUMBERS = (float, int, str, Real, Decimal, np.bool_)
"""What may be a number; float and int first, a check against Real is ten times slower."""


def number_of(cell: object) -> float:
    """Return a cell as a number, NaN if it is none; text that spells a number is that number.

    Examples
    --------
    >>> number_of("2.5"), number_of(-(10**400)), number_of(None), number_of([3])
    (2.5, -inf, nan, 3.0)
    """
    if type(cell) is float:
        return cell
    if not isinstance(cell, NUMBERS):
        cell = _alone(cell)
    if not isinstance(cell, NUMBERS):
        return math.nan
    try:
        with np.errstate(all="ignore"):
            return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf  # type: ignore[operator]
    except Exception:  # whatever it was, a message would tell of a value
        return math.nan


def numbers_of(cells: Iterable[Any]) -> Vector:
    """Return each cell as a number, whatever the other cells are.

    Examples
    --------
    >>> numbers_of([1, None, "x", True]).tolist()
    [1.0, nan, nan, 1.0]
    """
    listed = cells if isinstance(cells, list) else list(cells)
    if PLAIN.issuperset(map(type, listed)):
        with contextlib.suppress(OverflowError):  # an integer too large: each cell by itself, then
            return np.array(listed, dtype=np.float64)  # what number_of makes of these, only faster
    return np.array([number_of(cell) for cell in listed], dtype=np.float64)


def label_of(cell: object) -> Any:
    """Return a cell as text or an exact number, alone or in a row of its own; None if neither.

    Bytes are the text that they spell in UTF-8.

    Examples
    --------
    >>> label_of(b"yes"), label_of([2**70 + 1]) == 2**70 + 1, label_of(float("nan"))
    ('yes', True, None)
    """
    if isinstance(cell, str):
        return cell
    try:
        with np.errstate(all="ignore"):
            return _label(_alone(cell))
    except Exception:  # whatever it was, a message would tell of a value
        return None


def text_of(cell: bytes) -> str | None:
    """Return the text that bytes spell in UTF-8, None if they spell none.

    Examples
    --------
    >>> text_of(b"yes"), text_of(bytes([255]))
    ('yes', None)
    """
    try:
        return bytes.decode(cell)
    except UnicodeDecodeError:
        return None


def _label(cell: Any) -> Any:
    if isinstance(cell, bytes):
        return text_of(cell)
    if isinstance(cell, Decimal):
        cell = float(cell)
    if isinstance(cell, np.timedelta64) or not isinstance(cell, str | Real | np.bool_):
        return None
    hash(cell)
    return cell if cell == cell else None


def _alone(cell: object) -> object:
    """Return what is alone in a list or an array; anything else as it is."""
    if isinstance(cell, list | tuple):
        return cell[0] if len(cell) == 1 else cell
    if isinstance(cell, np.ndarray) and cell.size == 1 and not isinstance(cell, np.ma.MaskedArray):
        return cell.item()
    return cell

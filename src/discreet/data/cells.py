"""What one cell is, by itself: a number, a label, or neither; none is ever an error."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from discreet._private_part import silence
from discreet._types import Vector
from discreet.data.kinds import TRUTHS

PLAIN = frozenset([float, int, bool, type(None)])
"""What lists and arrays of objects usually hold."""

NO_VALUE = (ValueError, TypeError, ArithmeticError)
"""What conversions of Python's and NumPy's own cells raise. Nothing else is caught there: what the
caller's handler of a signal raises meanwhile, such as a time-out, is the caller's and no cell's."""


def number_of(cell: object) -> float:
    """Return a cell as a number, NaN if it is none; text that spells a number is that number.

    Examples
    --------
    >>> number_of("2.5"), number_of(-(10**400)), number_of(None), number_of([3])
    (2.5, -inf, nan, 3.0)
    """
    if type(cell) is float:
        return cell
    plain: Any = cell if type(cell) is str else _plain_value(_only_cell(cell))
    if plain is None:
        return math.nan
    try:
        with np.errstate(all="ignore"):
            return float(plain)
    except OverflowError:
        return math.inf if plain > 0 else -math.inf
    except NO_VALUE:
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
    if type(cell) is str:
        return cell
    alone = _only_cell(cell)
    if issubclass(type(alone), bytes):
        return text_of(alone)  # type: ignore[arg-type]
    plain = _plain_value(alone)
    if type(plain) is Decimal:
        plain = number_of(plain)
    return plain if plain == plain else None


def text_of(cell: bytes) -> str | None:
    """Return the text that bytes spell in UTF-8, None if they spell none."""
    try:
        return bytes.decode(cell)
    except UnicodeDecodeError:
        return None


def read_spelling(cell: object) -> float:
    """Return a cell as the number or truth value that it is or spells, NaN if neither.

    Examples
    --------
    >>> read_spelling("True"), read_spelling("2.5"), read_spelling("yes")
    (1.0, 2.5, nan)
    """
    if not issubclass(type(cell), str):
        return number_of(cell)
    text = label_of(cell)
    truth = TRUTHS.get(text.lower())
    return number_of(text) if truth is None else truth


def is_row(cell: Any) -> bool:
    """Say whether a cell is a list, a tuple or an array of more than one."""
    kind = type(cell)
    for base in (list, tuple):
        if issubclass(kind, base):
            return base.__len__(cell) > 1
    return issubclass(kind, np.ndarray) and np.ndarray.view(cell, np.ndarray).size > 1


def _plain_value(cell: Any) -> Any:
    """Return text or a real number of Python's or NumPy's own types, None for anything else.

    Of classes derived from theirs, what the base class holds: no method of a cell is called.
    """
    kind = type(cell)
    if kind is bool or kind is Decimal or kind is Fraction:
        return cell
    for base, held in HELD:
        if issubclass(kind, base):
            return held(cell)
    if issubclass(kind, np.generic) and kind.__module__ == "numpy":
        is_number = issubclass(kind, NUMPY_NUMBERS) and not issubclass(kind, np.timedelta64)
        return cell if is_number else None
    return _read_foreign(cell, kind) if issubclass(kind, (Real, Decimal)) else None


HELD: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (float, float.__float__),
    (int, int.__int__),
)
"""What is in a cell of a class derived from these."""

NUMPY_NUMBERS = (np.integer, np.floating, np.bool_)


def _read_foreign(cell: Any, kind: type) -> Any:
    """Return a number of a foreign type, exactly if that says that it is whole or a fraction."""
    # Its methods are the caller's code: they may raise and warn of anything, and quote the cell, so
    # every Exception is caught. What is none, an interrupt or an exit, ends the fit as it should.
    with silence(), contextlib.suppress(Exception):
        if issubclass(kind, Integral):
            return int(cell)
        if issubclass(kind, Rational):
            return Fraction(int(cell.numerator), int(cell.denominator))
        try:
            return float(cell)
        except OverflowError:
            return math.inf if cell > 0 else -math.inf
    return None


def _only_cell(cell: Any) -> object:
    """Return what is alone in a list or an array, None for several; anything else as it is."""
    kind = type(cell)
    for base in (list, tuple):
        if issubclass(kind, base):
            return base.__getitem__(cell, 0) if base.__len__(cell) == 1 else None
    if not issubclass(kind, np.ndarray):
        return cell
    array = np.ndarray.view(cell, np.ndarray)
    is_masked, is_time = issubclass(kind, np.ma.MaskedArray), array.dtype.kind in "mM"
    return None if array.size != 1 or is_masked or is_time else array.item()


Label = str | float


class DeclaredLabels:
    """Declared labels, and how cells spell them.

    Text is compared as it is. Numbers are compared as numbers, so that 1, "1" and "1.0" mean the
    same; true and false, in any case, are 1 and 0. Everything else is no label.

    Examples
    --------
    >>> DeclaredLabels([False, True]).find("TRUE"), DeclaredLabels(["1", "2"]).find("1")
    (True, '1')
    >>> DeclaredLabels([0, 1]).find("true"), DeclaredLabels([0, 1]).find(True)
    (1, 1)
    >>> DeclaredLabels([1, 2]).find(7) is None
    True
    """

    def __init__(self, labels: Sequence[Label]) -> None:
        self.listed = tuple(labels)
        self._text = {label for label in labels if isinstance(label, str)}
        self._numbers = {float(label): label for label in labels if not isinstance(label, str)}

    def find(self, cell: object) -> Label | None:
        """Return the label that a cell means, None if it means none."""
        if isinstance(cell, str):
            if cell in self._text:
                return cell
            if cell.lower() in TRUTHS:
                return self._numbers.get(TRUTHS[cell.lower()])
        if not isinstance(cell, (str, float, int)):
            return None
        try:
            return self._numbers.get(float(cell))
        except (ValueError, OverflowError):
            return None

    def find_or_keep(self, cell: object) -> object:
        """Return the label that a cell means, and the cell itself if it means none.

        Examples
        --------
        >>> DeclaredLabels(["no", "yes"]).find_or_keep("Yes")
        'Yes'
        """
        label = self.find(cell)
        return cell if label is None else label

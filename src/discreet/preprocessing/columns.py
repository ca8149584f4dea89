"""What is declared about one column, and how its values become bounded features.

Clipping and scaling of numbers, one-hot encoding of categories.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet import _checks
from discreet._types import Array, Integers, Vector
from discreet.data.cells import label_of, number_of, numbers_of, read_spelling
from discreet.data.frame import Coded, side_by_side
from discreet.errors import InputError, InputTypeError
from discreet.geometry.norms import Csr
from discreet.record import one_of

LARGEST = 1e100
NARROWEST = 1e-100
LARGEST_WHOLE = 2.0**50

Cells = NDArray[Any] | Coded
"""The values of one column as they came: numbers, text, or anything in an object array."""


class Column(ABC):
    """A declared column; every value has an encoding, and none is ever an error.

    Examples
    --------
    >>> def features(column: Column) -> int:
    ...     return column.width
    >>> features(Numeric(0, 100)), features(Category(["a", "b", "c"]))
    (1, 3)
    """

    @property
    @abstractmethod
    def words(self) -> str:
        """Say what is declared."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many features the column becomes."""

    @abstractmethod
    def names(self, name: str) -> list[str]:
        """Name the features of a column called ``name``."""

    @abstractmethod
    def mass(self, order: int, *, centred: bool) -> Fraction:
        """Bound the sum of the features' absolute values to the power ``order``."""

    @abstractmethod
    def encode(self, cells: Cells, *, centred: bool) -> Array:
        """Return the features, one row for each cell."""

    @abstractmethod
    def plain(self, cells: Cells) -> Array:
        """Return the features in the user's own units: clipped, but neither scaled nor centred."""

    @abstractmethod
    def origin(self) -> Vector:
        """Return the features, in the user's own units, that are encoded as zeros."""

    @abstractmethod
    def encode_sparse(self, cells: Cells) -> Csr:
        """Return the features that are not centred, as a sparse matrix."""

    @abstractmethod
    def fold(self, coef: Array, *, centred: bool) -> tuple[Array, Array]:
        """Return coefficients in the user's own units, and what the intercept gains."""


@dataclass(frozen=True, init=False, repr=False)
class Numeric(Column):
    r"""A number between two declared ones, mapped to [-1, 1].

    .. math:: x \mapsto (\mathrm{clip}(x, l, h) - m) / s,
        \qquad m = (l + h) / 2, \quad s = (h - l) / 2

    Parameters
    ----------
    low, high
        The declared range; values outside are clipped. Within 1e100 of zero, ``low < high``. None
        if it is to be found.
    fill
        Stands for a value that is missing, infinite or not a number, in [low, high]; the middle
        of the range if None.
    public_bounds
        The lowest and the highest value that there could be, if the range in which most values lie
        is not known: a fit then spends a part of its budget on finding that range within these
        bounds. ``low`` and ``high`` are these bounds then. It is for ``columns=`` of
        :class:`~discreet.linear_model.LinearClassifier`,
        :class:`~discreet.linear_model.LinearRegressor` and :class:`~discreet.svm.LinearSVC`.
    whole
        Whether values are whole numbers: then additive models have a cell for each of them, if
        there are at most 256, and any other value counts as the nearest. Nothing else changes.

    Examples
    --------
    >>> Numeric(0, 10).encode(np.array([2.5, 99.0, np.nan]), centred=True).ravel().tolist()
    [-0.5, 1.0, 0.0]
    >>> Numeric(0, 10, fill=0).encode(np.array(["5", "unknown"]), centred=True).ravel().tolist()
    [0.0, -1.0]
    >>> Numeric(None, None, public_bounds=(0, 1e6)).words
    'numbers within 0 and 1000000, whose range is found privately'
    >>> Numeric(0, 10, whole=True).words
    'whole numbers from 0 to 10'
    """

    low: float
    high: float
    fill: float | None = None
    public_bounds: tuple[float, float] | None = None
    whole: bool = False

    def __init__(
        self,
        low: float | None,
        high: float | None,
        fill: float | None = None,
        public_bounds: tuple[float, float] | None = None,
        *,
        whole: bool = False,
    ) -> None:
        ends = _ends_of(low, high, public_bounds)
        object.__setattr__(self, "low", ends[0])
        object.__setattr__(self, "high", ends[1])
        object.__setattr__(self, "fill", None if fill is None else _finite("fill", fill))
        object.__setattr__(self, "public_bounds", None if public_bounds is None else ends)
        if not self.low < self.high:
            raise InputError(f"low must be below high; got {self.low} and {self.high}.")
        if max(abs(self.low), abs(self.high)) > LARGEST or self.high - self.low < NARROWEST:
            raise InputError(
                f"a range must lie within {LARGEST:g} of zero and be at least {NARROWEST:g} wide; "
                f"got {self.low} to {self.high}. Rescale the column."
            )
        if public_bounds is not None and self.high - self.low < _least_width(ends):
            raise InputError(
                "public_bounds must be so wide that a small part of them is a range in floating "
                f"point; got {self.low} to {self.high}. Rescale the column, or move its zero."
            )
        _checks.truth(whole=whole)
        object.__setattr__(self, "whole", bool(whole))
        if self.whole and self.public_bounds is not None:
            raise InputError("whole numbers need a range; a range that is found is of any numbers.")
        if self.whole and not all(
            end.is_integer() and abs(end) <= LARGEST_WHOLE for end in (self.low, self.high)
        ):
            raise InputError(
                f"the range of whole numbers must end at whole numbers within {LARGEST_WHOLE:,.0f} "
                f"of zero; got {self.low} to {self.high}."
            )
        if self.fill is not None and not self.low <= self.fill <= self.high:
            raise InputError(
                f"fill must lie between low and high, {self.low} and {self.high}; got {self.fill}."
            )

    def __repr__(self) -> str:
        if self.public_bounds is None:
            whole = ", whole=True" if self.whole else ""
            return f"Numeric(low={self.low!r}, high={self.high!r}, fill={self.fill!r}{whole})"
        return f"Numeric(None, None, fill={self.fill!r}, public_bounds={self.public_bounds!r})"

    def within(self, low: float, high: float) -> Numeric:
        """Return the same column with this range, which lies within the one at hand.

        Parameters
        ----------
        low, high
            The range; a declared fill outside of it counts as its nearest end.
        """
        fill = None if self.fill is None else min(max(self.fill, low), high)
        return Numeric(low, high, fill)

    @property
    def words(self) -> str:
        fill = "" if self.fill is None else f"; {self.fill:.12g} where missing"
        if self.public_bounds is not None:
            within = f"numbers within {self.low:.12g} and {self.high:.12g}"
            return f"{within}, whose range is found privately{fill}"
        kind = "whole numbers" if self.whole else "numbers"
        return f"{kind} from {self.low:.12g} to {self.high:.12g}{fill}"

    @property
    def half(self) -> float:
        """Half the width of the range."""
        return (self.high - self.low) / 2

    @property
    def middle(self) -> float:
        """The middle of the range."""
        return self.low + self.half

    @property
    def width(self) -> int:
        return 1

    def names(self, name: str) -> list[str]:
        return [name]

    def mass(self, order: int, *, centred: bool) -> Fraction:
        return Fraction(1)

    def encode(self, cells: Cells, *, centred: bool) -> Array:
        scaled = self.plain(cells)
        scaled -= self.middle
        scaled /= self.half
        return np.clip(scaled, -1.0, 1.0, out=scaled)

    def plain(self, cells: Cells) -> Array:
        numbers = read_numbers(cells)
        fill = self.middle if self.fill is None else self.fill
        is_known = np.isfinite(numbers)
        if not is_known.all():
            numbers = np.where(is_known, numbers, fill)  # first: a clip passes NaN through
        return np.clip(numbers, self.low, self.high)[:, None]

    def origin(self) -> Vector:
        return np.array([self.middle])

    def encode_sparse(self, cells: Cells) -> Csr:
        return sparse.csr_array(self.encode(cells, centred=False))

    def fold(self, coef: Array, *, centred: bool) -> tuple[Array, Array]:
        slope = coef / self.half
        return slope, -(slope[..., 0] * self.middle)


def _ends_of(low: object, high: object, public_bounds: object) -> tuple[float, float]:
    """Return the ends of a declared range, or of the bounds that one is sought within."""
    if public_bounds is None:
        if low is None or high is None:
            raise InputTypeError(
                "low and high must be a number each; or None twice beside public_bounds=(low, "
                "high), within which a fit finds the range."
            )
        return _finite("low", low), _finite("high", high)
    if not isinstance(public_bounds, tuple | list) or len(public_bounds) != 2:
        raise InputTypeError(
            "public_bounds must be two numbers, the lowest and the highest value; got a value of "
            f"type {type(public_bounds).__name__}."
        )
    ends = tuple(_finite("public_bounds", end) for end in public_bounds)
    if (low, high) not in ((None, None), ends):
        raise InputError(
            "declare a range, low and high, or public_bounds, within which it is found; got both."
        )
    return ends[0], ends[1]


def _least_width(ends: tuple[float, float]) -> float:
    """Return how wide bounds must be, that a thousandth of them is still a range."""
    return max(1e10 * NARROWEST, 2.0**-30 * max(abs(ends[0]), abs(ends[1])))


def _finite(name: str, number: Any) -> float:
    _checks.finite(**{name: number})
    return float(number)


def encode_numbers(columns: Sequence[Numeric], cells: Sequence[NDArray[Any]]) -> Array:
    """Return what :meth:`Numeric.encode` makes of several columns of numbers, side by side.

    Examples
    --------
    >>> encode_numbers([Numeric(0, 10), Numeric(0, 2)], [np.array([2.5, 99]), np.array([1, 0])])
    array([[-0.5,  0. ],
           [ 1. , -1. ]])
    """
    middles = np.array([column.middle for column in columns])
    fills = [column.middle if column.fill is None else column.fill for column in columns]
    with np.errstate(all="ignore"):  # a warning would tell of a value
        table = side_by_side([column[:, None] for column in cells])
    is_known = np.isfinite(table)
    if not is_known.all():
        table = np.where(is_known, table, fills)  # first: a clip passes NaN through
    np.maximum(table, [column.low for column in columns], out=table)
    np.minimum(table, [column.high for column in columns], out=table)
    table -= middles
    table /= [column.half for column in columns]
    return np.clip(table, -1.0, 1.0, out=table)


def encode_stored_numbers(columns: Sequence[Numeric], cells: Sequence[NDArray[Any]]) -> Array:
    """Return the same numbers as :func:`encode_numbers`, each column's together in memory.

    Examples
    --------
    >>> columns, cells = [Numeric(0, 10), Numeric(0, 2)], [np.array([2.5, 99]), np.array([1, 0])]
    >>> encode_stored_numbers(columns, cells).T
    array([[-0.5,  1. ],
           [ 0. , -1. ]])
    """
    table = np.empty((cells[0].size, len(columns)), order="F")
    with np.errstate(all="ignore"):  # a warning would tell of a value
        for target, values in zip(table.T, cells, strict=True):
            target[:] = values
        return _encode_in_place(table, _Ranges.of(tuple(columns)))


@dataclass(frozen=True, eq=False)
class _Ranges:
    """The constants of several numeric columns."""

    lows: Vector
    highs: Vector
    fills: Vector
    middles: Vector
    halves: Vector
    overshoot: bool  # whether an end of a range, scaled, is rounded to more than one

    @classmethod
    @lru_cache(maxsize=8)
    def of(cls, columns: tuple[Numeric, ...]) -> _Ranges:
        fills = [column.middle if column.fill is None else column.fill for column in columns]
        lows, highs = np.array([(column.low, column.high) for column in columns]).T
        middles, halves = np.array([(column.middle, column.half) for column in columns]).T
        ends = np.concatenate([(lows - middles) / halves, (highs - middles) / halves])
        return cls(lows, highs, np.array(fills), middles, halves, bool((np.abs(ends) > 1).any()))


def _encode_in_place(table: Array, ranges: _Ranges) -> Array:
    # A sum is NaN or infinite if an entry is; so may be one of huge numbers, so look again.
    if not np.isfinite(table.sum()):
        is_known = np.isfinite(table)
        if not is_known.all():
            np.copyto(table, ranges.fills, where=~is_known)
    np.clip(table, ranges.lows, ranges.highs, out=table)
    if ranges.middles.any():
        table -= ranges.middles
    table /= ranges.halves
    # Rounding keeps order, so that no number is further out than the ends of its range.
    return np.clip(table, -1.0, 1.0, out=table) if ranges.overshoot else table


@dataclass(frozen=True, init=False)
class Category(Column):
    r"""One of K declared levels, one-hot, minus 1/K where categories are centred.

    A value that is missing or not declared becomes the zero vector, centred or not.

    Parameters
    ----------
    levels
        At least two, in the order of the features: text, numbers or truth values, all different.

    Notes
    -----
    Numbers are compared as floating-point numbers, so 1, 1.0 and True are the same level. Text
    that is no declared level but spells a number or a truth value counts as that, because NumPy
    turns numbers to text when an array holds both. A float of fewer than 64 bits is the level that
    it is nearest to, if it is as near as such a float can be.

    Examples
    --------
    >>> Category(["no", "yes"]).encode(np.array(["yes", "maybe"]), centred=True).tolist()
    [[-0.5, 0.5], [0.0, 0.0]]
    >>> Category([1, 2, 3]).encode(np.array([3, 7]), centred=False).tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """

    levels: tuple[str | float, ...]

    def __init__(self, levels: Iterable[str | float]) -> None:
        object.__setattr__(self, "levels", _list_levels(levels))
        if len(self.levels) < 2:
            raise InputError(
                f"a category must have at least two levels; got {len(self.levels)}. "
                "A column with one value says nothing: leave it out."
            )
        if len(self._place) != len(self.levels):
            raise InputError(
                f"levels must all be different; got {self.levels}. 1, 1.0 and True are the same."
            )

    @property
    def words(self) -> str:
        return one_of([str(level) for level in self.levels])

    @cached_property
    def _place(self) -> dict[str | float, int]:
        """Where each level stands among the features."""
        return {_key(level): place for place, level in enumerate(self.levels)}

    @property
    def width(self) -> int:
        return len(self.levels)

    def names(self, name: str) -> list[str]:
        return [f"{name}_{level}" for level in self.levels]

    def mass(self, order: int, *, centred: bool) -> Fraction:
        if not centred:
            return Fraction(1)
        share = Fraction(1, self.width)
        return (1 - share) ** order + (self.width - 1) * share**order

    def encode(self, cells: Cells, *, centred: bool) -> Array:
        codes, share = self.codes(cells), 1 / self.width if centred else 0.0
        known = np.flatnonzero(codes >= 0)
        block = np.zeros((codes.size, self.width))
        block[known] -= share
        block[known, codes[known]] = 1 - share
        return block

    def plain(self, cells: Cells) -> Array:
        return self.encode(cells, centred=False)

    def origin(self) -> Vector:
        return np.zeros(self.width)

    def encode_sparse(self, cells: Cells) -> Csr:
        codes = self.codes(cells)
        known = codes >= 0
        starts = np.concatenate(([0], np.cumsum(known)))
        return sparse.csr_array(
            (np.ones(starts[-1]), codes[known], starts), shape=(codes.size, self.width)
        )

    def fold(self, coef: Array, *, centred: bool) -> tuple[Array, Array]:
        mean = coef.mean(axis=-1, keepdims=True) if centred else 0.0
        return coef - mean, np.zeros(coef.shape[:-1])

    def codes(self, cells: Cells) -> Integers:
        """Return the place of each cell's level, -1 for one that is missing or not declared.

        Parameters
        ----------
        cells
            The values of the column as they came.

        Examples
        --------
        >>> Category(["no", "yes"]).codes(np.array(["yes", "maybe"])).tolist()
        [1, -1]
        """
        if isinstance(cells, Coded):
            return self.codes(cells.distinct)[cells.places]
        place = self._place
        if cells.dtype.kind in "biuf":
            if cells.dtype in (np.float16, np.float32):
                place = self._narrow_place(cells.dtype.type)
            codes = [place.get(number, -1) for number in read_numbers(cells).tolist()]
        else:
            codes = [_place(cell, place) for cell in cells.tolist()]
        return np.array(codes, dtype=np.int64)

    def _narrow_place(self, narrow: type[np.floating[Any]]) -> dict[str | float, int]:
        """Return where the level stands that a float of fewer bits means."""
        with np.errstate(all="ignore"):
            return {
                float(narrow(level)): place
                for level, place in self._place.items()
                if not isinstance(level, str)
            }


def _list_levels(levels: object) -> tuple[str | float, ...]:
    """Return the levels as a tuple of text and plain numbers."""
    if not isinstance(levels, Iterable) or isinstance(levels, (str, bytes, Set, Mapping)):
        raise InputTypeError(
            "levels must be a list of text or numbers, whose order is the order of the features; "
            f"got a value of type {type(levels).__name__}."
        )
    return tuple(level.item() if isinstance(level, np.generic) else level for level in levels)


def _key(level: object) -> str | float:
    """Return what a level is compared by, refusing one that no value could equal reliably."""
    if isinstance(level, str):
        return level
    if not isinstance(level, Real):
        raise InputTypeError(
            f"a level must be text or a number; got a value of type {type(level).__name__}. "
            "Missing values need no level: they become the zero vector."
        )
    number = number_of(level)
    if not np.isfinite(number) or number != level:
        raise InputError(
            f"a numeric level must be finite and exact in floating point; got {level!r}. "
            "Declare text instead."
        )
    return number


def read_numbers(cells: Cells) -> Vector:
    """Return each cell as a number, whatever the other cells are."""
    if isinstance(cells, Coded):
        return read_numbers(cells.distinct)[cells.places]
    if cells.dtype.kind in "biuf":
        with np.errstate(all="ignore"):  # a warning would tell of a value
            return cells.astype(np.float64, copy=False)
    return numbers_of(cells.tolist())


def _place(cell: object, place: Mapping[str | float, int]) -> int:
    """Return where the level stands that a cell is or spells, -1 for none."""
    found = place.get(label_of(cell)) if isinstance(cell, str) else None
    return place.get(read_spelling(cell), -1) if found is None else found

"""Named columns of equal length, as little of a data frame as the estimators need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._types import Array, Integers
from discreet.errors import InputTypeError

CellArray = NDArray[Any]
"""Cells of one column: numbers, text, or anything in an array of objects."""


@dataclass(frozen=True, eq=False, repr=False)
class Coded:
    """A column as places in a short list of distinct values, None among them for missing ones."""

    distinct: CellArray
    places: Integers

    def expand(self) -> CellArray:
        """Return the value of each cell, in an array of objects."""
        expanded: CellArray = self.distinct[self.places]
        return expanded


class Frame:
    """Columns by name; printing one shows no value.

    Examples
    --------
    >>> import numpy as np
    >>> frame = Frame({"age": np.array([47.0, 71.0])})
    >>> frame.columns, frame["age"].size, frame
    (('age',), 2, <a table of 1 columns>)
    """

    __slots__ = ("_cells",)

    def __init__(self, cells: Mapping[str, CellArray | Coded]) -> None:
        self._cells = dict(cells)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._cells)

    def __getitem__(self, name: str) -> Any:
        return self._cells[name]

    def only(self, names: Iterable[str]) -> Frame:
        """Return some of the columns, not copied."""
        return Frame({name: self._cells[name] for name in names})

    def __repr__(self) -> str:
        return f"<a table of {len(self._cells)} columns>"


def is_arrow(X: object) -> bool:
    """Say whether this is a table or a batch of Arrow, without importing it."""
    is_its = type(X).__module__.partition(".")[0] == "pyarrow"
    return is_its and type(X).__name__ in ("Table", "RecordBatch")


def is_held_by_arrow(dtype: Any) -> bool:
    """Say whether pandas keeps a column of this type in an Arrow array."""
    return hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow"


def arrow_array_of(column: Any) -> Any:
    """Return the Arrow array in which pandas keeps a column, None if it keeps it otherwise.

    Its cells are read from there: pandas raises on text that is no UTF-8, and quotes it.
    """
    if not is_held_by_arrow(getattr(column, "dtype", None)):
        return None
    return getattr(column, "array", column).__arrow_array__()


def refuse_lazy(X: object) -> None:
    """Refuse a table of Polars that has not been computed."""
    if type(X).__module__.partition(".")[0] == "polars" and type(X).__name__ == "LazyFrame":
        raise InputTypeError(
            "X must be a table that has been computed; got a Polars LazyFrame. Pass X.collect()."
        )


FILLED_AT_ONCE = 2**15
"""Numbers of a table that are written together: they fit a near cache."""


def side_by_side(parts: Sequence[Array]) -> Array:
    """Return matrices of equal length as one, a few rows at a time, which is faster than all."""
    edges = np.cumsum([0, *(part.shape[1] for part in parts)]).tolist()
    whole = np.empty((parts[0].shape[0], edges[-1]))
    step = max(64, FILLED_AT_ONCE // max(edges[-1], 1))
    for start in range(0, len(whole), step):
        lines = whole[start : start + step]
        for part, first, last in zip(parts, edges[:-1], edges[1:], strict=True):
            lines[:, first:last] = part[start : start + step]
    return whole


def column_by_column(parts: Sequence[Array]) -> Array:
    """Return matrices of equal length as one whose columns lie together in memory.

    Where the parts are columns, that is several times as fast as laying rows together.
    """
    edges = np.cumsum([0, *(part.shape[1] for part in parts)]).tolist()
    whole = np.empty((parts[0].shape[0], edges[-1]), order="F")
    for part, first, last in zip(parts, edges[:-1], edges[1:], strict=True):
        whole[:, first:last] = part
    return whole


def one_above_another(parts: Sequence[Array]) -> Array:
    """Return the rows of all parts, columns together in memory; one such part is not copied."""
    if len(parts) == 1:
        return np.asfortranarray(parts[0])
    whole = np.empty((sum(map(len, parts)), parts[0].shape[1]), order="F")
    return np.concatenate(parts, out=whole)


def matrix_of(frame: Any) -> Any:
    """Return rows of numbers as a matrix: an array as it is, columns together in memory."""
    if not isinstance(frame, Frame):
        return frame
    cells = [frame[name] for name in frame.columns]
    matrix = np.empty((cells[0].size, len(cells)), order="F")
    for column, numbers in zip(matrix.T, cells, strict=True):
        column[:] = numbers
    return matrix

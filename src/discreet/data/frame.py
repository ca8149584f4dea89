"""Named columns of equal length, as little of a data frame as the estimators need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from discreet._types import Integers

Cells = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Coded:
    """A column as places in a short list of distinct values, None among them for missing ones."""

    distinct: Cells
    places: Integers


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

    def __init__(self, cells: Mapping[str, Cells | Coded]) -> None:
        self._cells = dict(cells)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._cells)

    def __getitem__(self, name: str) -> Any:
        return self._cells[name]

    def __repr__(self) -> str:
        return f"<a table of {len(self._cells)} columns>"

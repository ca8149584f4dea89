"""Named columns of equal length, as little of a data frame as the estimators need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Cells = NDArray[Any]


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

    def __init__(self, cells: Mapping[str, Cells]) -> None:
        self._cells = dict(cells)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._cells)

    def __getitem__(self, name: str) -> Cells:
        return self._cells[name]

    def __repr__(self) -> str:
        return f"<a table of {len(self._cells)} columns>"


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows, and a label for each where labels were asked for."""

    X: Frame
    y: Cells | None

    def __repr__(self) -> str:
        return f"<rows of {self.X!r}>"

"""Coefficients by name, with their intervals: what ``model.summary()`` returns."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class CoefficientRow:
    """One coefficient: its name, as released, and as estimated without the ridge."""

    name: str
    coefficient: float
    estimate: float = math.nan
    standard_error: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class CoefficientTable:
    """Rows of a table of coefficients, and what has to be said beside them.

    Examples
    --------
    >>> table = CoefficientTable((CoefficientRow("age", 0.21, 0.22, 0.02, 0.18, 0.26),), 0.95)
    >>> print(table)
    name  coefficient  estimate  standard_error   low  high
    age          0.21      0.22            0.02  0.18  0.26
    intervals of 95 %, for sampling and privacy together
    >>> table["age"].low
    0.18
    """

    rows: tuple[CoefficientRow, ...]
    level: float
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[CoefficientRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> CoefficientRow:
        """Return the row of a name."""
        return next(row for row in self.rows if row.name == name)

    @property
    def _words(self) -> tuple[str, ...]:
        said = f"intervals of {100 * self.level:g} %, for sampling and privacy together"
        return (said, *self.notes)

    def _cells(self) -> list[tuple[str, ...]]:
        lines = [tuple(field.name for field in fields(CoefficientRow))]
        for row in self.rows:
            name, *numbers = astuple(row)
            lines.append((name, *("-" if math.isnan(one) else f"{one:.4g}" for one in numbers)))
        return lines

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(
                [line[0].ljust(widths[0])]
                + [cell.rjust(wide) for cell, wide in zip(line[1:], widths[1:], strict=True)]
            )
            for line in cells
        ]
        return "\n".join([*lines, *self._words])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        lines = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
            for line in body
        )
        words = "".join(f"<p>{html.escape(one)}</p>" for one in self._words)
        return f"<table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>{words}"

    def to_pandas(self) -> Any:
        """Return a pandas data frame, indexed by name; pandas has to be installed."""
        import pandas as pd

        columns = [field.name for field in fields(CoefficientRow)]
        frame = pd.DataFrame([astuple(row) for row in self.rows], columns=columns)
        return frame.set_index("name")

"""Rows of a request, read against the declared columns: each by itself, and nothing is echoed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet._types import Json
from discreet.data.frame import Frame
from discreet.preprocessing import Category, Column
from discreet.service.refusal import TOO_LARGE, WRONG_ROWS, Refusal

LARGEST = 1e100
"""Numbers beyond are refused; declared ranges lie within."""

Cell = str | float | bool
Row = dict[str, Cell]


def read_rows(body: Json, columns: Mapping[str, Column], most: int) -> list[Row]:
    """Return the rows of a request's body, or refuse it.

    Examples
    --------
    >>> from discreet.preprocessing import Numeric
    >>> read_rows({"rows": [{"age": 47}]}, {"age": Numeric(18, 100)}, 10)
    [{'age': 47.0}]
    """
    rows = body.get("rows")
    if set(body) != {"rows"} or not isinstance(rows, list) or not rows:
        raise Refusal(WRONG_ROWS, 'The body must be {"rows": [{...}, ...]} with at least one row.')
    if len(rows) > most:
        raise Refusal(TOO_LARGE, f"A request may hold {most} rows.")
    return [read_row(row, columns, place) for place, row in enumerate(rows, start=1)]


def read_row(row: Any, columns: Mapping[str, Column], place: int) -> Row:
    """Return one row, or say what is wrong with it; its number is all that is told of it."""
    if not isinstance(row, dict):
        raise Refusal(WRONG_ROWS, f"Row {place} is no object.")
    for name in columns:
        if name not in row:
            raise Refusal(WRONG_ROWS, f"Row {place} lacks the column {name!r}.")
    if len(row) != len(columns):
        raise Refusal(WRONG_ROWS, f"Row {place} has a column that is not declared.")
    return {name: _read_cell(row[name], name, column, place) for name, column in columns.items()}


def _read_cell(cell: Any, name: str, column: Column, place: int) -> Cell:
    if isinstance(column, Category):
        level = next((level for level in column.levels if _is_level(cell, level)), None)
        if level is None:
            raise Refusal(
                WRONG_ROWS, f"Row {place}: {name!r} must be one of the declared categories."
            )
        return level
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not abs(cell) <= LARGEST:
        declared = range_of(column)
        words = "" if declared is None else "; {:.10g} to {:.10g} is declared".format(*declared)
        raise Refusal(WRONG_ROWS, f"Row {place}: {name!r} must be a number{words}.")
    return float(cell) + 0.0  # -0.0 is 0.0


def range_of(column: Column) -> tuple[float, float] | None:
    """Return the declared range of numbers; None if there is none."""
    low, high = getattr(column, "low", -LARGEST), getattr(column, "high", LARGEST)
    return (low, high) if max(abs(low), abs(high)) < LARGEST else None


def _is_level(cell: Any, level: str | float) -> bool:
    """Compare as JSON does: text, numbers and truth values are never the same."""
    if isinstance(cell, bool) or isinstance(level, bool):
        return cell is level
    if isinstance(cell, str) or isinstance(level, str):
        return isinstance(cell, str) and cell == level
    return isinstance(cell, int | float) and cell == level


def as_frame(rows: Sequence[Row], columns: Mapping[str, Column]) -> Frame:
    """Return rows as named columns of numbers and of objects."""
    return Frame(
        {
            name: np.array([row[name] for row in rows], dtype=object)
            if isinstance(column, Category)
            else np.array([row[name] for row in rows], dtype=np.float64)
            for name, column in columns.items()
        }
    )


def as_matrix(rows: Sequence[Row], columns: Mapping[str, Column]) -> Any:
    """Return rows as an array, in the order of the columns."""
    is_mixed = any(isinstance(column, Category) for column in columns.values())
    cells = [[row[name] for name in columns] for row in rows]
    return np.array(cells, dtype=object if is_mixed else np.float64)

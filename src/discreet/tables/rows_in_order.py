"""The rows of files in their order, a few at a time: a stream that was written down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from discreet.data import ParquetTable
from discreet.data.frame import CellArray, Coded, Frame
from discreet.schema import Schema
from discreet.tables.declared_files import (
    RowsAndLabels,
    columns_wanted,
    is_csv,
    open_parquet,
    read_csv,
)


def open_in_order(
    path: Path | str, schema: Schema, size: int, skipped: int = 0
) -> Iterator[RowsAndLabels]:
    """Return what yields the rows of files and their labels, in order.

    Columns and types are checked here, and a single file is parsed to its end, so that one that is
    malformed is refused before the first rows are asked for.

    Parameters
    ----------
    path
        A CSV or Parquet file; or a folder or pattern of Parquet files, in the order of their names.
    schema
        What is declared about them.
    size
        The most rows at a time.
    skipped
        How many rows are passed over at the beginning.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> from discreet.tables import write
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     write(path, {"age": np.array([47.0, 71.0, 18.0]), "cost": np.array([10.0, 20.0, 30.0])})
    ...     [rows.X["age"].tolist() for rows in open_in_order(path, schema, 1, skipped=1)]
    [[71.0], [18.0]]
    """
    if is_csv(path):
        return _cut_table(read_csv(path, schema), size, skipped)
    return _read_parquet(open_parquet(path, schema, with_pages=True), schema, size, skipped)


def cut(rows: RowsAndLabels, start: int, stop: int) -> RowsAndLabels:
    """Return the rows from one place to another.

    Parameters
    ----------
    rows
        Rows and labels.
    start, stop
        The first, and the first that is left out.
    """
    X = Frame({name: _cut_column(rows.X[name], start, stop) for name in rows.X.columns})
    return RowsAndLabels(X, None if rows.y is None else _cut_column(rows.y, start, stop))


def count(rows: RowsAndLabels) -> int:
    """Return how many rows there are."""
    column = rows.X[rows.X.columns[0]]
    return len(column.places if isinstance(column, Coded) else column)


def _cut_table(table: RowsAndLabels, size: int, skipped: int) -> Iterator[RowsAndLabels]:
    for start in range(skipped, count(table), size):
        yield cut(table, start, start + size)


def _read_parquet(
    table: ParquetTable, schema: Schema, size: int, skipped: int
) -> Iterator[RowsAndLabels]:
    target = schema.target.name
    for frame in table.frames(columns_wanted(schema, True), size, skipped):
        yield RowsAndLabels(frame.only(schema.columns), frame[target])


def _cut_column(cells: CellArray | Coded, start: int, stop: int) -> CellArray | Coded:
    if isinstance(cells, Coded):
        return Coded(cells.distinct, cells.places[start:stop])
    return cells[start:stop]

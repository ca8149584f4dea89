"""The rows of files in their order, a few at a time: a stream that was written down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from discreet.data import ParquetTable
from discreet.privacy import unit_named
from discreet.schema import Schema
from discreet.tables.arriving_rows import ArrivingRows
from discreet.tables.declared_files import (
    RowsAndLabels,
    check,
    columns_wanted,
    is_csv,
    open_parquet,
    read_csv,
)
from discreet.tables.rounds import Rounds, fill_rounds


def open_in_order(
    path: Path | str, schema: Schema, size: int, skipped: int = 0
) -> Iterator[Rounds]:
    """Return what yields the rows of files and their labels, in order.

    Columns and types are checked here, and a single file is parsed to its end, so that one that is
    malformed is refused before the first rows are asked for. But where a round may be empty, the
    lines of a CSV file are read as those of a pipe, of which none is refused.

    Parameters
    ----------
    path
        A CSV or Parquet file; or a folder or pattern of Parquet files, in the order of their names.
    schema
        What is declared about them.
    size
        The most rows at a time; there may be fewer, so cut blocks by
        :func:`~discreet.tables.cut_by_place`.
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
    ...     [some.rows.X["age"].tolist() for some in open_in_order(path, schema, 1, skipped=1)]
    [[71.0], [18.0]]
    """
    if not is_csv(path):
        return _read_parquet(open_parquet(path, schema, with_pages=True), schema, size, skipped)
    if unit_named(schema.unit).has_empty_rounds:
        check(path, schema)
        return _read_lines(Path(path), schema, skipped)
    return _cut_table(fill_rounds(read_csv(path, schema)), size, skipped)


def _read_lines(path: Path, schema: Schema, skipped: int) -> Iterator[Rounds]:
    with path.open("rb") as file:
        yield from ArrivingRows(file, schema, path).rounds(skipped)


def _cut_table(table: Rounds, size: int, skipped: int) -> Iterator[Rounds]:
    for start in range(skipped, len(table), size):
        yield table.cut(start, start + size)


def _read_parquet(table: ParquetTable, schema: Schema, size: int, skipped: int) -> Iterator[Rounds]:
    target = schema.target.name
    for frame in table.frames(columns_wanted(schema, True), size, skipped):
        yield fill_rounds(RowsAndLabels(frame.only(schema.columns), frame[target]))

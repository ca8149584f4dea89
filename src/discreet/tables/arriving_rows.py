"""The rows of a stream in their order: those of files, and lines that arrive on a pipe.

On a pipe a line of CSV is a record, and is read by itself. No line is refused and none reaches into
another. One that cannot be parsed (an open quote, more or fewer cells than the header, more than
4 MiB, nothing at all) is an empty round where the unit has such, and elsewhere a record whose cells
are all missing. Cells are read as everywhere (``docs/missing_values.md``).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from discreet.data.cells import numbers_of
from discreet.data.frame import CellArray, Coded, Frame
from discreet.data.stored import Wanted
from discreet.data.stored.csv import LONGEST_HEADER, parse_header
from discreet.data.stored.csv_records import LONGEST_LINE
from discreet.errors import InputError
from discreet.privacy import unit_named
from discreet.schema import Schema
from discreet.tables.declared_files import (
    DeclaredTable,
    RowsAndLabels,
    check_columns,
    columns_wanted,
)
from discreet.tables.rounds import Rounds, fill_rounds

WHERE = "standard input"

READ_AT_ONCE = 2**16
"""Bytes that are taken from a pipe together, if so many wait."""

PARSED_AT_ONCE = 2**8
"""Lines that are read together, if so many wait."""


class Pipe(Protocol):
    """Bytes that arrive."""

    def read1(self, size: int, /) -> bytes:
        """Return what has arrived, waiting if that is nothing; empty at the end."""
        ...


class ArrivingRows:
    """Rows of CSV as they arrive; the first line is the header, and is checked at once.

    Parameters
    ----------
    pipe
        Where bytes arrive, a binary file.
    schema
        What is declared.
    where
        What the pipe is called in refusals.

    Examples
    --------
    >>> import io
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> arriving = ArrivingRows(io.BytesIO(b"cost,age\\n10,47\\n20,old"), schema)
    >>> [some.rows.X["age"].tolist() for some in arriving.rounds()]
    [[47.0], [nan]]
    """

    def __init__(self, pipe: Pipe, schema: Schema, where: str | Path = WHERE) -> None:
        self._lines = _split_lines(pipe)
        self._ready: list[bytes] = []
        header = self._take_header(where)
        self._names = parse_header(where, header)
        check_columns(where, self._names, schema, is_text=True)
        self._wanted = columns_wanted(schema, True)
        self._target = schema.target.name
        self._has_empty_rounds = unit_named(schema.unit).has_empty_rounds

    def _take_header(self, where: str | Path) -> bytes:
        for lines in self._lines:
            if lines:
                header, *self._ready = lines
                if header.strip() and len(header) <= LONGEST_HEADER:
                    return header
                break
        raise InputError(f"{where}: expected a line of column names, then a line for each record.")

    def rounds(self, skipped: int = 0) -> Iterator[Rounds]:
        """Yield rounds as their lines arrive; how many together says nothing of the stream.

        Parameters
        ----------
        skipped
            How many are passed over at the beginning.
        """
        for lines in self._remaining_lines():
            passed = min(skipped, len(lines))
            skipped -= passed
            for start in range(passed, len(lines), PARSED_AT_ONCE):
                yield self._read(lines[start : start + PARSED_AT_ONCE])

    def _remaining_lines(self) -> Iterator[list[bytes]]:
        yield self._ready
        yield from self._lines

    def _read(self, lines: list[bytes]) -> Rounds:
        width = len(self._names)
        records = [_parse_line(line, width) for line in lines]
        rows = self._read_cells([record or [""] * width for record in records])
        if not self._has_empty_rounds:
            return fill_rounds(rows)
        return Rounds(rows, np.array([record is not None for record in records], dtype=np.bool_))

    def _read_cells(self, records: list[list[str]]) -> RowsAndLabels:
        cells = {}
        for column in self._wanted:
            place = self._names.index(column.name)
            cells[column.name] = _read_column([record[place] for record in records], column)
        y = cells.pop(self._target)
        return RowsAndLabels(Frame(cells), y)


def _split_lines(pipe: Pipe) -> Iterator[list[bytes]]:
    """Yield the lines that are complete as soon as they are; one that is too long comes empty."""
    rest, is_long = b"", False
    while arrived := pipe.read1(READ_AT_ONCE):
        *lines, rest = (rest + arrived).split(b"\n")
        if lines and is_long:
            lines[0], is_long = b"", False
        if len(rest) > LONGEST_LINE:
            rest, is_long = b"", True
        yield [_check_length(line) for line in lines]
    if rest or is_long:
        yield [_check_length(b"" if is_long else rest)]


def _check_length(line: bytes) -> bytes:
    return line if len(line) <= LONGEST_LINE else b""


def _parse_line(line: bytes, width: int) -> list[str] | None:
    """Return the cells of a line; None if it is no record of so many."""
    text = line.removesuffix(b"\r").decode("utf-8", errors="surrogateescape")
    try:
        cells = next(csv.reader([text], strict=True), [])
    except csv.Error:
        cells = []
    return cells if len(cells) == width else None


def _read_column(cells: Iterable[str], column: Wanted) -> CellArray | Coded:
    """Return cells as numbers, or as places among the declared labels."""
    if column.labels is None or column.meaning is None:
        return numbers_of(cells)
    places: dict[Any, int] = {label: place for place, label in enumerate(column.labels)}
    missing = len(places)
    distinct = np.array([*column.labels, None], dtype=object)
    found = [places.get(column.meaning(cell), missing) for cell in cells]
    return Coded(distinct, np.array(found, dtype=np.int64))


def open_in_order(table: DeclaredTable, size: int, skipped: int = 0) -> Iterator[Rounds]:
    """Return what yields the rows of a table and their labels, in order.

    A single file is parsed to its end here, so that one that is malformed is refused before the
    first rows are asked for. But where a round may be empty, the lines of a CSV file are read as
    those of a pipe, of which none is refused.

    Parameters
    ----------
    table
        What :func:`discreet.tables.open_table` returns; many files are read in the order of their
        names.
    size
        The most rows at a time; there may be fewer, so cut blocks by
        :func:`~discreet.tables.cut_by_place`.
    skipped
        How many rows are passed over at the beginning.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> from discreet.tables import open_table, write
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     write(path, {"age": np.array([47.0, 71.0, 18.0]), "cost": np.array([10.0, 20.0, 30.0])})
    ...     rounds = open_in_order(open_table(path, schema), 1, skipped=1)
    ...     [some.rows.X["age"].tolist() for some in rounds]
    [[71.0], [18.0]]
    """
    if table.stored.is_text and unit_named(table.schema.unit).has_empty_rounds:
        return _read_lines(Path(table.stored.where), table.schema, skipped)
    ready = table.stored.make_ready(table.wanted)
    frames = ready.frames(table.wanted, size, skipped)
    return (fill_rounds(table.label(frame)) for frame in frames)


def _read_lines(path: Path, schema: Schema, skipped: int) -> Iterator[Rounds]:
    with path.open("rb") as file:
        yield from ArrivingRows(file, schema, path).rounds(skipped)

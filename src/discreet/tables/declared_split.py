"""Files split for training and testing against a schema, each record by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.data.frame import CellArray, Coded, Frame
from discreet.data.record_sides import RecordSides
from discreet.errors import InputError
from discreet.model_selection.split_files import (
    READ_AT_ONCE,
    arrow_blocks,
    side_finder,
    write_sides,
)
from discreet.model_selection.splitting import pick_rows, sides_of
from discreet.schema import Schema
from discreet.tables.csv_columns import parse_columns
from discreet.tables.csv_header import check_columns, read_header
from discreet.tables.declared_files import (
    RowsAndLabels,
    columns_wanted,
    is_csv,
    open_parquet,
    read_csv,
)


def declared_sides(schema: Schema, test: float, key: bytes | None = None) -> RecordSides:
    """Return what says on which side a record of a declared table is.

    Without a key it is the declared name of the table: public, and the same for every command.

    Parameters
    ----------
    schema
        What is declared; under ``unit="replace"`` a record's side must not depend on it.
    test
        The share of records for testing.
    key
        What records are hashed with; None for the name of the table.

    Examples
    --------
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> declared_sides(schema, 0.25).test
    0.25
    """
    if schema.unit != "add_remove":
        raise InputError(
            f"{schema.source} declares the unit {schema.unit!r}: a replaced record may change "
            "sides, and the numbers of rows with it, which that unit takes as public. Split the "
            "file by position instead; there that is right."
        )
    return sides_of(test, f"table {schema.name}" if key is None else key)


def split_table(
    path: Path | str,
    schema: Schema,
    sides: RecordSides,
    out: Sequence[Path],
    *,
    person: str | None = None,
) -> None:
    """Write the rows of both sides to two files, CSV or Parquet, with all of their columns.

    Parameters
    ----------
    path, schema
        As for :func:`discreet.tables.check`, which this does.
    sides
        Says on which side a record is, by its declared columns and its target.
    out
        Where rows for training, and where those for testing go.
    person
        The column that says whose row each is, and decides instead; None for none.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> from discreet.tables import write
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     names = [Path(folder) / name for name in ("all.csv", "train.csv", "test.parquet")]
    ...     write(names[0], {"age": np.arange(90.0), "cost": np.ones(90)})
    ...     split_table(names[0], schema, declared_sides(schema, 0.25), names[1:])
    ...     [name.exists() for name in names]
    [True, True, True]
    """
    if is_csv(path):
        names = read_header(Path(path))
        check_columns(path, names, schema, with_target=True, person=person)
        numbers = {column.name for column in columns_wanted(schema, True) if column.is_number}
        kept = [name for name in names if names.count(name) == 1]
        table = parse_columns(Path(path), {name: name in numbers for name in kept})
        form = pa.schema(
            [(name, pa.float64() if name in numbers else pa.string()) for name in kept]
        )
        blocks = iter([table.cast(form)])
    else:
        stored = open_parquet(path, schema, with_pages=True)
        for file in stored.files:
            check_columns(file.path, file.names, schema, with_target=True, person=person)
        form, blocks = arrow_blocks(stored)
    write_sides(
        form, blocks, side_finder([*schema.columns], schema.target.name, person, sides), out
    )


def read_side(path: Path | str, schema: Schema, sides: RecordSides, *, test: bool) -> RowsAndLabels:
    """Read the declared columns of one side of a file, whole.

    Parameters
    ----------
    path, schema
        As for :func:`discreet.tables.check`, which is done first.
    sides
        Says on which side a record is.
    test
        Whether the side for testing is read.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> from discreet.tables import write
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(path := Path(folder) / "a.csv", {"age": np.arange(90.0), "cost": np.ones(90)})
    ...     read_side(path, schema, declared_sides(schema, 0.25), test=True).X.columns
    ('age',)
    """
    if is_csv(path):
        table = read_csv(path, schema, keeps_undeclared=True)
        chosen = sides.of(table.X, table.y) == test
        return RowsAndLabels(pick_rows(table.X, chosen), pick_rows(table.y, chosen))
    stored = open_parquet(path, schema, with_pages=True, keeps_undeclared=True)
    wanted, target = columns_wanted(schema, True, keeps_undeclared=True), schema.target.name
    kept = []
    for frame in stored.frames(wanted, READ_AT_ONCE):
        chosen = sides.of(frame.only(schema.columns), frame[target]) == test
        kept.append(pick_rows(frame, chosen))
    cells = {column.name: _join([frame[column.name] for frame in kept]) for column in wanted}
    return RowsAndLabels(Frame(cells).only(schema.columns), cells[target])


def _join(parts: Sequence[CellArray | Coded]) -> CellArray | Coded:
    coded = [part for part in parts if isinstance(part, Coded)]
    if not coded:
        return np.concatenate([np.empty(0), *parts])
    starts = np.cumsum([0, *(part.distinct.size for part in coded)]).tolist()
    places = [part.places + start for part, start in zip(coded, starts, strict=False)]
    return Coded(np.concatenate([part.distinct for part in coded]), np.concatenate(places))

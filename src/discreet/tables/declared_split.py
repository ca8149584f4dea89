"""Files split for training and testing against a schema, each record by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discreet.data.frame import Frame
from discreet.data.record_sides import RecordSides
from discreet.errors import InputError
from discreet.model_selection.split_files import side_finder, write_sides
from discreet.model_selection.splitting import pick_rows, sides_of
from discreet.privacy import unit_named
from discreet.schema import Schema
from discreet.tables.declared_files import (
    DeclaredTable,
    RowsAndLabels,
    check_parts,
    keep_undeclared,
)
from discreet.tables.rounds import join_columns

READ_AT_ONCE = 2**16


def declared_sides(schema: Schema, test: float, key: bytes | None = None) -> RecordSides:
    """Return what says on which side a record of a declared table is.

    Without a key it is the declared name of the table: public, and the same for every command.

    Parameters
    ----------
    schema
        What is declared; under ``unit="replace"`` a record's side must not depend on it, and under
        ``"replace_person"`` a person's.
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
    unit = unit_named(schema.unit)
    if unit.is_replace or unit.has_empty_rounds:
        one, instead = ("record", "Split the file by position instead; there that is right.")
        if unit.protects_persons:
            one, instead = ("person", "Use the unit add_remove_person.")
        raise InputError(
            f"{schema.source} declares the unit {schema.unit!r}: a replaced {one} may change "
            f"sides, and the numbers of {one}s with it, which that unit takes as public. {instead}"
        )
    return sides_of(test, f"table {schema.name}" if key is None else key)


def split_table(
    table: DeclaredTable, sides: RecordSides, out: Sequence[Path], *, person: str | None = None
) -> None:
    """Write the rows of both sides to two files, with all of their columns.

    Parameters
    ----------
    table
        What :func:`discreet.tables.open_table` returns.
    sides
        Says on which side a record is, by its declared columns and its target.
    out
        Where rows for training, and where those for testing go; their names say the format.
    person
        The column that says whose row each is, and decides instead; None for the schema's, if any.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> from discreet.tables import open_table, write
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     names = [Path(folder) / name for name in ("all.csv", "train.csv", "test.parquet")]
    ...     write(names[0], {"age": np.arange(90.0), "cost": np.ones(90)})
    ...     split_table(open_table(names[0], schema), declared_sides(schema, 0.25), names[1:])
    ...     [name.exists() for name in names]
    [True, True, True]
    """
    schema, wanted = table.schema, table.wanted
    person = schema.person if person is None else person
    if schema.person not in (None, person):
        raise InputError(
            f"{schema.source} names {schema.person!r} as whose row each is, and you {person!r}: "
            "one person's rows would lie on both sides. Leave --person out."
        )
    check_parts(table.stored, schema, person=person)
    stored = table.stored if table.stored.is_read_whole else table.stored.make_ready(wanted)
    form, blocks = stored.blocks({column.name for column in wanted if column.is_number})
    find = side_finder([*schema.columns], schema.target.name, person, sides)
    write_sides(form, blocks, find, out)


def read_side(table: DeclaredTable, sides: RecordSides, *, test: bool) -> RowsAndLabels:
    """Read the declared columns of one side of a table, whole.

    Parameters
    ----------
    table
        What :func:`discreet.tables.open_table` returns.
    sides
        Says on which side a record is.
    test
        Whether the side for testing is read.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> from discreet.tables import open_table, write
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(path := Path(folder) / "a.csv", {"age": np.arange(90.0), "cost": np.ones(90)})
    ...     read_side(open_table(path, schema), declared_sides(schema, 0.25), test=True).X.columns
    ('age',)
    """
    table = keep_undeclared(table)
    stored, kept = table.stored.make_ready(table.wanted), []
    for frame in stored.frames(table.wanted, READ_AT_ONCE):
        rows = table.label(frame)
        whose = None if rows.groups is None else Frame({"group": rows.groups})
        is_test = sides.of(rows.X, rows.y) if whose is None else sides.of(whose)
        kept.append(pick_rows(frame, is_test == test))
    cells = {c.name: join_columns([frame[c.name] for frame in kept]) for c in table.wanted}
    return table.label(Frame(cells))

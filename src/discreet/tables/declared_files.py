"""Files against a schema: which columns there must be, and which declared label a cell means.

What is done with the rows is the same for every file format; what a format does otherwise, its
table says (:mod:`discreet.data.stored.file_table`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.cells import DeclaredLabels
from discreet.data.frame import CellArray, Coded, Frame
from discreet.data.stored import Wanted
from discreet.data.stored.csv import check_separator
from discreet.data.stored.file_table import FileTable, WholeTable
from discreet.data.stored.sources import open_files
from discreet.data.stored.table import check_found
from discreet.errors import InputError
from discreet.preprocessing import Category
from discreet.schema import CLASSIFICATION, Schema

NAMED, SHOWN = 5, 40
"""How many columns an error names, and how much of each name."""


@dataclass(frozen=True, eq=False, repr=False)
class RowsAndLabels:
    """Rows, and a label for each where labels were asked for.

    Parameters
    ----------
    X
        The declared columns, in the order of the schema.
    y
        The target of each row; None where it was not asked for.
    groups
        Whose row each is; None where no column of ids is declared.

    Examples
    --------
    >>> RowsAndLabels(Frame({"age": np.array([47.0])}), None).y is None
    True
    """

    X: Frame
    y: CellArray | Coded | None
    groups: CellArray | Coded | None = None

    def fit_arguments(self) -> dict[str, Any]:
        """Return rows, labels and whose row each is, as far as they are there, as ``fit`` does."""
        given = {"X": self.X, "y": self.y, "groups": self.groups}
        return {name: cells for name, cells in given.items() if cells is not None}

    def __repr__(self) -> str:
        return f"<rows of {self.X!r}>"


@dataclass(frozen=True, eq=False)
class DeclaredTable:
    """A table in files whose columns are those of a schema; no row of it has been read.

    Make one with :func:`open_table`.

    Parameters
    ----------
    stored
        The table, which is asked what its format does.
    schema
        What is declared about it.
    wanted
        The columns that are read: those of the schema, then the target if it is, then the ids of
        persons if a fit is to protect these.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> from discreet.tables import write
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     write(path, {"age": np.array([47.0, 250.0]), "cost": np.array([10.0, 20.0])})
    ...     open_table(path, schema).fit_arguments()["X"]["age"]
    array([ 47., 250.])
    """

    stored: FileTable
    schema: Schema
    wanted: list[Wanted]

    @property
    def has_target(self) -> bool:
        """Whether the target is read."""
        return self._reads(self.schema.target.name)

    def _reads(self, name: str | None) -> bool:
        return any(column.name == name for column in self.wanted)

    def fit_arguments(self) -> dict[str, Any]:
        """Return rows and labels as ``fit`` takes them; a broken file is refused here.

        Values outside their declaration are kept; a missing cell is NaN among numbers, None among
        categories and classes.
        """
        stored = self.stored.make_ready(self.wanted)
        if isinstance(stored, WholeTable):
            return self.label(stored.read(self.wanted)).fit_arguments()
        named = {"target": self.schema.target.name, "groups": self.schema.person}
        return {"X": stored} | {key: name for key, name in named.items() if self._reads(name)}

    def all_columns(self) -> Any:
        """Return rows with the target among their columns; a broken file is refused here."""
        stored = self.stored.make_ready(self.wanted)
        return stored.read(self.wanted) if isinstance(stored, WholeTable) else stored

    def label(self, frame: Frame) -> RowsAndLabels:
        """Return the wanted columns of some rows apart: those of the schema, target and ids."""
        target, person = self.schema.target.name, self.schema.person
        y = frame[target] if self.has_target else None
        groups = frame[person] if person is not None and self._reads(person) else None
        return RowsAndLabels(frame.only(self.schema.columns), y, groups)


@dataclass(frozen=True, eq=False, repr=False)
class OwnersTable:
    """A table as its owner may look at it.

    Parameters
    ----------
    given
        Rows, labels, and whose row each is, as :func:`discreet.check` takes them.
    refusal
        Why a fit would refuse the files; empty if it would not.

    Examples
    --------
    >>> OwnersTable({}).refusal
    ''
    """

    given: dict[str, Any]
    refusal: str = ""


def open_table(path: Path | str, schema: Schema, *, with_target: bool = True) -> DeclaredTable:
    """Open files, refusing columns or types that are not the declared ones; reads no row.

    Parameters
    ----------
    path
        A CSV or Parquet file; a folder, a pattern or an address of Parquet files; or a data base.
    schema
        What is declared about it, and asked of a data base.
    with_target
        Whether the target must be there, and is read; otherwise it may be.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> from discreet.tables import write
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "patients.csv", {"age": np.array([47.0])})
    ...     open_table(Path(folder) / "patients.csv", schema)
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: ...patients.csv: the column 'cost', which the schema declares, ...
    """
    return _open(open_files(path, schema.query), schema, with_target)


def open_for_owner(path: Path | str, schema: Schema, *, person: str | None = None) -> OwnersTable:
    """Open files with what nobody declared, for the eyes of their owner.

    Parameters
    ----------
    path, schema
        As for :func:`open_table`.
    person
        The column that says whose row each is; None for none.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> from discreet.tables import write
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("ill", "classification", ("no", "yes")))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     write(path, {"age": np.array([47.0]), "ill": np.array(["Yes"])})
    ...     open_for_owner(path, schema).given["y"].expand()
    array(['Yes'], dtype=object)
    """
    table = _open(
        open_files(path, schema.query), schema, True, keeps_undeclared=True, person=person
    )
    wanted = table.wanted
    if person is not None and person not in [column.name for column in wanted]:
        wanted = [*wanted, want_ids(person)]
    stored, refusal = table.stored.make_ready_for_owner(wanted)
    if not isinstance(stored, WholeTable):
        named = {"target": schema.target.name, "person": person}
        return OwnersTable({"X": stored, **named}, refusal)
    rows = table.label(Frame(stored.held))
    whose = None if person is None else _code(stored.held[person])
    return OwnersTable({"X": rows.X, "y": rows.y, "person": whose}, refusal)


def _open(
    stored: FileTable,
    schema: Schema,
    with_target: bool,
    *,
    keeps_undeclared: bool = False,
    person: str | None = None,
) -> DeclaredTable:
    wanted = columns_wanted(schema, with_target, keeps_undeclared)
    check_parts(stored, schema, with_target=with_target, person=person)
    stored.check(wanted)
    meanings = {each.name: each.meaning for each in wanted if each.meaning is not None}
    if with_target and schema.person is not None:
        wanted.append(want_ids(schema.person))
    return DeclaredTable(stored.with_meanings(meanings), schema, wanted)


def keep_undeclared(table: DeclaredTable) -> DeclaredTable:
    """Return a table whose cells that mean no declared label stay as they are."""
    return _open(table.stored, table.schema, table.has_target, keeps_undeclared=True)


def check_parts(
    stored: FileTable, schema: Schema, *, with_target: bool = True, person: str | None = None
) -> None:
    """Refuse a table with a file whose columns are not those of the schema."""
    for part in stored.parts:
        check_columns(
            part.path,
            part.names,
            schema,
            with_target=with_target,
            person=person,
            is_text=stored.is_text,
        )


def check_columns(
    path: Path | str,
    names: Sequence[str],
    schema: Schema,
    *,
    with_target: bool = True,
    person: str | None = None,
    is_text: bool = False,
) -> None:
    """Refuse a file whose columns are not those of the schema.

    Names that only a file of text has are counted off, not shown: its first line may be a record,
    or run into one.
    """
    wanted = [*schema.columns, *([schema.target.name] if with_target else [])]
    ids = [person, schema.person if with_target else None]
    wanted += [name for name in dict.fromkeys(ids) if name is not None and name not in wanted]
    missing = [name for name in wanted if name not in names]
    if missing:
        if is_text:
            check_separator(path, names)
        near = {name.strip().lower() for name in names}
        hint = " The first line of a CSV file must be column names, spelled as in the schema."
        if any(name.strip().lower() in near for name in missing):
            hint += " They seem to differ in capitals or spaces only."
        raise InputError(f"{path}: {_missing_words(missing)}{hint if is_text else ''}")
    for name in wanted:
        check_found(str(path), name, names.count(name))
    known = {*wanted, *schema.ignored, schema.target.name, schema.person}
    extra = [place for place, name in enumerate(names) if name not in known]
    if extra[:1] == [0] and not names[0].strip():
        raise InputError(
            f"{path}: the first column has no name; pandas writes its index so. Write the file "
            'again with to_csv(..., index=False), or put "" on the list `ignored` under [data] in '
            f"{schema.source}."
        )
    if extra:
        shown = [str(place + 1) if is_text else repr(names[place][:SHOWN]) for place in extra]
        where = "of the first line " if is_text else ""
        raise InputError(
            f"{path}: {_columns_words(shown)} {where}{'is' if len(extra) == 1 else 'are'} not in "
            f"{schema.source}. Declare what is to be used under [columns], and put the rest on the "
            "list `ignored` under [data]."
        )


def _missing_words(names: Sequence[str]) -> str:
    are = "is" if len(names) == 1 else "are"
    shown = [repr(name[:SHOWN]) for name in names]
    return f"{_columns_words(shown)}, which the schema declares, {are} missing."


def _columns_words(shown: Sequence[str]) -> str:
    listed = ", ".join(shown[:NAMED])
    more = f" and {len(shown) - NAMED} more" if len(shown) > NAMED else ""
    return f"the column{'' if len(shown) == 1 else 's'} {listed}{more}"


def columns_wanted(
    schema: Schema, with_target: bool, keeps_undeclared: bool = False
) -> list[Wanted]:
    """Return what is read: numbers, or cells that mean one of the declared labels."""
    listed: list[tuple[str, Sequence[Any] | None]] = [
        (name, column.levels if isinstance(column, Category) else None)
        for name, column in schema.declared_columns().items()
    ]
    if with_target:
        target = schema.target
        listed.append((target.name, target.classes if target.task == CLASSIFICATION else None))
    return [_want(name, labels, keeps_undeclared) for name, labels in listed]


def want_ids(name: str) -> Wanted:
    """Return a column of ids to read, as they are written; an empty cell is none.

    Examples
    --------
    >>> [want_ids("patient").meaning(cell) for cell in ("007", " ", 7)]
    ['007', None, 7]
    """
    return Wanted(name, ("", 0), _id_of)


def _id_of(cell: Any) -> Any:
    return None if isinstance(cell, str) and not cell.strip() else cell


def _want(name: str, labels: Sequence[Any] | None, keeps_undeclared: bool) -> Wanted:
    if labels is None:
        return Wanted(name)
    known = DeclaredLabels(labels)
    return Wanted(name, tuple(labels), known.find_or_keep if keeps_undeclared else known.find)


def _code(cells: CellArray | Coded) -> Coded:
    if isinstance(cells, Coded):
        return cells
    distinct, places = np.unique(cells, return_inverse=True)
    return Coded(distinct.astype(object), places)

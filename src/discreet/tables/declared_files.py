"""Files against a schema: CSV files, which are read whole, and Parquet files, which are streamed.

Parquet files are opened as stored tables are, one file like many: what is added here is the
schema's, which columns there must be and which declared label a cell means.
"""

from __future__ import annotations

import glob
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from discreet.data import ParquetTable, kinds
from discreet.data.arrow import arrow_codes, arrow_numbers
from discreet.data.frame import CellArray, Coded, Frame
from discreet.data.kinds import kind_of
from discreet.data.stored import Wanted
from discreet.data.stored.files import SUFFIXES as PARQUET
from discreet.data.stored.files import check_ordinary
from discreet.errors import InputError
from discreet.preprocessing import Category
from discreet.schema import CLASSIFICATION, Schema
from discreet.schema.schema import CATEGORY, NUMBER
from discreet.tables.csv_columns import EMPTY, guess_types, parse_columns
from discreet.tables.csv_header import check_columns, check_separator, read_header
from discreet.tables.spelling import DeclaredLabels

CSV = (".csv",)

INDEX = "an index"
"""What a column holds that pandas wrote the numbers of rows to."""

MEASURED_AT_ONCE = 2**16
"""Rows of Parquet files that are measured together."""


@dataclass(frozen=True, eq=False, repr=False)
class RowsAndLabels:
    """Rows, and a label for each where labels were asked for.

    Parameters
    ----------
    X
        The declared columns, in the order of the schema.
    y
        The target of each row; None where it was not asked for.

    Examples
    --------
    >>> RowsAndLabels(Frame({"age": np.array([47.0])}), None).y is None
    True
    """

    X: Frame
    y: CellArray | Coded | None

    def __repr__(self) -> str:
        return f"<rows of {self.X!r}>"


def check(path: Path | str, schema: Schema, *, with_target: bool = True) -> None:
    """Refuse a file whose columns or types are not the declared ones; reads no row.

    Parameters
    ----------
    path
        A CSV or Parquet file; or a folder or pattern of Parquet files.
    schema
        What is declared about it.
    with_target
        Whether the target must be there; otherwise it may be.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "patients.csv", {"age": np.array([47.0])})
    ...     check(Path(folder) / "patients.csv", schema)
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: ...patients.csv: the column 'cost', which the schema declares, ...
    """
    if is_csv(path):
        path = _check_file(path)
        check_columns(path, read_header(path), schema, with_target=with_target)
    else:
        open_parquet(path, schema, with_target=with_target)


def open_parquet(
    path: Path | str,
    schema: Schema,
    *,
    with_target: bool = True,
    with_pages: bool = False,
    keeps_undeclared: bool = False,
) -> ParquetTable:
    """Open Parquet files, one or many, whose cells mean what those of a CSV file would.

    Parameters
    ----------
    path
        A Parquet file, or a folder or pattern of them.
    schema, with_target
        As for :func:`check`, which this does: no row is read.
    with_pages
        Whether all pages are decoded once, so that a single file that is broken is refused here, as
        a CSV file would be. Of folders and patterns only the footers are read.
    keeps_undeclared
        Whether cells that mean no declared label stay as they are, for the owner to see.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "patients.parquet", {"age": np.array([47.0])})
    ...     open_parquet(folder, schema, with_target=False)
    <Parquet: 1 file, columns 'age'>
    """
    is_single = not are_files(path)
    table = ParquetTable.open(_check_file(path) if is_single else path)
    wanted = columns_wanted(schema, with_target, keeps_undeclared)
    for file in table.files:
        check_columns(file.path, file.names, schema, with_target=with_target)
    table.check(wanted)
    if with_pages and is_single:
        table.check_pages(wanted)
    return table.with_meanings(
        {column.name: column.meaning for column in wanted if column.meaning is not None}
    )


def read_csv(
    path: Path | str, schema: Schema, *, with_target: bool = True, keeps_undeclared: bool = False
) -> RowsAndLabels:
    """Read the declared columns of a CSV file, whole; values outside their declaration are kept.

    A missing cell is NaN among numbers, None among categories and classes.

    Parameters
    ----------
    path, schema, with_target
        As for :func:`check`, which is done first.
    keeps_undeclared
        As for :func:`open_parquet`.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("cost", "regression", range=(0, 1e6)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     write(path, {"age": np.array([47.0, 250.0]), "cost": np.array([10.0, 20.0])})
    ...     read_csv(path, schema).X["age"]
    array([ 47., 250.])
    """
    path = _check_file(path)
    check_columns(path, read_header(path), schema, with_target=with_target)
    cells = _read_csv_cells(path, columns_wanted(schema, with_target, keeps_undeclared))
    y = cells.pop(schema.target.name) if with_target else None
    return RowsAndLabels(Frame(cells), y)


@dataclass(frozen=True, eq=False, repr=False)
class OwnersTable:
    """A CSV file as its owner may look at it: what nobody declared is kept.

    Parameters
    ----------
    rows
        Columns and labels.
    whose
        Whose row each is; None if nobody named that column.
    refusal
        Why a fit would refuse the file; empty if it would not.

    Examples
    --------
    >>> OwnersTable(RowsAndLabels(Frame({}), None), None).refusal
    ''
    """

    rows: RowsAndLabels
    whose: Coded | None
    refusal: str = ""


def read_for_owner(path: Path | str, schema: Schema, *, person: str | None = None) -> OwnersTable:
    """Read a CSV file with what nobody declared, for the eyes of its owner.

    Parameters
    ----------
    path, schema
        As for :func:`check`.
    person
        The column that says whose row each is; None for none.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.preprocessing import Numeric
    >>> from discreet.schema import Target
    >>> schema = Schema({"age": Numeric(0, 120)}, Target("ill", "classification", ("no", "yes")))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     write(path, {"age": np.array([47.0]), "ill": np.array(["Yes"])})
    ...     read_for_owner(path, schema).rows.y.expand()
    array(['Yes'], dtype=object)
    """
    path = _check_file(path)
    check_columns(path, read_header(path), schema, with_target=True, person=person)
    wanted = columns_wanted(schema, True, keeps_undeclared=True)
    names = [column.name for column in wanted]
    if person is not None and person not in names:
        wanted.append(Wanted(person, ()))
    refusal = ""
    try:
        cells = _read_csv_cells(path, wanted)
    except InputError as error:
        refusal = str(error)
    if refusal:  # a cell that is no number, perhaps: which one, the owner may see
        text = [Wanted(one.name, (), _keep_number) if one.is_number else one for one in wanted]
        cells = _read_csv_cells(path, text)
    whose = None if person is None else _code(cells[person])
    rows = Frame({name: cells[name] for name in schema.columns})
    return OwnersTable(RowsAndLabels(rows, cells[schema.target.name]), whose, refusal)


def _keep_number(cell: Any) -> Any:
    return None if cell in EMPTY else cell


def _code(cells: CellArray | Coded) -> Coded:
    if isinstance(cells, Coded):
        return cells
    distinct, places = np.unique(cells, return_inverse=True)
    return Coded(distinct.astype(object), places)


def describe(path: Path | str) -> dict[str, str]:
    """Return what each column seems to hold: number, category, or a type no schema has.

    Of a Parquet file only the metadata is read, of a CSV file the first few megabytes, for types.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     write(path, {"age": np.array([47.0]), "ward": np.array(["surgery"])})
    ...     describe(path)
    {'age': 'number', 'ward': 'category'}
    """
    found = {name: _kind_in_schema(dtype) for name, dtype in _types_in(_check_file(path)).items()}
    return found | {name: INDEX for name in list(found)[:1] if is_index(name)}


def is_index(name: str) -> bool:
    """Say whether the first column is one that pandas wrote its index to, by its name.

    Examples
    --------
    >>> is_index(""), is_index("Unnamed: 0"), is_index("age")
    (True, True, False)
    """
    return name.strip() in ("", "Unnamed: 0")


def classes_of_truth(path: Path | str, name: str) -> tuple[Any, ...]:
    """Return the two classes of a column of truth values, or of nothing but zeros and ones.

    Nothing for any other column. That a column is one of these is taken as public, as its type is.

    Parameters
    ----------
    path
        A CSV or Parquet file.
    name
        The column.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     write(path, {"ill": np.array([0, 1, 1]), "age": np.array([47, 71, 18])})
    ...     classes_of_truth(path, "ill"), classes_of_truth(path, "age")
    ((0, 1), ())
    """
    path = _check_file(path)
    dtype = _types_in(path)[name]
    if kind_of(dtype).words == "bool":
        return (False, True)
    if _kind_in_schema(dtype) != NUMBER:
        return ()
    seen = np.unique(np.concatenate([frame[name] for frame in _frames_of(path, [Wanted(name)])]))
    known = seen[~np.isnan(seen)]
    return (0, 1) if known.size and np.isin(known, (0, 1)).all() else ()


def check_text(path: Path, types: Mapping[str, Any]) -> None:
    """Refuse a CSV file with a column that Arrow found to be bytes: text in another encoding."""
    for name, dtype in types.items():
        if kind_of(dtype).is_bytes:
            raise InputError(
                f"{path}: the column {name!r} is not UTF-8 text. Save the file again as UTF-8."
            )


def _types_in(path: Path) -> dict[str, Any]:
    """Return Arrow's type of each column."""
    if not is_csv(path):
        (file,) = ParquetTable.open(path).files
        found, comes_twice = dict(file.types), bool(file.twice)
    else:
        names = read_header(path)
        check_separator(path, names)
        if any(not name.strip() for name in names[1:]) or any(map(_spells_number, names)):
            raise InputError(
                f"{path}: the first line seems to be a record, because a name is empty or a number."
                " Put a line of column names before it."
            )
        types = guess_types(path, names)
        found = {field.name: field.type for field in types}
        check_text(path, found)
        comes_twice = len(found) < len(types.names)
    if comes_twice:
        raise InputError(f"{path}: column names must differ; one comes twice.")
    return found


def measure(path: Path | str, kinds: Mapping[str, str], most: int) -> dict[str, Any]:
    """Return the range of each column of numbers, and the labels of each other column.

    **Nothing of this is private.** A column with nothing to measure, or more labels, is left out.

    Parameters
    ----------
    path
        A CSV or Parquet file.
    kinds
        What each column holds, ``"number"`` or ``"category"``, as :func:`describe` returns it.
    most
        Of a column with more labels than this, nothing is returned.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     write(path, {"age": np.array([47.0, 71.0]), "ward": np.array(["surgery", "medicine"])})
    ...     measure(path, {"age": "number", "ward": "category"}, most=10)
    {'age': (47.0, 71.0), 'ward': ('medicine', 'surgery')}
    """
    path = _check_file(path)
    wanted = [Wanted(name, () if kind == CATEGORY else None) for name, kind in kinds.items()]
    ranges = {column.name: (math.inf, -math.inf) for column in wanted if column.is_number}
    labels: dict[str, set[Any]] = {c.name: set() for c in wanted if not c.is_number}
    for frame in _frames_of(path, wanted):
        for name, (low, high) in ranges.items():
            numbers = frame[name][np.isfinite(frame[name])]
            ranges[name] = (
                float(np.min(numbers, initial=low)),
                float(np.max(numbers, initial=high)),
            )
        for name, seen in labels.items():
            if len(seen) <= most:
                seen.update(frame[name].distinct)
    found: dict[str, Any] = {name: ends for name, ends in ranges.items() if ends[0] < ends[1]}
    for name, seen in labels.items():
        listed = seen - {None, ""}
        if 2 <= len(listed) <= most:
            found[name] = tuple(sorted(listed))
    return {name: found[name] for name in kinds if name in found}


def write(path: Path, columns: Mapping[str, CellArray]) -> None:
    """Write columns to a CSV or Parquet file, as its suffix says.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "patients.csv", {"age": np.array([47.0])})
    ...     (Path(folder) / "patients.csv").read_text().split()
    ['"age"', '47']
    """
    table = pa.table({name: pa.array(cells) for name, cells in columns.items()})
    if path.suffix.lower() in PARQUET:
        parquet.write_table(table, path, write_page_checksum=True)
    else:
        csv.write_csv(table, path)


def check_suffix(path: Path | str) -> None:
    """Refuse a name that ends neither like CSV nor like Parquet."""
    suffix = Path(path).suffix.lower()
    if suffix not in (*CSV, *PARQUET):
        raise InputError(
            f"{path}: a table must be a .csv or .parquet file; got {suffix or 'no suffix'}. "
            "Convert it first."
        )


def is_csv(path: Path | str) -> bool:
    """Say whether this is a text, whose first line says the names of columns, or may be a record.

    Examples
    --------
    >>> is_csv("patients.CSV"), is_csv("patients.parquet")
    (True, False)
    """
    return Path(path).suffix.lower() in CSV and not are_files(path)


def are_files(path: Path | str) -> bool:
    """Say whether this is a folder or a pattern, which may stand for many files.

    Examples
    --------
    >>> are_files("patients/*.parquet"), are_files("patients.csv")
    (True, False)
    """
    return Path(path).is_dir() or (not Path(path).exists() and glob.has_magic(str(path)))


def _check_file(path: Path | str) -> Path:
    """Return the path of one file, refusing what is none or of another kind."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; expected one CSV or Parquet file.")
    check_suffix(path)
    check_ordinary(path)
    with path.open("rb"):  # what the operating system refuses, it refuses here
        return path


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


def _want(name: str, labels: Sequence[Any] | None, keeps_undeclared: bool) -> Wanted:
    if labels is None:
        return Wanted(name)
    known = DeclaredLabels(labels)
    return Wanted(name, tuple(labels), known.find_or_keep if keeps_undeclared else known.find)


def _frames_of(path: Path, wanted: Sequence[Wanted]) -> Iterable[Frame]:
    if is_csv(path):
        return [Frame(_read_csv_cells(path, wanted))]
    table = ParquetTable.open(path)
    table.check_pages(wanted)
    return table.frames(wanted, MEASURED_AT_ONCE)


def _read_csv_cells(path: Path, wanted: Sequence[Wanted]) -> dict[str, CellArray | Coded]:
    table = parse_columns(path, {column.name: column.is_number for column in wanted})
    cells: dict[str, CellArray | Coded] = {}
    for column in wanted:
        name, array = column.name, table.column(column.name)
        table = table.drop_columns([name])  # freed as soon as it is converted
        cells[name] = (
            arrow_numbers(array) if column.is_number else arrow_codes(array, column.meaning)
        )
    return cells


def _kind_in_schema(dtype: Any) -> str:
    kind = kind_of(dtype)
    if kind.words == "bool" or kind.holds == kinds.TEXT:
        return CATEGORY
    return kind.words if kind.holds == kinds.OTHER else NUMBER


def _spells_number(name: str) -> bool:
    try:
        return not math.isnan(float(name))
    except ValueError:
        return False

"""CSV and Parquet files that are read whole; beside ``data.parquet`` all that knows Arrow.

What Arrow says of a broken file may quote its cells, so it is never passed on: a refusal names the
file, or the column, and nothing that was read.
"""

from __future__ import annotations

import glob
import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

from discreet._types import Vector
from discreet.data import ParquetTable, kinds
from discreet.data.kinds import check_kind, kind_of, shortest
from discreet.errors import InputError
from discreet.preprocessing import Category
from discreet.schema import CLASSIFICATION, Schema
from discreet.schema.schema import CATEGORY, NUMBER, Label
from discreet.tables.csv_header import check_columns, csv_header
from discreet.tables.csv_records import LONGEST_LINE, check_records
from discreet.tables.frame import Cells, Frame, Table
from discreet.tables.spelling import Labels

CSV, PARQUET = (".csv",), (".parquet", ".pq")

PARSED_AT_ONCE = LONGEST_LINE + 2**10
"""How much of a CSV file is parsed at a time: a record, and more than any end of a line."""

Read = TypeVar("Read")

Wanted = Mapping[str, Labels | None]
"""The columns to read: with labels, or numbers."""


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
    """
    if are_files(path):
        stored(path, schema, with_target=with_target)
        return
    path = _file(path)
    if path.suffix.lower() in CSV:
        check_columns(path, csv_header(path), schema, with_target=with_target)
        return
    types = _parquet_types(path)
    check_columns(path, types.names, schema, with_target=with_target)
    for name, labels in _wanted(schema, with_target).items():
        _check_type(path, name, types.field(name).type, labels)


def stored(path: Path | str, schema: Schema, *, with_target: bool = True) -> ParquetTable:
    """Return a folder or pattern of Parquet files, whose cells mean what those of one file would.

    Parameters
    ----------
    path, schema, with_target
        As for :func:`check`, which this does: no row is read.
    """
    table = ParquetTable.open(path)
    wanted = _wanted(schema, with_target)
    for file in table.files:
        names = [*file.types, *file.folders]
        check_columns(file.path, names, schema, with_target=with_target)
        for name, labels in wanted.items():
            if name in file.types:
                _check_type(file.path, name, file.types[name], labels)
    meanings = {name: labels.meant for name, labels in wanted.items() if labels is not None}
    return table.meaning(meanings)


def read(path: Path | str, schema: Schema, *, with_target: bool = True) -> Table:
    """Read the declared columns of a file, whole; values outside their declaration are kept.

    A missing cell is NaN among numbers, None among categories and classes.

    Parameters
    ----------
    path, schema, with_target
        As for :func:`check`, which is done first.
    """
    path = _file(path)
    check(path, schema, with_target=with_target)
    wanted = _wanted(schema, with_target)
    table = _read_csv(path, wanted) if path.suffix.lower() in CSV else _read_parquet(path, wanted)
    cells = {}
    for name, labels in wanted.items():
        column = table.column(name)
        table = table.drop_columns([name])  # freed as soon as it is converted
        cells[name] = _numbers(column) if labels is None else _labelled(column, labels)
    y = cells.pop(schema.target.name) if with_target else None
    return Table(Frame(cells), y)


def describe(path: Path | str) -> dict[str, str]:
    """Return what each column seems to hold: number, category, or a type no schema has.

    Of a Parquet file only the metadata is read, of a CSV file the first few megabytes, for types.
    """
    path = _file(path)
    if path.suffix.lower() in PARQUET:
        types = _parquet_types(path)
    else:
        names = csv_header(path)
        if any(not name.strip() or _spells_number(name) for name in names):
            raise InputError(
                f"{path}: the first line seems to be a record, because a name is empty or a number."
                " Put a line of column names before it."
            )
        types = _safely(path, names, lambda: _first_block(path).schema)
    if len(set(types.names)) != len(types.names):
        raise InputError(f"{path}: column names must differ; one comes twice.")
    return {field.name: _kind(field.type) for field in types}


def has_first_line(path: Path | str) -> bool:
    """Say whether names of columns come from the first line of a text, which may be a record."""
    return Path(path).suffix.lower() in CSV


def measure(path: Path | str, kinds: Mapping[str, str], most: int) -> dict[str, Any]:
    """Return the range of each column of numbers, and up to ``most`` labels of each other column.

    **Nothing of this is private.** A column with nothing to measure, or more labels, is left out.
    """
    path = _file(path)
    wanted = {name: Labels([]) if kind == CATEGORY else None for name, kind in kinds.items()}
    table = _read_csv(path, wanted) if path.suffix.lower() in CSV else _read_parquet(path, wanted)
    found: dict[str, Any] = {}
    for name, kind in kinds.items():
        column = table.column(name)
        if kind == NUMBER:
            numbers = _numbers(column)
            numbers = numbers[np.isfinite(numbers)]
            if numbers.size and numbers.min() < numbers.max():
                found[name] = (float(numbers.min()), float(numbers.max()))
            continue
        labels = [
            label for label in _encoded(column).dictionary.to_pylist() if label not in (None, "")
        ]
        if 2 <= len(labels) <= most:
            found[name] = tuple(sorted(labels))
    return found


def write(path: Path, columns: Mapping[str, Cells]) -> None:
    """Write columns to a CSV or Parquet file, as its suffix says."""
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


def are_files(path: Path | str) -> bool:
    """Say whether this is a folder or a pattern, which may stand for many files.

    Examples
    --------
    >>> are_files("patients/*.parquet"), are_files("patients.csv")
    (True, False)
    """
    return Path(path).is_dir() or (not Path(path).exists() and glob.has_magic(str(path)))


def _file(path: Path | str) -> Path:
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; expected one CSV or Parquet file.")
    check_suffix(path)
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: this is no ordinary file; copy the table to one.")
    with path.open("rb"):  # what the operating system refuses, it refuses here
        return path


def _wanted(schema: Schema, with_target: bool) -> dict[str, Labels | None]:
    wanted: dict[str, Labels | None] = {
        name: Labels(column.levels) if isinstance(column, Category) else None
        for name, column in schema.declared_columns().items()
    }
    if with_target:
        target = schema.target
        is_class = target.task == CLASSIFICATION
        wanted[target.name] = Labels(target.classes) if is_class else None
    return wanted


def _read_csv(path: Path, wanted: Wanted) -> Any:
    names = csv_header(path)
    check_records(path)
    text = pa.dictionary(pa.int32(), pa.string())
    types = {name: pa.float64() if labels is None else text for name, labels in wanted.items()}
    if _is_header_alone(path):
        return pa.table({name: pa.array([], kind) for name, kind in types.items()})
    options = csv.ConvertOptions(column_types=types, include_columns=list(types))
    return _safely(
        path,
        names,
        lambda: csv.read_csv(
            path,
            read_options=csv.ReadOptions(block_size=PARSED_AT_ONCE),
            parse_options=_parsing(names),
            convert_options=options,
        ),
    )


def _parsing(names: list[str]) -> Any:
    # In a file of one column an empty line is a missing cell.
    return csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1)


def _first_block(path: Path) -> Any:
    check_records(path)
    if _is_header_alone(path):
        return pa.table({name: pa.array([], pa.null()) for name in csv_header(path)})
    with csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=PARSED_AT_ONCE),
        parse_options=_parsing(csv_header(path)),
    ) as reader:
        return pa.table(reader.read_next_batch().slice(0, 0))


def _is_header_alone(path: Path) -> bool:
    """Say whether there is one line, which no newline ends; Arrow takes such a file for empty."""
    with path.open("rb") as file:
        start = file.read(LONGEST_LINE)
    return b"\n" not in start and b"\r" not in start and len(start) < LONGEST_LINE


def _parquet_types(path: Path) -> Any:
    return _safely(path, [], lambda: parquet.read_schema(path))


def _read_parquet(path: Path, wanted: Wanted) -> Any:
    def load() -> Any:
        table = parquet.ParquetFile(path, page_checksum_verification=True).read(list(wanted))
        table.validate(full=True)
        return table

    return _safely(path, [], load)


def _safely(path: Path, names: list[str], load: Callable[[], Read]) -> Read:
    """Load something with Arrow; a failure is told without what was read."""
    try:
        return load()
    except (pa.ArrowException, OSError, UnicodeError) as error:
        problem = _problem(path, names, str(error))
    raise InputError(f"{path}: {problem}")


def _problem(path: Path, names: list[str], said: str) -> str:
    """Return our own words for what Arrow said."""
    if path.suffix.lower() in PARQUET:
        return "this cannot be read as Parquet. Is the file complete, and is it Parquet?"
    place = re.match(r"In CSV column #(\d+)", said)
    column = ""
    if place and int(place.group(1)) < len(names):
        column = repr(names[int(place.group(1))])
    if "UTF8" in said:
        return f"the column {column} is not UTF-8 text. Save the file again as UTF-8."
    if column:
        return (
            f"the column {column} has a cell that is no number. Leave cells empty where a number "
            "is missing, or declare the column as a category."
        )
    if re.search(r"Expected \d+ columns", said):
        return "some line has more or fewer cells than the first. Is the file complete?"
    return "this cannot be read as CSV. Is the file complete, and are its cells split by commas?"


def _check_type(path: Path, name: str, kind: Any, labels: Labels | None) -> None:
    listed = None if labels is None else labels.listed
    check_kind(str(path), name, listed, kind_of(kind), is_spelt=True)


def _kind(kind: Any) -> str:
    found = kind_of(kind)
    if found.words == "bool" or found.holds == kinds.TEXT:
        return CATEGORY
    return found.words if found.holds == kinds.OTHER else NUMBER


def _numbers(column: Any) -> Vector:
    floats = pc.cast(_plain(column), pa.float64(), safe=False)  # whole numbers may be rounded
    numbers: Vector = floats.combine_chunks().to_numpy(zero_copy_only=False)
    return numbers


def _plain(column: Any) -> Any:
    """Return a column without a dictionary and without decimals."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        # By way of text, which is rounded correctly; the direct way can be off by one digit.
        column = pc.cast(pc.cast(column, pa.string()), pa.float64())
    return column


def _labelled(column: Any, labels: Labels) -> Cells:
    """Return for each cell the declared label that it means, or None."""
    encoded = _encoded(column)
    values = encoded.dictionary.to_pylist()
    if pa.types.is_float32(encoded.dictionary.type):
        values = [None if value is None else shortest(value) for value in values]
    meant: Iterable[Label | None] = map(labels.meant, values)
    known = np.array([*meant, None], dtype=object)
    places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    cells: Cells = known[places.astype(np.int64)]
    return cells


def _encoded(column: Any) -> Any:
    kind = column.type
    if pa.types.is_decimal(kind.value_type if pa.types.is_dictionary(kind) else kind):
        column = _plain(column)
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


def _spells_number(name: str) -> bool:
    try:
        return not math.isnan(float(name))
    except ValueError:
        return False

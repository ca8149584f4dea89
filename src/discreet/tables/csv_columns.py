"""The columns of a CSV file, read whole by Arrow; one place that knows its reader of CSV.

What Arrow says of a broken file may quote its cells, so it is never passed on: a refusal names the
file, or the column, and nothing that was read.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from pyarrow import csv

from discreet.errors import InputError
from discreet.tables.csv_header import read_header
from discreet.tables.csv_records import LONGEST_LINE, check_records

PARSED_AT_ONCE = LONGEST_LINE + 2**10
"""How much of a CSV file is parsed at a time: a record, and more than any end of a line."""

EMPTY = frozenset(csv.ConvertOptions().null_values)
"""What stands for a missing number in a CSV file."""

Read = TypeVar("Read")


def parse_columns(path: Path, are_numbers: Mapping[str, bool]) -> Any:
    """Return some columns as an Arrow table: numbers as floats, others as coded text."""
    names = read_header(path)
    check_records(path)
    text = pa.dictionary(pa.int32(), pa.string())
    types = {name: pa.float64() if numbers else text for name, numbers in are_numbers.items()}
    if _is_header_alone(path):
        return pa.table({name: pa.array([], kind) for name, kind in types.items()})
    options = csv.ConvertOptions(column_types=types, include_columns=list(types))
    return _load(
        path,
        names,
        lambda: csv.read_csv(
            path,
            read_options=csv.ReadOptions(block_size=PARSED_AT_ONCE),
            parse_options=_parse_options(names),
            convert_options=options,
        ),
    )


def guess_types(path: Path, names: list[str]) -> Any:
    """Return the types that Arrow finds in the first few megabytes, without what it found there."""
    return _load(path, names, lambda: _read_first_block(path).schema)


def _parse_options(names: list[str]) -> Any:
    # In a file of one column an empty line is a missing cell.
    return csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1)


def _read_first_block(path: Path) -> Any:
    check_records(path)
    if _is_header_alone(path):
        return pa.table({name: pa.array([], pa.null()) for name in read_header(path)})
    with (
        csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=PARSED_AT_ONCE),
            parse_options=_parse_options(read_header(path)),
        ) as reader,
        contextlib.suppress(StopIteration),
    ):  # a header alone
        return pa.table(reader.read_next_batch().slice(0, 0))
    return pa.table({name: pa.array([], pa.null()) for name in read_header(path)})


def _is_header_alone(path: Path) -> bool:
    """Say whether there is one line, which no newline ends; Arrow takes such a file for empty."""
    with path.open("rb") as file:
        start = file.read(LONGEST_LINE)
    return b"\n" not in start and b"\r" not in start and len(start) < LONGEST_LINE


def _load(path: Path, names: list[str], load: Callable[[], Read]) -> Read:
    """Load something with Arrow; a failure is told without what was read."""
    try:
        return load()
    except (pa.ArrowException, OSError, UnicodeError) as error:
        problem = _problem(names, str(error))
    raise InputError(f"{path}: {problem}")


def _problem(names: list[str], said: str) -> str:
    """Return our own words for what Arrow said."""
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

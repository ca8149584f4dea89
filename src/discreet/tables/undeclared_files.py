"""Files before anything is declared about them: their types, for a schema to be proposed.

Also how columns are written to a file.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data import kinds
from discreet.data.arrow import import_arrow
from discreet.data.frame import CellArray, Frame
from discreet.data.kinds import kind_of
from discreet.data.stored import Wanted
from discreet.data.stored.sources import check_file, format_of, open_files
from discreet.schema.schema import CATEGORY, NUMBER

INDEX = "an index"
"""What a column holds that pandas wrote the numbers of rows to."""

MEASURED_AT_ONCE = 2**16
"""Rows that are measured together."""


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
    types = open_files(check_file(path)).types
    found = {name: _kind_in_schema(dtype) for name, dtype in types.items()}
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
    dtype = open_files(check_file(path)).types[name]
    if kind_of(dtype).words == "bool":
        return (False, True)
    if _kind_in_schema(dtype) != NUMBER:
        return ()
    found = [frame[name] for frame in _frames_of(path, [Wanted(name)])]
    seen = np.unique(np.concatenate([np.empty(0), *found]))
    known = seen[~np.isnan(seen)]
    return (0, 1) if known.size and np.isin(known, (0, 1)).all() else ()


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
    arrow = import_arrow()
    table = arrow.table({name: arrow.array(cells) for name, cells in columns.items()})
    with format_of(path, is_new=True).writer(path, table.schema) as file:
        file.write_table(table)


def spell(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return columns as lines of text, cells between commas, for the standard output.

    Examples
    --------
    >>> spell({"age": [47, 71], "ward": ["surgery", None]}).splitlines()
    ['age,ward', '47,surgery', '71,']
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def has_names_as_text(path: Path | str) -> bool:
    """Say whether the names of columns are a line of text, which may as well be a record.

    Examples
    --------
    >>> has_names_as_text("patients.csv"), has_names_as_text("patients.parquet")
    (True, False)
    """
    return format_of(path).is_text


def _frames_of(path: Path | str, wanted: Sequence[Wanted]) -> Iterable[Frame]:
    return open_files(check_file(path)).make_ready(wanted).frames(wanted, MEASURED_AT_ONCE)


def _kind_in_schema(dtype: Any) -> str:
    kind = kind_of(dtype)
    if kind.words == "bool" or kind.holds == kinds.TEXT:
        return CATEGORY
    return kind.words if kind.holds == kinds.OTHER else NUMBER

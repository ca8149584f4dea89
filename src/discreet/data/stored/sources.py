"""The entry point for tables that live elsewhere, and the list of their kinds.

``fit``, ``predict`` and the command line open every stored table here. A new source (a database, a
stream of Arrow batches) is a class derived from :class:`StoredTable`, in a file of its own, and a
line in :data:`SOURCES`; a new file format is one derived from :class:`FileTable`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from discreet.data.stored.arrow_dataset import DatasetTable, is_address
from discreet.data.stored.csv import CsvTable
from discreet.data.stored.dask import DaskTable
from discreet.data.stored.file_table import FileTable, are_files, has_suffix
from discreet.data.stored.files import check_ordinary
from discreet.data.stored.parquet import ParquetTable
from discreet.data.stored.table import OpenedTable, StoredTable, TargetCount, Wanted
from discreet.data.stored.warehouse import DuckTable
from discreet.errors import InputError, InputTypeError

SOURCES: tuple[type[StoredTable], ...] = (
    DatasetTable,
    CsvTable,
    DuckTable,
    ParquetTable,
    DaskTable,
)
"""Every kind of table that is stored elsewhere; the first that says a table is its own opens it."""


def is_table(X: object) -> bool:
    """Say whether rows live elsewhere: in files, with the workers of Dask, or in another source.

    Examples
    --------
    >>> is_table("patients/*.parquet"), is_table([[1.0]])
    (True, False)
    """
    return isinstance(X, StoredTable) or any(source.owns(X) for source in SOURCES)


def open_table(
    X: Any,
    y: Any = None,
    *,
    target: str | Sequence[str] | None = None,
    weight: Any = None,
    targets: TargetCount = "one",
) -> OpenedTable:
    """Look at a stored table without its rows, and refuse what does not go with it.

    Parameters
    ----------
    X
        A CSV or Parquet file, a folder or pattern of Parquet files; a Dask data frame or array; or
        a table that is open already.
    y
        Labels that come beside the table, where its source can take them: a Dask array or column,
        of several columns where several targets are asked for.
    target
        The column of labels, or a list of columns where several targets are asked for.
    weight
        The column of weights; or weights that come beside the table.
    targets
        How many targets are asked for: ``"none"``, ``"one"`` or ``"several"``.

    Examples
    --------
    >>> import tempfile, pyarrow
    >>> from pyarrow import parquet
    >>> folder = tempfile.mkdtemp()
    >>> parquet.write_table(pyarrow.table({"age": [47.0], "ill": [1]}), folder + "/a.parquet")
    >>> table = open_table(folder, target="ill")
    >>> table.names, table.width
    (['age'], 1)
    """
    return look_at(X).with_targets(y, target, weight, targets)


def map_rows(answer: Callable[[Any], Any], X: Any, columns: Sequence[Wanted] | None = None) -> Any:
    """Return what a function of each row by itself says of the rows of a stored table, in order.

    Files are read a few rows at a time, each time as a ``Frame``; rows of
    Dask are answered for where they are, when the result is computed.

    Parameters
    ----------
    answer
        Takes some rows, and returns an array with a line for each.
    X
        What :func:`open_table` takes.
    columns
        The columns that it is to be given, found by name; None for all of an array.

    Examples
    --------
    >>> import tempfile, pyarrow
    >>> from pyarrow import parquet
    >>> folder = tempfile.mkdtemp()
    >>> parquet.write_table(pyarrow.table({"age": [47.0, 71.0]}), folder + "/a.parquet")
    >>> map_rows(lambda frame: frame["age"] > 50, folder, [Wanted("age")])
    array([False,  True])
    """
    return look_at(X).map_rows(answer, columns)


def look_at(X: Any) -> StoredTable:
    """Return the table that something says the place of; reads no row."""
    if isinstance(X, StoredTable):
        return X
    for source in SOURCES:
        if source.owns(X):
            return source.open(X)
    raise InputTypeError(
        f"X must be the path of a table, or a Dask collection; got {type(X).__name__}."
    )


def open_files(path: Path | str, query: str | None = None) -> FileTable:
    """Return the table in files: of a known name, a folder, a pattern, or a query's answer."""
    if query is not None:
        return _answer(path, query)
    table = look_at(path if are_files(path) or is_address(path) else check_file(path))
    if not isinstance(table, FileTable):
        raise InputTypeError(f"{path}: expected the path of files.")
    return table


def _answer(path: Path | str, query: str) -> FileTable:
    """Return what a query says of a data base."""
    if not has_suffix(path, DuckTable.suffixes):
        raise InputError(
            f"{path}: the schema has a query, which is asked of a data base; expected a "
            f"{DuckTable.suffixes[0]} file. Take the query out for other files."
        )
    return DuckTable.ask_file(path, query)


def check_file(path: Path | str) -> Path:
    """Return the path of one file, refusing what is none or of another format."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; expected one {_words_of(_formats())} file.")
    format_of(path)
    check_ordinary(path)
    with path.open("rb"):  # what the operating system refuses, it refuses here
        return path


def format_of(path: Path | str, *, is_new: bool = False) -> type[FileTable]:
    """Return the format that the name of a file asks for; refuse a name that asks for none.

    A new file is of a format that is written here.

    Examples
    --------
    >>> format_of("patients.CSV").__name__, format_of("patients.pq").__name__
    ('CsvTable', 'ParquetTable')
    """
    formats = [each for each in _formats() if each.is_written or not is_new]
    for each in formats:
        if has_suffix(path, each.suffixes):
            return each
    raise InputError(
        f"{path}: a table must be a {_words_of(formats)} file; got "
        f"{Path(path).suffix.lower() or 'no suffix'}. Convert it first."
    )


def _formats() -> list[type[FileTable]]:
    return [source for source in SOURCES if issubclass(source, FileTable) and source.suffixes]


def _words_of(formats: Sequence[type[FileTable]]) -> str:
    *others, last = (each.suffixes[0] for each in formats)
    return f"{', '.join(others)} or {last}"

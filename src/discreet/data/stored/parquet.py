"""Parquet files as rows: a table of one file or many, and the feed that streams it.

Footers are read when the table is opened; rows only in passes, a few at a time. What Arrow says of
a broken file may quote its cells, so it is not passed on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from discreet.data.arrow import (
    Meaning,
    import_arrow,
    is_plain_text,
)
from discreet.data.frame import CellArray, Coded, Frame, matrix_of
from discreet.data.stored.arrow_batches import BATCH_NUMBERS, BatchFeed, Place, read_column
from discreet.data.stored.file_table import FilePart, FileTable, are_files, repeat_value
from discreet.data.stored.files import (
    SUFFIXES,
    StoredFile,
    check_distinct,
    find_files,
    open_file,
    refuse_broken,
    refuse_text,
    stop_at,
)
from discreet.data.stored.stream import CACHED_BYTES, StreamSource
from discreet.data.stored.table import Encoding, Wanted
from discreet.errors import InputError, SourceChanged

BUFFER = 2**16
"""Bytes of a column that are read from a file at once."""

COPIED_AT_ONCE = 2**16
"""Rows that are handed on together, to be written elsewhere."""

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False, repr=False)
class ParquetTable(FileTable):
    """Parquet files that make up one table; their footers have been read, none of their rows.

    Make one with ``open``.

    Parameters
    ----------
    where
        The path or pattern that the files were found by.
    files
        The files, in the order of their names.
    meanings
        For some columns, which declared value a cell means.

    Examples
    --------
    >>> import tempfile, pyarrow
    >>> from pyarrow import parquet
    >>> folder = tempfile.mkdtemp()
    >>> parquet.write_table(pyarrow.table({"age": [47.0, 71.0]}), folder + "/a.parquet")
    >>> ParquetTable.open(folder)
    <Parquet: 1 file, columns 'age'>
    """

    where: str
    files: tuple[StoredFile, ...]
    meanings: Mapping[str, Meaning] = field(default_factory=dict)

    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES

    @classmethod
    def owns(cls, X: object) -> bool:
        return isinstance(X, (str, os.PathLike, ParquetTable))

    @classmethod
    def open(cls, X: Any) -> Self:
        """Find the files and read their footers.

        Parameters
        ----------
        X
            A file, a folder (with all its folders), or a pattern such as ``"2024/*.parquet"``.
        """
        if isinstance(X, cls):
            return X
        refuse_text(X)
        import_arrow()
        paths, root = find_files(X)
        files = tuple(open_file(path, root) for path in paths)
        check_distinct(files)
        return cls(str(X), files)

    @property
    def count(self) -> int:
        """The number of rows; private unless the unit says otherwise."""
        return sum(file.rows for file in self.files)

    @property
    def names(self) -> list[str]:
        """The columns of the first file, in order, without those of folders and pandas' index."""
        return [name for name in self.files[0].types if name not in self.files[0].index]

    @property
    def width(self) -> int:
        return len(self.names)

    @property
    def parts(self) -> list[FilePart]:
        return [FilePart(file.path, file.names) for file in self.files]

    @property
    def types(self) -> dict[str, Any]:
        if self.files[0].twice:
            raise InputError(f"{self.where}: column names must differ; one comes twice.")
        return dict(self.files[0].types)

    @property
    def can_be_spread(self) -> bool:
        return are_files(self.where)

    def spread(self) -> Any:
        import dask.dataframe

        if Path(self.where).is_dir():  # names of folders may add columns
            return dask.dataframe.read_parquet(str(Path(self.where).resolve()))
        return dask.dataframe.read_parquet([str(file.path.resolve()) for file in self.files])

    def __repr__(self) -> str:
        count = len(self.files)
        names = ", ".join(repr(name) for name in self.names[:5])
        more = ", ..." if len(self.names) > 5 else ""
        return f"<Parquet: {count} file{'s' * (count != 1)}, columns {names}{more}>"

    def check(self, wanted: Sequence[Wanted]) -> None:
        """Refuse files without a wanted column, or with one of another type; reads no row."""
        for file in self.files:
            for column in wanted:
                file.check_column(self.add_meaning(column))

    def check_same_names(self) -> None:
        """Refuse files that have other columns than the first."""
        for file in self.files:
            if set(file.types) - file.index != set(self.names):
                raise InputError(
                    f"{file.path}: this file has other columns than {self.files[0].path}. Declare "
                    "the columns to be used by name, or write the files alike."
                )

    def check_unchanged(self) -> None:
        """Raise if a file is no longer what it was when it was opened."""
        for file in self.files:
            if not file.is_unchanged():
                raise InputError(
                    f"{file.path}: this file has changed since it was checked. Wait until nobody "
                    "writes to it, and start again."
                )

    def check_pages(self, wanted: Sequence[Wanted]) -> None:
        """Decode all pages of some columns and keep nothing; refuse a file that cannot be decoded.

        Whether a file is well-formed is public; what its cells hold decides nothing.
        """
        for file in self.files:
            if not _can_be_decoded(file, wanted):
                refuse_broken(file.path)

    def make_ready(self, wanted: Sequence[Wanted]) -> Self:
        """Decode a single file once; of folders and patterns only the footers are read."""
        if not self.can_be_spread:
            self.check_pages(wanted)
        return self

    def source(self, encoding: Encoding) -> StreamSource:
        encoding.check_apart()
        for column in encoding.not_features:
            if any(column.name in file.folders for file in self.files):
                raise InputError(
                    f"the column {column.name!r} comes from the names of folders; the target and "
                    "the weight must be in the files."
                )
        feed = ParquetFeed(self, self.add_meanings(encoding))
        feed.check()
        return StreamSource(feed)

    def frames(
        self, wanted: Sequence[Wanted], rows: int, skipped: int = 0
    ) -> Generator[Frame, None, None]:
        """Yield rows in order, at most so many at a time, never of two files.

        Parameters
        ----------
        wanted, rows, skipped
            As for :meth:`batches`.
        """
        wanted = [self.add_meaning(column) for column in wanted]
        for read, batch in self.batches(wanted, rows, skipped):
            yield read(batch, wanted)

    def batches(
        self, wanted: Sequence[Wanted], rows: int, skipped: int = 0
    ) -> Generator[tuple[Place, Any], None, None]:
        """Yield all rows but the first few as Arrow decodes them; files without others are left.

        Parameters
        ----------
        wanted
            The columns that are decoded.
        rows
            The most rows of a batch.
        skipped
            How many rows are left out at the beginning.

        Yields
        ------
        read, batch
            What reads columns of the file, and some of its rows as an Arrow record batch.
        """
        for file in self.files:
            if skipped < file.rows or not skipped:
                read = partial(_read_frame, file)
                for batch in _decode_file(file, wanted, rows, skipped):
                    yield read, batch
            skipped = max(0, skipped - file.rows)

    def blocks(self, numbers: Collection[str] = ()) -> tuple[Any, Iterator[Any]]:
        arrow, names, types = import_arrow(), self.names, self.files[0].types
        if any(file.types[name] != types[name] for file in self.files for name in names):
            raise InputError(f"{self.where}: a column has another type in another file.")
        form = arrow.schema([(name, types[name]) for name in names])
        blocks = (
            arrow.Table.from_batches([batch]).select(names).cast(form)
            for _, batch in self.batches([Wanted(name) for name in names], COPIED_AT_ONCE)
        )
        return form, blocks

    @classmethod
    def writer(cls, path: Path, form: Any) -> Any:
        return import_arrow().parquet.ParquetWriter(path, form, write_page_checksum=True)


@dataclass(frozen=True, eq=False, repr=False)
class ParquetFeed(BatchFeed):
    """Parquet files, encoded row by row."""

    table: ParquetTable

    def check(self) -> None:
        self.table.check(self.encoding.wanted)
        self.table.check_unchanged()


def parquet_rows(
    where: str | os.PathLike[str],
    columns: Sequence[str],
    *,
    target: str | None = None,
    weight: str | None = None,
    cached_bytes: int = CACHED_BYTES,
) -> StreamSource:
    """Return the numbers of Parquet files as stored rows, for :class:`discreet.data.Rows`.

    Parameters
    ----------
    where
        A file, a folder, or a pattern; see :class:`ParquetTable`.
    columns
        The columns of the features, in order: numbers.
    target, weight
        The columns of labels and of weights, numbers too.
    cached_bytes
        Rows that take no more are kept in memory after the first pass.

    Examples
    --------
    >>> import tempfile, pyarrow
    >>> from pyarrow import parquet
    >>> from discreet.data import Bounds, Rows
    >>> from discreet.geometry import L2Ball
    >>> folder = tempfile.mkdtemp()
    >>> parquet.write_table(pyarrow.table({"a": [0.1, 0.2], "b": [0.3, 0.4]}), folder + "/1.pq")
    >>> Rows(parquet_rows(folder, ["a", "b"]), bounds=Bounds(L2Ball(1.0), n_features=2))
    <sealed rows: 2 features, unit 'add_remove'>
    """
    table = ParquetTable.open(where)
    names = [*columns, *(name for name in (target, weight) if name is not None)]
    if len(set(names)) < len(names):
        raise InputError("columns, target and weight must all be different; one comes twice.")
    features = tuple(Wanted(name) for name in columns)
    encoding = Encoding(
        features,
        matrix_of,
        len(features),
        None if target is None else Wanted(target),
        None if target is None else np.asarray,
        None if weight is None else Wanted(weight),
    )
    table.check(encoding.wanted)
    return StreamSource(ParquetFeed(table, encoding), cached_bytes)


def _decode_file(
    file: StoredFile, wanted: Sequence[Wanted], rows: int, skipped: int
) -> Generator[Any, None, None]:
    """Yield the rows of one file; raise if it is not the file that was checked, to its end."""
    if not file.is_unchanged():
        stop_at(file.path)
    seen = skipped
    with closing(_decode_batches(file, wanted, rows, skipped)) as batches:
        for batch in batches:
            seen += batch.num_rows
            yield batch
    if seen != file.rows or not file.is_unchanged():
        stop_at(file.path)


def _decode_batches(
    file: StoredFile, wanted: Sequence[Wanted], rows: int, skipped: int
) -> Generator[Any, None, None]:
    arrow = import_arrow()
    inside = [column for column in wanted if column.name in file.types]
    text = [
        column.name
        for column in inside
        if not column.is_number and is_plain_text(file.types[column.name])
    ]
    errors = (arrow.ArrowException, OSError, ValueError)
    opened = _or_none(
        errors,
        lambda: arrow.parquet.ParquetFile(
            file.path,
            read_dictionary=text,
            pre_buffer=False,  # it would hold whole files
            buffer_size=BUFFER,
            page_checksum_verification=True,
        ),
    )
    if opened is None:
        stop_at(file.path)
    with opened:
        names = [column.name for column in inside] or list(file.types)[:1]  # rows are counted
        groups, skipped = _remaining_groups(opened.metadata, skipped)
        batches = opened.iter_batches(
            batch_size=rows, row_groups=groups, columns=names, use_threads=True
        )
        while True:
            batch: Any = _or_none(errors, lambda: next(batches, False))
            if batch is None:
                stop_at(file.path)
            if batch is False:
                break
            if skipped < batch.num_rows:
                yield batch.slice(skipped)
            skipped = max(0, skipped - batch.num_rows)
    arrow.default_memory_pool().release_unused()  # what a thread leaves behind would add up


def _remaining_groups(metadata: Any, skipped: int) -> tuple[list[int], int]:
    """Return the row groups that are not wholly skipped, and how many rows of them still are."""
    groups = list(range(metadata.num_row_groups))
    while groups and (rows := metadata.row_group(groups[0]).num_rows) <= skipped:
        skipped -= rows
        groups = groups[1:]
    return groups, skipped


def _can_be_decoded(file: StoredFile, wanted: Sequence[Wanted]) -> bool:
    rows = max(1, BATCH_NUMBERS // max(1, len(wanted)))
    try:
        for _ in _decode_file(file, wanted, rows, 0):
            pass
    except SourceChanged:
        return False
    return True


def _or_none(errors: tuple[type[Exception], ...], make: Callable[[], Result]) -> Result | None:
    try:
        return make()
    except errors:
        return None


def _read_frame(file: StoredFile, batch: Any, wanted: Sequence[Wanted]) -> Frame:
    return Frame({column.name: _read_cells(file, batch, column) for column in wanted})


def _read_cells(file: StoredFile, batch: Any, column: Wanted) -> CellArray | Coded:
    if column.name not in file.types:
        return repeat_value(file.folders[column.name], batch.num_rows, column)
    return read_column(batch, column)

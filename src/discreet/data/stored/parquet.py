"""Parquet files as rows; the only place of this layer that knows Arrow.

A table is one file, a folder of files, or all files that a pattern matches, in the order of their
names. Folders called ``name=value`` add a column. Footers are read when the table is opened; rows
only in passes, a few at a time. What Arrow says of a broken file may quote its cells, so it is not
passed on.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import unquote

import numpy as np
from scipy import sparse

from discreet._prefetch import ahead
from discreet._types import Integers, Vector
from discreet.data.cells import text_of
from discreet.data.frame import Cells, Coded, Frame, matrix_of, one_above_another
from discreet.data.kinds import TEXT, kind_of, shortest
from discreet.data.stored.stream import CACHED_BYTES, Feed, Piece, StreamSource
from discreet.data.stored.table import Encoding, StoredTable, Wanted, check_apart
from discreet.errors import InputError, InputTypeError, SourceChanged

SUFFIXES = (".parquet", ".pq")
MAGIC = b"PAR1"
LONGEST_FOOTER = 2**28
MISSING = "__HIVE_DEFAULT_PARTITION__"

AHEAD = 1
"""How many batches are decoded before they are asked for."""

BATCH_NUMBERS = 2**21
"""How many numbers are decoded together: Arrow takes longer over smaller batches."""

BUFFER = 2**16
"""Bytes of a column that are read from a file at once."""

PREDICTED_AT_ONCE = 2**16

Result = TypeVar("Result")


def is_stored(X: object) -> bool:
    """Say whether rows are given by where they are stored.

    Examples
    --------
    >>> is_stored("patients/*.parquet"), is_stored([[1.0]])
    (True, False)
    """
    return isinstance(X, (str, os.PathLike, ParquetTable))


@dataclass(frozen=True)
class _Mark:
    """What tells a file from a later one under the same name."""

    size: int
    changed: int
    footer: str


@dataclass(frozen=True, repr=False)
class _File:
    path: Path
    mark: _Mark
    place: tuple[int, int]  # on the disk, whatever its name
    rows: int
    types: Mapping[str, Any]  # Arrow's type of each column
    twice: frozenset[str]
    folders: Mapping[str, str | None]  # columns that the names of folders add
    index: frozenset[str]  # columns that pandas added


@dataclass(frozen=True, eq=False, repr=False)
class ParquetTable(StoredTable):
    """Parquet files that make up one table; their footers have been read, none of their rows.

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
    files: tuple[_File, ...]
    meanings: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    @classmethod
    def open(cls, where: str | os.PathLike[str]) -> ParquetTable:
        """Find the files and read their footers.

        Parameters
        ----------
        where
            A file, a folder (with all its folders), or a pattern such as ``"2024/*.parquet"``.
        """
        if isinstance(where, ParquetTable):
            return where
        _arrow()
        paths, root = _found(where)
        files = tuple(_opened(path, root) for path in paths)
        _check_apart(files)
        return cls(str(where), files)

    def meaning(self, meanings: Mapping[str, Callable[[Any], Any]]) -> ParquetTable:
        """Return the same table, with what the cells of some columns mean."""
        return replace(self, meanings=meanings)

    def _meant(self, column: Wanted | None) -> Any:
        if column is None or column.name not in self.meanings:
            return column
        return replace(column, meant=self.meanings[column.name])

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

    def __repr__(self) -> str:
        count = len(self.files)
        names = ", ".join(repr(name) for name in self.names[:5])
        more = ", ..." if len(self.names) > 5 else ""
        return f"<Parquet: {count} file{'s' * (count != 1)}, columns {names}{more}>"

    def check(self, wanted: Sequence[Wanted]) -> None:
        """Refuse files without a wanted column, or with one of another type; reads no row."""
        for file in self.files:
            for column in wanted:
                _check_column(file, self._meant(column))

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
            if not _is_unchanged(file):
                raise InputError(
                    f"{file.path}: this file has changed since it was checked. Wait until nobody "
                    "writes to it, and start again."
                )

    def source(self, encoding: Encoding) -> StreamSource:
        features = encoding.features or ()
        check_apart(features, encoding.target, encoding.weight)
        for column in (encoding.target, encoding.weight):
            if column is not None and any(column.name in file.folders for file in self.files):
                raise InputError(
                    f"the column {column.name!r} comes from the names of folders; the target and "
                    "the weight must be in the files."
                )
        meant = replace(
            encoding,
            features=tuple(map(self._meant, features)),
            target=self._meant(encoding.target),
        )
        feed = ParquetFeed(self, meant)
        feed.check()
        return StreamSource(feed)

    def frames(self, wanted: Sequence[Wanted], rows: int) -> Generator[Frame, None, None]:
        """Yield all rows in order, at most so many at a time, never of two files."""
        wanted = [self._meant(column) for column in wanted]
        for file, batch in self.batches(wanted, rows):
            yield _frame(file, batch, wanted)

    def batches(
        self, wanted: Sequence[Wanted], rows: int, skipped: int = 0
    ) -> Generator[tuple[_File, Any], None, None]:
        """Yield all rows but the first few as Arrow decodes them; files without others are left."""
        for file in self.files:
            if skipped < file.rows or not skipped:
                for batch in _batches_of(file, wanted, rows, skipped):
                    yield file, batch
            skipped = max(0, skipped - file.rows)


@dataclass(frozen=True, eq=False, repr=False)
class ParquetFeed(Feed):
    """Parquet files, encoded row by row.

    Parameters
    ----------
    table
        The files.
    encoding
        How their rows become a matrix, labels and weights.
    """

    table: ParquetTable
    encoding: Encoding

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.count, self.encoding.width

    @property
    def has_labels(self) -> bool:
        return self.encoding.target is not None

    @property
    def has_weights(self) -> bool:
        return self.encoding.weight is not None

    @property
    def is_sparse(self) -> bool:
        return self.encoding.is_sparse

    @cached_property
    def _wanted(self) -> list[Wanted]:
        return self.encoding.wanted

    def check(self) -> None:
        self.table.check(self._wanted)
        self.table.check_unchanged()

    def pieces(self, rows: int) -> Iterator[Piece]:
        with closing(self.later(rows)) as later:
            for _, make in later:
                yield make()

    def later(
        self, rows: int, first: int = 0
    ) -> Generator[tuple[int, Callable[[], Piece]], None, None]:
        waiting: list[tuple[_File, Any]] = []
        room = rows
        together = rows * max(1, BATCH_NUMBERS // (rows * len(self._wanted)))
        decoded = self.table.batches(self._wanted, together, first * rows)
        with closing(ahead(decoded, AHEAD)) as batches:
            for file, batch in batches:
                start, size = 0, batch.num_rows
                while size - start >= room:
                    waiting.append((file, batch.slice(start, room)))
                    yield rows, partial(self._together, waiting)
                    start, waiting, room = start + room, [], rows
                if start < size:
                    waiting.append((file, batch.slice(start)))
                    room -= size - start
        if waiting:
            yield rows - room, partial(self._together, waiting)

    def _together(self, parts: Sequence[tuple[_File, Any]]) -> Piece:
        return _joined([self._encoded(_frame(*part, self._wanted)) for part in parts])

    def _encoded(self, frame: Frame) -> Piece:
        encoding = self.encoding
        features = Frame({one.name: frame[one.name] for one in encoding.features or ()})
        labels = weights = None
        if encoding.target is not None and encoding.label is not None:
            labels = encoding.label(frame[encoding.target.name])
        if encoding.weight is not None:
            weights = frame[encoding.weight.name]
        return Piece(encoding.encode(features), labels, weights)


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
        None if target is None else _as_they_are,
        None if weight is None else Wanted(weight),
    )
    table.check(encoding.wanted)
    feed = ParquetFeed(table, encoding)
    return StreamSource(feed, cached_bytes)


def _as_they_are(labels: Vector) -> Vector:
    return labels


def _arrow() -> Any:
    """Import Arrow when it is first needed."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ModuleNotFoundError:
        pyarrow = None
    if pyarrow is None:
        raise InputError(
            "Parquet files need the package pyarrow; install it with pip install "
            "'discreet[parquet]'."
        )
    return pyarrow


def _found(where: object) -> tuple[list[Path], Path]:
    """Return the files in order, and the folder from which on names of folders count."""
    if not isinstance(where, (str, os.PathLike)):
        raise InputTypeError(f"expected a path; got {type(where).__name__}.")
    text = os.fsdecode(where)
    if "://" in text:
        raise InputError(f"{text}: only local files can be read; mount or copy them.")
    path = Path(text)
    if path.is_dir():
        paths, root = _within(path), path
    elif path.exists():
        if not path.is_file():
            raise InputError(f"{path}: this is no ordinary file; copy the table to one.")
        paths, root = [path], path.parent
    elif glob.has_magic(text):
        matches = [Path(match) for match in glob.glob(text, recursive=True)]
        paths = [file for match in matches if match.is_dir() for file in _within(match)]
        paths += [match for match in matches if match.is_file()]
        root = Path(*_before_magic(path.parts))
    else:
        raise InputError(
            f"{text}: there is no such file or folder. A pattern such as *.parquet "
            "may stand for several files."
        )
    if not paths:
        raise InputError(
            f"{text}: there is no Parquet file here; names must end with .parquet or .pq."
        )
    return sorted(set(paths), key=lambda file: file.as_posix()), root


def _before_magic(parts: Sequence[str]) -> list[str]:
    first = next((place for place, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return list(parts[:first])


def _within(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder and its folders, without those called _ or . first."""
    return [
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and path.is_file()
        and not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    ]


def _opened(path: Path, root: Path) -> _File:
    arrow = _arrow()
    try:
        mark, status = _mark(path), path.stat()
        metadata = arrow.parquet.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
        rows = int(metadata.num_rows)
    except (arrow.ArrowException, OSError, ValueError):
        mark = None
    if mark is None:
        raise InputError(
            f"{path}: this cannot be read as Parquet. Is the file complete, and is it Parquet?"
        )
    names = list(schema.names)
    return _File(
        path,
        mark,
        (status.st_dev, status.st_ino),
        rows,
        {name: schema.field(place).type for place, name in enumerate(names)},
        frozenset(name for name in names if names.count(name) > 1)
        if len(set(names)) < len(names)
        else frozenset(),
        _folders(path, root),
        _index(schema),
    )


def _index(schema: Any) -> frozenset[str]:
    """Return the columns in which pandas stored its index."""
    try:
        said = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, TypeError, ValueError):
        return frozenset()
    return frozenset(name for name in said if isinstance(name, str))


def _check_apart(files: Sequence[_File]) -> None:
    """Refuse a file that comes under two names: its rows would count twice."""
    first: dict[tuple[int, int], _File] = {}
    for file in files:
        other = first.setdefault(file.place, file)
        if other is not file:
            raise InputError(
                f"{file.path} and {other.path} are one file, whose rows would count twice; leave "
                "one of the two names out."
            )


def _folders(path: Path, root: Path) -> dict[str, str | None]:
    """Return the columns that folders between the root and the file add."""
    try:
        parts = path.relative_to(root).parts[:-1]
    except ValueError:
        parts = path.parts[:-1]
    pairs = [part.split("=", 1) for part in parts if "=" in part]
    values = {unquote(name): unquote(value) for name, value in pairs}
    return {name: None if value == MISSING else value for name, value in values.items()}


def _mark(path: Path) -> _Mark:
    """Return the mark of a file, refusing what has no footer."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        file.seek(-8, os.SEEK_END)
        tail = file.read(8)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != MAGIC or not 0 < length <= min(status.st_size - 8, LONGEST_FOOTER):
            raise ValueError("no footer")
        file.seek(-8 - length, os.SEEK_END)
        footer = hashlib.sha256(file.read(length)).hexdigest()
    return _Mark(status.st_size, status.st_mtime_ns, footer)


def _is_unchanged(file: _File) -> bool:
    try:
        return _mark(file.path) == file.mark
    except (OSError, ValueError):
        return False


def _check_column(file: _File, column: Wanted) -> None:
    name, path = column.name, file.path
    inside, outside = name in file.types, name in file.folders
    if not inside and not outside:
        raise InputError(f"{path}: the column {name!r}, which is declared, is missing.")
    if name in file.twice or (inside and outside):
        raise InputError(f"{path}: the column {name!r} comes twice; names must differ.")
    if outside:
        return
    column.check(str(path), kind_of(file.types[name]))


def _is_text(kind: Any) -> bool:
    return not hasattr(kind, "index_type") and kind_of(kind).holds == TEXT


def _changed(path: Path) -> NoReturn:
    raise SourceChanged(
        f"{path}: this file changed or broke while its rows were read, so nothing is released; a "
        "charge stands. Try again when nobody writes to it."
    )


def _batches_of(
    file: _File, wanted: Sequence[Wanted], rows: int, skipped: int
) -> Generator[Any, None, None]:
    """Yield the rows of one file; raise if it is not the file that was checked, to its end."""
    arrow = _arrow()
    if not _is_unchanged(file):
        _changed(file.path)
    seen = skipped
    with closing(_batches(arrow, file, wanted, rows, skipped)) as batches:
        for batch in batches:
            seen += batch.num_rows
            yield batch
    if seen != file.rows or not _is_unchanged(file):
        _changed(file.path)


def _frame(file: _File, batch: Any, wanted: Sequence[Wanted]) -> Frame:
    arrow = _arrow()
    return Frame({column.name: _cells(arrow, file, batch, column) for column in wanted})


def _batches(
    arrow: Any, file: _File, wanted: Sequence[Wanted], rows: int, skipped: int
) -> Generator[Any, None, None]:
    inside = [column for column in wanted if column.name in file.types]
    text = [
        column.name
        for column in inside
        if not column.is_number and _is_text(file.types[column.name])
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
        _changed(file.path)
    with opened:
        names = [column.name for column in inside] or _counting(file)
        groups, skipped = _remaining(opened.metadata, skipped)
        batches = opened.iter_batches(
            batch_size=rows, row_groups=groups, columns=names, use_threads=True
        )
        while True:
            batch: Any = _or_none(errors, lambda: next(batches, False))
            if batch is None:
                _changed(file.path)
            if batch is False:
                break
            if skipped < batch.num_rows:
                yield batch.slice(skipped)
            skipped = max(0, skipped - batch.num_rows)
    arrow.default_memory_pool().release_unused()  # what a thread leaves behind would add up


def _remaining(metadata: Any, skipped: int) -> tuple[list[int], int]:
    """Return the row groups that are not wholly skipped, and how many rows of them still are."""
    groups = list(range(metadata.num_row_groups))
    while groups and (rows := metadata.row_group(groups[0]).num_rows) <= skipped:
        skipped -= rows
        groups = groups[1:]
    return groups, skipped


def _counting(file: _File) -> list[str]:
    """Return a column to count rows by, where no wanted one is in the file itself."""
    return list(file.types)[:1]


def _or_none(errors: tuple[type[Exception], ...], make: Callable[[], Result]) -> Result | None:
    try:
        return make()
    except errors:
        return None


def _cells(arrow: Any, file: _File, batch: Any, column: Wanted) -> Cells | Coded:
    if column.name not in file.types:
        value = file.folders[column.name]
        if column.is_number:
            return np.full(batch.num_rows, _spelt(value))
        places = np.zeros(batch.num_rows, dtype=np.int64)
        return Coded(_read(column, [value]), places)
    array = batch.column(column.name)
    return _numbers(arrow, array) if column.is_number else _coded(arrow, array, column)


def _spelt(value: str | None) -> float:
    """Return the number that a folder's name spells, NaN if none."""
    try:
        return np.nan if value is None else float(value)
    except ValueError:
        return np.nan


def arrow_cells(column: Any, wanted: Wanted) -> Cells | Coded:
    """Return the cells of a column of an Arrow table, chunk by chunk as those of a file."""
    if wanted.is_number:
        arrow = _arrow()
        numbers = [_numbers(arrow, chunk) for chunk in _chunks(column)]
        return np.concatenate([np.empty(0), *numbers])
    return arrow_codes(column, wanted)


def arrow_codes(column: Any, wanted: Wanted) -> Coded:
    """Return the cells of a column of an Arrow table as places in a list of distinct values."""
    arrow = _arrow()
    distinct, places, start = [np.empty(1, dtype=object)], [np.empty(0, dtype=np.int64)], 1
    for chunk in _chunks(column):
        coded = _coded(arrow, chunk, wanted)
        distinct.append(coded.distinct)
        places.append(coded.places + start)
        start += coded.distinct.size
    return Coded(np.concatenate(distinct), np.concatenate(places))


def _chunks(column: Any) -> list[Any]:
    return list(column.chunks) if hasattr(column, "chunks") else [column]


def _numbers(arrow: Any, array: Any) -> Cells:
    if arrow.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if not arrow.types.is_float64(array.type):
        array = _as_floats(arrow, array)
    numbers: Cells = array.to_numpy(zero_copy_only=False)
    return numbers


def _as_floats(arrow: Any, array: Any) -> Any:
    if arrow.types.is_decimal(array.type):
        array = arrow.compute.cast(array, arrow.string())  # the direct way can be off by one digit
    return arrow.compute.cast(array, arrow.float64(), safe=False)


def _coded(arrow: Any, array: Any, column: Wanted) -> Coded:
    """Return places in the list of distinct values; every value has one, whatever its bytes."""
    types = arrow.types
    if types.is_null(array.type):
        return Coded(_read(column, []), np.zeros(len(array), dtype=np.int64))
    if types.is_decimal(array.type):
        array = _as_floats(arrow, array)
    if not types.is_dictionary(array.type):
        array = array.dictionary_encode()
    values = array.dictionary
    if types.is_decimal(values.type):
        values = _as_floats(arrow, values)
    listed: list[Any]
    if _is_text(values.type):
        held = values.cast(arrow.large_binary()).to_pylist()
        listed = [None if value is None else text_of(value) for value in held]
    else:
        listed = values.to_pylist()
    if types.is_float32(values.type):
        listed = [None if value is None else shortest(value) for value in listed]
    indices = array.indices.fill_null(len(listed)) if array.indices.null_count else array.indices
    places: Integers = indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return Coded(_read(column, listed), places)


def _read(column: Wanted, listed: Sequence[Any]) -> Cells:
    """Return distinct values as what they mean, and None after them for missing ones."""
    distinct = np.empty(len(listed) + 1, dtype=object)
    distinct[: len(listed)] = listed if column.meant is None else list(map(column.meant, listed))
    return distinct


def _joined(parts: Sequence[Piece]) -> Piece:
    """Return parts as one piece, laid out alike however many there are."""
    matrices = [part.matrix for part in parts]
    labels = [part.labels for part in parts if part.labels is not None]
    weights = [part.weights for part in parts if part.weights is not None]
    if sparse.issparse(matrices[0]):
        matrix = matrices[0] if len(parts) == 1 else sparse.vstack(matrices, format="csr")
    else:
        matrix = one_above_another(matrices)
    return Piece(
        matrix,
        np.concatenate(labels) if labels else None,
        np.concatenate(weights) if weights else None,
    )

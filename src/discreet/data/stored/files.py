"""Parquet files on a disk: which of them make up a table, and whether they stay what they were.

A table is one file, a folder of files, or all files that a pattern matches, in the order of their
names. Folders called ``name=value`` add a column. Of a file only its footer is read here, and
remembered by a mark (size, time, digest of the footer), so that another file under the same name
is noticed. What Arrow says of a broken file may quote its cells, so it is not passed on.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

from discreet.data.arrow import import_arrow
from discreet.data.kinds import kind_of
from discreet.data.stored.table import Wanted, check_found
from discreet.errors import InputError, InputTypeError, SourceChanged

SUFFIXES = (".parquet", ".pq")
MAGIC = b"PAR1"
LONGEST_FOOTER = 2**28
MISSING = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class FileMark:
    """What tells a file from a later one under the same name."""

    size: int
    changed: int
    footer: str


@dataclass(frozen=True, repr=False)
class StoredFile:
    """What the footer and the place of one file say; none of its rows has been read."""

    path: Path
    mark: FileMark
    place: tuple[int, int]
    rows: int
    types: Mapping[str, Any]
    twice: frozenset[str]
    folders: Mapping[str, str | None]
    index: frozenset[str]

    @property
    def names(self) -> list[str]:
        """All columns, of the file and of folders, as often as they come."""
        return [*self.types, *self.twice, *self.folders]

    def check_column(self, column: Wanted) -> None:
        """Refuse a column that is missing, comes twice, or is of another type than declared."""
        name, place = column.name, str(self.path)
        times = (name in self.types) + (name in self.twice) + (name in self.folders)
        check_found(place, name, times)
        if name in self.types:
            column.check(place, kind_of(self.types[name]))

    def is_unchanged(self) -> bool:
        """Say whether the file is still what it was when it was opened."""
        try:
            return _mark_of(self.path) == self.mark
        except (OSError, ValueError):
            return False


def find_files(where: object) -> tuple[list[Path], Path]:
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
        check_ordinary(path)
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


def check_ordinary(path: Path) -> None:
    """Refuse a pipe or a device, which cannot be read more than once."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: this is no ordinary file; copy the table to one.")


def open_file(path: Path, root: Path) -> StoredFile:
    """Read the footer of a file."""
    arrow = import_arrow()
    try:
        mark, status = _mark_of(path), path.stat()
        metadata = arrow.parquet.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
        rows = int(metadata.num_rows)
    except (arrow.ArrowException, OSError, ValueError):
        mark = None
    if mark is None:
        refuse_broken(path)
    names = list(schema.names)
    is_simple = len(set(names)) == len(names)
    return StoredFile(
        path,
        mark,
        (status.st_dev, status.st_ino),
        rows,
        {name: schema.field(place).type for place, name in enumerate(names)},
        frozenset() if is_simple else frozenset(n for n in names if names.count(n) > 1),
        _columns_of_folders(path, root),
        _columns_of_index(schema),
    )


def check_distinct(files: Sequence[StoredFile]) -> None:
    """Refuse a file that comes under two names: its rows would count twice."""
    first: dict[tuple[int, int], StoredFile] = {}
    for file in files:
        other = first.setdefault(file.place, file)
        if other is not file:
            raise InputError(
                f"{file.path} and {other.path} are one file, whose rows would count twice; leave "
                "one of the two names out."
            )


def refuse_text(path: str | os.PathLike[str]) -> None:
    """Refuse what is called a file of text that is packed, or split otherwise than by commas."""
    if Path(path).name.lower().removesuffix(".gz").endswith((".csv", ".tsv")):
        raise InputError(
            f"{path}: text is read from one .csv file at a time, unpacked and split by commas. "
            "Pass the data frame that pandas.read_csv makes of it."
        )


def refuse_broken(path: Path) -> NoReturn:
    """Refuse a file that is no Parquet, or not all of it."""
    raise InputError(
        f"{path}: this cannot be read as Parquet. Is the file complete, and is it Parquet?"
    )


def stop_at(path: Path) -> NoReturn:
    """Stop a pass at a file that is not, or no longer, what was checked."""
    raise SourceChanged(
        f"{path}: this file changed or broke while its rows were read, so nothing is released; a "
        "charge stands. Try again when nobody writes to it."
    )


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


def _columns_of_index(schema: Any) -> frozenset[str]:
    """Return the columns in which pandas stored its index."""
    try:
        said = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, TypeError, ValueError):
        return frozenset()
    return frozenset(name for name in said if isinstance(name, str))


def _columns_of_folders(path: Path, root: Path) -> dict[str, str | None]:
    """Return the columns that folders between the root and the file add."""
    try:
        parts = path.relative_to(root).parts[:-1]
    except ValueError:
        parts = path.parts[:-1]
    pairs = [part.split("=", 1) for part in parts if "=" in part]
    values = {unquote(name): unquote(value) for name, value in pairs}
    return {name: None if value == MISSING else value for name, value in values.items()}


def _mark_of(path: Path) -> FileMark:
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
    return FileMark(status.st_size, status.st_mtime_ns, footer)

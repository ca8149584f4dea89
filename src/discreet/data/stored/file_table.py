"""What a file format is asked: whatever reads, checks, splits or writes files knows no other name.

A format is a class derived from :class:`FileTable`, or from :class:`WholeTable` if its files are
read whole, and a line in the list of ``sources.py``.
"""

from __future__ import annotations

import glob
import os
from abc import abstractmethod
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from discreet.data.arrays import EncodedSource
from discreet.data.arrow import Meaning, arrow_codes, arrow_numbers, list_meanings
from discreet.data.frame import CellArray, Coded, Frame
from discreet.data.kinds import kind_of
from discreet.data.stored.table import Encoding, StoredTable, Wanted, check_found
from discreet.errors import InputError

PREDICTED_AT_ONCE = 2**16


class FilePart(NamedTuple):
    """A file of a table, and all of its columns, as often as they come."""

    path: Path | str
    names: list[str]


class FileTable(StoredTable):
    """A table in files: found by a path, with columns that have names."""

    suffixes: ClassVar[tuple[str, ...]]
    """How names of such files end; the first is the usual one."""

    is_read_whole: ClassVar[bool] = False
    """Whether all rows are in memory together, which a fit then reads as those of a frame."""

    is_written: ClassVar[bool] = True
    """Whether new files of this kind are written here."""

    is_text: ClassVar[bool] = False
    """Whether a file is lines: the first has names, and may be a record; columns have no types."""

    where: str
    meanings: Mapping[str, Meaning]

    @property
    @abstractmethod
    def parts(self) -> list[FilePart]:
        """The files, in order."""

    @property
    @abstractmethod
    def types(self) -> dict[str, Any]:
        """Arrow's type of each column; refuses names that come twice."""

    @property
    def can_be_spread(self) -> bool:
        """Whether the workers of a cluster can each read some of it."""
        return False

    def spread(self) -> Any:
        """Return the table as a Dask data frame, a partition or more for each file."""
        raise InputError(f"{self.where}: workers cannot share these rows.")

    def with_meanings(self, meanings: Mapping[str, Meaning]) -> Self:
        """Return the same table, with what the cells of some columns mean."""
        return replace(self, meanings=meanings)  # type: ignore[type-var]

    def add_meaning(self, column: Wanted) -> Wanted:
        """Return a column with what its cells mean, if that is known."""
        if column.name not in self.meanings:
            return column
        return replace(column, meaning=self.meanings[column.name])

    def add_meanings(self, encoding: Encoding) -> Encoding:
        """Return an encoding of columns of which is known what their cells mean."""
        target = encoding.target
        return replace(
            encoding,
            features=tuple(map(self.add_meaning, encoding.features or ())),
            target=None if target is None else self.add_meaning(target),
        )

    @abstractmethod
    def check(self, wanted: Sequence[Wanted]) -> None:
        """Refuse files without a wanted column, or with one of another type; reads no row."""

    @abstractmethod
    def make_ready(self, wanted: Sequence[Wanted]) -> Self:
        """Return the table, read as far as may be while nothing is paid; refuse a broken file."""

    def make_ready_for_owner(self, wanted: Sequence[Wanted]) -> tuple[Self, str]:
        """Return the table as its owner may look at it, and why a fit would refuse it, or ""."""
        return (self.make_ready(wanted) if self.is_read_whole else self), ""

    @abstractmethod
    def frames(
        self, wanted: Sequence[Wanted], rows: int, skipped: int = 0
    ) -> Generator[Frame, None, None]:
        """Yield all rows but the first few, in order, at most so many at a time."""

    @abstractmethod
    def blocks(self, numbers: Collection[str] = ()) -> tuple[Any, Iterator[Any]]:
        """Return an Arrow schema, and what yields all rows and columns as tables of it.

        ``numbers`` are the columns that are declared as such; text has no types of its own.
        """

    @classmethod
    @abstractmethod
    def writer(cls, path: Path, form: Any) -> Any:
        """Return what writes Arrow tables of one schema to a new file."""

    def map_rows(self, answer: Callable[[Any], Any], columns: Sequence[Wanted] | None) -> Any:
        """Return what ``answer`` says of each row; files are read a few rows at a time."""
        if columns is None:
            raise InputError("columns of files are found by name; this model knows no names.")
        self.check(columns)
        with closing(self.frames(columns, PREDICTED_AT_ONCE)) as frames:
            answers = [answer(frame) for frame in frames]
        return np.concatenate(answers) if answers else answer(_empty_frame(columns))


@dataclass(frozen=True, eq=False, repr=False)
class WholeTable(FileTable):
    """A file that is parsed to its end before anything is paid, and then held in memory."""

    path: Path
    header: tuple[str, ...]
    meanings: Mapping[str, Meaning] = field(default_factory=dict)
    held: Mapping[str, CellArray | Coded] = field(default_factory=dict)

    is_read_whole: ClassVar[bool] = True

    @abstractmethod
    def parse(self, wanted: Sequence[Wanted]) -> dict[str, CellArray | Coded]:
        """Return the cells of some columns; refuse a file that is not well-formed."""

    @classmethod
    def owns(cls, X: object) -> bool:
        if not isinstance(X, (str, os.PathLike)):
            return isinstance(X, cls)
        return has_suffix(X, cls.suffixes) and not are_files(X)

    @property
    def where(self) -> str:  # type: ignore[override]
        """The path."""
        return str(self.path)

    @property
    def parts(self) -> list[FilePart]:
        return [FilePart(self.path, list(self.header))]

    @property
    def names(self) -> list[str]:
        return list(self.header)

    @property
    def width(self) -> int:
        return len(self.header)

    def __repr__(self) -> str:
        return f"<{self.suffixes[0]}: 1 file of {self.width} columns>"

    def check_same_names(self) -> None:
        return

    def check(self, wanted: Sequence[Wanted]) -> None:
        for column in map(self.add_meaning, wanted):
            check_found(self.where, column.name, self.header.count(column.name))
            if not self.is_text:
                column.check(self.where, kind_of(self.types[column.name]))

    def make_ready(self, wanted: Sequence[Wanted]) -> Self:
        if all(column.name in self.held for column in wanted):
            return self
        self.check(wanted)
        return replace(self, held=self.parse([self.add_meaning(column) for column in wanted]))

    def frames(
        self, wanted: Sequence[Wanted], rows: int, skipped: int = 0
    ) -> Generator[Frame, None, None]:
        frame = self.read(wanted)
        for start in range(skipped, count_cells(frame), rows):
            cells = {name: cut(frame[name], start, start + rows) for name in frame.columns}
            yield Frame(cells)

    def read(self, wanted: Sequence[Wanted]) -> Frame:
        """Return all rows of some columns."""
        held = self.make_ready(wanted).held
        return Frame({column.name: held[column.name] for column in wanted})

    def source(self, encoding: Encoding) -> EncodedSource:
        encoding.check_apart()
        frame = self.read(encoding.wanted)

        def encode() -> tuple[Any, Any, Any]:
            piece = encoding.piece_of(frame)
            return piece.matrix, piece.labels, piece.weights

        return EncodedSource(
            (count_cells(frame), encoding.total_width),
            encode,
            has_labels=encoding.has_labels,
            has_weights=encoding.weight is not None,
            is_sparse=encoding.is_sparse,
        )


def are_files(path: str | os.PathLike[str]) -> bool:
    """Say whether this is a folder or a pattern, which may stand for many files."""
    place = os.fspath(path)
    return os.path.isdir(place) or (glob.has_magic(place) and not os.path.exists(place))


def has_suffix(path: str | os.PathLike[str], suffixes: Sequence[str]) -> bool:
    """Say whether the name of a file ends in one of some ways, in any case."""
    return os.path.splitext(os.fsdecode(path))[1].lower() in suffixes


def read_cells(table: Any, wanted: Sequence[Wanted]) -> dict[str, CellArray | Coded]:
    """Return the cells of some columns of an Arrow table, each column freed once it is read."""
    cells: dict[str, CellArray | Coded] = {}
    for column in wanted:
        name, array = column.name, table.column(column.name)
        table = table.drop_columns([name])
        cells[name] = (
            arrow_numbers(array) if column.is_number else arrow_codes(array, column.meaning)
        )
    return cells


def count_cells(frame: Frame) -> int:
    """Return how many rows a frame has."""
    column = frame[frame.columns[0]]
    return len(column.places if isinstance(column, Coded) else column)


def cut(cells: CellArray | Coded, start: int, stop: int) -> CellArray | Coded:
    """Return some cells of a column, not copied."""
    if isinstance(cells, Coded):
        return Coded(cells.distinct, cells.places[start:stop])
    return cells[start:stop]


def repeat_value(value: str | None, count: int, column: Wanted) -> CellArray | Coded:
    """Return a column of one value, spelt as text; None for a missing one."""
    if column.is_number:
        return np.full(count, _number_spelt(value))
    return Coded(list_meanings([value], column.meaning), np.zeros(count, dtype=np.int64))


def _number_spelt(value: str | None) -> float:
    """Return the number that a text spells, NaN if none."""
    try:
        return np.nan if value is None else float(value)
    except ValueError:
        return np.nan


def _empty_frame(wanted: Sequence[Wanted]) -> Frame:
    """Return columns without a row."""
    return Frame({column.name: repeat_value(None, 0, column) for column in wanted})

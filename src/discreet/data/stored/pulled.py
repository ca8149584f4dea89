"""Tables that hand their rows out once: what a query says, or what lies in a remote place.

Columns and types are looked at when the table is opened. Rows are asked for once, when they are
paid for, and kept: in memory if they are few, otherwise in a temporary file without a name. Every
pass reads what was kept, so that it does not matter whether the source would say the same again,
in the same order. What a source says of a failure may quote cells, so it is not passed on.
"""

from __future__ import annotations

import tempfile
import weakref
from abc import abstractmethod
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from discreet.data.arrow import import_arrow
from discreet.data.dense import NO_ROWS, rows_of_width
from discreet.data.frame import Frame
from discreet.data.kinds import kind_of
from discreet.data.source import Source
from discreet.data.stored.arrow_batches import BatchFeed, Place, read_column
from discreet.data.stored.file_table import FilePart, FileTable
from discreet.data.stored.spill import is_switched_off
from discreet.data.stored.stream import PreparedStream, StreamSource, check_held
from discreet.data.stored.table import Encoding, Wanted, check_found
from discreet.errors import InputError, SourceChanged
from discreet.questions.bounds import Bounds

HELD_BYTES = 2**26
"""Rows that take no more are kept in memory, as they came."""

ASKED_AT_ONCE = 2**16
"""How many rows a source is asked for at a time."""


class PulledTable(FileTable):
    """A table whose rows are asked for once, as batches of Arrow, with a schema of Arrow's."""

    is_written = False

    schema: Any

    @abstractmethod
    def ask_rows(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield all rows of some columns as record batches; it may raise anything."""

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    @property
    def width(self) -> int:
        return len(self.schema.names)

    @property
    def parts(self) -> list[FilePart]:
        return [FilePart(Path(self.where), self.names)]

    @property
    def types(self) -> dict[str, Any]:
        if len(set(self.names)) < len(self.names):
            raise InputError(f"{self.where}: column names must differ; one comes twice.")
        return {name: self.schema.field(name).type for name in self.names}

    def check_same_names(self) -> None:
        return

    def check(self, wanted: Sequence[Wanted]) -> None:
        for column in map(self.add_meaning, wanted):
            check_found(self.where, column.name, self.names.count(column.name))
            column.check(self.where, kind_of(self.schema.field(column.name).type))

    def make_ready(self, wanted: Sequence[Wanted]) -> Self:
        return self  # nothing of it is read before it is paid for

    def source(self, encoding: Encoding) -> PulledSource:
        encoding.check_apart()
        self.check(encoding.wanted)
        return PulledSource(self, self.add_meanings(encoding))

    def pull(self, names: Sequence[str]) -> Generator[Any, None, None]:
        """Yield all rows of some columns, and say nothing of what the source says of a failure."""
        try:
            yield from self.ask_rows(names)
        except Exception:
            stopped = True
        else:
            stopped = False
        if stopped:
            raise SourceChanged(
                f"{self.where}: the rows could not be read to their end, so nothing is released; a "
                "charge stands. Run the query by itself to see what is wrong."
            )

    def frames(
        self, wanted: Sequence[Wanted], rows: int, skipped: int = 0
    ) -> Generator[Frame, None, None]:
        wanted = [self.add_meaning(column) for column in wanted]
        for batch in self.pull([column.name for column in wanted]):
            first, skipped = min(skipped, batch.num_rows), max(0, skipped - batch.num_rows)
            for start in range(first, batch.num_rows, rows):
                yield read_frame(batch.slice(start, rows), wanted)

    def blocks(self, numbers: Collection[str] = ()) -> tuple[Any, Iterator[Any]]:
        arrow = import_arrow()
        tables = (arrow.Table.from_batches([batch]) for batch in self.pull(self.names))
        return self.schema, tables

    @classmethod
    def writer(cls, path: Path, form: Any) -> Any:
        raise InputError(
            f"{path}: rows are read from here, not written; choose a name in .parquet."
        )


@dataclass(frozen=True, eq=False, repr=False)
class PulledSource(Source):
    """Rows that are asked for when they are paid for; their number is not known before."""

    table: PulledTable
    encoding: Encoding

    knows_count = False

    @property
    def shape(self) -> tuple[int, int]:
        """As of an array; the rows are asked for to count them."""
        return self._counted, self.width

    @property
    def width(self) -> int:
        return self.encoding.total_width

    @cached_property
    def _counted(self) -> int:
        names = [column.name for column in self.encoding.wanted]
        return sum(batch.num_rows for batch in self.table.pull(names))

    def check(self, bounds: Bounds) -> None:
        if self.width != bounds.n_features:
            raise InputError(
                f"X must have {bounds.n_features} columns, as declared; got {self.width}."
            )
        self.encoding.check_bounds(bounds)

    def check_held(self, bounds: Bounds) -> None:
        check_held(bounds)

    def block_rows(self) -> int:
        return rows_of_width(self.width)

    def prepare(self, bounds: Bounds) -> PreparedStream:
        names = [column.name for column in self.encoding.wanted]
        held = HeldBatches.keep(self.table.pull(names))
        if not held.count:
            raise SourceChanged(NO_ROWS)
        return StreamSource(HeldFeed(held, self.encoding)).prepare(bounds)


@dataclass(eq=False, repr=False)
class HeldBatches:
    """Rows as they came, in memory or in a temporary file."""

    held: Any
    sizes: Sequence[int]

    @classmethod
    def keep(cls, batches: Generator[Any, None, None]) -> HeldBatches:
        """Keep all rows of a source."""
        few: list[Any] = []
        size = 0
        with closing(batches):
            for batch in batches:
                few.append(batch)
                size += batch.nbytes
                if size > HELD_BYTES and not is_switched_off():
                    return cls._spill(few, batches)
        return cls(few, [batch.num_rows for batch in few])

    @classmethod
    def _spill(cls, few: Sequence[Any], batches: Iterator[Any]) -> HeldBatches:
        arrow, sizes = import_arrow(), list[int]()
        file: Any = None
        try:
            file = tempfile.TemporaryFile(prefix="discreet-")  # noqa: SIM115, read in every pass
            with arrow.ipc.new_file(file, few[0].schema) as writer:
                for source in (few, batches):
                    for batch in source:
                        writer.write_batch(batch)
                        sizes.append(batch.num_rows)
            held = cls(arrow.ipc.open_file(file), sizes)
            weakref.finalize(held, file.close)
            return held
        except (OSError, arrow.ArrowException):
            if file is not None:
                file.close()
        raise SourceChanged(
            "the rows do not fit into a temporary file, so nothing is released; a charge stands. "
            "Make room in the folder that TMPDIR names."
        )

    @property
    def count(self) -> int:
        """The number of rows; private unless the unit says otherwise."""
        return sum(self.sizes)

    def batches(
        self, wanted: Sequence[Wanted], rows: int, skipped: int = 0
    ) -> Generator[tuple[Place, Any], None, None]:
        """Yield all rows but the first few, at most so many at a time, and what reads them."""
        for place, size in enumerate(self.sizes):
            if skipped < size:
                batch = self._batch(place)
                for start in range(skipped, size, rows):
                    yield read_frame, batch.slice(start, rows)
            skipped = max(0, skipped - size)

    def _batch(self, place: int) -> Any:
        return self.held[place] if isinstance(self.held, list) else self.held.get_batch(place)


@dataclass(frozen=True, eq=False, repr=False)
class HeldFeed(BatchFeed):
    """Rows that were kept, encoded row by row."""

    table: HeldBatches

    def check(self) -> None:
        return  # nobody else can reach them


def read_frame(batch: Any, wanted: Sequence[Wanted]) -> Frame:
    """Return some columns of a batch."""
    return Frame({column.name: read_column(batch, column) for column in wanted})

"""Batches of Arrow as pieces of equal size, wherever batches begin and end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from discreet._parallel import prefetch
from discreet.data.arrow import arrow_codes, arrow_numbers
from discreet.data.frame import CellArray, Coded, Frame, one_above_another
from discreet.data.stored.stream import Feed
from discreet.data.stored.table import Encoding, Piece, RowPlace, Wanted

PREFETCHED = 1
"""How many batches are decoded before they are asked for."""

BATCH_NUMBERS = 2**21
"""How many numbers are decoded together: Arrow takes longer over smaller batches."""

Place = Callable[[Any, Sequence[Wanted]], Frame]
"""Where a batch is from, which is what reads columns of it."""


class BatchTable(Protocol):
    """Rows that come as batches, in the same order every time."""

    @property
    def count(self) -> int:
        """The number of rows; private unless the unit says otherwise."""
        ...

    def batches(
        self, wanted: Sequence[Wanted], rows: int, skipped: int = 0
    ) -> Generator[tuple[Place, Any], None, None]:
        """Yield all rows but the first few, at most so many at a time, and what reads them."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class BatchFeed(Feed):
    """Batches, encoded row by row."""

    table: BatchTable
    encoding: Encoding

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.count, self.encoding.total_width

    @cached_property
    def _wanted(self) -> list[Wanted]:
        return self.encoding.wanted

    @abstractmethod
    def check(self) -> None:
        """Raise if what is stored is no longer what was found; reads no row."""

    def pieces(self, rows: int) -> Iterator[Piece]:
        with closing(self.lazy_pieces(rows)) as makers:
            for _, make in makers:
                yield make()

    def lazy_pieces(
        self, rows: int, first: int = 0
    ) -> Generator[tuple[int, Callable[[], Piece]], None, None]:
        waiting: list[tuple[Place, Any]] = []
        room, number = rows, first
        together = rows * max(1, BATCH_NUMBERS // (rows * len(self._wanted)))
        decoded = self.table.batches(self._wanted, together, first * rows)
        with closing(prefetch(decoded, PREFETCHED)) as batches:
            for read, batch in batches:
                start, size = 0, batch.num_rows
                while size - start >= room:
                    waiting.append((read, batch.slice(start, room)))
                    yield rows, partial(self._make_piece, waiting, number * rows)
                    start, waiting, room, number = start + room, [], rows, number + 1
                if start < size:
                    waiting.append((read, batch.slice(start)))
                    room -= size - start
        if waiting:
            yield rows - room, partial(self._make_piece, waiting, number * rows)

    def _make_piece(self, parts: Sequence[tuple[Place, Any]], start: int) -> Piece:
        made = []
        for read, batch in parts:
            frame = read(batch, self._wanted)
            made.append(self.encoding.piece_of(frame, RowPlace(0, start)))
            start += batch.num_rows
        return _join_pieces(made)


def read_column(batch: Any, column: Wanted) -> CellArray | Coded:
    """Return the cells of one column of a batch."""
    array = batch.column(column.name)
    return arrow_numbers(array) if column.is_number else arrow_codes(array, column.meaning)


def _join_pieces(parts: Sequence[Piece]) -> Piece:
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

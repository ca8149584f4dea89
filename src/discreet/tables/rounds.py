"""Rounds of a stream, cut by place: no record decides where a block ends.

What is printed on the way, and which answer guesses a record that is scored, depends on where
blocks end. So a block has a fixed number of rounds, counted from the first round of the stream,
however records are written, whichever file or row group they are in and whenever they arrive; and a
round without a record has its place in a block like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from discreet._types import Booleans
from discreet.data.frame import CellArray, Coded, Frame
from discreet.data.stored.file_table import count_cells, cut
from discreet.tables.declared_files import RowsAndLabels


@dataclass(frozen=True, eq=False, repr=False)
class Rounds:
    """Rounds that follow one another.

    Parameters
    ----------
    rows
        A row and a label for each round; those of an empty one mean nothing.
    has_record
        Whether there was a record, for each round.

    Examples
    --------
    >>> rows = RowsAndLabels(Frame({"age": np.array([47.0, 0.0])}), np.array([1.0, 0.0]))
    >>> Rounds(rows, np.array([True, False]))
    <rounds 0 to 2>
    """

    rows: RowsAndLabels
    has_record: Booleans

    def __len__(self) -> int:
        return len(self.has_record)

    def __repr__(self) -> str:
        return f"<rounds 0 to {len(self)}>"

    def cut(self, start: int, stop: int) -> Rounds:
        """Return the rounds from one place to another."""
        return Rounds(_cut_rows(self.rows, start, stop), self.has_record[start:stop])

    def runs(self) -> Iterator[tuple[int, RowsAndLabels | None]]:
        """Yield how many rounds come next, and their records; None if they are empty."""
        start = 0
        for is_record, some in groupby(self.has_record.tolist()):
            count = len(list(some))
            yield count, _cut_rows(self.rows, start, start + count) if is_record else None
            start += count


def fill_rounds(rows: RowsAndLabels) -> Rounds:
    """Return rounds each of which has a record."""
    return Rounds(rows, np.ones(count_cells(rows.X), dtype=np.bool_))


def cut_by_place(
    pieces: Iterable[Rounds], size: int, *, begun: int = 0, horizon: int | None = None
) -> Iterator[Rounds]:
    """Yield blocks that end at every multiple of ``size`` rounds, and with the last round.

    Parameters
    ----------
    pieces
        Rounds as they come, however many at a time.
    size
        How many rounds a block has.
    begun
        How many rounds of the stream are over: the first block is what is left of theirs.
    horizon
        The round that is the last, whatever comes; None if all that come count.

    Examples
    --------
    >>> one = fill_rounds(RowsAndLabels(Frame({"age": np.array([47.0])}), None))
    >>> [len(block) for block in cut_by_place([one] * 9, 4)]
    [4, 4, 1]
    >>> [len(block) for block in cut_by_place([one] * 9, 4, begun=3, horizon=10)]
    [1, 4, 2]
    """
    waiting: list[Rounds] = []
    count, wanted = 0, _count_wanted(begun, size, horizon)
    for piece in pieces:
        start = 0
        while wanted and count + len(piece) - start >= wanted:
            stop = start + wanted - count
            yield _join([*waiting, piece.cut(start, stop)])
            begun += wanted
            waiting, count, start = [], 0, stop
            wanted = _count_wanted(begun, size, horizon)
        if not wanted:
            return
        waiting.append(piece.cut(start, len(piece)))
        count += len(piece) - start
    if count:
        yield _join(waiting)


def _count_wanted(begun: int, size: int, horizon: int | None) -> int:
    """Return how many rounds the next block has; none after the last."""
    left = size - begun % size
    return left if horizon is None else max(0, min(left, horizon - begun))


def _join(parts: list[Rounds]) -> Rounds:
    if len(parts) == 1:
        return parts[0]
    names = parts[0].rows.X.columns
    X = Frame({name: join_columns([part.rows.X[name] for part in parts]) for name in names})
    labels = [part.rows.y for part in parts if part.rows.y is not None]
    has_record = np.concatenate([part.has_record for part in parts])
    return Rounds(RowsAndLabels(X, join_columns(labels) if labels else None), has_record)


def join_columns(parts: Sequence[CellArray | Coded]) -> CellArray | Coded:
    """Return the cells of all parts of a column."""
    coded = [part for part in parts if isinstance(part, Coded)]
    if not coded:
        return np.concatenate([np.empty(0), *parts])
    starts = np.cumsum([0, *(part.distinct.size for part in coded)]).tolist()
    places = [part.places + start for part, start in zip(coded, starts, strict=False)]
    return Coded(np.concatenate([part.distinct for part in coded]), np.concatenate(places))


def _cut_rows(rows: RowsAndLabels, start: int, stop: int) -> RowsAndLabels:
    X = Frame({name: cut(rows.X[name], start, stop) for name in rows.X.columns})
    return RowsAndLabels(X, None if rows.y is None else cut(rows.y, start, stop))

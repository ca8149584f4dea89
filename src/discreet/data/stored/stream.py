"""Rows too many to hold: read again in every pass, a piece at a time (out-of-core streaming).

A feed hands out the same pieces in the same order in every pass, each but the last of the same
number of rows, wherever files or their parts begin. Blocks never cross a piece, so that sums are
the same in every pass; they agree with those of an array within
:func:`discreet.data.summation_error` on either side, and exactly if they are sums of integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from discreet._parallel import map_in_order, thread_count
from discreet._types import Integers, Vector
from discreet.data.arrays import accept_rows
from discreet.data.block import Block
from discreet.data.dense import PreparedArray, check_shape, rows_of_width
from discreet.data.source import Kernel, Prepared, Remake, Source
from discreet.data.sparse import PreparedSparse
from discreet.data.stored.spill import Spill
from discreet.data.stored.table import Encoding, Piece
from discreet.errors import InputError, PrivacyError, SourceChanged
from discreet.questions.bounds import Bounds

PIECE_NUMBERS = 2**19
"""How many numbers a piece should hold; a few pieces are in memory at a time."""

CACHED_BYTES = 2**28
"""Rows that take no more are kept after the first pass."""

HELD_BYTES = 2**26
"""How much a sample of the rows may take."""

REMADE_BYTES = 2**27
"""Rows made for a second stage that take no more are held, and summed as those of an array are."""


class Feed(ABC):
    """Where pieces come from; what it says of itself is found without reading a row."""

    encoding: Encoding

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns; the first is private unless the unit says so."""

    @abstractmethod
    def check(self) -> None:
        """Raise if what is stored is no longer what was found; reads no row."""

    @abstractmethod
    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield all rows in order, so many at a time; raise ``SourceChanged`` if they changed."""

    def lazy_pieces(
        self, rows: int, first: int = 0
    ) -> Generator[tuple[int, Callable[[], Piece]], None, None]:
        """Yield the sizes of all pieces but the first few, and how to make each in any thread."""
        with closing(self.pieces(rows)) as pieces:  # type: ignore[type-var]
            for piece in islice(pieces, first, None):
                yield piece.matrix.shape[0], partial(_identity, piece)


@dataclass(frozen=True, eq=False, repr=False)
class StreamSource(Source):
    """Rows that a feed hands out."""

    feed: Feed
    cached_bytes: int = CACHED_BYTES

    @property
    def shape(self) -> tuple[int, int]:
        """As of an array; the number of rows is private unless the unit says otherwise."""
        return self.feed.shape

    def check(self, bounds: Bounds) -> None:
        check_shape(self.shape, bounds)
        self.feed.encoding.check_bounds(bounds)
        self.feed.check()

    def check_held(self, bounds: Bounds) -> None:
        check_held(bounds)

    def block_rows(self) -> int:
        return rows_of_width(self.shape[1])

    def prepare(self, bounds: Bounds) -> PreparedStream:
        return SpiltStream(FedStream(self.feed, bounds, self.cached_bytes), waits=1)


class PreparedStream(Prepared):
    """Clipped rows that come piece by piece."""

    is_streamed = True
    bounds: Bounds

    @property
    def is_reread(self) -> bool:
        return True

    @property
    def is_held(self) -> bool:
        """Whether pieces are in memory after the first pass, or made of such as are."""
        return False

    @abstractmethod
    def lazy_pieces(self, first: int = 0) -> Iterator[Callable[[], Prepared]]:
        """Yield how to make each piece but the first few, once and soon, in any thread; a pass."""

    @property
    @abstractmethod
    def spills(self) -> list[Spill]:
        """The temporary files of this stream, of what it is made of, and of what is made of it."""

    def close(self) -> None:
        """Give all temporary files back; passes after that make pieces again."""
        while self.spills:
            self.spills.pop().close()

    def pieces(self) -> Iterator[Prepared]:
        """Yield all rows in order; a pass."""
        with closing(self.lazy_pieces()) as makers:  # type: ignore[type-var]
            yield from map_in_order(_make, makers, thread_count())

    def _answers(self, kernel: Kernel, size: int, threads: int) -> Generator[Any, None, None]:
        def work(make: Callable[[], Prepared]) -> list[Any]:
            return [kernel(block()) for block in make().blocks(size)]

        with closing(self.lazy_pieces()) as makers:  # type: ignore[type-var]
            for answers in map_in_order(work, makers, max(threads, thread_count())):
                yield from answers

    @property
    def has_labels(self) -> bool:
        return self.bounds.labels is not None

    def blocks(self, size: int) -> Iterator[Callable[[], Block]]:
        with closing(self.pieces()) as pieces:  # type: ignore[type-var]
            for piece in pieces:
                yield from piece.blocks(size)

    def block(self, start: int, stop: int) -> Block:
        raise PrivacyError("streamed rows come in order; take some of them.")

    def part(self, start: int, stop: int) -> Prepared:
        return self.take(np.arange(start, min(stop, self.count)))

    def gather_size(self, block_rows: int) -> int:
        return max(1, HELD_BYTES // (8 * self.bounds.n_features))

    def take(self, positions: Integers) -> Prepared:
        """Return some rows: held if they are few, otherwise selected anew in every pass."""
        if positions.size <= self.gather_size(1):
            return self._hold(positions)
        if (np.diff(positions) > 0).all():
            return SelectedStream(self, positions)
        raise PrivacyError("so many rows can only be taken in order.")

    def _hold(self, positions: Integers) -> Prepared:
        order = np.argsort(positions, kind="stable")
        found = [piece for piece in _select(self, positions[order]) if piece.count]
        if not found:
            return self._no_rows()
        held = join_prepared(found)
        if (np.diff(positions) > 0).all():
            return held
        back = np.empty_like(order)
        back[order] = np.arange(order.size)
        return held.take(back)

    def _no_rows(self) -> Prepared:
        """Return no rows, of the same kind."""
        with closing(self.pieces()) as pieces:  # type: ignore[type-var]
            for piece in pieces:
                return piece.take(np.arange(0))
        raise PrivacyError("there are no rows.")

    def subsample(self, step: int) -> Prepared:
        held = self.gather_size(1)
        return self._hold(np.arange(0, self.count, max(step, -(-self.count // held))))

    def relabel(self, change: Callable[[Vector], Vector]) -> Prepared:
        return RemadeStream(self, lambda piece: piece.relabel(change), self.bounds)

    def remake(self, change: Remake, bounds: Bounds) -> tuple[Callable[[], Prepared], int]:
        stream = RemadeStream(self, lambda piece: change(piece).prepare(bounds), bounds)
        if fits_together(self.count, bounds):
            return partial(join_pieces, stream), rows_of_width(bounds.n_features)
        # Rows are remade for a second stage, of many passes; single columns for a few.
        spilt = SpiltStream(stream, waits=int(bounds.n_features == 1))
        return lambda: spilt, rows_of_width(bounds.n_features)

    def gather(self) -> tuple[Any, Vector | None]:
        check_held(self.bounds)
        return join_pieces(self).gather()


@dataclass(eq=False, repr=False)
class _PassRecord:
    """What a pass over a feed leaves behind, by the first row of each piece."""

    kept: dict[int, Prepared] = field(default_factory=dict)
    pieces: int = 0
    is_whole: bool = False  # whether all pieces were asked for; they may not all have been made


@dataclass(eq=False, repr=False)
class FedStream(PreparedStream):
    """The pieces of a feed, clipped; the first pass keeps them if they fit, or a sample of them."""

    feed: Feed
    bounds: Bounds
    cached_bytes: int
    _kept: list[Prepared] | None = field(default=None, init=False)
    _sample: Prepared | None = field(default=None, init=False)
    _pass: _PassRecord | None = field(default=None, init=False)
    _spills: list[Spill] = field(default_factory=list, init=False)

    @property
    def spills(self) -> list[Spill]:
        return self._spills

    @property
    def count(self) -> int:
        return self.feed.shape[0]

    def lazy_pieces(self, first: int = 0) -> Iterator[Callable[[], Prepared]]:
        self._settle()
        if self._kept is not None:
            yield from (partial(_identity, piece) for piece in self._kept[first:])
            return
        found = _PassRecord()
        if first == 0:
            self._pass = found
        seen = min(first * self._piece_rows, self.count)
        if seen == self.count:
            return
        with closing(self.feed.lazy_pieces(self._piece_rows, first)) as fed:
            for size, make in fed:
                found.pieces += 1
                yield partial(self._prepare, make, seen, found)
                seen += size
        if seen != self.count:
            raise SourceChanged("the number of stored rows changed while they were read.")
        found.is_whole = True

    def _prepare(self, make: Callable[[], Piece], start: int, found: _PassRecord) -> Prepared:
        raw = make()
        piece = accept_rows(raw.matrix, raw.labels, raw.weights, self.bounds).prepare(self.bounds)
        if self._fits:
            found.kept[start] = piece
        elif self._sample is None:
            step = self._sample_step
            found.kept[start] = piece.take(np.arange(-start % step, piece.count, step))
        return piece

    def _settle(self) -> None:
        """Keep what the last pass found, if it came to its end."""
        found, self._pass = self._pass, None
        if found is None or not found.is_whole or not found.kept:
            return
        if len(found.kept) < found.pieces:
            return
        kept = [found.kept[start] for start in sorted(found.kept)]
        if self._fits:
            self._kept = kept
        else:
            self._sample = join_prepared(kept)

    @property
    def is_held(self) -> bool:
        return self._fits

    @property
    def is_reread(self) -> bool:
        return not self._fits

    @property
    def _fits(self) -> bool:
        return self.count * self.bounds.n_features * 8 <= self.cached_bytes

    @property
    def _sample_step(self) -> int:
        return -(-self.count // self.gather_size(1))

    @property
    def _piece_rows(self) -> int:
        rows = rows_of_width(self.bounds.n_features)
        return rows * max(1, PIECE_NUMBERS // (rows * self.bounds.n_features))

    def subsample(self, step: int) -> Prepared:
        self._settle()
        if self._kept is None and self._sample is None:
            for _ in self.pieces():
                pass
            self._settle()
        if self._sample is None:
            return super().subsample(step)
        return self._sample.subsample(-(-step // self._sample_step))


class DerivedStream(PreparedStream):
    """Rows that come from those of another stream."""

    before: PreparedStream

    @property
    def count(self) -> int:
        return self.before.count

    @property
    def spills(self) -> list[Spill]:
        return self.before.spills

    @property
    def is_held(self) -> bool:
        return self.before.is_held


@dataclass(frozen=True, eq=False, repr=False)
class RemadeStream(DerivedStream):
    """Rows made of others, each of its own row alone."""

    before: PreparedStream
    change: Callable[[Prepared], Prepared]
    bounds: Bounds

    def lazy_pieces(self, first: int = 0) -> Iterator[Callable[[], Prepared]]:
        with closing(self.before.lazy_pieces(first)) as makers:  # type: ignore[type-var]
            for make in makers:
                yield partial(self._make_and_change, make)

    def _make_and_change(self, make: Callable[[], Prepared]) -> Prepared:
        return self.change(make())

    def subsample(self, step: int) -> Prepared:
        return self.change(self.before.subsample(step))


@dataclass(eq=False, repr=False)
class SpiltStream(DerivedStream):
    """The same pieces as another stream's, read back from a temporary file once they are there."""

    before: PreparedStream
    waits: int
    _spill: Spill | None = field(default=None, init=False)

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        return self.before.bounds

    @property
    def is_reread(self) -> bool:
        return self.before.is_reread

    def lazy_pieces(self, first: int = 0) -> Iterator[Callable[[], Prepared]]:
        spill = self._open_spill()
        if spill is None:
            with closing(self.before.lazy_pieces(first)) as makers:  # type: ignore[type-var]
                yield from makers
            return
        reach = spill.reach
        for place in range(first, reach):
            yield partial(spill.read, place)
        first = max(first, reach)
        with closing(self.before.lazy_pieces(first)) as makers:  # type: ignore[type-var]
            for place, make in enumerate(makers, start=first):
                yield partial(_make_and_write, make, spill, place)

    def _open_spill(self) -> Spill | None:
        if self.is_held:
            return None
        if self.waits:
            self.waits -= 1
            return None
        if self._spill is None:
            self._spill = Spill.open()
            if self._spill is not None:
                self.spills.append(self._spill)
        if self._spill is not None:
            self._spill.begin()
        return self._spill

    def remake(self, change: Remake, bounds: Bounds) -> tuple[Callable[[], Prepared], int]:
        return self.before.remake(change, bounds)  # which is spilt itself

    def subsample(self, step: int) -> Prepared:
        return self.before.subsample(step)


def _make_and_write(make: Callable[[], Prepared], spill: Spill, place: int) -> Prepared:
    piece = make()
    spill.write(place, piece)
    return piece


@dataclass(frozen=True, eq=False, repr=False)
class SelectedStream(DerivedStream):
    """Some rows of a stream, in its order."""

    before: PreparedStream
    positions: Integers

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        return self.before.bounds

    @property
    def count(self) -> int:
        return self.positions.size

    def lazy_pieces(self, first: int = 0) -> Iterator[Callable[[], Prepared]]:
        found = (piece for piece in _select(self.before, self.positions) if piece.count)
        for piece in islice(found, first, None):
            yield partial(_identity, piece)


def check_held(bounds: Bounds) -> None:
    """Refuse to hold as many rows as are declared; their true number must not decide what fails."""
    if bounds.max_rows * bounds.width * 8 > CACHED_BYTES:
        raise InputError(
            f"this mechanism holds all rows in memory, and max_rows = {bounds.max_rows} of stored "
            f"ones may be more than {CACHED_BYTES // 2**20} MB; declare fewer, pass an array, or "
            "use another mechanism."
        )


def fits_together(count: int, bounds: Bounds) -> bool:
    """Say whether rows made for a second stage are few enough to be held."""
    return count * bounds.n_features * 8 <= REMADE_BYTES


def join_pieces(stream: PreparedStream) -> Prepared:
    """Return all rows of a stream, held together."""
    pieces = [piece for piece in _all_of(stream) if piece.count]
    return join_prepared(pieces) if pieces else stream._no_rows()


def join_prepared(pieces: Sequence[Prepared]) -> Prepared:
    """Return the rows of all pieces together."""
    arrays = [piece for piece in pieces if isinstance(piece, PreparedArray)]
    if len(arrays) == len(pieces):
        return PreparedArray.join(arrays)
    sparse = [piece for piece in pieces if isinstance(piece, PreparedSparse)]
    if len(sparse) == len(pieces):
        return PreparedSparse.join(sparse)
    raise PrivacyError("pieces of one table must all be dense, or all sparse.")


Thing = TypeVar("Thing")


def _identity(thing: Thing) -> Thing:
    return thing


def _make(make: Callable[[], Thing]) -> Thing:
    return make()


def _all_of(stream: PreparedStream) -> Iterator[Prepared]:
    with closing(stream.pieces()) as pieces:  # type: ignore[type-var]
        yield from pieces


def _select(stream: PreparedStream, positions: Integers) -> Iterator[Prepared]:
    """Yield the rows at positions, which do not fall."""
    start = 0
    for piece in _all_of(stream):
        first, last = np.searchsorted(positions, [start, start + piece.count])
        yield piece.take(positions[first:last] - start)
        start += piece.count

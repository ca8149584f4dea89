"""Rows too many to hold: read again in every pass, a piece at a time.

A feed hands out the same pieces in the same order in every pass, each but the last of the same
number of rows, wherever files or their parts begin. Blocks never cross a piece, so that sums are
the same in every pass; they agree with those of an array within
:func:`discreet.data.summation_error` on either side, and exactly if they are sums of integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet._types import Integers, Vector
from discreet.data.accept import source_of
from discreet.data.block import Block
from discreet.data.dense import PreparedArray, check_shape, rows_of_width
from discreet.data.source import Prepared, Remake, Source
from discreet.data.sparse import PreparedSparse
from discreet.declared import Bounds
from discreet.errors import InputError, PrivacyError, SourceChanged

PIECE_NUMBERS = 2**19
"""How many numbers a piece should hold; a few pieces are in memory at a time."""

CACHED_BYTES = 2**28
"""Rows that take no more are kept after the first pass."""

HELD_BYTES = 2**26
"""How much a sample of the rows may take."""


@dataclass(frozen=True, eq=False, repr=False)
class Piece:
    """Some rows as they came, encoded but not clipped."""

    matrix: Any
    labels: Vector | None
    weights: Vector | None


class Feed(ABC):
    """Where pieces come from; what it says of itself is found without reading a row."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns; the first is private unless the unit says so."""

    @property
    @abstractmethod
    def has_labels(self) -> bool:
        """Whether pieces have labels."""

    @property
    @abstractmethod
    def has_weights(self) -> bool:
        """Whether pieces have weights."""

    @property
    @abstractmethod
    def is_sparse(self) -> bool:
        """Whether pieces are sparse."""

    @abstractmethod
    def check(self) -> None:
        """Raise if what is stored is no longer what was found; reads no row."""

    @abstractmethod
    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield all rows in order, so many at a time; raise ``SourceChanged`` if they changed."""


@dataclass(frozen=True, eq=False, repr=False)
class StreamSource(Source):
    """Rows that a feed hands out.

    Parameters
    ----------
    feed
        Where they come from.
    cached_bytes
        Rows that take no more are kept in memory after the first pass.
    """

    feed: Feed
    cached_bytes: int = CACHED_BYTES

    @property
    def shape(self) -> tuple[int, int]:
        """As of an array; the number of rows is private unless the unit says otherwise."""
        return self.feed.shape

    def check(self, bounds: Bounds) -> None:
        check_shape(self.shape, bounds)
        if (bounds.labels is not None) != self.feed.has_labels:
            raise InputError("stored rows need a target exactly if the bounds declare labels.")
        if self.feed.has_weights and bounds.max_weight is None:
            raise InputError("weights need a declared largest one; pass max_weight.")
        if self.feed.is_sparse and not bounds.features.contains(
            np.zeros(bounds.n_features), tolerance=0.0
        ):
            raise InputError("sparse rows need a set that contains the origin; use a ball.")
        self.feed.check()

    def check_held(self, bounds: Bounds) -> None:
        check_held(bounds)

    def block_rows(self) -> int:
        return rows_of_width(self.shape[1])

    def prepare(self, bounds: Bounds) -> FedStream:
        return FedStream(self.feed, bounds, self.cached_bytes)


class PreparedStream(Prepared):
    """Clipped rows that come piece by piece."""

    is_streamed = True
    bounds: Bounds

    @abstractmethod
    def pieces(self) -> Iterator[Prepared]:
        """Yield all rows in order; a pass."""

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

    def at_once(self, block_rows: int) -> int:
        return max(1, HELD_BYTES // (8 * self.bounds.n_features))

    def take(self, positions: Integers) -> Prepared:
        """Return some rows: held if they are few, otherwise selected anew in every pass."""
        if positions.size <= self.at_once(1):
            return self._held(positions)
        if (np.diff(positions) > 0).all():
            return SelectedStream(self, positions)
        raise PrivacyError("so many rows can only be taken in order.")

    def _held(self, positions: Integers) -> Prepared:
        order = np.argsort(positions, kind="stable")
        found = [piece for piece in _selected(self, positions[order]) if piece.count]
        if not found:
            return self._none()
        held = joined(found)
        if (np.diff(positions) > 0).all():
            return held
        back = np.empty_like(order)
        back[order] = np.arange(order.size)
        return held.take(back)

    def _none(self) -> Prepared:
        """Return no rows, of the same kind."""
        with closing(self.pieces()) as pieces:  # type: ignore[type-var]
            for piece in pieces:
                return piece.take(np.arange(0))
        raise PrivacyError("there are no rows.")

    def thin(self, step: int) -> Prepared:
        held = self.at_once(1)
        return self._held(np.arange(0, self.count, max(step, -(-self.count // held))))

    def relabelled(self, relabel: Callable[[Vector], Vector]) -> Prepared:
        return RemadeStream(self, lambda piece: piece.relabelled(relabel), self.bounds)

    def remade(self, remake: Remake, bounds: Bounds) -> tuple[Callable[[], Prepared], int]:
        stream = RemadeStream(self, lambda piece: remake(piece).prepare(bounds), bounds)
        return lambda: stream, rows_of_width(bounds.n_features)

    def gather(self) -> tuple[Any, Vector | None]:
        check_held(self.bounds)
        pieces = [piece for piece in _all_of(self) if piece.count]
        return joined(pieces).gather() if pieces else self._none().gather()


@dataclass(eq=False, repr=False)
class FedStream(PreparedStream):
    """The pieces of a feed, clipped; the first pass keeps them if they fit, or a sample of them."""

    feed: Feed
    bounds: Bounds
    cached_bytes: int
    _kept: list[Prepared] | None = field(default=None, init=False)
    _sample: Prepared | None = field(default=None, init=False)

    @property
    def count(self) -> int:
        return self.feed.shape[0]

    def pieces(self) -> Iterator[Prepared]:
        if self._kept is not None:
            yield from self._kept
            return
        fits = self.count * self.bounds.n_features * 8 <= self.cached_bytes
        kept: list[Prepared] = []
        seen, step = 0, self._sample_step
        with closing(self.feed.pieces(self._piece_rows)) as fed:  # type: ignore[type-var]
            for raw in fed:
                source = source_of(raw.matrix, raw.labels, raw.weights, self.bounds)
                piece = source.prepare(self.bounds)
                if fits:
                    kept.append(piece)
                elif self._sample is None:
                    kept.append(piece.take(np.arange(-seen % step, piece.count, step)))
                seen += piece.count
                yield piece
        if seen != self.count:
            raise SourceChanged("the number of stored rows changed while they were read.")
        if fits:
            self._kept = kept
        elif self._sample is None:
            self._sample = joined(kept)

    @property
    def _sample_step(self) -> int:
        return -(-self.count // self.at_once(1))

    @property
    def _piece_rows(self) -> int:
        rows = rows_of_width(self.bounds.n_features)
        return rows * max(1, PIECE_NUMBERS // (rows * self.bounds.n_features))

    def thin(self, step: int) -> Prepared:
        if self._kept is None and self._sample is None:
            for _ in self.pieces():
                pass
        if self._sample is None:
            return super().thin(step)
        return self._sample.thin(-(-step // self._sample_step))


@dataclass(frozen=True, eq=False, repr=False)
class RemadeStream(PreparedStream):
    """Rows made of others, each of its own row alone."""

    before: PreparedStream
    remake: Callable[[Prepared], Prepared]
    bounds: Bounds

    @property
    def count(self) -> int:
        return self.before.count

    def pieces(self) -> Iterator[Prepared]:
        with closing(self.before.pieces()) as pieces:  # type: ignore[type-var]
            for piece in pieces:
                yield self.remake(piece)

    def thin(self, step: int) -> Prepared:
        return self.remake(self.before.thin(step))


@dataclass(frozen=True, eq=False, repr=False)
class SelectedStream(PreparedStream):
    """Some rows of a stream, in its order."""

    before: PreparedStream
    positions: Integers

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        return self.before.bounds

    @property
    def count(self) -> int:
        return self.positions.size

    def pieces(self) -> Iterator[Prepared]:
        yield from _selected(self.before, self.positions)


def check_held(bounds: Bounds) -> None:
    """Refuse to hold as many rows as are declared; their true number must not decide what fails."""
    if bounds.max_rows * bounds.width * 8 > CACHED_BYTES:
        raise InputError(
            f"this mechanism holds all rows in memory, and max_rows = {bounds.max_rows} of stored "
            f"ones may be more than {CACHED_BYTES // 2**20} MB; declare fewer, pass an array, or "
            "use another mechanism."
        )


def joined(pieces: Sequence[Prepared]) -> Prepared:
    """Return the rows of all pieces together."""
    arrays = [piece for piece in pieces if isinstance(piece, PreparedArray)]
    if len(arrays) == len(pieces):
        return PreparedArray.joined(arrays)
    sparse = [piece for piece in pieces if isinstance(piece, PreparedSparse)]
    if len(sparse) == len(pieces):
        return PreparedSparse.joined(sparse)
    raise PrivacyError("pieces of one table must all be dense, or all sparse.")


def _all_of(stream: PreparedStream) -> Iterator[Prepared]:
    with closing(stream.pieces()) as pieces:  # type: ignore[type-var]
        yield from pieces


def _selected(stream: PreparedStream, positions: Integers) -> Iterator[Prepared]:
    """Yield the rows at positions, which do not fall."""
    start = 0
    for piece in _all_of(stream):
        first, last = np.searchsorted(positions, [start, start + piece.count])
        yield piece.take(positions[first:last] - start)
        start += piece.count

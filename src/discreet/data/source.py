"""Where rows live: something that hands out clipped blocks once it may."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn, Self

import numpy as np

from discreet._private_part import silence
from discreet._types import Integers, Vector
from discreet.data.block import Block
from discreet.data.summation import RunningSums
from discreet.errors import PrivacyError, SourceChanged
from discreet.questions.bounds import Bounds

Kernel = Callable[[Block], Any]
"""What is asked of a block: an array, or a tuple of arrays, to be summed over all blocks."""

BLOCKS_WAITING = 3
"""How many blocks are handed to each thread before the first answer is waited for."""


class Source(ABC):
    """Rows that have been accepted by their shape and type alone; no value has been read."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns; the first is private unless the unit says otherwise."""

    @property
    def count(self) -> int:
        """The number of rows; private unless the unit says otherwise."""
        return self.shape[0]

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.shape[1]

    knows_count = True
    """Whether the number of rows is known without reading them."""

    @abstractmethod
    def check(self, bounds: Bounds) -> None:
        """Raise unless the shape fits the bounds; reads no value."""

    def check_held(self, bounds: Bounds) -> None:
        """Raise unless as many rows as are declared fit into memory at once."""
        return

    @abstractmethod
    def prepare(self, bounds: Bounds) -> Prepared:
        """Work out how each row is clipped: the first time values are read."""

    has_persons = False
    """Whether it knows whose each row is."""

    def prepare_bounded(self, bounds: Bounds, key: bytes) -> Prepared:
        """Prepare rows as they count where persons are protected; the key is secret."""
        raise PrivacyError("these rows do not say whose they are.")

    @abstractmethod
    def block_rows(self) -> int:
        """Return how many rows a block should have; decided by shapes that are public."""


Remake = Callable[["Prepared"], Source]
"""Makes other rows of some, each of its own row alone."""

GATHERED = 8
"""What part of a block of rows is copied at once: so much fits a nearer cache."""


class Prepared(ABC):
    """Rows ready to be summed."""

    is_streamed = False
    """Whether rows come in pieces, because they may not fit into memory."""

    @property
    def is_reread(self) -> bool:
        """Whether rows are read, or made, again in every pass."""
        return self.is_streamed

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of rows."""

    labels: Vector | None
    weights: Vector | None
    owners: Any
    """The tag of whose each row is, two words; None where records are protected."""

    @property
    def has_persons(self) -> bool:
        """Whether it is known whose rows these are."""
        return False

    def tags(self) -> Iterator[Any]:
        """Yield the tags of whose rows these are, in order; nothing where nobody knows."""
        return iter(())

    @abstractmethod
    def block(self, start: int, stop: int) -> Block:
        """Return the clipped rows from ``start`` up to ``stop``."""

    def blocks(self, size: int) -> Iterator[Callable[[], Block]]:
        """Yield a way to make each block of at most ``size`` rows, in order; at least one."""
        for start in range(0, max(self.count, 1), size):
            yield partial(self.block, start, start + size)

    def sum(self, kernel: Kernel, size: int, threads: int = 1) -> Any:
        """Return the sum of what the kernel says of blocks of ``size`` rows, in their order."""
        sums = RunningSums()
        with closing(self._answers(kernel, size, threads)) as answers:
            for answer in answers:
                sums.add(answer)
        return sums.value()

    def _answers(self, kernel: Kernel, size: int, threads: int) -> Generator[Any, None, None]:
        if threads == 1 or (self.count <= size and not self.is_streamed):
            yield from (kernel(block()) for block in self.blocks(size))
            return
        waiting: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(threads) as pool:
            for block in self.blocks(size):
                waiting.append(pool.submit(_run_quietly, kernel, block))
                if len(waiting) > BLOCKS_WAITING * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def close(self) -> None:
        """Give back what is kept outside of memory."""
        return

    def gather_size(self, block_rows: int) -> int:
        """Return how many rows of small samples are gathered together."""
        return block_rows // GATHERED

    def subsample(self, step: int) -> Prepared:
        """Return every ``step``-th row, or fewer where these are too many to hold."""
        return self.take(np.arange(0, self.count, step))

    @abstractmethod
    def take(self, positions: Integers) -> Prepared:
        """Return some of the rows, in the given order."""

    @abstractmethod
    def part(self, start: int, stop: int) -> Prepared:
        """Return the rows from ``start`` up to ``stop``, not copied."""

    @property
    def has_labels(self) -> bool:
        """Whether rows carry labels."""
        return self.labels is not None

    @abstractmethod
    def relabel(self, change: Callable[[Vector], Vector]) -> Prepared:
        """Return the same rows, with what ``change`` makes of each label alone."""

    def remake(self, change: Remake, bounds: Bounds) -> tuple[Callable[[], Prepared], int]:
        """Return how to prepare what ``change`` makes of the rows, and how long its blocks are."""
        source = change(self)
        return lambda: source.prepare(bounds), source.block_rows()

    def transform(self, change: Callable[[Any], Any]) -> Any:
        """Return what ``change`` makes of the clipped rows, each by itself."""
        return change(self.gather()[0])

    @abstractmethod
    def gather(self) -> tuple[Any, Vector | None]:
        """Return all clipped rows and labels as new arrays."""


@dataclass(frozen=True, eq=False, repr=False)
class PreparedMatrix(Prepared):
    """A matrix with a factor for each row."""

    bounds: Bounds
    matrix: Any
    labels: Vector | None
    weights: Vector | None
    scale: Vector | None
    owners: Any = field(default=None, kw_only=True)

    @property
    def has_persons(self) -> bool:
        return self.owners is not None

    def tags(self) -> Iterator[Any]:
        if self.owners is not None:
            yield self.owners

    @property
    def count(self) -> int:
        return int(self.matrix.shape[0])

    @abstractmethod
    def take(self, positions: Integers) -> PreparedMatrix: ...

    def relabel(self, change: Callable[[Vector], Vector]) -> Self:
        return replace(self, labels=None if self.labels is None else change(self.labels))


def refuse_changed() -> NoReturn:
    """Stop where rows are not what they were when they were accepted."""
    raise SourceChanged(
        "the rows changed while they were read, so nothing is released; the charge stands."
    )


def _run_quietly(kernel: Kernel, make: Callable[[], Block]) -> Any:
    with silence():  # which is that of each thread
        return kernel(make())


def pick(values: Vector | None, positions: Integers | slice) -> Vector | None:
    """Return part of an optional vector."""
    return None if values is None else np.asarray(values[positions])


def join_vectors(
    parts: Sequence[Vector | None], counts: Sequence[int], otherwise: float
) -> Vector | None:
    """Return optional vectors end to end; ``otherwise`` stands for one that is missing."""
    if all(part is None for part in parts):
        return None
    return np.concatenate(
        [
            np.full(count, otherwise) if part is None else part
            for part, count in zip(parts, counts, strict=True)
        ]
    )


def join_owners(parts: Sequence[PreparedMatrix]) -> Any:
    """Return whose the rows of all parts are, where that is known."""
    known = [part.owners for part in parts if part.owners is not None]
    return np.concatenate(known) if known else None

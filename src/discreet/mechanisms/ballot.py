"""Blocks of rows, drawn in secret, and what a procedure chooses on each of them alone.

Why the deal has to be secret is proved in ``stability_release.md``.
"""

from __future__ import annotations

import contextlib
import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed, parallel_config

from discreet import _checks
from discreet._quiet import quiet
from discreet._types import Integers, Vector
from discreet.data import OpenRows
from discreet.errors import InputError
from discreet.noise import Noise
from discreet.questions.block_vote import BlockVote

Answer = tuple[int, ...]
"""The places of the columns that were chosen, in order."""

NO_COLUMN: Answer = ()
"""What a block has chosen on which nothing sensible came out."""

Found = TypeVar("Found")
"""What is made of a block."""

WORKERS = ("threads", "processes", "dask")


@dataclass(frozen=True)
class Workers:
    """Who runs the procedure: so many threads, or processes, which rows are sent to.

    Parameters
    ----------
    count
        How many; one runs block after block. A cluster has as many as it has.
    kind
        ``"threads"``, ``"processes"``, or ``"dask"`` for the workers of the current Dask client.

    Examples
    --------
    >>> Workers(2).kind
    'threads'
    """

    count: int = 1
    kind: str = "threads"

    def __post_init__(self) -> None:
        _checks.whole(count=self.count, at_least=1)
        _checks.one_of(WORKERS, kind=self.kind)

    def ask(
        self,
        make: Callable[[Any, Vector | None], Found],
        blocks: Iterator[tuple[Any, Vector | None]],
    ) -> list[Found]:
        """Return what is made of each block, in their order."""
        if self.kind == "dask":
            return _ask_cluster(make, blocks)
        if self.count == 1:
            return [make(X, y) for X, y in blocks]
        backend = "threading" if self.kind == "threads" else "loky"
        # Large arrays are sent, and not left in files for workers to find.
        pool = Parallel(self.count, backend=backend, max_nbytes=None)
        return list(pool(delayed(make)(X, y) for X, y in blocks))

    def check(self) -> None:
        """Refuse a cluster that is not there; reads no row."""
        if self.kind == "dask":
            _current_client()


def _current_client() -> Any:
    try:
        distributed: Any = importlib.import_module("distributed")
        return distributed.default_client()
    except (ImportError, ValueError):
        raise InputError(
            'backend="dask" needs a current Dask client; make one first, as in '
            "distributed.Client(address)."
        ) from None


def _ask_cluster(
    make: Callable[[Any, Vector | None], Found], blocks: Iterator[tuple[Any, Vector | None]]
) -> list[Found]:
    """Send each block to a worker; names of tasks and of data are random, and not of their rows."""
    client = _current_client()
    with quiet():
        sent = [client.scatter([block], hash=False)[0] for block in blocks]
        asked = [client.submit(_make_of, make, block, pure=False) for block in sent]
        try:
            return list(client.gather(asked))
        finally:
            client.cancel([*asked, *sent])


def _make_of(
    make: Callable[[Any, Vector | None], Found], block: tuple[Any, Vector | None]
) -> Found:
    return make(*block)


@dataclass(frozen=True, eq=False, repr=False)
class Deal:
    """All rows in memory, to be partitioned at random into so many blocks."""

    blocks: int
    table: Any
    labels: Vector | None

    @classmethod
    def of(cls, blocks: int, rows: OpenRows) -> Deal:
        return cls(blocks, *rows.gather())

    def ask(
        self, make: Callable[[Any, Vector | None], Found], noise: Noise, workers: Workers
    ) -> list[Found]:
        """Partition the rows, each by itself, and return what is made of every block: private.

        Parameters
        ----------
        make
            Makes something of the rows and labels of a block; it can be pickled.
        noise
            The source of randomness.
        workers
            Who does it.
        """
        dealt = noise.below(self.blocks, self.table.shape[0])
        return workers.ask(make, self.split(dealt.astype(np.int64)))

    def split(self, dealt: Integers) -> Iterator[tuple[Any, Vector | None]]:
        """Yield the rows and labels of each block, copied, in the order that they came in."""
        order = np.argsort(dealt, kind="stable")
        ends = np.searchsorted(dealt[order], np.arange(self.blocks + 1))
        for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            places = order[start:stop]
            yield self.table[places], None if self.labels is None else self.labels[places]


@dataclass(frozen=True, eq=False, repr=False)
class Ballot:
    """Rows that blocks of them vote on."""

    question: BlockVote
    deal: Deal

    @classmethod
    def of(cls, question: BlockVote, rows: OpenRows) -> Ballot:
        return cls(question, Deal.of(question.blocks, rows))

    def answers(self, noise: Noise, workers: Workers) -> list[Answer]:
        """Partition the rows, and return what every block chooses: private."""
        return self.deal.ask(partial(answer_of, self.question), noise, workers)


@contextlib.contextmanager
def in_silence() -> Iterator[None]:
    """Run a procedure on a block; what joblib runs for it stays in this thread, which is silent."""
    with quiet(), parallel_config(backend="sequential"):
        yield


def answer_of(question: BlockVote, X: Any, y: Vector | None) -> Answer:
    """Return what the procedure chooses on one block; whatever it does, there is an answer."""
    if X.shape[0] == 0:
        return NO_COLUMN
    with in_silence():
        try:
            return read_answer(question, question.procedure(X, y))
        except (Exception, SystemExit, GeneratorExit):  # one record must not decide on a failure
            return NO_COLUMN


def read_answer(question: BlockVote, said: Any) -> Answer:
    """Return the columns of a mask or of places; no column if it is neither, or too many."""
    features = question.bounds.n_features
    given = np.asarray(said)
    if given.dtype.kind == "b" and given.shape == (features,):
        given = np.flatnonzero(given)
    if given.dtype.kind not in "iu" or given.ndim != 1:
        return NO_COLUMN
    places = np.unique(given.astype(np.int64))
    if places.size and not 0 <= places[0] <= places[-1] < features:
        return NO_COLUMN
    if question.widths:
        ends = np.cumsum(question.widths)
        places = np.unique(np.searchsorted(ends, places, side="right"))
    if question.most is not None and places.size > question.most:
        return NO_COLUMN
    return tuple(places.tolist())


def leader_of(answers: list[Answer]) -> tuple[Answer, int]:
    """Return the answer with the most votes, and by how many it is ahead of the next.

    Of equal ones the first in the order of their places leads.

    Examples
    --------
    >>> leader_of([(1,), (2,), (1,), (1, 2)])
    ((1,), 1)
    """
    counted = sorted(Counter(answers).items(), key=lambda item: (-item[1], item[0]))
    next_best = counted[1][1] if len(counted) > 1 else 0
    return counted[0][0], counted[0][1] - next_best


def votes_of(answers: list[Answer], columns: int) -> Integers:
    """Return how many blocks have chosen each column.

    Examples
    --------
    >>> votes_of([(1,), (2,), (1, 2)], columns=3).tolist()
    [0, 2, 2]
    """
    chosen = np.array([place for answer in answers for place in answer], dtype=np.int64)
    return np.bincount(chosen, minlength=columns).astype(np.int64)

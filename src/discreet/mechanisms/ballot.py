"""Blocks of rows, drawn in secret, and what a procedure chooses on each of them alone.

Why the deal has to be secret is proved in ``stability_release.md``.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from discreet import _checks
from discreet._private_part import silence
from discreet._types import Integers, Vector
from discreet.data import OpenRows
from discreet.errors import InputError, PrivacyError
from discreet.foreign.calls import NO_COLUMN, Choosing
from discreet.foreign.foreign_code import ForeignCode
from discreet.mechanisms.base import YES, Verdict
from discreet.noise import Noise
from discreet.questions import Question
from discreet.questions.block_vote import BlockVote

Answer = tuple[int, ...]
"""The places of the columns that were chosen, in order."""

Block = tuple[Any, Vector | None]
"""Rows and labels."""

WORKERS = ("threads", "processes", "dask")


@dataclass(frozen=True)
class Workers:
    """Who runs the procedure: so many threads, or processes, which rows are sent to.

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

    def take_on(self, run: Callable[..., Any]) -> ForeignCode:
        """Return a procedure as it is run on blocks; refuse one that cannot be: reads no row."""
        return ForeignCode(run, "the procedure", fits=True, apart=self.kind == "processes")

    def ask(self, code: ForeignCode, blocks: Iterator[Block]) -> list[Vector | None]:
        """Return the numbers that are made of each block, in their order; None where none are."""
        if self.kind == "dask":
            return _ask_cluster(code, blocks)
        if self.count == 1:
            return code.run_on(blocks)
        # Who works on a block goes by its place, and not by how long others take.
        dealt = list(blocks)
        pool = Parallel(self.count, backend="threading")
        said = pool(delayed(code.run_on)(dealt[i :: self.count]) for i in range(self.count))
        return [said[place % self.count][place // self.count] for place in range(len(dealt))]

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


def _ask_cluster(code: ForeignCode, blocks: Iterator[Block]) -> list[Vector | None]:
    """Send each block to a worker; names of tasks and of data are random, and not of their rows."""
    client = _current_client()
    with silence():
        sent = [client.scatter([block], hash=False)[0] for block in blocks]
        asked = [client.submit(_run_on_one, code, block, pure=False) for block in sent]
        try:
            said = list(client.gather(asked))
        finally:
            client.cancel([*asked, *sent])
    if any(isinstance(one, bool) for one in said):
        raise PrivacyError("a worker of the cluster cannot run foreign code.")
    return said


def _run_on_one(code: ForeignCode, block: Block) -> Vector | bool | None:
    """Run it where this is called; what is raised there, logs of the cluster would quote."""
    try:
        return code.run_on([block])[0]
    except Exception:
        return False


@dataclass(frozen=True, eq=False, repr=False)
class Deal:
    """All rows in memory, to be partitioned at random into so many blocks."""

    blocks: int
    rows: OpenRows
    table: Any
    labels: Vector | None

    @classmethod
    def of(cls, blocks: int, rows: OpenRows) -> Deal:
        return cls(blocks, rows, *rows.gather())

    def ask(self, code: ForeignCode, noise: Noise, workers: Workers) -> list[Vector | None]:
        """Partition the rows, each by itself, and return what is made of every block: private.

        Where persons are protected, all rows of one fall into one block.
        """
        return workers.ask(code, self.split(self.rows.draw_each(self.blocks, noise)))

    def split(self, dealt: Integers) -> Iterator[Block]:
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
        chosen = self.deal.ask(workers.take_on(choosing(self.question)), noise, workers)
        return [NO_COLUMN if one is None else tuple(map(int, one)) for one in chosen]


def accepts_blocks(question: Question) -> Verdict:
    """Say whether a procedure may be run on blocks of these rows."""
    if question.bounds.has_weights:
        return Verdict(
            False,
            "a procedure that is run on blocks knows no weights; use contributions='cap', by "
            "which at most so many rows of a person are used, all of them in one block.",
        )
    return YES


def check_votes(question: BlockVote, workers: Workers) -> None:
    """Refuse a procedure that cannot be run on blocks; reads no row."""
    workers.take_on(choosing(question)).check()


def choosing(question: BlockVote) -> Choosing:
    """Return what chooses columns on a block."""
    features = question.bounds.n_features
    return Choosing(question.procedure, features, question.widths, question.most)


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

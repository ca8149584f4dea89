"""Going through the books again, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sql

from discreet.errors import BudgetExceeded, DiscreetError
from discreet.ledger import tables
from discreet.ledger.abstract import State
from discreet.ledger.account import Account, Balance, Costs, balance_to_json, costs_from_json
from discreet.ledger.chain import BEGINNING, Line, digest_of, parsed
from discreet.ledger.dataset import DataSet
from discreet.ledger.tables import DATASETS, EVENTS
from discreet.privacy import Guarantee

DECLARED = "declared"
"""What the first line of a history says."""

STEPS = {
    State.RESERVED.value: None,
    State.OPENED.value: State.RESERVED.value,
    State.RELEASED.value: State.OPENED.value,
    State.FAILED.value: State.OPENED.value,
    State.REFUNDED.value: State.RESERVED.value,
}
"""What can happen to a charge, and what must have happened last."""

SAME = 1e-6
"""Relative difference of a recorded cost and one computed again by another version."""


UNREADABLE = (
    DiscreetError,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What reading a damaged line can raise."""


@dataclass(frozen=True)
class Verification:
    """What is wrong with the books of a data set; nothing if they are sound."""

    dataset: str
    problems: tuple[str, ...]
    lines: int
    charges: int
    head: str  # stands for the whole history; keep it elsewhere

    @property
    def is_sound(self) -> bool:
        return not self.problems

    def sentence(self) -> str:
        """Say it in a sentence."""
        if self.is_sound:
            return (
                f"The books of {self.dataset!r} are sound: {self.lines} lines, {self.charges} "
                f"charges, last digest {self.head}."
            )
        return f"The books of {self.dataset!r} are NOT sound: " + "; ".join(self.problems) + "."


SUMMARY = sql.select(DATASETS).where(DATASETS.c.id == sql.bindparam("id"))
LINES = sql.select(EVENTS).where(EVENTS.c.dataset == sql.bindparam("id")).order_by(EVENTS.c.line)


def read_lines(connection: sql.Connection, query: Any, **which: int) -> list[Line]:
    """Return lines of a history."""
    return [
        Line(each.line, each.charge, each.what, each.text, each.digest)
        for each in connection.execute(query, which)
    ]


def verify_ledger(connection: sql.Connection, known: str | None) -> tuple[Verification, ...]:
    """Verify the books of every data set, by their numbers, and that none is missing."""
    numbers = set(connection.execute(sql.select(DATASETS.c.id)).scalars())
    with_history = set(connection.execute(sql.select(EVENTS.c.dataset).distinct()).scalars())
    everyone = numbers | with_history | set(range(1, max(numbers | with_history, default=0) + 1))
    found = [verify_books(connection, number, None) for number in sorted(everyone)]
    problems = []
    if not tables.is_guarded(connection):
        problems.append("the triggers that guard the history are gone")
    if known is not None and not _contains(connection, known):
        problems.append("no history contains the digest that was kept")
    if problems:
        found.append(Verification("the whole ledger", tuple(problems), 0, 0, ""))
    return tuple(found)


def _contains(connection: sql.Connection, digest: str) -> bool:
    query = sql.select(EVENTS.c.line).where(EVENTS.c.digest == digest)
    return connection.execute(query).first() is not None


def verify_books(connection: sql.Connection, number: int, known: str | None) -> Verification:
    """Compare the summary of a data set with its history, and the history with itself.

    ``known`` is a digest that the history must contain.
    """
    summary = connection.execute(SUMMARY, {"id": number}).one_or_none()
    replay = _Replay()
    problems = list(replay.problems(read_lines(connection, LINES, id=number)))
    if known is not None and known not in replay.digests:
        problems.append("the history does not contain the digest that was kept")
    name = f"data set {number}" if summary is None else str(summary.name)
    problems += ["the summary is gone"] if summary is None else replay.differences(summary)
    return Verification(name, tuple(problems), replay.lines, len(replay.states), replay.head)


class _Replay:
    """Does everything again that the history says was done."""

    def __init__(self) -> None:
        self.dataset: DataSet | None = None
        self.lines, self.head = 0, BEGINNING
        self.digests: set[str] = set()
        self.states: dict[int, str] = {}
        self._costs: dict[int, tuple[Costs, str | None]] = {}

    @property
    def _account(self) -> Account | None:
        return None if self.dataset is None else self.dataset.account

    def balance(self) -> Balance:
        """Return what stands against each part."""
        account = self._account
        if account is None:
            return {}
        balance = account.nothing()
        for number, (costs, part) in self._costs.items():
            if self.states[number] != State.REFUNDED.value:
                balance = account.add(balance, costs, part)
        return balance

    def differences(self, summary: Any) -> Iterator[str]:
        """Yield what a summary says otherwise than the history."""
        declared = self.dataset
        if declared is None:
            yield "the data set was never declared"
            return
        worked_out = {
            "name": (summary.name, declared.name),
            "number of lines": (summary.lines, self.lines),
            "number of charges": (summary.charges, len(self.states)),
            "last digest": (summary.head, self.head),
            "declaration": (parsed(summary.facts), declared.to_json()),
            "balance": (parsed(summary.balance), balance_to_json(self.balance())),
        }
        for what, (kept, true) in worked_out.items():
            if kept != true:
                yield f"the summary's {what} is not what the history says"

    def problems(self, lines: Iterable[Line]) -> Iterator[str]:
        """Yield what is wrong with each line."""
        balance: Balance = {}
        for line in lines:
            self.lines += 1
            where = f"line {self.lines}"
            if line.digest != digest_of(self.head, line.text):
                yield f"{where} or one before it was changed, removed or put in another place"
            self.head = line.digest
            self.digests.add(line.digest)
            try:
                document = line.document
                kept = tuple(document.get(name) for name in ("line", "charge", "what"))
                if kept != (line.number, line.charge, line.what) or line.number != self.lines:
                    yield f"{where} is not where it says it is"
                if line.what == DECLARED:
                    if self.lines != 1:
                        yield f"{where} declares the data set a second time"
                    self.dataset = DataSet.from_json(document["dataset"])
                    balance = self.dataset.account.nothing()
                    continue
                problem = self._step(line)
                if line.what == State.RESERVED.value and not problem:
                    balance, problem = self._charge(line.charge, document, balance)
                elif line.what == State.REFUNDED.value:
                    balance = self.balance()
            except UNREADABLE:
                problem = "cannot be read"
            if problem:
                yield f"{where} {problem}"

    def _step(self, line: Line) -> str:
        if self._account is None:
            return "comes before the data set was declared"
        if line.what not in STEPS or self.states.get(line.charge) != STEPS[line.what]:
            return f"says {line.what!r} of a charge that cannot become so"
        if line.what == State.RESERVED.value and line.charge != len(self.states) + 1:
            return "skips a number"
        self.states[line.charge] = line.what
        return ""

    def _charge(self, number: int, document: Any, balance: Balance) -> tuple[Balance, str]:
        account = self._account
        if account is None:
            return balance, ""
        guarantee = Guarantee.from_json(json.dumps(document["guarantee"]))
        costs, part = costs_from_json(document["costs"]), document["part"]
        account.check(guarantee)
        account.check_part(part)
        self._costs[number] = costs, part
        computed = account.costs(guarantee)
        if len(costs) != len(computed) or not all(map(_alike, costs, computed)):
            return account.add(balance, costs, part), "records other costs than its guarantee has"
        try:
            return account.pay(balance, guarantee, costs, part), ""
        except BudgetExceeded:
            return account.add(balance, costs, part), "was charged though the budget was spent"


def _alike(first: Any, second: Any) -> bool:
    return first.shape == second.shape and bool(np.allclose(first, second, rtol=SAME, atol=0.0))

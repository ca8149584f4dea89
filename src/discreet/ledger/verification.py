"""Going through the books again, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import BudgetExceeded, DiscreetError
from discreet.ledger.abstract import State
from discreet.ledger.account import Account, Balance, Costs, balance_to_json, costs_from_json
from discreet.ledger.chain import BEGINNING, Line, digest_of
from discreet.ledger.dataset import DataSet
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


def verify_books(summary: Any, lines: Iterable[Line], known: str | None) -> Verification:
    """Compare the summary of a data set with its history, and the history with itself.

    ``known`` is a digest that the history must contain.
    """
    replay = _Replay()
    problems = list(replay.problems(lines))
    worked_out = {
        "name": replay.dataset.name if replay.dataset else None,
        "lines": replay.lines,
        "charges": len(replay.states),
        "head": replay.head,
    }
    problems += [
        f"the summary's {name} is not what the history says"
        for name, value in worked_out.items()
        if getattr(summary, name) != value
    ]
    if replay.dataset is not None and not problems:
        problems += _differences(summary, replay.dataset, replay.balance())
    if known is not None and known not in replay.digests:
        problems.append("the history does not contain the digest that was kept")
    return Verification(
        str(summary.name), tuple(problems), replay.lines, len(replay.states), replay.head
    )


def _differences(summary: Any, dataset: DataSet, balance: Balance) -> Iterator[str]:
    if _parsed(summary.facts) != dataset.to_json():
        yield "the summary's declaration is not what the history says"
    if _parsed(summary.balance) != balance_to_json(balance):
        yield "the summary's balance is not what the history says"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


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
            except (DiscreetError, KeyError, TypeError, ValueError, AttributeError):
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
        if not all(map(_alike, costs, computed)):
            return account.add(balance, costs, part), "records other costs than its guarantee has"
        try:
            return account.pay(balance, guarantee, costs, part), ""
        except BudgetExceeded:
            return account.add(balance, costs, part), "was charged though the budget was spent"


def _alike(first: Any, second: Any) -> bool:
    return first.shape == second.shape and bool(np.allclose(first, second, rtol=SAME, atol=0.0))

"""Cases of records made into cases of persons, who have several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from discreet.audit.cases.base import Case
from discreet.audit.statistical.pair import Pair
from discreet.privacy import Unit
from discreet.questions import Cap, Contributions, Share

THREE, MANY = 3, 200


def of_persons(case: Case, unit: Unit) -> Iterator[Case]:
    """Make cases of a unit of persons of one of records.

    The record that differs becomes several, all alike and of one person; where persons are
    exchanged also several in place of one. All other records are each a person's own. What a proof
    does not accept of persons is left out.
    """
    kinds: list[tuple[str, Contributions, int, int]] = [
        ("three records", Cap(THREE), THREE, THREE),
        ("a share of many records", Share(), MANY, MANY),
    ]
    if unit.is_replace:
        kinds.append(("three records for one", Cap(THREE), THREE, 1))
    for what, person, times, others in kinds:
        question = ask_of_persons(case.question, person)
        mechanism = ask_of_persons(case.mechanism, person)
        if mechanism.accepts(question, unit):
            pair = pair_of_persons(case.pair, unit, times, others)
            label = f"{case.label}, {what}"
            yield replace(case, label=label, question=question, mechanism=mechanism, pair=pair)


def ask_of_persons(asked: Any, person: Contributions) -> Any:
    """Return what is asked, or who answers, with all that is declared about rows of persons."""
    if isinstance(asked, tuple):
        return tuple(ask_of_persons(part, person) for part in asked)
    if not is_dataclass(asked) or isinstance(asked, type):
        return asked
    parts = {part.name: getattr(asked, part.name) for part in fields(asked) if part.init}
    changed = {name: ask_of_persons(part, person) for name, part in parts.items()}
    if "person" in parts:
        changed["person"] = person
    is_same = all(changed[name] is part for name, part in parts.items())
    return asked if is_same else replace(asked, **changed)


def pair_of_persons(pair: Pair, unit: Unit, times: int, others: int) -> Pair:
    """Return tables with ids, in which the record that differs is there so many times.

    It is there so many ``others`` times in the first table.
    """
    first, second = ([*_keys(data)] for data in (pair.first, pair.second))
    names = {key: place for place, key in enumerate(dict.fromkeys(first + second), 1)}

    def table(data: Any, keys: list[Any], beside: list[Any], often: int) -> Any:
        X, y = data if isinstance(data, tuple) else (data, None)
        is_common = np.array([key in set(beside) for key in keys])
        taken = np.repeat(np.arange(len(keys)), np.where(is_common, 1, often))
        ids = np.array([names[key] if key in set(beside) else 0 for key in keys])
        return np.asarray(X)[taken], None if y is None else np.asarray(y)[taken], ids[taken]

    return Pair(
        table(pair.first, first, second, others), table(pair.second, second, first, times), unit
    )


def _keys(data: Any) -> Iterator[tuple[bytes, int]]:
    """Yield what tells a record from others: what it holds, and how many like it came before."""
    X, y = data if isinstance(data, tuple) else (data, None)
    seen: Counter[bytes] = Counter()
    for place, row in enumerate(np.asarray(X, dtype=np.float64)):
        held = row.tobytes() + (b"" if y is None else np.float64(y[place]).tobytes())
        seen[held] += 1
        yield held, seen[held]

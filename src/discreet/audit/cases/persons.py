"""Cases of records made into cases of persons, who have several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import chain, count
from typing import Any

import numpy as np

from discreet.audit.cases.base import Case
from discreet.audit.statistical.pair import Pair
from discreet.privacy import Unit
from discreet.questions import Cap, Contributions, Share

THREE, MANY = 3, 200

STRENGTHS = ("ridge", "entropy")

FEWER = "a person with fewer records says less"


def of_persons(cases: Iterable[Case], unit: Unit) -> Iterator[Case]:
    """Make cases of a unit of persons of those of records.

    The record that differs becomes several, all alike and of one person; where persons are
    exchanged also several in place of one. All other records are each a person's own, and there are
    as many times more of them as a person may weigh more. Of the first case there is one of each
    kind, of the others one; what a proof does not accept is left out.
    """
    kinds: list[tuple[str, Contributions, int, int]] = [
        ("a share of many records", Share(), MANY, MANY),
        ("three records", Cap(THREE), THREE, THREE),
    ]
    if unit.is_replace:
        kinds.append(("three records for one", Cap(THREE), THREE, 1))
    for place, case in enumerate(cases):
        made = [_state(case, unit, *kind) for kind in kinds]
        found = [one for one in made if one.mechanism.accepts(one.question, unit)]
        yield from found if place == 0 else found[place % len(kinds) :][:1] or found[:1]


def _state(
    case: Case, unit: Unit, what: str, person: Contributions, times: int, others: int
) -> Case:
    crowd = round(person.unit_weight(1.0))
    pair = pair_of_persons(case.pair, unit, times, others, crowd)
    rows = max(len(data[0]) for data in (pair.first, pair.second))
    made = replace(
        case,
        label=f"{case.label}, {what}",
        question=ask_of_persons(case.question, person, rows),
        mechanism=ask_of_persons(case.mechanism, person, rows),
        pair=pair,
    )
    return made if times == others else replace(made, is_tight=False, remark=FEWER)


def ask_of_persons(asked: Any, person: Contributions, rows: int = 0) -> Any:
    """Return what is asked, or who answers, with all that is declared about rows of persons.

    There may be so many rows, or as many as before if that is more. A ridge, or a multiple of the
    entropy, is as many times as large as a person may weigh more.
    """
    if isinstance(asked, tuple):
        return tuple(ask_of_persons(part, person, rows) for part in asked)
    if not is_dataclass(asked) or isinstance(asked, type):
        return asked
    parts = {part.name: getattr(asked, part.name) for part in fields(asked) if part.init}
    changed = {name: ask_of_persons(part, person, rows) for name, part in parts.items()}
    if "person" in parts:
        changed |= {"person": person, "max_rows": max(rows, parts["max_rows"])}
    heavier = person.unit_weight(1.0)
    if heavier > 1:
        changed |= {name: heavier * parts[name] for name in STRENGTHS if parts.get(name)}
    is_same = all(changed[name] is part for name, part in parts.items())
    return asked if is_same else replace(asked, **changed)


def pair_of_persons(pair: Pair, unit: Unit, times: int, others: int, crowd: int) -> Pair:
    """Return tables with ids, in which the record that differs is there so many times.

    It is there so many ``others`` times in the first table. Of each common record there is a
    ``crowd`` of persons.
    """
    first, second = ([*_keys(data)] for data in (pair.first, pair.second))
    names = {
        key: range(place, place + crowd)
        for place, key in zip(count(1, crowd), dict.fromkeys(first + second), strict=False)
    }

    def table(data: Any, keys: list[Any], beside: list[Any], often: int) -> Any:
        X, y = data if isinstance(data, tuple) else (data, None)
        common = set(beside)
        persons = [[*names[key]] if key in common else [0] * often for key in keys]
        taken = np.repeat(np.arange(len(keys)), list(map(len, persons)))
        return (
            np.asarray(X)[taken],
            None if y is None else np.asarray(y)[taken],
            np.array([*chain(*persons)]),
        )

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

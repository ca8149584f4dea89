"""Cases of records as cases of persons: whoever differs has several rows, or very many.

A person with as many equal rows as may count moves as far as can be where no rounding of rows adds
up. In rows that share one weight, most of it is cut off if weights are rounded badly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from discreet._types import Array, Integers
from discreet.audit.cases.base import Case
from discreet.audit.statistical.pair import Pair
from discreet.privacy import Unit
from discreet.questions import Cap, Contributions, Share
from discreet.questions.bounds import Bounds

CAP, MANY = 3, 7
"""Rows of whoever differs: as many as may count; and more than divide a weight evenly."""


def of_persons(cases: Iterable[Case], unit: Unit) -> Iterator[Case]:
    """Yield cases of records with several rows in the place of the one that differs."""
    for case in cases:
        for contributions, rows, words in ((Cap(CAP), CAP, "capped"), (Share(), MANY, "shared")):
            yield replace(
                case,
                label=f"{case.label}, {words}",
                mechanism=restate(case.mechanism, contributions, rows),
                question=restate(case.question, contributions, rows),
                pair=repeat(case.pair, unit, rows),
                is_tight=False,
                remark="a case of records, with several rows in the place of one",
            )


def restate(value: Any, contributions: Contributions, rows: int) -> Any:
    """Return what is asked, or who answers, with all bounds about persons of so many rows."""
    if isinstance(value, Bounds):
        return replace(value, person=contributions, max_rows=rows * value.max_rows)
    if isinstance(value, tuple):
        return tuple(restate(part, contributions, rows) for part in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    parts = {part.name: getattr(value, part.name) for part in fields(value) if part.init}
    changed = {name: restate(part, contributions, rows) for name, part in parts.items()}
    same = all(changed[name] is part for name, part in parts.items())
    return value if same else replace(value, **changed)


def repeat(pair: Pair, unit: Unit, rows: int) -> Pair:
    """Return the pair with every row a person, and the one that differs so many times over."""
    first, second = _listed(pair.first), _listed(pair.second)
    own = [_place_of_own(first, second), _place_of_own(second, first)]
    return Pair(_joined(first, own[0], rows), _joined(second, own[1], rows), unit)


def _listed(data: Any) -> tuple[Array, Array | None]:
    X, y = data if isinstance(data, tuple) else (data, None)
    return np.asarray(X), None if y is None else np.asarray(y)


def _keys(data: tuple[Array, Array | None]) -> list[bytes]:
    X, y = data
    labels = [b""] * len(X) if y is None else [label.tobytes() for label in y]
    return [row.tobytes() + label for row, label in zip(X, labels, strict=True)]


def _place_of_own(data: tuple[Array, Any], other: tuple[Array, Any]) -> int | None:
    """Return where the row stands that the other table has not; None if there is none."""
    mine, theirs = _keys(data), Counter(_keys(other))
    left = Counter(mine) - theirs
    return max((place for place, key in enumerate(mine) if key in left), default=None)


def _joined(data: tuple[Array, Any], own: int | None, rows: int) -> tuple[Array, Any, Integers]:
    """Return rows, labels and ids: common rows first, each a person's, then those that differ."""
    X, y = data
    common = [place for place in range(len(X)) if place != own]
    places = np.array(common + ([] if own is None else [own] * rows), dtype=np.int64)
    ids = np.append(np.arange(len(common)), np.full(len(places) - len(common), 10**6))
    return X[places], None if y is None else y[places], ids.astype(np.int64)

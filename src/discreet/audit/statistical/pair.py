"""Two data sets that differ in one record.

Neighbours, compared as multisets of records.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.privacy import Unit, unit_named


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbouring data sets, of any kind.

    Arrays, tables, sparse matrices, tuples such as (X, y) and mappings of columns are records, and
    are checked: under ``"add_remove"`` one of them holds exactly one record more, under
    ``"replace"`` exactly one record differs. Where persons are protected, the last part of a tuple
    holds their ids, and the data sets differ by all records of one person. The order of records
    does not matter. Anything else is taken on trust, and ``is_checked`` says so.

    Parameters
    ----------
    first, second
        The two data sets.
    unit
        In which relation they are neighbours, as a :class:`~discreet.privacy.Unit` or by its name.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.zeros((3, 2))
    >>> Pair(rows, rows[:2], "add_remove").is_checked
    True
    >>> Pair(rows, rows[:2], "replace")
    Traceback (most recent call last):
    discreet.errors.InputError: neighbours under 'replace' have as many records; got 3 and 2.
    """

    first: Any
    second: Any
    unit: Unit

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", unit_named(self.unit))
        first, second = count_records(self.first), count_records(self.second)
        if first is None or second is None:
            return
        if first.layout != second.layout:
            raise InputError("neighbours have the same columns in the same order; these have not.")
        if self.unit.protects_persons:
            _check_persons(first.by_person(), second.by_person(), self.unit)
        else:
            _check_neighbours(first.counts, second.counts, self.unit)

    @property
    def is_checked(self) -> bool:
        """Whether the data sets were seen to be neighbours."""
        return count_records(self.first) is not None and count_records(self.second) is not None


@dataclass(frozen=True, eq=False)
class Records:
    """How often each record occurs, and what a record consists of."""

    layout: list[Hashable]
    counts: Counter[tuple[Hashable, ...]]

    def by_person(self) -> dict[Hashable, Counter[tuple[Hashable, ...]]]:
        """Return the records of each person, whose ids are the last column."""
        persons: dict[Hashable, Counter[tuple[Hashable, ...]]] = {}
        for (*record, person), often in self.counts.items():
            persons.setdefault(person, Counter())[tuple(record)] += often
        return persons


@dataclass(frozen=True, eq=False)
class _Column:
    """One entry a record."""

    label: Hashable
    entries: list[Hashable]


def count_records(data: Any) -> Records | None:
    """Count the records of a data set; None if it is of a kind without records."""
    columns = _columns(data)
    if not columns:
        return None
    if len({len(column.entries) for column in columns}) > 1:
        lengths = ", ".join(str(len(column.entries)) for column in columns)
        raise InputError(f"the parts of a data set must be equally long; got {lengths} records.")
    counts = Counter(zip(*(column.entries for column in columns), strict=True))
    return Records([column.label for column in columns], counts)


def _columns(data: Any) -> list[_Column]:
    """Return the parts of a data set; none if one of them is of a kind without records."""
    if isinstance(data, tuple):
        return _join_columns((_columns(part) for part in data if part is not None), data)
    if hasattr(data, "to_numpy") and hasattr(data, "columns"):  # pandas, Polars
        data = {name: data[name].to_numpy() for name in data.columns}
    if isinstance(data, Mapping):
        return _join_columns((_columns(np.asarray(part)) for part in data.values()), data)
    array = _as_array(data)
    return [] if array is None or array.ndim == 0 else [_column(array)]


def _join_columns(parts: Iterable[list[_Column]], names: Iterable[Any]) -> list[_Column]:
    """Return all columns of all parts, labelled by those of a mapping."""
    kept = list(parts)
    if not all(kept):
        return []
    labels = list(names) if isinstance(names, Mapping) else range(len(kept))
    return [
        _Column((label, column.label), column.entries)
        for label, part in zip(labels, kept, strict=True)
        for column in part
    ]


def _as_array(data: Any) -> np.ndarray[Any, Any] | None:
    for method in ("toarray", "to_numpy"):  # sparse matrices; columns of tables
        if hasattr(data, method):
            data = getattr(data, method)()
    if isinstance(data, list):
        try:
            return np.asarray(data)
        except ValueError:  # of unequal lengths
            return None
    return data if isinstance(data, np.ndarray) else None


def _column(array: np.ndarray[Any, Any]) -> _Column:
    width = math.prod(array.shape[1:])
    if _fits_floats(array):
        rows = np.ascontiguousarray(array, dtype=np.float64).reshape(len(array), width) + 0.0
        return _Column(width, [row.tobytes() for row in rows])
    return _Column(width, [repr(row) for row in array.tolist()])


def _fits_floats(array: np.ndarray[Any, Any]) -> bool:
    """Say whether different values stay different as floats."""
    if array.dtype.kind in "iu":
        return bool(array.max(initial=0) <= 2**53 and array.min(initial=0) >= -(2**53))
    return array.dtype.kind in "bf"


EQUAL = "the two data sets are equal; there is nothing to tell apart."


def _check_persons(
    first: Mapping[Hashable, Counter[Any]], second: Mapping[Hashable, Counter[Any]], unit: Unit
) -> None:
    changed = {who for who in {*first, *second} if first.get(who) != second.get(who)}
    alone = first.keys() ^ second.keys()
    if not changed:
        raise InputError(EQUAL)
    if unit.is_replace:
        is_pair = len(first) == len(second) and (
            len(changed) == 1 or len(changed) == len(alone) == 2
        )
    else:
        is_pair = len(changed) == len(alone) == 1
    if not is_pair:
        raise InputError(
            f"neighbours under {unit.name!r} differ by everything of one person, there or not or "
            f"in place of another's; these differ in {len(changed)} persons, of whom {len(alone)} "
            "are in one of them alone."
        )


def _check_neighbours(first: Counter[Any], second: Counter[Any], unit: Unit) -> None:
    sizes = first.total(), second.total()
    missing, extra = (first - second).total(), (second - first).total()
    if missing == extra == 0:
        raise InputError(EQUAL)
    if unit.rows_are_public:
        if sizes[0] != sizes[1]:
            raise InputError(
                f"neighbours under {unit.name!r} have as many records; got {sizes[0]} and "
                f"{sizes[1]}."
            )
        if missing != 1:
            raise InputError(
                f"neighbours under {unit.name!r} differ in one record; these differ in {missing}."
            )
    elif missing + extra != 1:
        raise InputError(
            f"neighbours under {unit.name!r} differ by one record more or less; of these, "
            f"{missing} are only in the first and {extra} only in the second."
        )

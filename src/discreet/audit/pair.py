"""Two data sets that differ in one record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
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
    ``"replace"`` exactly one record differs. The order of records does not matter. Anything else is
    taken on trust, and ``is_checked`` says so.

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
        first, second = records(self.first), records(self.second)
        if first is not None and second is not None:
            _check_neighbours(first, second, self.unit)

    @property
    def is_checked(self) -> bool:
        """Whether the data sets were seen to be neighbours."""
        return records(self.first) is not None and records(self.second) is not None


def records(data: Any) -> Counter[Hashable] | None:
    """Count the records of a data set; None if it is of a kind without records."""
    columns = _columns(data)
    if not columns:
        return None
    if len({len(column) for column in columns}) > 1:
        lengths = ", ".join(str(len(column)) for column in columns)
        raise InputError(f"the parts of a data set must be equally long; got {lengths} records.")
    return Counter(zip(*columns, strict=True))


def _columns(data: Any) -> list[list[Hashable]]:
    """Return the parts of a data set, each as a list with one entry a record."""
    if hasattr(data, "toarray"):  # sparse
        data = data.toarray()
    if isinstance(data, tuple):
        parts = [_columns(part) for part in data if part is not None]
        return [column for part in parts for column in part] if all(parts) else []
    if hasattr(data, "to_numpy") and hasattr(data, "columns"):  # pandas, Polars
        data = {name: data[name].to_numpy() for name in data.columns}
    if isinstance(data, Mapping):
        parts = [_columns(np.asarray(part)) for part in data.values()]
        return [column for part in parts for column in part] if all(parts) else []
    if isinstance(data, list):
        data = np.asarray(data)
    elif hasattr(data, "to_numpy"):
        data = data.to_numpy()
    if not isinstance(data, np.ndarray) or data.ndim == 0:
        return []
    if data.dtype.kind in "biuf":
        rows = np.ascontiguousarray(data, dtype=np.float64).reshape(len(data), -1) + 0.0
        return [[row.tobytes() for row in rows]]
    return [[repr(row) for row in data.tolist()]]


def _check_neighbours(first: Counter[Hashable], second: Counter[Hashable], unit: Unit) -> None:
    sizes = first.total(), second.total()
    missing, extra = (first - second).total(), (second - first).total()
    if missing == extra == 0:
        raise InputError("the two data sets are equal; there is nothing to tell apart.")
    if unit.count_is_public:
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

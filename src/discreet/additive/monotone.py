"""Which columns' shapes only rise, or only fall, as it is declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.errors import InputError, InputTypeError
from discreet.preprocessing import Category, Column

WAYS = {"increasing": True, "decreasing": False}


def read_directions(
    monotone: Any, names: Sequence[str], columns: Sequence[Column]
) -> dict[int, bool]:
    """Return for each column that is monotone whether it increases, by its place.

    Examples
    --------
    >>> from discreet.preprocessing import Numeric
    >>> read_directions({"dose": "decreasing"}, ["age", "dose"], [Numeric(0, 1)] * 2)
    {1: False}
    """
    if monotone is None:
        return {}
    if not isinstance(monotone, Mapping):
        raise InputTypeError(
            'monotone must be a dict, as in {"age": "increasing"}; got a value of type '
            f"{type(monotone).__name__}."
        )
    found = dict[int, bool]()
    for name, way in monotone.items():
        if name not in names:
            raise InputError(f"monotone names {name!r}, and columns are {list(names)}.")
        place = list(names).index(name)
        if not isinstance(way, str) or way not in WAYS:
            raise InputError(f"monotone[{name!r}] must be one of {list(WAYS)}; got {way!r}.")
        if isinstance(columns[place], Category):
            raise InputError(
                f"monotone names {name!r}, a category, whose levels have no order; declare it as "
                "numbers if they do."
            )
        found[place] = WAYS[way]
    return found

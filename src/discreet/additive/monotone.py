"""Shapes that only rise, or only fall: the nearest such one to a released shape.

The projection on a convex cone of L2 of the noisy marginal, so if the truth is monotone the error
of a shape there never grows. It reads released numbers alone, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.isotonic import isotonic_regression

from discreet._types import Array, Vector
from discreet.errors import InputError, InputTypeError
from discreet.preprocessing import Category, Column

WAYS = {"increasing": True, "decreasing": False}

LEAST_WEIGHT = 1e-9
"""Of a cell without rows, beside the shares of others."""


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


def make_monotone(values: Array, shares: Vector, increasing: bool) -> Array:
    """Return the nearest values that rise or fall, line by line; the last cell stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> make_monotone(np.array([[0.0, 2.0, 1.0, 9.0]]), np.full(4, 0.25), increasing=True)
    array([[0. , 1.5, 1.5, 9. ]])
    """
    projected = values.copy()
    for line in projected:
        line[:-1] = isotonic_regression(
            line[:-1], sample_weight=shares[:-1] + LEAST_WEIGHT, increasing=increasing
        )
    return projected

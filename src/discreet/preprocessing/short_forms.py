"""Short forms of declarations: a range as two numbers, categories as a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from discreet import _checks
from discreet.errors import DiscreetError, InputError, InputTypeError
from discreet.preprocessing.columns import Category, Column, Numeric

Brief = Column | tuple[float, float] | Sequence[str | float]
"""What a column may be declared by."""

Declared = Mapping[str, Brief] | Sequence[Brief]
"""What all columns may be declared by: by name, or in their order."""


def declare(given: Any, name: str = "a column") -> Column:
    """Return the column that a declaration stands for, be it short or not.

    Two numbers are a range. A list of text, of truth values, or of three numbers or more are
    categories; two numbers that are categories need ``Category([1, 2])``.

    Parameters
    ----------
    given
        ``Numeric``, ``Category``, or a short form.
    name
        What it is called in messages.

    Examples
    --------
    >>> declare((18, 100))
    Numeric(low=18.0, high=100.0, fill=None)
    >>> declare(["surgery", "medicine"])
    Category(levels=('surgery', 'medicine'))
    """
    if isinstance(given, Column):
        return given
    if isinstance(given, np.ndarray) and given.ndim == 1:
        given = given.tolist()
    if not isinstance(given, list | tuple):
        raise InputTypeError(
            f"{name} must be Numeric, Category, a range (low, high) or a list of categories; got a "
            f"value of type {type(given).__name__}."
        )
    try:
        return Numeric(*given) if is_range(given) else Category(given)
    except DiscreetError as error:
        problem = str(error)
    raise InputError(f"{name}: {problem}")


def is_range(given: Sequence[Any]) -> bool:
    """Say whether a short form is a range: two numbers, neither of which is a truth value.

    Examples
    --------
    >>> is_range([0, 1]), is_range([False, True]), is_range([1, 2, 3]), is_range(["a", "b"])
    (True, False, False, False)
    """
    return len(given) == 2 and all(
        isinstance(end, Real) and not isinstance(end, bool | np.bool_) for end in given
    )


def declare_columns(columns: Any) -> dict[str, Column] | list[Column]:
    """Return declared columns without short forms, by name or in their order.

    Examples
    --------
    >>> declare_columns({"age": (18, 100)})
    {'age': Numeric(low=18.0, high=100.0, fill=None)}
    """
    if not isinstance(columns, Mapping | list | tuple):
        raise InputTypeError(
            "columns must be a dict from name to Numeric, Category or a short form, or a list of "
            f"them; got a value of type {type(columns).__name__}."
        )
    if not columns:
        raise InputError("columns must declare at least one column; got none.")
    if not isinstance(columns, Mapping):
        return [declare(column, f"columns[{place}]") for place, column in enumerate(columns)]
    for name in columns:
        _checks.instance(str, **{f"the column name {name!r}": name})
    return {name: declare(column, f"columns[{name!r}]") for name, column in columns.items()}

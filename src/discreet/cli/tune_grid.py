"""The grid of ``discreet tune``: a TOML file, or lines of TOML, and what it becomes."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.preprocessing import Column, Numeric

RANGES = "ranges"
"""The table of a grid that lists ranges of columns."""

DEFAULT = "default"
"""What stands in a grid for a parameter that is left open: TOML has no word for nothing."""


def read_grid(given: Sequence[str]) -> dict[str, Any]:
    """Return a grid of parameters: that of a TOML file, or of lines such as ``C = [0.1, 1]``.

    Examples
    --------
    >>> read_grid(["C = [0.1, 'default']", "ranges.age = [[18, 100], [0, 120]]"])
    {'C': [0.1, 'default'], 'ranges': {'age': [[18, 100], [0, 120]]}}
    """
    if not given:
        raise InputError("--grid is missing: name a TOML file, or write --grid 'C = [0.01, 0.1]'.")
    text = "\n".join(given)
    if len(given) == 1 and "=" not in text:
        path = Path(text)
        if not path.is_file():
            raise InputError(f"{path} is no file; a line of a grid is written as C = [0.01, 0.1].")
        text = path.read_text(encoding="utf-8")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the grid is no TOML: {error}.") from None


def list_values(grid: dict[str, Any], columns: dict[str, Column]) -> dict[str, list[Any]]:
    """Return what each parameter is chosen among, as a search takes it."""
    values: dict[str, list[Any]] = {}
    for name, listed in grid.items():
        if name == RANGES:
            values["columns"] = _with_ranges(listed, columns)
        elif not isinstance(listed, list):
            raise InputError(f"{name} must be a list of values to choose among; got {listed!r}.")
        else:
            values[name] = [None if value == DEFAULT else value for value in listed]
    return values


def _with_ranges(listed: Any, columns: dict[str, Column]) -> list[dict[str, Column]]:
    """Return the declared columns with every combination of ranges."""
    if not isinstance(listed, dict):
        raise InputError("ranges must be a table: ranges.age = [[18, 100], [0, 120]].")
    for name, ranges in listed.items():
        if not isinstance(columns.get(name), Numeric):
            raise InputError(f"ranges.{name}: the schema declares no number of this name.")
        is_list = isinstance(ranges, list) and all(
            isinstance(one, list) and len(one) == 2 for one in ranges
        )
        if not is_list or not ranges:
            raise InputError(f"ranges.{name} must be a list of ranges, each of two numbers.")
    return [
        columns
        | {name: _narrow(columns[name], *ends) for name, ends in zip(listed, one, strict=True)}
        for one in product(*listed.values())
    ]


def _narrow(column: Any, low: Any, high: Any) -> Numeric:
    """Return a column with another range; what stands for missing cells stays."""
    return Numeric(low, high, fill=column.fill)

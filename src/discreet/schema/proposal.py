"""A schema proposed for a table, from the names and types of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.errors import InputError
from discreet.preprocessing import Category, Column, Numeric
from discreet.schema.schema import (
    CATEGORY,
    CLASSIFICATION,
    KINDS,
    REGRESSION,
    Schema,
    Target,
    Undeclared,
)


def propose(
    name: str,
    kinds: Mapping[str, str],
    target: str,
    found: Mapping[str, Any],
    classes: tuple[Any, ...] = (),
) -> Schema:
    """Return a schema to be filled in.

    Parameters
    ----------
    name
        Of the data.
    kinds
        The type of each column, by its name; columns of other types than ``KINDS`` are ignored.
    target
        The column to be predicted; empty if nobody has named it yet.
    found
        Ranges and categories that were measured, if any: they are given away.
    classes
        What a target holds that is zero or one, or true or false; nothing if it is another.

    Examples
    --------
    >>> propose("patients", {"age": "number", "photo": "pixels"}, "", {}).ignored
    ('photo',)
    """
    columns: dict[str, Column | Undeclared] = {
        column: _column(kind, found.get(column))
        for column, kind in kinds.items()
        if kind in KINDS and column != target
    }
    if not columns:
        raise InputError(
            "no column of this file can be used: expected numbers, text, truth values."
        )
    return Schema(
        columns,
        Target(target, CLASSIFICATION, classes=classes)
        if classes
        else _target(target, kinds.get(target, CATEGORY), found.get(target)),
        name=name,
        ignored=tuple(column for column, kind in kinds.items() if kind not in KINDS),
    )


def _column(kind: str, found: Any) -> Column | Undeclared:
    if found is None:
        return Undeclared(kind)
    return Category(found) if kind == CATEGORY else Numeric(*found)


def _target(name: str, kind: str, found: Any) -> Target:
    if kind not in KINDS:
        raise InputError(f"the column {name!r} cannot be the target; it holds {kind}.")
    if kind == CATEGORY:
        return Target(name, CLASSIFICATION, classes=found or ())
    return Target(name, REGRESSION, range=found)

"""JSON as this library reads it: no repeated fields, no NaN, no infinities, nothing but objects."""

from __future__ import annotations

import json
import math
from typing import Any

from discreet._types import Json
from discreet.errors import InputError, InputTypeError


def parse(text: object, what: str) -> Json:
    """Return the object that a text holds; ``what`` it is, with its article, goes into errors.

    Examples
    --------
    >>> parse('{"a": 1}', "a release")
    {'a': 1}
    >>> parse('{"a": NaN}', "a release")
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: a release must be a JSON text as written by to_json(); ...
    """
    if not isinstance(text, str):
        raise InputTypeError(f"{what} must be a JSON text; got {type(text).__name__}.")
    try:
        document = json.loads(
            text,
            object_pairs_hook=_refuse_repeats,
            parse_constant=_refuse_constant,
            parse_float=_parse_finite,
        )
    except (ValueError, RecursionError):
        document = None
    if document is None:
        raise InputError(
            f"{what} must be a JSON text as written by to_json(); this one is damaged, or was "
            "written by something else."
        )
    if not isinstance(document, dict):
        raise InputTypeError(f"{what} must be a JSON object.")
    return document


def check_fields(document: object, known: set[str], what: str) -> Json:
    """Return an object, refusing fields that are missing and fields that are not known.

    Examples
    --------
    >>> check_fields({"a": 1, "c": 2}, {"a", "b"}, "a release")
    Traceback (most recent call last):
        ...
    discreet.errors.InputTypeError: a release has the fields ['a', 'b']; missing ['b'], ...
    """
    if not isinstance(document, dict):
        raise InputTypeError(f"{what} must be a JSON object.")
    if set(document) != known:
        missing, extra = sorted(known - set(document)), sorted(set(document) - known)
        raise InputTypeError(
            f"{what} has the fields {sorted(known)}; missing {missing}, unknown {extra}."
        )
    return document


def dump(document: Json, *, indent: int | None = None) -> str:
    """Return the text of a document; numbers survive exactly."""
    return json.dumps(document, allow_nan=False, indent=indent)


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field comes twice")
    return found


def _refuse_constant(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


def _parse_finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value

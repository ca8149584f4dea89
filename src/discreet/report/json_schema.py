"""The schema of a card, and a validator for as much of JSON Schema as it uses."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from typing import Any

from discreet._types import Json
from discreet.errors import InputError

KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}

KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "const", "enum", "pattern"}
KNOWN |= {"minimum", "maximum", "required", "properties", "additionalProperties", "items"}


@cache
def card_schema() -> Json:
    """Return the schema of a card.

    Examples
    --------
    >>> card_schema()["title"]
    'Discreet privacy card, version 1'
    """
    text = (resources.files("discreet.report") / "card.schema.json").read_text(encoding="utf-8")
    schema: Json = json.loads(text)
    return schema


def validate(document: object, schema: Json) -> None:
    """Raise unless a document follows a schema; the message says where it does not.

    Examples
    --------
    >>> validate({"a": 1}, {"type": "object", "properties": {}, "additionalProperties": False})
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: a card must follow its schema; at the top: unknown field 'a'.
    """
    problem = _problem(document, schema, schema, "")
    if problem:
        raise InputError(f"a card must follow its schema; at {problem}.")


def _problem(value: Any, rule: Json, root: Json, place: str) -> str | None:
    """Return the first thing that is wrong, and where."""
    where = place or "the top"
    unknown = set(rule) - KNOWN
    if unknown:
        raise InputError(f"this validator does not know {sorted(unknown)} in a schema.")
    if "$ref" in rule:
        referred = _problem(value, root["$defs"][rule["$ref"].rpartition("/")[2]], root, place)
        if referred:
            return referred
    kinds = rule.get("type")
    if kinds is not None:
        listed = [kinds] if isinstance(kinds, str) else kinds
        if not any(_is_of_kind(value, kind) for kind in listed):
            return f"{where}: expected {' or '.join(listed)}, got {type(value).__name__}"
    if "const" in rule and not _is_same(value, rule["const"]):
        return f"{where}: must be {rule['const']!r}"
    if "enum" in rule and not any(_is_same(value, one) for one in rule["enum"]):
        return f"{where}: must be one of {rule['enum']}"
    if isinstance(value, str) and "pattern" in rule and not re.search(rule["pattern"], value):
        return f"{where}: must match {rule['pattern']}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value < rule.get("minimum", value):
            return f"{where}: must be at least {rule['minimum']}"
        if value > rule.get("maximum", value):
            return f"{where}: must be at most {rule['maximum']}"
    if isinstance(value, dict):
        return _problem_of_object(value, rule, root, place)
    if isinstance(value, list) and "items" in rule:
        for number, item in enumerate(value):
            found = _problem(item, rule["items"], root, f"{place}/{number}")
            if found:
                return found
    return None


def _problem_of_object(value: Json, rule: Json, root: Json, place: str) -> str | None:
    where = place or "the top"
    missing = [name for name in rule.get("required", ()) if name not in value]
    if missing:
        return f"{where}: missing field {missing[0]!r}"
    properties, others = rule.get("properties", {}), rule.get("additionalProperties", True)
    for name, item in value.items():
        if name not in properties and others is False:
            return f"{where}: unknown field {name!r}"
        inner = properties.get(name, others)
        found = None if inner is True else _problem(item, inner, root, f"{place}/{name}")
        if found:
            return found
    return None


def _is_of_kind(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, KINDS[kind])


def _is_same(value: object, other: object) -> bool:
    return type(value) is type(other) and value == other

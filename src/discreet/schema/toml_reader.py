"""From a TOML text to a schema; errors say which file, which key, what was expected, what came."""

from __future__ import annotations

import difflib
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from discreet import _checks
from discreet.errors import DiscreetError, InputError
from discreet.preprocessing import Category, Column, Numeric
from discreet.schema.schema import (
    CATEGORY,
    CLASSIFICATION,
    KINDS,
    NUMBER,
    TASKS,
    Label,
    Schema,
    Target,
    Undeclared,
    check_spelling,
)

LARGEST_FILE = 2**20
"""A schema is written by hand; a larger file is something else."""

SHOWN = 60
"""How much of a wrong value is shown."""

Made = TypeVar("Made")

TABLES = ("data", "target", "columns", "privacy", "model")
DATA = ("name", "protects", "rows_per_person", "unit", "ignored")
TARGET = ("name", "task", "classes", "range")
OF_NUMBER = ("type", "range", "missing")
OF_CATEGORY = ("type", "categories")
PRIVACY = ("epsilon", "delta")
MODEL = ("mechanism", "max_rows")


def read(path: Path | str) -> Schema:
    """Read a schema file.

    Examples
    --------
    >>> read("nowhere.csv")
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: nowhere.csv: a schema is a TOML file (.toml); ...
    """
    path = Path(path)
    if path.suffix.lower() != ".toml":
        raise InputError(
            f"{path}: a schema is a TOML file (.toml); got {path.suffix or 'no suffix'}. "
            "The schema comes first, the data second; `discreet init` proposes one."
        )
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(f"{path}: this is no ordinary file; copy the schema to one.")
    with path.open("rb") as file:
        found = file.read(LARGEST_FILE + 1)
    if len(found) > LARGEST_FILE:
        raise InputError(f"{path}: a schema must be smaller than 1 MiB; this is something else.")
    try:
        text = found.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is None:
        raise InputError(f"{path}: a schema must be UTF-8 text. Save it again as UTF-8.")
    return parse(text, source=str(path))


def parse(text: str, source: str = "the schema") -> Schema:
    """Return the schema that a TOML text declares.

    Examples
    --------
    >>> schema = parse('''
    ... [data]
    ... protects = "one patient"
    ... [target]
    ... name = "back"
    ... task = "classification"
    ... classes = ["no", "yes"]
    ... [columns.age]
    ... type = "number"
    ... range = [18, 100]
    ... [columns.ward]
    ... type = "category"
    ... categories = ["surgery", "medicine"]
    ... ''')
    >>> schema.columns["age"]
    Numeric(low=18.0, high=100.0, fill=None)
    """
    try:
        return _schema(_document(text), source)
    except DiscreetError as error:
        problem = str(error)
    raise InputError(f"{source}: {problem}")


def _document(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        # The parser's own words may quote the file, which may be the data by mistake.
        place = re.search(r"\(at [a-z0-9, ]+\)", str(error))
    where = f" {place.group()}" if place else ""
    raise InputError(f"this is not valid TOML{where}. Text needs quotes, tables look like [data].")


def _schema(document: dict[str, Any], source: str) -> Schema:
    _check_known(document, TABLES, "the file")
    tables = {name: _table(document.get(name, {}), f"[{name}]") for name in TABLES}
    for name in ("target", "columns"):
        if name not in document:
            raise InputError(f"there must be a table [{name}]; it is missing.")
    data, privacy, model = (tables[name] for name in ("data", "privacy", "model"))
    _check_known(data, DATA, "[data]")
    _check_known(privacy, PRIVACY, "[privacy]")
    _check_known(model, MODEL, "[model]")
    columns = {name: _column(name, declared) for name, declared in tables["columns"].items()}
    options: dict[str, Any] = {}
    for name, where, check in (
        ("name", data, _text),
        ("protects", data, _text),
        ("rows_per_person", data, _whole_number),
        ("unit", data, _text),
        ("ignored", data, _names),
        ("epsilon", privacy, _number),
        ("delta", privacy, _number),
        ("mechanism", model, _text),
        ("max_rows", model, _whole_number),
    ):
        if name in where:
            options[name] = check(where[name], f"{_owner(name)} {name}")
    return Schema(columns, _target(tables["target"]), source=source, **options)


def _owner(key: str) -> str:
    return "[data]" if key in DATA else "[privacy]" if key in PRIVACY else "[model]"


def _target(table: dict[str, Any]) -> Target:
    where = "[target]"
    _check_known(table, TARGET, where)
    _check_present(table, ("name", "task"), where)
    task = _choice(table["task"], f"{where} task", TASKS)
    classes = _labels(table.get("classes", []), f"{where} classes")
    ends = _range(table["range"], f"{where} range") if "range" in table else None
    if task == CLASSIFICATION and "range" in table:
        raise InputError(f"{where} range is for regression; a classification declares classes.")
    return _locate_refusal(
        where, lambda: Target(_text(table["name"], f"{where} name"), task, classes, ends)
    )


def _column(name: str, table: Any) -> Column | Undeclared:
    where = f"[columns.{_quote_key(name)}]"
    if not name:
        raise InputError("[columns] a column must have a name; got an empty one.")
    table = _table(table, where)
    _check_present(table, ("type",), where)
    kind = _choice(table["type"], f"{where} type", KINDS)
    _check_known(table, OF_NUMBER if kind == NUMBER else OF_CATEGORY, where)
    if kind == CATEGORY:
        levels = _labels(table.get("categories", []), f"{where} categories")
        _locate_refusal(where, lambda: check_spelling(levels, "categories"))
        return _locate_refusal(where, lambda: Category(levels)) if levels else Undeclared(kind)
    ends = _range(table.get("range", []), f"{where} range")
    fill = _number(table["missing"], f"{where} missing") if "missing" in table else None
    if ends is None:
        return Undeclared(kind)
    if fill is not None and not ends[0] <= fill <= ends[1]:
        raise InputError(f"{where} missing must lie within the range; got {fill:g}.")
    return _locate_refusal(where, lambda: Numeric(*ends, fill))


def _locate_refusal(where: str, make: Callable[[], Made]) -> Made:
    """Make something, and say where in the file what it refuses stands."""
    try:
        return make()
    except DiscreetError as error:
        problem = str(error)
    raise InputError(f"{where} {problem}")


def _check_known(table: dict[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key in keys:
            continue
        near = difflib.get_close_matches(key, keys, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise InputError(
            f"{where} has an unknown key {_shorten(key)}{hint} Known here: {', '.join(keys)}."
        )


def _check_present(table: dict[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in keys:
        if key not in table:
            raise InputError(f"{where} must say {key}; it is missing.")


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} must be a table; got {_shorten(value)}.")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} must be text in quotes; got {_shorten(value)}.")
    return value


def _choice(value: Any, where: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        known = " or ".join(f'"{choice}"' for choice in choices)
        raise InputError(f"{where} must be {known}; got {_shorten(value)}.")
    return str(value)


def _names(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{where} must be a list of names in quotes; got {_shorten(value)}.")
    return tuple(value)


def _number(value: Any, where: str) -> float:
    try:
        _checks.finite(number=value)
    except DiscreetError:
        raise InputError(f"{where} must be a finite number; got {_shorten(value)}.") from None
    return float(value)


def _whole_number(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{where} must be a whole number; got {_shorten(value)}.")
    return value


def _labels(value: Any, where: str) -> tuple[Label, ...]:
    def fits(label: Any) -> bool:
        if isinstance(label, (str, bool)):
            return True
        return isinstance(label, (int, float)) and abs(label) <= sys.float_info.max

    if not isinstance(value, list) or not all(map(fits, value)):
        raise InputError(
            f"{where} must be a list of text, numbers or truth values; got {_shorten(value)}."
        )
    return tuple(value)


def _range(value: Any, where: str) -> tuple[float, float] | None:
    if value == []:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise InputError(f"{where} must be two numbers, [lowest, highest]; got {_shorten(value)}.")
    low, high = (_number(end, f"{where} must be two numbers, and each") for end in value)
    if not low < high:
        raise InputError(f"{where} must be [lowest, highest]; got {_shorten(value)}.")
    return low, high


def _shorten(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= SHOWN else shown[:SHOWN] + "..."


def _quote_key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name) else _shorten(name)

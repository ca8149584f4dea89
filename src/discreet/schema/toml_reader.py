"""From a TOML text, or a spreadsheet, to a schema.

Errors say which file, which key, what was expected, what came.
"""

from __future__ import annotations

import difflib
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from discreet import _checks
from discreet.errors import DiscreetError, InputError
from discreet.preprocessing import Category, Column, Numeric
from discreet.preprocessing.short_forms import is_range
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
from discreet.schema.spreadsheet import sheet_document

TOML, SPREADSHEET = ".toml", ".csv"

LARGEST_FILE = 2**20
"""A schema is written by hand; a larger file is something else."""

SHOWN = 60
"""How much of a wrong value is shown."""

Made = TypeVar("Made")

TABLES = ("data", "target", "columns", "privacy", "model")
GROUPS = "group"
OF_GROUP = ("columns", "type", "range", "missing", "whole", "categories")
DATA = ("name", "protects", "person", "rows_per_person", "unit", "query", "ignored")
TARGET = ("name", "task", "classes", "range")
OF_NUMBER = ("type", "range", "missing", "whole", "public_bounds")
OF_CATEGORY = ("type", "categories")
PRIVACY = ("epsilon", "delta")
MODEL = ("mechanism", "max_rows", "expected_rows")


def read(path: Path | str) -> Schema:
    """Read a schema file: TOML, or a spreadsheet that was saved as CSV.

    Examples
    --------
    What an estimator needs is there as it needs it:

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "schema.toml"
    >>> _ = place.write_text('''
    ... [target]
    ... name = "back"
    ... task = "classification"
    ... classes = ["no", "yes"]
    ... [columns]
    ... age = [18, 100]
    ... ward = ["surgery", "medicine"]
    ... ''')
    >>> schema = read(place)
    >>> schema.columns["age"], schema.target.classes
    (Numeric(low=18.0, high=100.0, fill=None), ('no', 'yes'))
    >>> from discreet import LinearClassifier
    >>> model = LinearClassifier(columns=schema.columns, classes=list(schema.target.classes))
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (TOML, SPREADSHEET):
        raise InputError(
            f"{path}: a schema is a TOML file (.toml), or a spreadsheet (.csv); got "
            f"{path.suffix or 'no suffix'}. The schema comes first, the data second; "
            "`discreet init` proposes one."
        )
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(f"{path}: this is no ordinary file; copy the schema to one.")
    with path.open("rb") as file:
        found = file.read(LARGEST_FILE + 1)
    if len(found) > LARGEST_FILE:
        raise InputError(
            f"{path}: a schema must be smaller than 1 MiB; this is something else. The schema "
            "comes first, the data second."
        )
    try:
        text = found.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is None:
        raise InputError(f"{path}: a schema must be UTF-8 text. Save it again as UTF-8.")
    return parse(text, source=str(path)) if suffix == TOML else parse_sheet(text, source=str(path))


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
    return _read_document(lambda: _document(text), source)


def parse_sheet(text: str, source: str = "the schema") -> Schema:
    """Return the schema that a spreadsheet declares, as CSV.

    Examples
    --------
    >>> schema = parse_sheet('''column,role,type,lowest,highest,missing,values
    ... age,use,number,18,100,,
    ... ward,use,category,,,,surgery; medicine
    ... back,predict,category,,,,no; yes
    ... protects,setting,,,,,one patient
    ... ''')
    >>> schema.columns["age"], schema.target.classes, schema.protects
    (Numeric(low=18.0, high=100.0, fill=None), ('no', 'yes'), 'one patient')
    """
    return _read_document(lambda: sheet_document(text), source)


def _read_document(make: Callable[[], dict[str, Any]], source: str) -> Schema:
    try:
        return _schema(make(), source)
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
    _check_known(document, (*TABLES, GROUPS), "the file")
    tables = {name: _table(document.get(name, {}), f"[{name}]") for name in TABLES}
    if "target" not in document:
        raise InputError("there must be a table [target]; it is missing.")
    if "columns" not in document and GROUPS not in document:
        raise InputError("there must be a table [columns]; it is missing.")
    data, privacy, model = (tables[name] for name in ("data", "privacy", "model"))
    _check_known(data, DATA, "[data]")
    _check_known(privacy, PRIVACY, "[privacy]")
    _check_known(model, MODEL, "[model]")
    columns = {name: _column(name, declared) for name, declared in tables["columns"].items()}
    for name, declared in _grouped_columns(document.get(GROUPS, [])):
        if name in columns:
            raise InputError(f"the column {_shorten(name)} is declared twice; declare it once.")
        columns[name] = declared
    options: dict[str, Any] = {}
    for name, where, check in (
        ("name", data, _text),
        ("protects", data, _text),
        ("person", data, _text),
        ("rows_per_person", data, _whole_number),
        ("unit", data, _text),
        ("query", data, _text),
        ("ignored", data, _names),
        ("epsilon", privacy, _number),
        ("delta", privacy, _number),
        ("mechanism", model, _text),
        ("max_rows", model, _whole_number),
        ("expected_rows", model, _whole_number),
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


def _grouped_columns(groups: Any) -> Iterator[tuple[str, Column | Undeclared]]:
    """Yield the columns of groups, each of which shares one declaration."""
    if not isinstance(groups, list):
        raise InputError(f"a group is written [[{GROUPS}]], in two pairs of brackets.")
    where = f"[[{GROUPS}]]"
    for group in groups:
        group = dict(_table(group, where))
        _check_known(group, OF_GROUP, where)
        _check_present(group, ("columns",), where)
        names = _names(group.pop("columns"), f"{where} columns")
        for name in names:
            yield name, _full_column(group, f"{where} {_quote_key(name)}:")


def _column(name: str, declared: Any) -> Column | Undeclared:
    where = f"[columns.{_quote_key(name)}]"
    if not name:
        raise InputError("[columns] a column must have a name; got an empty one.")
    if isinstance(declared, list):
        return _brief_column(declared, f"[columns] {_quote_key(name)}")
    return _full_column(_table(declared, where), where)


def _brief_column(declared: list[Any], where: str) -> Column | Undeclared:
    """Return the column of a short form: two numbers are a range, a list of text categories."""
    if not declared:
        raise InputError(
            f"{where} is not yet declared. Write a range, [18, 100], or categories, "
            '["a", "b"]; or put the column on the list of ignored ones.'
        )
    if is_range(declared):
        return _full_column({"type": NUMBER, "range": declared}, where)
    return _checked_category(declared, where, where)


def _full_column(table: dict[str, Any], where: str) -> Column | Undeclared:
    kind = _kind_declared(table, where)
    _check_known(table, OF_NUMBER if kind == NUMBER else OF_CATEGORY, where)
    if kind == CATEGORY:
        listed = table.get("categories", [])
        if listed == []:
            return Undeclared(kind)
        return _checked_category(listed, where, f"{where} categories")
    return _number_column(table, where)


def _number_column(table: dict[str, Any], where: str) -> Column | Undeclared:
    """Return a column of numbers: with a range, with bounds to find one within, or with neither."""
    ends = _range(table.get("range", []), f"{where} range")
    bounds = _range(table.get("public_bounds", []), f"{where} public_bounds")
    fill = _number(table["missing"], f"{where} missing") if "missing" in table else None
    if ends is not None and bounds is not None:
        raise InputError(
            f"{where} has a range and public_bounds; keep the range if it is known, and the bounds "
            "if a fit is to find it within them."
        )
    widest = bounds if ends is None else ends
    if widest is None:
        return Undeclared(NUMBER)
    if fill is not None and not widest[0] <= fill <= widest[1]:
        raise InputError(f"{where} missing must lie within the range; got {fill:g}.")
    whole = table.get("whole", False)
    if not isinstance(whole, bool):
        raise InputError(f"{where} whole must be true or false; got {_shorten(whole)}.")
    return _locate_refusal(where, lambda: Numeric(*widest, fill, bounds, whole=whole))


def _kind_declared(table: dict[str, Any], where: str) -> str:
    """Return the type of a column, which a range, bounds or categories say, too."""
    is_number = "range" in table or "public_bounds" in table
    if "type" not in table and is_number != ("categories" in table):
        return NUMBER if is_number else CATEGORY
    _check_present(table, ("type",), where)
    return _choice(table["type"], f"{where} type", KINDS)


def _checked_category(listed: Any, where: str, place: str) -> Category:
    levels = _labels(listed, place)
    _locate_refusal(where, lambda: check_spelling(levels, "categories"))
    return _locate_refusal(where, lambda: Category(levels))


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

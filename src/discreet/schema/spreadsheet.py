"""A schema as a spreadsheet: one line a column, for people who would rather not write TOML.

Saved as CSV, with commas or semicolons between cells; several values in one cell are separated by
semicolons.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from discreet.errors import InputError
from discreet.preprocessing import Category, Numeric
from discreet.schema.schema import (
    CATEGORY,
    CLASSIFICATION,
    NUMBER,
    REGRESSION,
    Label,
    Schema,
    Undeclared,
)

HEADER = ("column", "role", "type", "lowest", "highest", "missing", "values")
USE, PREDICT, IGNORE, SETTING = "use", "predict", "ignore", "setting"
ROLES = (USE, PREDICT, IGNORE, SETTING)

SETTINGS = {
    **dict.fromkeys(("name", "protects", "unit", "query", "person", "rows_per_person"), "data"),
    **dict.fromkeys(("epsilon", "delta"), "privacy"),
    **dict.fromkeys(("mechanism", "max_rows", "expected_rows"), "model"),
}
"""What a line may set that is no column, and the table of a TOML file that it stands in."""

WHOLE = "whole"
"""The type of a column of whole numbers."""

SEPARATOR = ";"
TRUTHS = {"true": True, "false": False}


def sheet_document(text: str) -> dict[str, Any]:
    """Return what a spreadsheet says, as a TOML file would.

    Examples
    --------
    >>> sheet_document('''column,role,type,lowest,highest,missing,values
    ... age,use,number,18,100,,
    ... cost,predict,number,0,900,,''')["columns"]
    {'age': {'type': 'number', 'range': [18, 100]}}
    """
    document: dict[str, Any] = {"columns": {}}
    for number, cells in _lines(text):
        where = f"line {number}"
        name, role = cells["column"], (cells["role"] or USE).lower()
        if not name and role != IGNORE:
            raise InputError(f"{where}: the first cell must name a column; it is empty.")
        if role not in ROLES:
            raise InputError(f"{where}: role must be {', '.join(ROLES)}; got {role[:40]!r}.")
        if role == IGNORE:
            document.setdefault("data", {}).setdefault("ignored", []).append(name)
        elif role == SETTING:
            _add_setting(document, name, cells["values"], where)
        elif role == PREDICT:
            if "target" in document:
                raise InputError(f"{where}: one column is predicted; this is the second.")
            document["target"] = _target(name, cells, where)
        elif name in document["columns"]:
            raise InputError(f"{where}: the column {name!r} is declared twice; declare it once.")
        else:
            document["columns"][name] = _column(cells, where)
    document.setdefault("target", {"name": "", "task": CLASSIFICATION})
    return document


def write_sheet(schema: Schema) -> str:
    """Return a schema as a spreadsheet, which reads back as an equal one.

    Examples
    --------
    >>> from discreet.schema import Target
    >>> schema = Schema({"age": Numeric(18, 100)}, Target("ill", "classification", ("no", "yes")))
    >>> print(write_sheet(schema).splitlines()[1])
    age,use,number,18,100,,
    """
    rows = list(_rows(schema))
    if not schema.target.name and schema.target.task == REGRESSION:
        raise InputError("name the target before a regression is written to a spreadsheet.")
    for cell in (cell for row in rows for cell in row):
        if cell != cell.strip() or not cell.isprintable():
            raise InputError(
                f"{cell!r} cannot be written to a spreadsheet, which drops such spaces; use TOML."
            )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(rows)
    return text.getvalue()


def _rows(schema: Schema) -> Iterator[tuple[str, ...]]:
    for name, column in schema.columns.items():
        match column:
            case Numeric(public_bounds=bounds) if bounds is not None:
                raise InputError(
                    f"{name!r} has public_bounds, for which a spreadsheet has no column; use TOML."
                )
            case Numeric(low=low, high=high, fill=fill, whole=whole):
                filled, kind = "" if fill is None else _spell(fill), WHOLE if whole else NUMBER
                yield (name, USE, kind, _spell(low), _spell(high), filled, "")
            case Category(levels=levels):
                yield (name, USE, CATEGORY, "", "", "", _join(levels, name))
            case Undeclared(kind=kind):
                yield (name, USE, kind, "", "", "", "")
    target = schema.target
    if target.name:
        kind = CATEGORY if target.task == CLASSIFICATION else NUMBER
        ends = ("", "") if target.range is None else tuple(map(_spell, target.range))
        yield (target.name, PREDICT, kind, *ends, "", _join(target.classes, target.name))
    for name in schema.ignored:
        yield (name, IGNORE, "", "", "", "", "")
    for key in SETTINGS:
        value = getattr(schema, key)
        if value == "":
            raise InputError(f"an empty {key} cannot be written to a spreadsheet; use TOML.")
        if value is not None and (key, value) != ("mechanism", "auto"):
            yield (key, SETTING, "", "", "", "", value if isinstance(value, str) else _spell(value))


def _lines(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the lines of a spreadsheet with their numbers; an error quotes no cell."""
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    first = lines[0] if lines else ""
    separator = SEPARATOR if first.count(SEPARATOR) > first.count(",") else ","
    try:
        rows = list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error:
        rows = []
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    if head[: len(HEADER)] != list(HEADER):
        raise InputError(
            f"the first line of a schema in CSV must be {','.join(HEADER)}; this is another. The "
            "schema comes first, the data second; `discreet init --csv` proposes a schema."
        )
    for number, row in enumerate(rows[1:], start=2):
        cells = [cell.strip() for cell in row]
        if any(cells):
            padded = [*cells, *[""] * len(HEADER)]
            yield number, dict(zip(HEADER, padded, strict=False))


def _column(cells: dict[str, str], where: str) -> dict[str, Any]:
    kind = cells["type"].lower() or (CATEGORY if cells["values"] else NUMBER)
    if kind not in (NUMBER, WHOLE, CATEGORY):
        raise InputError(
            f"{where}: type must be {NUMBER}, {WHOLE} or {CATEGORY}; got {kind[:40]!r}."
        )
    if kind == CATEGORY:
        return {"type": kind, "categories": _split(cells["values"])}
    if cells["values"]:
        raise InputError(f"{where}: values are for categories; a number has lowest and highest.")
    column: dict[str, Any] = {"type": NUMBER, "range": _ends(cells, where)}
    if kind == WHOLE:
        column["whole"] = True
    if cells["missing"]:
        column["missing"] = _number(cells["missing"], f"{where}: missing")
    return column


def _target(name: str, cells: dict[str, str], where: str) -> dict[str, Any]:
    declared = _column(cells, where)
    if declared["type"] == CATEGORY:
        return {"name": name, "task": CLASSIFICATION, "classes": declared["categories"]}
    return {"name": name, "task": REGRESSION, "range": declared["range"]}


def _add_setting(document: dict[str, Any], key: str, value: str, where: str) -> None:
    if key not in SETTINGS:
        known = ", ".join(SETTINGS)
        raise InputError(f"{where}: a setting must be one of {known}; got {key[:40]!r}.")
    if value:
        is_text = key in ("name", "protects", "unit", "query", "person", "mechanism")
        found = value if is_text else _number(value, f"{where}: {key}")
        document.setdefault(SETTINGS[key], {})[key] = found


def _ends(cells: dict[str, str], where: str) -> list[float]:
    ends = [_number(cells[end], f"{where}: {end}") for end in ("lowest", "highest") if cells[end]]
    if len(ends) == 1:
        raise InputError(f"{where}: a range needs lowest and highest; one is empty.")
    return ends


def _number(cell: str, where: str) -> float:
    for read in (int, float):
        try:
            return read(cell)
        except ValueError:
            continue
    raise InputError(f"{where} must be a number, with a point before decimals; got {cell[:40]!r}.")


def _split(cell: str) -> list[Label]:
    """Return the values of a cell: numbers if all are, truth values if all are, otherwise text."""
    values = [part.strip() for part in cell.split(SEPARATOR) if part.strip()]
    if values and all(value.lower() in TRUTHS for value in values):
        return [TRUTHS[value.lower()] for value in values]
    try:
        return [_number(value, "") for value in values]
    except InputError:
        return list(values)


def _join(values: Iterable[Label], name: str) -> str:
    listed = list(values)
    joined = f"{SEPARATOR} ".join(map(_spell, listed))
    again = _split(joined)
    if again != listed or [*map(_is_number, again)] != [*map(_is_number, listed)]:
        raise InputError(
            f"the categories of {name!r} cannot be written to a spreadsheet; use TOML."
        )
    return joined


def _is_number(value: Label) -> bool:
    return not isinstance(value, str | bool)


def _spell(value: Label) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return value if isinstance(value, str) else repr(value)

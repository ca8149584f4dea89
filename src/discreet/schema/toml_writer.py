"""From a schema to a TOML text that reads back as the same schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from discreet.errors import InputError
from discreet.preprocessing import Category, Column, Numeric
from discreet.schema.schema import (
    CATEGORY,
    CLASSIFICATION,
    EXACT_WHOLE,
    NUMBER,
    Label,
    Schema,
    Undeclared,
)


def write(schema: Schema, *, preamble: str = "", notes: Mapping[str, str] | None = None) -> str:
    """Return a schema as TOML, which reads back as an equal one.

    Parameters
    ----------
    schema
        What is to be written.
    preamble
        Lines that become comments at the top.
    notes
        For some columns, by name, what becomes a comment beside it.

    Examples
    --------
    >>> from discreet.schema import Target, parse
    >>> schema = Schema({"age": Numeric(18, 100)}, Target("cost", "regression", range=(0, 1e6)))
    >>> text = write(schema, notes={"age": "in years"})
    >>> parse(text) == schema
    True
    >>> print(text[text.index("[columns"):], end="")
    [columns.age]  # in years
    type = "number"
    range = [18, 100]
    """
    return "\n".join(_lines(schema, preamble, notes or {})) + "\n"


def _lines(schema: Schema, preamble: str, notes: Mapping[str, str]) -> Iterator[str]:
    yield from (f"# {_one_line(line)}".rstrip() for line in preamble.splitlines())
    if preamble:
        yield ""
    yield "[data]"
    yield f"name = {_value(schema.name)}"
    of, one = (
        ("used of each", "person") if schema.person is not None else ("there of one", "record")
    )
    yield f"protects = {_value(schema.protects)}  # in plain words, what one {one} is"
    if schema.person is not None:
        yield f"person = {_value(schema.person)}  # whose row each is: persons are protected"
    if schema.rows_per_person is not None:
        yield f"rows_per_person = {schema.rows_per_person}  # at most so many rows are {of}"
    units = (
        "add_remove_person or replace_person"
        if schema.person is not None
        else ("add_remove or replace one record")
    )
    yield f"unit = {_value(schema.unit)}  # neighbours: {units}"
    if schema.query is not None:
        yield f"query = {_value(schema.query)}  # what is asked of a .duckdb file"
    yield f"ignored = {_list(schema.ignored)}  # columns that may be in a file and are never read"
    yield ""
    yield "[target]"
    yield f"name = {_value(schema.target.name)}"
    yield f"task = {_value(schema.target.task)}  # classification or regression"
    if schema.target.task == CLASSIFICATION:
        yield f"classes = {_list(schema.target.classes)}"
    else:
        yield f"range = {_list(schema.target.range or ())}"
    for table, options in (
        ("privacy", {"epsilon": schema.epsilon, "delta": schema.delta}),
        (
            "model",
            {
                "mechanism": _none_if_usual(schema.mechanism, "auto"),
                "max_rows": schema.max_rows,
                "expected_rows": schema.expected_rows,
            },
        ),
    ):
        said = {key: value for key, value in options.items() if value is not None}
        if said:
            yield from ("", f"[{table}]", *(f"{key} = {_value(said[key])}" for key in said))
    for name, column in schema.columns.items():
        note = f"  # {_one_line(notes[name])}" if name in notes else ""
        yield from ("", f"[columns.{_key(name)}]{note}", *_declaration(column))


def _declaration(column: Column | Undeclared) -> Iterator[str]:
    match column:
        case Numeric(low=low, high=high, fill=fill, public_bounds=bounds, whole=whole):
            yield f'type = "{NUMBER}"'
            yield f"{'range' if bounds is None else 'public_bounds'} = {_list((low, high))}"
            if fill is not None:
                yield f"missing = {_value(fill)}"
            if whole:
                yield "whole = true"
        case Category(levels=levels):
            yield f'type = "{CATEGORY}"'
            yield f"categories = {_list(levels)}"
        case Undeclared(kind=kind):
            yield f'type = "{kind}"'
            yield "range = []" if kind == NUMBER else "categories = []"
        case _:
            raise InputError(f"a schema file has no word for {column!r}.")


def _none_if_usual(value: str, usual: str) -> str | None:
    return None if value == usual else value


def _list(values: tuple[Label, ...]) -> str:
    return f"[{', '.join(map(_value, values))}]"


def _value(value: Label) -> str:
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for one character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT_WHOLE:
        return str(int(value))
    return repr(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())

"""The first line of a CSV file, and whether the columns of a file are the declared ones."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Sequence
from pathlib import Path

from discreet.data.stored.table import check_found
from discreet.errors import InputError
from discreet.schema import Schema

LONGEST_HEADER = 2**20
NAMED, SHOWN = 5, 40
"""How many columns an error names, and how much of each name."""


SEPARATED = (
    "cells must be separated by commas; these seem to be by semicolons, tabs or bars. Save it "
    "again with commas, and points before decimals: in Python, pandas.read_csv(..., sep=';', "
    "decimal=',').to_csv(..., index=False)."
)


def read_header(path: Path) -> list[str]:
    """Return the names in the first line; an error quotes nothing of it."""
    with path.open("rb") as file:
        start = file.read(LONGEST_HEADER)
    if not start.strip():
        raise InputError(f"{path}: the file is empty; expected a line of column names, then rows.")
    return parse_header(path, start)


def parse_header(path: Path | str, start: bytes) -> list[str]:
    """Return the names in the first line of some bytes; an error quotes nothing of them."""
    text = start.decode("utf-8-sig", errors="replace")
    names: list[str] = []
    with contextlib.suppress(csv.Error):
        names = next((line for line in csv.reader(io.StringIO(text, newline="")) if line), [])
    if not names or any(mark in "".join(names) for mark in "\0\ufffd\n\r"):
        raise InputError(
            f"{path}: the first line cannot be read as column names. A CSV file must be UTF-8 text "
            "with commas between cells."
        )
    return names


def check_columns(
    path: Path | str,
    names: Sequence[str],
    schema: Schema,
    *,
    with_target: bool,
    person: str | None = None,
    is_text: bool | None = None,
) -> None:
    """Refuse a file whose columns are not those of the schema.

    Names that only a CSV file has are counted off, not shown: its first line may be a record, or
    run into one.
    """
    wanted = [*schema.columns, *([schema.target.name] if with_target else [])]
    if person is not None and person not in wanted:
        wanted.append(person)
    if is_text is None:
        is_text = Path(path).suffix.lower() == ".csv"
    missing = [name for name in wanted if name not in names]
    if missing:
        if is_text:
            check_separator(path, names)
        near = {name.strip().lower() for name in names}
        hint = " The first line of a CSV file must be column names, spelled as in the schema."
        if any(name.strip().lower() in near for name in missing):
            hint += " They seem to differ in capitals or spaces only."
        raise InputError(f"{path}: {_missing_words(missing)}{hint if is_text else ''}")
    for name in wanted:
        check_found(str(path), name, names.count(name))
    known = {*wanted, *schema.ignored, schema.target.name}
    extra = [place for place, name in enumerate(names) if name not in known]
    if extra[:1] == [0] and not names[0].strip():
        raise InputError(
            f"{path}: the first column has no name; pandas writes its index so. Write the file "
            'again with to_csv(..., index=False), or put "" on the list `ignored` under [data] in '
            f"{schema.source}."
        )
    if extra:
        shown = [str(place + 1) if is_text else repr(names[place][:SHOWN]) for place in extra]
        where = "of the first line " if is_text else ""
        raise InputError(
            f"{path}: {_columns_words(shown)} {where}{'is' if len(extra) == 1 else 'are'} not in "
            f"{schema.source}. Declare what is to be used under [columns], and put the rest on the "
            "list `ignored` under [data]."
        )


def _missing_words(names: Sequence[str]) -> str:
    are = "is" if len(names) == 1 else "are"
    shown = [repr(name[:SHOWN]) for name in names]
    return f"{_columns_words(shown)}, which the schema declares, {are} missing."


def _columns_words(shown: Sequence[str]) -> str:
    listed = ", ".join(shown[:NAMED])
    more = f" and {len(shown) - NAMED} more" if len(shown) > NAMED else ""
    return f"the column{'' if len(shown) == 1 else 's'} {listed}{more}"


def check_separator(path: Path | str, names: Sequence[str]) -> None:
    """Refuse a file whose first line is one cell with other marks in it than commas."""
    if _is_one_cell(names):
        raise InputError(f"{path}: {SEPARATED}")


def _is_one_cell(names: Sequence[str]) -> bool:
    return len(names) == 1 and any(mark in names[0] for mark in ";\t|")

"""A place to run commands in: a table with canaries, its schema, a ledger and a model."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet
from typer.main import get_command

from discreet.cli.app import app
from discreet.ledger import Ledger
from discreet.ledger.durable import high_water_mark
from discreet.privacy import Budget

CANARY = "quetzal7351"
CANARY_NUMBER = "73519264"
CANARIES = (CANARY, CANARY_NUMBER)
"""Cells that no message may show: an undeclared level or label, a number out of range."""

SCHEMA = """
[data]
name = "patients"
protects = "one patient"
rows_per_person = 1
unit = "add_remove"
ignored = ["id"]

[target]
name = "back"
task = "classification"
classes = ["no", "yes"]

[columns.age]
type = "number"
range = [18, 100]

[columns.stay]
type = "number"
range = [0, 30]
missing = 5

[columns.ward]
type = "category"
categories = ["surgery", "medicine"]

[privacy]
epsilon = 0.5

[model]
mechanism = "output_perturbation"
"""

REGRESSION = SCHEMA.replace(
    'name = "back"\ntask = "classification"\nclasses = ["no", "yes"]',
    'name = "cost"\ntask = "regression"\nrange = [0, 1000]',
).replace('["id"]', '["id", "back"]')

HEADER = ("id", "age", "stay", "ward", "back")
ROWS = [
    (CANARY, "47", "3.5", "surgery", "no"),
    ("b", CANARY_NUMBER, "", "medicine", "yes"),
    ("c", "", "2", CANARY, "yes"),
    ("d", "61", "NaN", "surgery", CANARY),
    ("e", "33", "0.5", "", ""),
    (CANARY, CANARY_NUMBER, CANARY_NUMBER, CANARY, CANARY),
]


def table_of(rows, header=HEADER, separator=","):
    return "".join(separator.join(line) + "\n" for line in (header, *rows))


TABLE = table_of(ROWS)


def columns():
    """Return the same table as columns, for Parquet."""
    numbers = [[float(row[place]) if row[place] else None for row in ROWS] for place in range(1, 3)]
    text = [[row[place] or None for row in ROWS] for place in (0, 3, 4)]
    return {
        "id": pa.array(text[0]),
        "age": pa.array(numbers[0], pa.float64()),
        "stay": pa.array(numbers[1], pa.float64()),
        "ward": pa.array(text[1]),
        "back": pa.array(text[2]),
    }


def write_parquet(path, cells):
    table = pa.Table.from_arrays(list(cells.values()), names=list(cells))
    parquet.write_table(table, path, write_page_checksum=True, compression="none")


def furnish(folder: Path) -> None:
    """Make the place: schema.toml, data.csv, data.parquet, patients.db, model."""
    (folder / "schema.toml").write_text(SCHEMA)
    (folder / "regression.toml").write_text(REGRESSION)
    (folder / "data.csv").write_text(TABLE)
    write_parquet(folder / "data.parquet", columns())
    Ledger.create(
        folder / "patients.db",
        Budget(1.0, 1e-6),
        dataset="patients",
        protects="one patient",
        parts=("north", "south"),
    )
    made = run(folder, "fit schema.toml data.csv --no-ledger --epsilon 1 --out fitted")
    if made.code:
        raise RuntimeError(made.error)


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    output: str
    error: str


COMMAND = get_command(app)


def run(folder: Path, arguments: str | list[str]) -> Outcome:
    """Run a command in a folder, in this process."""
    output, error, code = io.StringIO(), io.StringIO(), None
    with contextlib.ExitStack() as there:
        there.enter_context(contextlib.chdir(folder))
        there.enter_context(contextlib.redirect_stdout(output))
        there.enter_context(contextlib.redirect_stderr(error))
        try:
            COMMAND.main(arguments.split() if isinstance(arguments, str) else arguments)
        except SystemExit as left:
            code = left.code
    return Outcome(code, output.getvalue(), error.getvalue())


def copied(model: Path, to: Path) -> Path:
    """Return a copy of a place; this process has not seen what became of other copies."""
    high_water_mark._marks.clear()
    return Path(shutil.copytree(model, to, dirs_exist_ok=True))


def files_in(folder: Path) -> dict[str, int]:
    """Return every name below a folder with its size; a database may keep notes beside itself."""
    found = {}
    for root, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = Path(root) / name
            if not name.endswith(("-wal", "-shm", "-journal")):
                is_plain = path.is_file() and not name.endswith(".db")
                found[str(path.relative_to(folder))] = path.stat().st_size if is_plain else -1
    return found


def books(folder: Path) -> tuple[object, ...]:
    """Return the whole history of the ledger, and its digest."""
    ledger = Ledger(folder / "patients.db")
    return (*ledger.history(), ledger.verify().head)


def every_line(folder: Path) -> list[str]:
    """Return everything the ledger's file says, digests included."""
    with contextlib.closing(sqlite3.connect(folder / "patients.db")) as connection:
        return list(connection.iterdump())

"""Whatever a command shows of a table, it shows of the tables beside it, but for what it releases.

Compared are stdout, stderr, the exit code, and names, modes, sizes and contents of all files that
are left. Released values are kept from the first table and given out again (``Tape``).
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import sqlite3
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

import discreet.service.server
from discreet.cli.console import print_note
from discreet.tables import DeclaredTable
from support.neighbours import (
    MALFORMED,
    ODD,
    ORDINARY,
    Seen,
    Tape,
    csv_of,
    families,
    odd,
    ordinary,
    schema_of,
    watch,
    write_table,
)
from support.place import COMMAND, run

BYTES = {"other bytes": odd(ward="\udcff", back="\udcc3(", id="\udcfe")}
EMPTY = {"an empty line": ("",)}
SOME = {name: ODD[name] for name in ("long text", "zeros before", "quotes", "missing", "NUL")}

ORACLE = """
[oracle]
schema = "back.toml"
table = "data.csv"
store = "oracle.db"
ledger = "add_remove.db"
max_queries = 20

[kernel]
name = "rbf"
gamma = 0.5
"""


@dataclass(frozen=True)
class Asked:
    """Command lines, one after another, and the tables that they are run on."""

    script: tuple[str, ...]
    source: str = "csv"
    unit: str = "add_remove"
    odd: tuple[str, ...] = tuple(SOME)
    hidden: tuple[str, ...] = ("data",)
    count: int = 40

    def families(self):
        """Return tables with their neighbours, odd ones as far as the source can hold them."""
        found = {name: ODD[name] for name in self.odd}
        if self.source != "csv":
            found |= BYTES
        if self.source == "csv" and self.unit == "add_remove":
            found |= EMPTY
        if self.source == "pipe":
            found |= EMPTY | {kind: some[0] for kind, some in MALFORMED.items()}
            found = {name: one_line(record) for name, record in found.items()}
        return families(self.unit, ordinary(self.count), found)


def one_line(record):
    """Return a record without breaks: on a pipe a line is a record, whatever is quoted."""
    return tuple(re.sub(r"[\r\n]+", " ", cell) for cell in record)


def ask(*script, **options):
    return Asked(script, **options)


LEDGER = "add_remove.db"
BOOKS = tuple(
    f"ledger {line.replace('HERE', LEDGER)}"
    for line in (
        *("show HERE --verbose", "show HERE --json", "history HERE", "history HERE --json"),
        *("verify HERE", "anchor HERE --to anchors", "plot HERE --out plot.png"),
    )
)
SIMPLE = "--mechanism output_perturbation"
WARD = '[columns.ward]\ntype = "category"\ncategories = ["surgery", "medicine"]\n'
FIT = "fit back.toml data.csv --rehearse 3 --out model"
SELECT = "select back.toml data.csv --features 1 --rehearse 3 --out choice"
TUNE = "tune back.toml data.csv --rehearse 3 --grid margin=[0.0,1.0] --out model"
DESCRIBE = "describe back.toml data.csv --epsilon 1 --rehearse 3"
SCORE = "score fitted data.csv --rehearse 3"

STREAM = "stream replace.toml data.csv --horizon 600 --no-ledger --out model"
PIPED = "stream replace.toml - --horizon 600 --no-ledger --out model"
PAUSED = "stream replace.toml - --horizon 900 --ledger replace.db --state state --pause"


def stream(line, **options):
    """Return a stream of several blocks, and several lines that say how far it is."""
    return ask(line, **{"unit": "replace", "count": 600} | options)


ASKED = (
    ask("init data.csv --target back", "init data.csv --csv --json"),
    ask("init data.parquet --target back --json", source="parquet"),
    ask(SELECT, "card choice --json"),
    ask(f"{SELECT} --method votes --json"),
    ask(f"{SELECT} --method columns".replace("csv", "parquet"), source="parquet"),
    ask(f"{SELECT} --method subsets".replace("back", "few_replace"), unit="replace"),
    ask(f"{SELECT} --method lasso".replace("back", "few_back"), odd=("missing",)),
    ask(FIT, "card model", odd=tuple(ODD)),
    ask(f"{FIT} --json".replace("back.toml", "replace.toml"), unit="replace", odd=tuple(ODD)),
    ask(FIT.replace("csv", "parquet"), source="parquet", odd=tuple(ODD)),
    ask(FIT.replace("data.csv", "data"), source="folder"),
    ask(FIT.replace("back.toml", "cost.toml"), odd=("zeros behind", "no numbers", "missing")),
    ask(FIT.replace("back.toml", "wide.toml")),  # ranges are found, privately
    ask(f"{FIT} --model additive", "card model", odd=tuple(ODD)),
    ask(f"{FIT} --model additive".replace("back", "cost"), odd=("no numbers", "missing")),
    ask(
        f"{FIT} --model additive --json".replace("back", "replace").replace("csv", "parquet"),
        "card model --json",
        source="parquet",
        unit="replace",
        odd=tuple(ODD),
    ),
    ask(f"{FIT} --max-rows 40"),
    ask(f"{FIT} --test-share 0.25", odd=("missing", "quotes")),
    ask(f"{FIT.replace('--rehearse 3', '--no-ledger --delta 0.01')} {SIMPLE}"),
    ask(f"{FIT.replace('--rehearse 3', f'--ledger {LEDGER}')} {SIMPLE}", odd=()),
    ask(f"{TUNE} --method split", odd=("missing", "quotes")),
    ask(f"{TUNE} --method compose --json", odd=("missing",)),
    ask(f"{TUNE} --method repeat --json", odd=("missing",)),
    ask(f"{TUNE} --method split".replace("csv", "parquet"), source="parquet", odd=()),
    ask(DESCRIBE, f"{DESCRIBE} --json", odd=tuple(ODD)),
    ask(f"{DESCRIBE} --by ward --out page.html --out table.csv --out release.json --out a.png"),
    ask(
        f"{DESCRIBE} --by ward --json".replace("back", "replace").replace("csv", "parquet"),
        source="parquet",
        unit="replace",
        odd=tuple(ODD),
    ),
    ask(DESCRIBE.replace("data.csv", "data"), source="folder"),
    ask(DESCRIBE.replace("back.toml", "cost.toml"), odd=("no numbers", "missing")),
    ask(f"{DESCRIBE.replace('--rehearse 3', f'--ledger {LEDGER}')} --delta 0", odd=()),
    ask(SCORE, f"{SCORE} --json --training"),
    ask(f"{SCORE} --card card.md", odd=()),
    ask(f"{SCORE} --json --delta 0.2".replace("csv", "parquet"), source="parquet"),
    ask(f"{SCORE} --json".replace("fitted", "fitted_cost"), f"{SCORE} --rows 40"),
    ask(f"{SCORE.replace('--rehearse 3', f'--ledger {LEDGER}')} --json", *BOOKS, odd=()),
    *(stream(f"{STREAM} {how}") for how in ("--json", "--score-epsilon 1")),
    stream(STREAM.replace("csv", "parquet"), source="parquet"),
    stream(f"{PIPED} --score-epsilon 1", source="pipe", odd=tuple(ODD)),
    stream(PIPED.replace("replace", "zero_out"), source="pipe", unit="zero_out"),
    stream(PAUSED, source="pipe", hidden=("state",)),
    ask("serve oracle.toml", odd=("missing", "long text"), hidden=("data", "oracle.db")),
)

EXEMPT = {
    "check": "for the owner of the table: what it prints is as private as the table",
    "predict": "shows predictions for the rows that it is given, which are as private as these",
    "split": "writes the rows of its owner, and nothing else, to two files",
    "plan": "reads no table",
    "audit": "reads no table",
    "demo": "makes up its table",
    "keys create": "reads no table",
    "keys list": "reads no table",
    "keys revoke": "reads no table",
    "ledger create": "reads no table",
    "ledger refund": "reads no table",
}
"""Commands that are not compared, and why; ``init --measure`` is for the owner, too."""


def every_command(group=COMMAND, before=()):
    """Yield the words of every command that the program has."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from every_command(command, (*before, name))
        else:
            yield " ".join((*before, name))


def test_every_command_is_compared_or_says_why_it_is_not():
    known = set(every_command())
    run_here = {name for asked in ASKED for line in asked.script for name in names_in(line, known)}
    assert run_here | set(EXEMPT) == known
    assert not run_here & set(EXEMPT)
    assert all(EXEMPT.values())


def names_in(line, known):
    words = line.split()
    return {" ".join(words[:count]) for count in (1, 2)} & known


@pytest.fixture(scope="session")
def furnished_for_neighbours(tmp_path_factory):
    """Return a folder with schemas, ledgers, models and an oracle to be, but no table."""
    here = tmp_path_factory.mktemp("neighbours")
    back = schema_of()
    for name, text in {
        "back": back,
        "cost": schema_of("cost"),
        "replace": schema_of(unit="replace"),
        "zero_out": schema_of(unit="zero_out"),
        "wide": back.replace("range = [18, 100]", "public_bounds = [0, 1000]"),
    }.items():
        (here / f"{name}.toml").write_text(text)
        numbers = text.replace(WARD, "").replace('["id"', '["id", "ward"')
        (here / f"few_{name}.toml").write_text(numbers)
    (here / "oracle.toml").write_text(ORACLE)
    write_table(here, "csv", ORDINARY)
    create = (
        'ledger create {0}.db --epsilon 9 --dataset patients --unit {0} --protects "one patient"'
    )
    for line in (
        *(create.format(unit) for unit in ("add_remove", "replace", "zero_out")),
        "fit back.toml data.csv --no-ledger --out fitted",
        "fit cost.toml data.csv --no-ledger --out fitted_cost",
        "keys create oracle.toml --name somebody",
    ):
        made = run(here, shlex.split(line))
        assert made.code == 0, made.error
    (here / "data.csv").unlink()
    for books in here.glob("*.db"):  # all in one file, which can be copied
        with contextlib.closing(sqlite3.connect(books)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return here


@pytest.fixture
def see(furnished_for_neighbours, tmp_path, monkeypatch):
    """Return what shows all that can be seen of commands on a table."""
    monkeypatch.setattr(discreet.service.server, "run_server", lambda *_, **__: None)

    def show(asked: Asked, records, tape: Tape) -> Seen:
        arriving = SimpleNamespace(buffer=io.BytesIO(csv_of(records)))
        monkeypatch.setattr(sys, "stdin", arriving)
        here = tmp_path / "here"
        here.mkdir()
        _copy_needed(furnished_for_neighbours, here, " ".join(asked.script))
        try:
            if asked.source != "pipe":
                write_table(here, asked.source, records)
            return watch(here, asked.script, asked.hidden, tape)
        finally:
            shutil.rmtree(here)

    return show


def _copy_needed(furnished, here, script):
    """Copy what commands name; an oracle names more."""
    said = script + (f"{ORACLE} oracle.keys.db" if "oracle" in script else "")
    for path in furnished.iterdir():
        if path.name in said.replace("=", " ").replace('"', " ").split():
            copy = shutil.copytree if path.is_dir() else shutil.copy
            copy(path, here / path.name)


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.script[0].replace("/", " "))
def test_neighbouring_tables_look_the_same(see, capfd, asked):
    for base, beside in asked.families():
        tape = Tape()
        expected = see(asked, base, tape)
        assert [each.code for each in expected.outcomes] == [0] * len(asked.script), expected
        for name, records in beside.items():
            found = see(asked, records, tape)
            assert found.outcomes == expected.outcomes, name
            assert found.files == expected.files, name
    assert capfd.readouterr() == ("", "")


def _leak_rows(monkeypatch):
    """Let a fit say how many rows it read."""
    read = DeclaredTable.fit_arguments

    def leak(table):
        given = read(table)
        print_note(f"{len(given['y'].places)} rows")
        return given

    monkeypatch.setattr(DeclaredTable, "fit_arguments", leak)


def _leak_bytes(monkeypatch):
    """Let a fit leave a file as large as its table."""
    read = DeclaredTable.fit_arguments

    def leak(table):
        size = Path(table.stored.where).stat().st_size
        Path(tempfile.gettempdir(), "cache").write_bytes(bytes(size))
        return read(table)

    monkeypatch.setattr(DeclaredTable, "fit_arguments", leak)


@pytest.mark.parametrize("leak", [_leak_rows, _leak_bytes])
def test_what_one_record_decides_is_noticed(see, monkeypatch, leak):
    leak(monkeypatch)
    tape = Tape()
    expected = see(ask(FIT), ORDINARY, tape)
    assert see(ask(FIT), ORDINARY, tape) == expected
    assert see(ask(FIT), ORDINARY[1:], tape) != expected


TYPED = ("a date for a number", "another encoding")
"""What makes a column one of another type, which ``init`` is there to say."""

REFUSING = (
    "init data.csv",
    FIT,
    SELECT,
    f"{TUNE} --method split",
    DESCRIBE,
    SCORE,
    "serve oracle.toml",
    "predict fitted data.csv",
)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (line, kind)
        for line in REFUSING
        for kind in MALFORMED
        if not (line.startswith("init") and kind in TYPED)
    ],
)
def test_a_malformed_record_is_refused_in_the_same_words_whatever_and_wherever_it_is(
    see, line, kind
):
    seen = [
        see(ask(line), (*ORDINARY[:place], record, *ORDINARY[place:]), Tape())
        for record in MALFORMED[kind]
        for place in (0, len(ORDINARY))
    ]
    assert seen[0].outcomes[0].code == 2
    assert all(each == seen[0] for each in seen)


@pytest.mark.parametrize("kind", ["another encoding", "a date for a number", "a cell more"])
def test_a_malformed_record_is_refused_in_the_same_words_far_behind_the_first(see, kind):
    """Megabytes before it are parsed in another step."""
    far = (ODD["long text"],) * 70
    near, behind = (
        see(ask(FIT), (*before, MALFORMED[kind][0], *far), Tape()) for before in ((), far)
    )
    assert near.outcomes[0].code == 2
    assert near == behind

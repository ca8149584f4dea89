"""Malformed commands, schema files, CSV and Parquet files, by the hundred."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path

import pyarrow as pa

from support.place import (
    CANARY,
    CANARY_NUMBER,
    HEADER,
    REGRESSION,
    ROWS,
    SCHEMA,
    TABLE,
    columns,
    table_of,
    write_parquet,
)

FIT = "fit schema.toml data.csv --ledger patients.db --out model"
FIT_PARQUET = FIT.replace("csv", "parquet")


def nothing(folder: Path) -> None:
    """Leave the place as it is."""


@dataclass(frozen=True)
class Case:
    """One mistake: what is done to the place, and the command that has to notice."""

    name: str
    arguments: str | list[str] = FIT
    spoil: Callable[[Path], object] = nothing


def replaced(name: str, content: bytes | str) -> Callable[[Path], object]:
    raw = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / name).write_bytes(raw)


# Command lines ----------------------------------------------------------------------------------

COMMANDS = ("init", "check", "plan", "fit", "stream", "predict", "card", "demo", "audit")


def command_lines() -> Iterator[Case]:
    for word in ("fitt", "Fit", "", "--fit", "-x", "--verson", "fit.toml", "\x1b[31m", "ledgr"):
        yield Case(f"no command {word!r}", [word])
    for command in COMMANDS:
        yield Case(f"{command} --no-such-option", [command, "--no-such-option"])
        yield Case(f"{command} with too much", [command, *"abcdefg"])
    for command in (
        "init",
        "plan",
        "fit",
        "fit schema.toml",
        "predict",
        "predict fitted",
        "card",
        "audit",
    ):
        yield Case(f"{command} with too little", command)
    yield Case("fit without --out", FIT.replace(" --out model", ""))
    numbers = {
        "--epsilon": ("abc", "", "nan", "inf", "-1", "0", "1e400", "1,5", "-0.0"),
        "--delta": ("abc", "nan", "inf", "-1e-9", "1", "2"),
        "--max-rows": ("abc", "0", "-5", "1.5", str(10**13)),
        "--rehearse": ("abc", "1.5"),
    }
    for option, values in numbers.items():
        for value in values:
            yield Case(f"fit {option}={value}", [*FIT.split(), f"{option}={value}"])
    yield Case("fit --rehearse=-1", "fit schema.toml data.csv --out model --rehearse=-1")
    for name in ("newton", "", "Auto", "gaussian_sum"):
        yield Case(f"mechanism {name!r}", [*FIT.split(), f"--mechanism={name}"])
    yield from ledgers()
    yield from books_of_ledgers()
    yield from places_for_results()
    yield from other_commands()


def ledgers() -> Iterator[Case]:
    without = FIT.replace(" --ledger patients.db", "")
    yield Case("nobody pays", without)
    yield Case("two answers to who pays", f"{FIT} --no-ledger")
    yield Case("a rehearsal that is paid", f"{FIT} --rehearse 1")
    yield Case("a data set without a ledger", f"{without} --no-ledger --dataset patients")
    yield Case("a part without a ledger", f"{without} --no-ledger --part north")
    yield Case("no such data set", f"{FIT} --dataset clients")
    yield Case("no such part", f"{FIT} --part west")
    yield Case("over the budget", f"{FIT} --epsilon 5")
    yield Case("half over the budget", f"{FIT} --epsilon 1.5")
    for name in ("nowhere.db", "no/such/folder/a.db", "fitted", ".", "data.csv", "schema.toml"):
        yield Case(f"the ledger is {name}", FIT.replace("patients.db", name))
    yield Case("the ledger is a file's child", FIT.replace("patients.db", "data.csv/a.db"))
    yield Case("the ledger has no name", [*without.split(), "--ledger", ""])
    yield Case("an unknown kind of server", FIT.replace("patients.db", "oracle://a/b"))
    yield Case(
        "another unit", FIT, replaced("schema.toml", SCHEMA.replace("add_remove", "replace"))
    )
    empty = FIT.replace("patients.db", "other.db")
    yield Case("an empty ledger", empty, replaced("other.db", b""))
    yield Case("garbage for a ledger", empty, replaced("other.db", bytes(range(256)) * 40))
    yield Case("half a ledger", empty, _half_a_ledger)


def books_of_ledgers() -> Iterator[Case]:
    yield Case("no such command of ledger", "ledger shwo patients.db")
    for command in ("create", "show", "history", "verify", "plot", "refund"):
        yield Case(f"ledger {command} of nothing", f"ledger {command}")
        yield Case(
            f"ledger {command} with a wish", f"ledger {command} patients.db --no-such-option"
        )
    for command in ("show", "history", "verify"):
        yield Case(f"ledger {command} of no file", f"ledger {command} nowhere.db")
        yield Case(f"ledger {command} of a table", f"ledger {command} data.csv")
        yield Case(f"ledger {command} of a folder", f"ledger {command} fitted")
        yield Case(f"ledger {command} of another", f"ledger {command} patients.db --dataset other")
    create = "ledger create new.db"
    yield Case("a ledger without a budget", create)
    for option in ("--epsilon 0", "--epsilon nan", "--epsilon inf", "--epsilon -1", "--epsilon x"):
        yield Case(f"a ledger of {option}", f"{create} {option}")
    for option in ("--delta 1", "--delta -1", "--delta nan", "--unit person", "--dataset="):
        yield Case(f"a ledger with {option}", f"{create} --epsilon 1 {option}")
    yield Case("the same books again", "ledger create patients.db --epsilon 1 --dataset patients")
    yield Case("a ledger in a table", "ledger create data.csv --epsilon 1")
    yield Case("a ledger in a folder", "ledger create fitted --epsilon 1")
    yield Case("a ledger in no folder", "ledger create no/such/folder/a.db --epsilon 1")


def _half_a_ledger(folder: Path) -> None:
    whole = (folder / "patients.db").read_bytes()
    (folder / "other.db").write_bytes(whole[: len(whole) // 2])


def places_for_results() -> Iterator[Case]:
    for out in ("fitted", "data.csv", "no/such/folder/model", "data.csv/model", ".", "..", "/"):
        yield Case(f"out is {out}", FIT.replace("--out model", f"--out {out}"))
    yield Case("out is under /proc", FIT.replace("--out model", "--out /proc/model"))
    yield Case("out is too long", FIT.replace("--out model", f"--out {'m' * 300}"))
    yield Case(
        "out is a dangling link",
        FIT,
        lambda folder: (folder / "model").symlink_to(folder / "nowhere"),
    )


def other_commands() -> Iterator[Case]:
    yield Case("init of nothing", "init nowhere.csv --out new.toml")
    yield Case("init over a schema", "init data.csv")
    yield Case("init of a schema", "init schema.toml --out new.toml")
    yield Case("init of a folder", "init fitted --out new.toml")
    yield Case("init to no toml", "init data.csv --out new.txt")
    yield Case("init to a folder", "init data.csv --out fitted --force")
    yield Case("init to no folder", "init data.csv --out no/such/folder/new.toml")
    yield Case("init without the target", "init data.csv --out new.toml --target outcome")
    yield Case(
        "init of a table without names",
        "init data.csv --out new.toml",
        replaced("data.csv", TABLE.split("\n", 1)[1]),
    )
    yield Case(
        "init of names that repeat",
        "init data.csv --out new.toml",
        replaced("data.csv", table_of(ROWS, header=("id", "age", "age", "ward", "back"))),
    )
    yield Case("init of ragged rows", "init data.csv --out new.toml", _ragged)
    for spoiled, content in (("empty", ""), ("binary", bytes(range(256)) * 8)):
        for name in ("data.csv", "data.parquet"):
            yield Case(
                f"init of {spoiled} {name}", f"init {name} --out new.toml", replaced(name, content)
            )
    for option in (
        *(
            "--epsilon 0",
            "--epsilon nan",
            "--epsilon x",
            "--n 0",
            "--n x",
            "--delta 1",
            "--draws 0",
        ),
        *("--mechanism newton", "--signal 2", "--signal nan", "--majority 0"),
        *("--plot p.txt", "--plot data.csv", "--plot no/such/p.png", "--seed x"),
    ):
        yield Case(f"plan with {option}", f"plan schema.toml {option}")
    for name in ("nowhere.toml", "data.csv", "fitted"):
        yield Case(f"plan of {name}", f"plan {name}")
    open_range = replaced("schema.toml", SCHEMA.replace("[18, 100]", "[]"))
    yield Case("plan of an open range", "plan schema.toml", open_range)
    yield Case("predict by nothing", "predict nowhere data.csv")
    yield Case("predict by a file", "predict data.csv data.csv")
    yield Case("predict by a folder", "predict . data.csv")
    yield Case("predict of nothing", "predict fitted nowhere.csv")
    yield Case("predict of a folder", "predict fitted fitted")
    yield Case("predict of a schema", "predict fitted schema.toml")
    yield Case("predict over a file", "predict fitted data.csv --out data.parquet")
    yield Case("predict to a folder", "predict fitted data.csv --out fitted --force")
    yield Case("predict to no table", "predict fitted data.csv --out p.txt")
    yield Case("predict to no folder", "predict fitted data.csv --out no/such/p.csv")
    yield Case("predict to a file's child", "predict fitted data.csv --out data.csv/p.csv")
    yield Case("predict ragged rows", "predict fitted data.csv --out p.csv", _ragged)
    yield Case(
        "predict without a column",
        "predict fitted data.csv --out p.csv",
        replaced("data.csv", TABLE.replace("age", "years", 1)),
    )
    yield Case(
        "predict with another schema",
        "predict fitted data.csv --out p.csv",
        replaced("fitted/schema.toml", SCHEMA.replace("100", "90")),
    )
    yield Case(
        "predict without a schema",
        "predict fitted data.csv --out p.csv",
        lambda folder: (folder / "fitted" / "schema.toml").unlink(),
    )
    yield Case("card of nothing", "card nowhere")
    yield Case("card of a file", "card data.csv")
    yield Case("card of a folder", "card .")
    yield Case("card over a file", "card fitted --html data.csv")
    yield Case("card to no folder", "card fitted --md no/such/card.md")
    yield Case("card with no ledger", "card fitted --ledger nowhere.db")
    yield Case("card with a table for a ledger", "card fitted --ledger data.csv")
    yield Case("card with no such data set", "card fitted --ledger patients.db --dataset other")
    yield Case("demo over a folder", "demo --write fitted")
    yield Case("demo over a file", "demo --write data.csv")
    yield Case("demo to no folder", "demo --write no/such/folder")
    yield Case("demo to a file's child", "demo --write data.csv/demo")
    yield Case("demo of too few", "demo --write new --patients 3")
    yield Case("demo of no number", "demo --write new --patients many")
    yield Case("demo as numbers", "demo --json")
    yield Case("audit of nothing", "audit nothing")
    yield Case("audit without trials", "audit laplace_sum --trials 0")
    yield Case("audit of no epsilon", "audit laplace_sum --epsilon nan")
    yield Case("audit with too much confidence", "audit laplace_sum --confidence 1.5")
    yield Case("audit of another unit", "audit laplace_sum --unit person")


def _ragged(folder: Path) -> None:
    (folder / "data.csv").write_text(TABLE + f"{CANARY},1,2\n")


# Schema files -----------------------------------------------------------------------------------

NO_TEXT = ("5", "1.5", "true", "[]", "{}", "1979-05-27", '["a"]')
NO_RANGE = (
    *("5", '"0 to 5"', "true", "{}", "[1]", "[1, 2, 3]", '["a", "b"]', "[2, 1]", "[1, 1]", "[]"),
    *("[nan, 1]", "[0, inf]", "[-inf, 5]", "[1e200, 2e200]", "[false, true]", "[0, 1e-200]"),
    *("[[1, 2]]", f"[0, 1{'0' * 400}]", "[1979-05-27, 1980-05-27]", "[0, nan]"),
)
NO_LABELS = (
    *("5", '"a"', "true", "{}", '["a"]', '["a", "a"]', "[1, 1.0]", "[true, 1]", "[[1], [2]]", "[]"),
    *("[nan, 1]", "[inf, 1]", '[1979-05-27, "a"]', "[9, 9]", "[{}]", f"[1, 1{'0' * 400}]"),
)
HUGE_PAIR = "[9007199254740992, 9007199254740993]"
NO_NUMBER = ("nan", "inf", '"1"', "true", "[]", "{}", f"1{'0' * 400}")


def keys() -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield a schema, a key's line in it, the key, and values that it must not have."""
    yield SCHEMA, 'name = "patients"', "name", NO_TEXT
    yield SCHEMA, 'protects = "one patient"', "protects", NO_TEXT
    yield SCHEMA, "rows_per_person = 1", "rows_per_person", (*NO_NUMBER, "0", "1.5", "100000")
    yield SCHEMA, 'unit = "add_remove"', "unit", (*NO_TEXT, '"person"', '""', '"ADD_REMOVE"')
    yield SCHEMA, 'ignored = ["id"]', "ignored", ("5", '"id"', "[1]", "{}", '["age"]', '["back"]')
    yield SCHEMA, 'name = "back"', "name", (*NO_TEXT, '""', '"age"', '"id"')
    yield SCHEMA, 'task = "classification"', "task", (*NO_TEXT, '"regression"', '"ranking"', '""')
    yield SCHEMA, 'classes = ["no", "yes"]', "classes", (*NO_LABELS, '["no", 1]', HUGE_PAIR)
    yield SCHEMA, 'type = "number"', "type", (*NO_TEXT, '"numeric"', '"category"', '""')
    yield SCHEMA, "range = [18, 100]", "range", NO_RANGE
    yield SCHEMA, "missing = 5", "missing", (*NO_NUMBER, "-1", "31")
    yield SCHEMA, 'categories = ["surgery", "medicine"]', "categories", NO_LABELS
    yield SCHEMA, "epsilon = 0.5", "epsilon", (*NO_NUMBER, "0", "-1", "5.0")
    yield SCHEMA, "epsilon = 0.5", "epsilon = 0.5\ndelta", (*NO_NUMBER, "-1e-9", "1")
    yield REGRESSION, "range = [0, 1000]", "range", NO_RANGE


def schemas() -> Iterator[Case]:
    for number, (text, line, key, values) in enumerate(keys()):
        for value in values:
            spoiled = replaced("schema.toml", text.replace(line, f"{key} = {value}", 1))
            yield Case(f"{number} {key.split()[-1]} = {value[:20]}", spoil=spoiled)
    for line in ("[data]", "[target]", "[columns.age]", "[privacy]", "[model]"):
        for other in (line[:-1] + "x]", f"{line}\n{line}", line[:-1], f"{line}\nextra = 1"):
            changed = SCHEMA.replace(line, other, 1)
            yield Case(f"{line} becomes {other!r}", spoil=replaced("schema.toml", changed))
    for line in ('name = "back"', 'task = "classification"', 'type = "number"\nrange = [18, 100]'):
        spoiled = SCHEMA.replace(line, "", 1)
        yield Case(f"without {line}", spoil=replaced("schema.toml", spoiled))
    for key, typo in (("range", "rnage"), ("categories", "levels"), ("classes", "class")):
        spoiled = re.sub(rf"\b{key}\b", typo, SCHEMA, count=1)
        yield Case(f"{typo} for {key}", spoil=replaced("schema.toml", spoiled))
    whole: dict[str, str | bytes] = {
        "empty": "",
        "a comment": "# nothing",
        "text": "These are my columns.",
        "JSON": '{"columns": {}}',
        "nested": "a = " + "[" * 5000,
        "large": "#" * (2**20 + 1),
        "the data": TABLE,
        "latin-1": SCHEMA.replace("one patient", "käse").encode("latin-1"),
        "UTF-16": SCHEMA.encode("utf-16"),
        "binary": bytes(range(256)),
        "NUL": SCHEMA.replace("one patient", "one\0patient"),
        "no columns": SCHEMA.split("[columns.age]")[0],
        "columns are a number": SCHEMA.split("[columns.age]")[0] + "[columns]\nage = 5\n",
        "an empty column name": SCHEMA.replace("[columns.age]", '[columns.""]'),
        "a model that is no table": "model = 5\n" + SCHEMA.split("[model]")[0],
        "unknown in model": SCHEMA + 'estimator = "forest"\n',
        "no such mechanism": SCHEMA.replace("output_perturbation", "forest"),
        "max_rows that are not whole": SCHEMA + "max_rows = 1.5\n",
        "no max_rows": SCHEMA + "max_rows = 0\n",
    }
    for name, content in whole.items():
        yield Case(f"the schema is {name}", spoil=replaced("schema.toml", content))
    for name in ("nowhere.toml", "data.csv", "data.parquet", "patients.db", "fitted", "."):
        yield Case(f"the schema is called {name}", FIT.replace("schema.toml", name))
    swapped = "fit data.csv schema.toml --ledger patients.db --out model"
    yield Case("schema and data swapped", swapped)
    yield Case("a folder called toml", FIT.replace("schema", "d"), lambda f: (f / "d.toml").mkdir())
    yield Case("a pipe called toml", FIT.replace("schema", "d"), lambda f: os.mkfifo(f / "d.toml"))


# CSV files --------------------------------------------------------------------------------------

NO_NUMBERS = (
    *("abc", CANARY, "12 kg", '"1,5"', "0x10", "true", "1_000", "--5", "1e", "½", "٣", "12:30"),
    *("2020-01-01", "#REF!", "-", "5%", "€5", "1 000", "1.2.3", "one"),
)


def csv_files() -> Iterator[Case]:
    for name, content in _csv_contents():
        yield Case(f"csv: {name}", spoil=replaced("data.csv", content))
    yield Case("csv: text for a target", FIT.replace("schema", "regression"), _costs_in_words)
    yield from _odd_files("data.csv", FIT)
    for suffix in (".xlsx", ".json", ".csv.gz", ".txt", "", ".tsv", ".feather", ".db"):
        name = f"table{suffix}"
        yield Case(f"a table called {name}", FIT.replace("data.csv", name), replaced(name, TABLE))


def _odd_files(name: str, command: str) -> Iterator[Case]:
    def instead(make: Callable[[Path], object]) -> Callable[[Path], None]:
        def spoil(folder: Path) -> None:
            (folder / name).unlink()
            make(folder / name)

        return spoil

    yield Case(f"{name} is not there", command, instead(nothing))
    yield Case(f"{name} is a folder", command, instead(Path.mkdir))
    yield Case(f"{name} is a pipe", command, instead(os.mkfifo))
    yield Case(f"{name} links to itself", command, instead(lambda path: path.symlink_to(path)))
    yield Case(f"{name} links nowhere", command, instead(lambda path: path.symlink_to("nowhere")))
    yield Case(f"{name} is under a file", command.replace(name, f"schema.toml/{name}"))
    yield Case(f"{name} has a long name", command.replace(name, "x" * 300 + name))


def _costs_in_words(folder: Path) -> None:
    header = (*HEADER[:4], "cost")
    (folder / "data.csv").write_text(table_of(ROWS, header=header))


def _csv_contents() -> Iterator[tuple[str, str | bytes]]:
    yield "empty", ""
    yield "blank", " \n \n"
    yield "newlines", "\n\n\n"
    yield "a byte order mark", "\ufeff"
    yield "without names", TABLE.split("\n", 1)[1]
    for place, name in enumerate(HEADER[1:], start=1):
        for change, other in (
            ("without", None),
            ("capital", name.upper()),
            ("space", name + " "),
            ("twice", f"{name},{name}"),
            ("quoted wrongly", f'"{name}'),
        ):
            yield f"{change} {name}", _with_header(place, other)
    yield "one column more", table_of([(*row, CANARY) for row in ROWS], (*HEADER, "more"))
    yield (
        "nine columns more",
        table_of([row + (CANARY,) * 9 for row in ROWS], HEADER + tuple("abcdefghi")),
    )
    yield "the first line runs into a record", TABLE.replace("back\n", f"back,{CANARY},", 1)
    yield "no newline at all", TABLE.replace("\n", ",")
    for separator in (";", "\t", "|", " "):
        yield f"cells split by {separator!r}", table_of(ROWS, separator=separator)
    short, long = f"{CANARY},5\n", f"{CANARY},5,5,surgery,no,{CANARY}\n"
    lines = TABLE.splitlines(keepends=True)
    for kind, line in (("short", short), ("long", long)):
        for place in (1, 4, len(lines)):
            yield f"a {kind} line at {place}", "".join([*lines[:place], line, *lines[place:]])
    for place in (1, 2):
        for cell in NO_NUMBERS:
            row = [*ROWS[0]]
            row[place] = cell
            yield f"{HEADER[place]} is {cell!r}", table_of([*ROWS, tuple(row)])
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        yield encoding, TABLE.encode(encoding)
    yield "latin-1 in a cell", TABLE.replace("medicine", "médecine").encode("latin-1")
    yield "latin-1 in a name", TABLE.replace("ward", "wärd").encode("latin-1")
    yield "latin-1 for a number", TABLE.replace("47", "4é7").encode("latin-1")
    yield "half a character", TABLE.encode() + f"{CANARY},5,5,".encode() + b"\xe2\x82,no\n"
    yield "NUL in a name", TABLE.replace("age", "a\0e", 1)
    yield "NUL for a number", TABLE.replace("47", "4\x007")
    yield "an open quote", TABLE + f'{CANARY},5,5,"surgery,no\nf,4,4,surgery,no\n'
    yield "an open quote at the end", TABLE + f'{CANARY},5,5,surgery,"n'
    yield "an open quote in the header", '"' + TABLE
    yield "a huge cell", TABLE + f"a,5,5,{'x' * (9 * 2**20)},no\n"
    yield "a huge name", "x" * (2 * 2**20) + "," + TABLE
    yield "truncated in a row", TABLE[:-20]
    yield "truncated in the header", "id,age,st"
    yield "PNG", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
    yield "gzip", gzip.compress(TABLE.encode(), mtime=0)
    yield "zip", b"PK\x03\x04" + bytes(range(256)) * 4
    yield "bytes", bytes(range(256)) * 16
    yield "HTML", f"<html><table><tr><td>{CANARY}</td></tr></table></html>\n"
    yield "JSON", f'[{{"age": {CANARY_NUMBER}, "ward": "{CANARY}"}}]\n'


def _with_header(place: int, name: str | None) -> str:
    rows = ROWS
    if name is None:
        rows = [row[:place] + row[place + 1 :] for row in ROWS]
    elif "," in name:
        rows = [row[: place + 1] + row[place:] for row in ROWS]
    header = [*HEADER[:place], *([] if name is None else [name]), *HEADER[place + 1 :]]
    return table_of(rows, tuple(header))


# Parquet files ----------------------------------------------------------------------------------


def foreign() -> dict[str, pa.Array]:
    """Return columns that no schema has a word for."""
    count = len(ROWS)
    return {
        "timestamp": pa.array([datetime(2020, 1, 1)] * count),
        "date": pa.array([date(2020, 1, 1)] * count),
        "time": pa.array([time(12)] * count),
        "duration": pa.array([timedelta(1)] * count),
        "binary": pa.array([CANARY.encode()] * count),
        "fixed binary": pa.array([b"abcd"] * count, pa.binary(4)),
        "list": pa.array([[1.0, 2.0]] * count),
        "struct": pa.array([{"a": CANARY}] * count),
        "map": pa.array([[("a", 1)]] * count, pa.map_(pa.string(), pa.int64())),
    }


def parquet_files() -> Iterator[Case]:
    for name, cells in _parquet_contents():
        yield Case(
            f"parquet: {name}",
            FIT_PARQUET,
            lambda folder, cells=cells: write_parquet(folder / "data.parquet", cells),
        )
    for cut in (0, 1, 4, 8, 40, 0.25, 0.5, 0.75, -1, -4, -8, -9, -100):
        yield Case(f"parquet: cut at {cut}", FIT_PARQUET, _cut(cut))
    for name, content in (
        ("text", TABLE),
        ("nothing between two marks", b"PAR1PAR1"),
        ("a length beyond the file", b"PAR1" + bytes(64) + b"\xff\xff\xff\x7fPAR1"),
        ("garbage for a footer", b"PAR1" + bytes(range(256)) + b"\x80\x00\x00\x00PAR1"),
        ("an encrypted footer", b"PARE" + bytes(128) + b"\x10\x00\x00\x00PARE"),
    ):
        yield Case(f"parquet: {name}", FIT_PARQUET, replaced("data.parquet", content))
    for share in (0.1, 0.2, 0.3, 0.4):
        yield Case(f"parquet: a byte changed at {share}", FIT_PARQUET, _changed(share))
    yield from _odd_files("data.parquet", FIT_PARQUET)


def _parquet_contents() -> Iterator[tuple[str, dict[str, pa.Array]]]:
    good = columns()
    for name in HEADER[1:]:
        yield f"without {name}", {key: cells for key, cells in good.items() if key != name}
        yield f"{name} in capitals", _renamed(good, name, name.upper())
    yield "one column more", {**good, "more": good["id"]}
    count = len(ROWS)
    text, truths = pa.array([CANARY] * count), pa.array([True] * count)
    for name in ("age", "stay"):
        for kind, cells in {**foreign(), "text": text, "levels": text.dictionary_encode()}.items():
            yield f"{name} holds {kind}", {**good, name: cells}
    numbers = {
        "whole numbers": pa.array([int(CANARY_NUMBER)] * count),
        "floats": pa.array([float(CANARY_NUMBER)] * count),
        "truths": truths,
        "coded whole numbers": pa.array([int(CANARY_NUMBER)] * count).dictionary_encode(),
    }
    for name in ("ward", "back"):
        for kind, cells in {**foreign(), **numbers}.items():
            yield f"{name} holds {kind}", {**good, name: cells}


def _renamed(cells: dict[str, pa.Array], old: str, new: str) -> dict[str, pa.Array]:
    return {(new if name == old else name): values for name, values in cells.items()}


def _cut(place: float) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        path = folder / "data.parquet"
        whole = path.read_bytes()
        path.write_bytes(whole[: int(place * len(whole)) if 0 < abs(place) < 1 else int(place)])

    return spoil


def _changed(share: float) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        path = folder / "data.parquet"
        whole = bytearray(path.read_bytes())
        whole[int(share * len(whole))] ^= 0x55
        path.write_bytes(bytes(whole))

    return spoil


ALL = (*command_lines(), *schemas(), *csv_files(), *parquet_files())
"""Every mistake."""

"""Tables that differ by one record, the odd ones among them, and releases that are repeated.

Whoever is told the same released values must see the same things of two neighbouring tables. So
what a first run releases is kept on a tape, and the runs beside it are given that: all else that
they print, write and leave behind is then compared as it is, byte by byte.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import sqlite3
import stat
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from discreet import gate
from discreet.interaction.live import Interaction
from discreet.interaction.oracle import OraclePlan
from discreet.ledger.durable import high_water_mark
from discreet.mechanisms.following_histogram import FollowingPlan
from support.place import Outcome, run

HEADER = ("id", "age", "stay", "ward", "back", "cost")
NUMBERS = ("age", "stay", "cost")
SCHEMA = """
[data]
name = "patients"
protects = "one patient"
rows_per_person = 1
unit = "UNIT"
ignored = ["id", "OTHER"]

[target]
TARGET

[columns.age]
type = "number"
range = [18, 100]

[columns.stay]
type = "number"
range = [0, 30]

[columns.ward]
type = "category"
categories = ["surgery", "medicine"]

[privacy]
epsilon = 0.5

[model]
mechanism = "auto"
expected_rows = 40
"""
TARGETS = {
    "back": 'name = "back"\ntask = "classification"\nclasses = ["no", "yes"]',
    "cost": 'name = "cost"\ntask = "regression"\nrange = [0, 1000]',
}

Record = tuple[str, ...]


def schema_of(target: str = "back", unit: str = "add_remove") -> str:
    """Return a schema in which the other target is ignored."""
    other = next(name for name in TARGETS if name != target)
    text = SCHEMA.replace("UNIT", unit).replace("OTHER", other)
    return text.replace("TARGET", TARGETS[target])


def ordinary(count: int) -> tuple[Record, ...]:
    """Return records without anything odd."""
    return tuple(map(_ordinary_record, range(count)))


def _ordinary_record(number: int) -> Record:
    age, stay = 18 + 7 * number % 80, number % 29 + 0.5
    ward, back = ("surgery", "medicine")[number // 2 % 2], ("no", "yes")[number * 5 // 3 % 2]
    return (f"p{number}", f"{age}", f"{stay}", ward, back, f"{30 * stay}")


PLAIN: Record = ("odd", "47", "3.5", "surgery", "yes", "210")


def odd(**cells: str) -> Record:
    """Return a record that is ordinary but for some cells."""
    return tuple(cells.get(name, cell) for name, cell in zip(HEADER, PLAIN, strict=True))


ODD = {
    "ordinary": PLAIN,
    "long text": odd(id="x" * 70_000),
    "a long name of a ward": odd(ward="x" * 70_000, back="y" * 300),
    "zeros before": odd(age="0" * 66_000 + "47"),
    "zeros behind": odd(age="47." + "0" * 66_000, cost="1" + "0" * 400),
    "quotes": odd(id='"a ""quoted"" text,\nof two\r\nlines"', ward='"a ""b"", c"'),
    "NUL": odd(id="a\0b", ward="\0", back="\0"),
    "missing": odd(age="", stay="", ward="", back="", cost=""),
    "unknown labels": odd(ward="zoo", back="perhaps"),
    "no numbers": odd(age="nan", stay="inf", cost="-inf"),
    "out of range": odd(age="1e300", stay="-5e-324", cost="-9" + "9" * 30),
    "other spellings": odd(ward="SURGERY ", back="TRUE", age="+4.7e1", cost="-0"),
    "an escape": odd(id="\x1b[31m", ward="\x1b]0;title\x07", back="\u202e"),
}
"""Records that are somebody's, and that no table may be refused for."""

MALFORMED = {
    "another encoding": (odd(ward="WARD\udcff"), odd(ward="\udcc3")),
    "a date for a number": (odd(age="2020-01-01"), odd(age="x" * 9000), odd(age="1,5".join('""'))),
    "a cell more": ((*PLAIN, "more"), (*PLAIN, "", "", "")),
    "a cell less": (PLAIN[:-1], PLAIN[:1]),
    "an open quote": (odd(id='"open'), odd(ward='"')),
    "a quote within": (odd(id='a"b'), odd(ward='"a"b')),
    "a line of megabytes": (odd(id="x" * (2**22 + 1)), odd(id='"' + "\n" * (2**22 + 1) + '"')),
}
"""Records that a CSV file cannot hold; two or three that are malformed in the same way."""


ORDINARY = ordinary(40)
LONELY = (*(odd(id=f"p{n}", stay="", ward="surgery", back="no") for n in range(8)), PLAIN)
"""Records of which the last is the only one of its class, with a stay, or even with a place."""


Family = tuple[Sequence[Record], dict[str, Sequence[Record]]]
"""A table, and neighbours of it by their names."""


def families(unit: str, base: Sequence[Record], odd_records: dict[str, Record]) -> Iterator[Family]:
    """Yield tables with neighbours: one record fewer or more, or another in its place."""
    few, missing = base[:2], ODD["missing"]
    yield base, dict(_neighbours(unit, base, odd_records))
    if unit == "add_remove":
        yield few, {"one record": few[:1], "three records": (*few, missing)}
        yield LONELY, {"without the lonely one": LONELY[:-1]}
    else:
        yield few, {"a missing one of two": (few[0], missing)}
        yield LONELY, {"without the lonely one": (*LONELY[:-1], missing)}


def _neighbours(
    unit: str, base: Sequence[Record], odd_records: dict[str, Record]
) -> Iterator[tuple[str, Sequence[Record]]]:
    places = (0, len(base) // 2, len(base) - 1)
    if unit == "add_remove":
        for place in places:
            yield f"without {place}", (*base[:place], *base[place + 1 :])
    for number, (name, record) in enumerate(odd_records.items()):
        place = places[number % len(places)]
        rest = base[place:] if unit == "add_remove" else base[place + 1 :]
        yield f"{name} at {place}", (*base[:place], record, *rest)


def write_table(folder: Path, source: str, records: Sequence[Record]) -> None:
    """Write records as ``data.csv``, ``data.parquet``, or a folder ``data`` of two files."""
    if source == "csv":
        (folder / "data.csv").write_bytes(csv_of(records))
    elif source == "parquet":
        _write_parquet(folder / "data.parquet", records)
    else:
        (folder / "data").mkdir()
        _write_parquet(folder / "data" / "a.parquet", records[:11])
        _write_parquet(folder / "data" / "b.parquet", records[11:])


def csv_of(records: Sequence[Record]) -> bytes:
    """Return records as the bytes of a CSV file."""
    text = "".join(",".join(line) + "\n" for line in (HEADER, *records))
    return text.encode("utf-8", errors="surrogateescape")


def _write_parquet(path: Path, records: Sequence[Record]) -> None:
    """Write small row groups, which end earlier where a record is long, as writers end them."""
    columns = {
        name: pa.array([_typed(record[place], name) for record in records], _type_of(name))
        for place, name in enumerate(HEADER)
    }
    table = pa.table({n: c if n in NUMBERS else c.view(pa.string()) for n, c in columns.items()})
    is_long = any(len(cell) > 1000 for record in records for cell in record)
    parquet.write_table(table, path, row_group_size=5 if is_long else 7)


def _type_of(name: str) -> Any:
    return pa.float64() if name in NUMBERS else pa.binary()


def _typed(cell: str, name: str) -> Any:
    if not cell:
        return None
    return float(cell) if name in NUMBERS else cell.encode("utf-8", errors="surrogateescape")


class Tape:
    """What a first run releases, which every later run is given in the place of its own."""

    def __init__(self) -> None:
        self._kept: list[Any] = []
        self._place: int | None = None

    def exchange(self, value: Any, *, tells_length: bool = False) -> Any:
        """Keep a value, or give the kept one, of the same shape unless noise settles its length."""
        if self._place is None:
            self._kept.append(value)
            return value
        kept = self._kept[self._place]
        self._place += 1
        assert tells_length or shape_of(kept) == shape_of(value)
        return kept

    @contextlib.contextmanager
    def turning(self) -> Iterator[None]:
        """Keep what is released, the first time, and give it out every other time."""
        with contextlib.ExitStack() as undo:
            undo.callback(setattr, gate, "run_paid", gate.run_paid)
            undo.callback(setattr, Interaction, "freeze", Interaction.freeze)
            gate.run_paid = _exchanging(gate.run_paid, self)
            Interaction.freeze = _exchanging_frozen(Interaction.freeze, self)
            yield
        assert self._place in (None, len(self._kept)), "other releases than the first time"
        self._place = 0


def _exchanging(run_plan: Any, tape: Tape) -> Any:
    def exchange(plan: Any, *arguments: Any) -> Any:
        value = run_plan(plan, *arguments)
        if isinstance(plan, OraclePlan):
            return value
        return tape.exchange(value, tells_length=isinstance(plan, FollowingPlan))

    return exchange


def _exchanging_frozen(freeze: Any, tape: Tape) -> Any:
    def exchange(live: Interaction) -> Any:
        release = freeze(live)
        live._release = replace(release, value=tape.exchange(release.value))
        return live._release

    return exchange


def shape_of(value: Any) -> Any:
    """Return the type of a value, and the shape of an array."""
    array = np.asarray(value)
    return type(value), array.dtype, array.shape


@dataclass(frozen=True)
class Seen:
    """All that can be seen of commands: what each printed and returned, and what they left."""

    outcomes: list[Outcome]
    files: dict[str, Any]


CHANCE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00)?)?|\b[0-9a-f]{64}\b")
"""What differs from run to run whatever the table: times, and digests of lines with times."""


def watch(folder: Path, script: Sequence[str], hidden: Sequence[str], tape: Tape) -> Seen:
    """Run commands in a folder, and return all that can be seen of them but the hidden files."""
    scratch = folder / "scratch"
    scratch.mkdir()
    high_water_mark._marks.clear()  # a copy of a ledger that others went on with
    before, tempfile.tempdir = tempfile.tempdir, str(scratch)
    try:
        with tape.turning():
            outcomes = [run(folder, shlex.split(line)) for line in script]
    finally:
        tempfile.tempdir = before
    masked = [Outcome(each.code, _mask(each.output), _mask(each.error)) for each in outcomes]
    return Seen(masked, dict(_files_of(folder, hidden)))


def _mask(text: str) -> str:
    return CHANCE.sub("?", text)


def _files_of(folder: Path, hidden: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield mode, size and content of whatever is below a folder; of a data base what it says."""
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if name.startswith(tuple(hidden)) or name.endswith(BESIDE):
            continue
        about = path.lstat()
        is_sized = path.is_file() and path.suffix != ".db"
        mode, size = stat.filemode(about.st_mode), about.st_size if is_sized else None
        yield name, (mode, size, _content(path) if path.is_file() else None)


BESIDE = ("-wal", "-shm")
"""Notes of a data base that come and go with its connections."""


def _content(path: Path) -> Any:
    if path.suffix == ".db":
        with contextlib.closing(sqlite3.connect(path)) as connection:
            return [_mask(line) for line in connection.iterdump()]
    return _mask(path.read_bytes().decode("latin-1"))

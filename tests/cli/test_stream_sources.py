"""Where a stream is cut, and what is said of it, follows from the number of its rounds alone."""

from __future__ import annotations

import itertools
import json
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import discreet.cli.stream_steps
from discreet.artifact import load
from discreet.tables import ArrivingRows, cut_by_place, open_in_order, open_table
from support.place import HEADER, run

AT_ONCE = 8
RECORDS = 45
HORIZON = 50


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(discreet.cli.stream_steps, "AT_ONCE", AT_ONCE)


def make_records(seed):
    """Return records as ages, stays, wards and labels; None where one is missing."""
    random = np.random.default_rng(seed)
    return [
        (
            float(random.integers(15, 105)),
            None if random.random() < 0.1 else float(random.integers(0, 60)) / 2,
            ["surgery", "medicine", None][random.integers(3)],
            ["no", "yes", "yes", None][random.integers(4)],
        )
        for _ in range(RECORDS)
    ]


def spell(record, random):
    """Return a record as a line, one of the many that say the same."""
    if record is None:
        return b""
    age, stay, ward, back = record
    identity = "x" * int(random.choice([0, 1, 30, 3000]))
    numbers = ["" if n is None else f"{n:.{random.choice([1, 2, 40])}f}" for n in (age, stay)]
    cells = [identity, *numbers, ward or "", back or ""]
    return ",".join(f'"{c}"' if c and random.random() < 0.2 else c for c in cells).encode()


def as_text(records, random):
    end = [b"\n", b"\r\n"][random.integers(2)]
    lines = [",".join(HEADER).encode(), *(spell(record, random) for record in records)]
    return end.join(lines) + end


class Pipe:
    """A standard input of pieces of any length."""

    def __init__(self, text, random):
        edges = np.sort(random.integers(0, len(text) + 1, random.integers(0, 40)))
        edges = [0, *edges.tolist(), len(text)]
        self._pieces = [text[a:b] for a, b in itertools.pairwise(edges) if a < b]

    def read1(self, size):
        if not self._pieces:
            return b""
        piece = self._pieces[0][:size]
        self._pieces[0] = self._pieces[0][size:]
        if not self._pieces[0]:
            del self._pieces[0]
        return piece


def write_parquet(path, records, random):
    columns = list(zip(*records, strict=True))
    cells = {"id": pa.array(["x" * int(random.integers(50)) for _ in records])}
    for name, values in zip(("age", "stay", "ward", "back"), columns, strict=True):
        cells[name] = pa.array(values, pa.float64() if name in ("age", "stay") else pa.string())
    parquet.write_table(pa.table(cells), path, row_group_size=int(random.integers(1, 60)))


def through_a_pipe(folder, records, random, monkeypatch):
    stdin = Pipe(as_text(records, random), random)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
    return "-"


def through_csv(folder, records, random, monkeypatch):
    (folder / "stream.csv").write_bytes(as_text(records, random))
    return "stream.csv"


def through_one_parquet(folder, records, random, monkeypatch):
    write_parquet(folder / "stream.parquet", records, random)
    return "stream.parquet"


def through_many_files(folder, records, random, monkeypatch):
    (folder / "days").mkdir(exist_ok=True)
    for old in (folder / "days").iterdir():
        old.unlink()
    edges = sorted({0, len(records), *random.integers(0, len(records), 5).tolist()})
    for number, (start, stop) in enumerate(itertools.pairwise(edges)):
        write_parquet(folder / "days" / f"{number}.parquet", records[start:stop], random)
    return "days"


EVERY_SOURCE = [through_a_pipe, through_csv, through_one_parquet, through_many_files]
"""Every way for records to come to ``discreet stream``."""

WITH_EMPTY_ROUNDS = [through_a_pipe, through_csv]


def blocks_of(folder, data, unit="replace", skipped=0, begun=0):
    """Return the blocks of a source, cell by cell."""
    schema = discreet.cli.stream_steps.read_schema(folder / "schema.toml", unit)
    if data == "-":
        pieces = ArrivingRows(sys.stdin.buffer, schema).rounds(skipped)
    else:
        pieces = open_in_order(open_table(folder / data, schema), AT_ONCE, skipped)
    found = []
    for block in cut_by_place(pieces, AT_ONCE, begun=begun, horizon=HORIZON):
        rows = block.rows
        columns = [rows.X["age"], rows.X["stay"], rows.X["ward"].expand(), rows.y.expand()]
        found.append([block.has_record.tolist(), *(repr(column.tolist()) for column in columns)])
    return found


@pytest.mark.parametrize("source", EVERY_SOURCE)
@pytest.mark.parametrize(("skipped", "begun"), [(0, 0), (3, 0), (5, 21)])
def test_the_same_records_are_the_same_blocks_however_they_are_written_and_arrive(
    place, monkeypatch, source, skipped, begun
):
    records = make_records(1)
    wanted = None
    for seed in range(12):
        random = np.random.default_rng([7, seed])
        way = EVERY_SOURCE[0] if seed == 0 else source
        data = way(place, records, random, monkeypatch)
        found = blocks_of(place, data, skipped=skipped, begun=begun)
        wanted = wanted or found
        assert found == wanted
    ends = begun + np.cumsum([len(block[0]) for block in wanted])
    last = min(begun + RECORDS - skipped, HORIZON)
    assert set(ends.tolist()) == {*range(AT_ONCE * (begun // AT_ONCE + 1), last, AT_ONCE), last}


@pytest.mark.parametrize("source", EVERY_SOURCE)
def test_the_same_records_give_the_same_score_and_the_same_words(place, monkeypatch, source):
    records = make_records(2)
    said = []
    for seed in range(3):
        random = np.random.default_rng([8, seed])
        way = EVERY_SOURCE[0] if seed == 0 else source
        data = way(place, records, random, monkeypatch)
        command = f"stream schema.toml {data} --unit replace --rehearse 3 --horizon {HORIZON}"
        result = run(place, f"{command} --batch 1 --json --out model{seed}")
        assert result.code == 0, result.error
        model = load(place / f"model{seed}")
        told = json.loads(result.output)
        told.pop("model")
        said.append((told, result.error, model.coef_.tolist(), model.intercept_.tolist()))
    assert all(one == said[0] for one in said)
    assert said[0][0]["progressive_accuracy"] is not None


@pytest.mark.parametrize("source", WITH_EMPTY_ROUNDS)
def test_an_empty_round_is_in_no_block_of_its_own_and_nothing_printed_tells_where(
    place, monkeypatch, source
):
    records = make_records(3)
    whole, ends = None, None
    for gone in ([], [0], [13], [RECORDS - 1], range(RECORDS)):
        random = np.random.default_rng(9)
        some = [None if number in gone else record for number, record in enumerate(records)]
        data = source(place, some, random, monkeypatch)
        found = blocks_of(place, data, unit="zero_out")
        ends = ends or [len(block[0]) for block in found]
        assert [len(block[0]) for block in found] == ends
        present = [here for block in found for here in block[0]]
        assert [number for number, here in enumerate(present) if not here] == list(gone)
        data = source(place, some, np.random.default_rng(9), monkeypatch)
        command = f"stream schema.toml {data} --unit zero_out --no-ledger --horizon {HORIZON}"
        result = run(place, f"{command} --json --out {len(list(place.iterdir()))}")
        assert result.code == 0, result.error
        told = json.loads(result.output)
        told.pop("model")
        whole = whole or (told, result.error)
        assert (told, result.error) == whole


@pytest.mark.parametrize("source", EVERY_SOURCE)
def test_how_many_guesses_are_scored_follows_from_the_number_of_rounds(place, monkeypatch, source):
    for seed in range(2):
        data = source(place, make_records(4), np.random.default_rng([6, seed]), monkeypatch)
        command = f"stream schema.toml {data} --unit replace --no-ledger --horizon {HORIZON}"
        result = run(place, f"{command} --score-epsilon 1 --json --out model{seed}")
        assert result.code == 0, result.error
        noise = json.loads(result.output)["noise_of_score"]
        assert noise == pytest.approx(np.log(20) / (RECORDS - AT_ONCE))


def test_a_long_record_moves_no_other_to_another_block(place, monkeypatch):
    lines = as_text(make_records(5), np.random.default_rng(5)).splitlines()
    found = []
    for long in (b"47", b"47." + b"0" * 66_000):
        one = b"x," + long + b",3.5,surgery,no"
        text = b"\n".join([*lines[:11], one, *lines[12:], b""])
        stdin = SimpleNamespace(read1=lambda size, left=[text]: _take(left, size))
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
        found.append(blocks_of(place, "-"))
    assert found[0] == found[1]


def _take(left, size):
    piece, left[0] = left[0][:size], left[0][size:]
    return piece


def test_the_unit_of_the_schema_says_whether_an_empty_line_of_a_file_is_a_round(place):
    text = b"id,age,stay,ward,back\na,40,1,surgery,no\n\nb,50,2,medicine,yes\n"
    (place / "stream.csv").write_bytes(text)
    counts = {
        unit: len(blocks_of(place, "stream.csv", unit)[0][0]) for unit in ("replace", "zero_out")
    }
    assert counts == {"replace": 2, "zero_out": 3}

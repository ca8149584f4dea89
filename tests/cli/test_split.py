"""``discreet split``, and fits and scores of one side: each record's side is its own affair."""

from __future__ import annotations

import json

import pytest
from pyarrow import csv, parquet

from support.place import CANARIES, HEADER, SCHEMA, run, table_of, write_parquet

ROWS = [
    (f"p{number // 2}", str(18 + number % 80), f"{number / 7:.3f}", "surgery", ("no", "yes")[n % 2])
    for number, n in ((number, number // 3) for number in range(160))
]


def furnish(folder, rows):
    (folder / "schema.toml").write_text(SCHEMA)
    (folder / "data.csv").write_text(table_of(rows))
    table = csv.read_csv(folder / "data.csv")
    write_parquet(folder / "data.parquet", {name: table.column(name) for name in HEADER})


def split(folder, data, options="", out=("train.csv", "test.parquet")):
    told = run(folder, f"split schema.toml {data} --out {out[0]} {out[1]} {options}")
    assert told.code == 0, told.error
    tables = [
        csv.read_csv(folder / name) if name.endswith("csv") else parquet.read_table(folder / name)
        for name in out
    ]
    for name in out:
        (folder / name).unlink()
    return told.output, [set(zip(*table.to_pydict().values(), strict=True)) for table in tables]


@pytest.mark.parametrize("options", ["", "--person id --test-share 0.5", "--key-file key"])
def test_one_record_fewer_moves_no_other_and_prints_the_same(tmp_path, options):
    (tmp_path / "key").write_text("a secret\n")
    furnish(tmp_path, ROWS)
    printed, (train, test) = split(tmp_path, "data.csv", options)
    assert train
    assert test
    assert len(train) + len(test) == len(set(ROWS))
    _, stored = split(tmp_path, "data.parquet", options, ("train.parquet", "test.csv"))
    assert stored == [train, test]
    for place in (0, 77):
        furnish(tmp_path, [row for number, row in enumerate(ROWS) if number != place])
        again, parts = split(tmp_path, "data.csv", options)
        assert again == printed
        assert sum(len(one ^ other) for one, other in zip(parts, (train, test), strict=True)) == 1
    if "person" in options:
        assert not {row[0] for row in train} & {row[0] for row in test}


def test_a_fit_and_a_score_of_a_share_are_those_of_the_split_files(tmp_path):
    furnish(tmp_path, ROWS)
    for suffix in ("csv", "parquet"):
        whole = f"schema.toml data.{suffix} --rehearse 1"
        assert run(tmp_path, f"fit {whole} --test-share 0.25 --out {suffix}-model").code == 0
    assert run(tmp_path, "split schema.toml data.csv --out train.csv test.csv").code == 0
    assert run(tmp_path, "fit schema.toml train.csv --rehearse 1 --out other").code == 0
    released = [
        json.loads((tmp_path / name / "model.json").read_text())["release"]["value"]
        for name in ("csv-model", "parquet-model", "other")
    ]
    assert released[0] == released[1] == released[2]
    scores = [
        json.loads(run(tmp_path, f"score other {asked} --rehearse 1 --json").output)["counts"]
        for asked in ("data.parquet --test-share 0.25", "data.csv --test-share 0.25", "test.csv")
    ]
    assert scores[0] == scores[1] == scores[2]


def test_nothing_is_written_over_and_refusals_quote_no_cell(place):
    for command, word in (
        ("split schema.toml data.csv --out data.csv test.csv", "exists already"),
        ("split schema.toml data.csv --out a.csv a.csv", "one twice"),
        ("split schema.toml data.csv --out a.txt b.csv", ".csv or .parquet"),
        ("split schema.toml data.csv --out a.csv b.csv --test-share 1", "between 0 and 1"),
        ("split schema.toml data.csv --out a.csv b.csv --person who", "missing"),
        ("fit schema.toml data.csv --no-ledger --out m --key-file schema.toml", "--test-share"),
    ):
        told = run(place, command)
        assert (told.code, word in told.error) == (2, True), told.error
        assert not any(canary in told.error + told.output for canary in CANARIES)
    assert not [path for path in place.iterdir() if path.stem in ("a", "b", "m")]
    assert run(place, "split schema.toml data.parquet --out a.csv b.csv").code == 0


def test_a_column_that_csv_cannot_hold_is_refused_by_its_type(place):
    table = parquet.read_table(place / "data.parquet")
    lists = [[1, 2]] * table.num_rows
    parquet.write_table(table.append_column("id2", [lists]), place / "lists.parquet")
    schema = (place / "schema.toml").read_text().replace("ignored = [", 'ignored = ["id2", ')
    (place / "schema.toml").write_text(schema)
    told = run(place, "split schema.toml lists.parquet --out a.csv b.csv")
    assert (told.code, "CSV cannot hold" in told.error) == (2, True), told.error
    assert run(place, "split schema.toml lists.parquet --out a.parquet b.parquet").code == 0


def test_where_one_record_may_be_replaced_no_side_may_depend_on_it(place):
    (place / "schema.toml").write_text(SCHEMA.replace("add_remove", "replace"))
    for command in (
        "split schema.toml data.csv --out a.csv b.csv",
        "fit schema.toml data.csv --no-ledger --test-share 0.25 --out model",
    ):
        told = run(place, command)
        assert (told.code, "by position" in told.error) == (2, True)

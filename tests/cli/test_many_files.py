"""Folders and patterns of Parquet files at the command line."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.ledger import Ledger
from support.place import columns, run, write_parquet

COMMAND = ["fit", "schema.toml", "many", "--ledger", "patients.db", "--out", "model"]


@pytest.fixture
def many(place):
    folder = place / "many"
    folder.mkdir()
    for number in range(3):
        cells = {
            "id": ["a", "b"],
            "age": [47.0, None],
            "stay": [3.5, 1.0],
            "ward": ["surgery", "elsewhere"],
            "back": ["no", "yes"],
        }
        parquet.write_table(pa.table(cells), folder / f"{number}.parquet")
    return folder


@pytest.mark.parametrize("data", ["many", "many/*.parquet"])
def test_a_folder_is_fitted_and_predicted(place, many, data):
    command = [data if word == "many" else word for word in COMMAND]
    assert run(place, command).code == 0
    assert len(Ledger(place / "patients.db").history()) == 1
    printed = run(place, ["predict", "model", data, "--proba", "--json"])
    assert printed.code == 0
    assert len(json.loads(printed.output)["prediction"]) == 6


def test_a_column_that_only_one_file_has_is_refused_before_the_charge(place, many):
    path = many / "2.parquet"
    table = parquet.read_table(path)
    parquet.write_table(table.append_column("more", pa.array([1, 2])), path)
    result = run(place, COMMAND)
    assert result.code == 2
    assert "2.parquet: the column 'more' is not in" in result.error
    parquet.write_table(table.drop_columns(["age"]), path)
    assert "'age', which the schema declares, is missing" in run(place, COMMAND).error
    ages = pa.array(["47", "x"])
    parquet.write_table(table.drop_columns(["age"]).append_column("age", ages), path)
    assert "the column 'age' must hold numbers; its type is string" in run(place, COMMAND).error
    assert not Ledger(place / "patients.db").history()
    assert not (place / "model").exists()


def test_an_empty_folder(place):
    (place / "many").mkdir()
    result = run(place, COMMAND)
    assert result.code == 2
    assert "no Parquet file here" in result.error


@pytest.mark.parametrize("command", ["fit", "predict", "init --measure"])
def test_one_parquet_file_is_read_a_few_rows_at_a_time_too(place, monkeypatch, command):
    def fail(*_, **__):
        raise AssertionError("a file was read whole")

    monkeypatch.setattr(parquet.ParquetFile, "read", fail)
    monkeypatch.setattr(parquet, "read_table", fail)
    arguments = {
        "fit": "fit schema.toml data.parquet --ledger patients.db --out model",
        "predict": "predict fitted data.parquet",
        "init --measure": "init data.parquet --measure --target back --out new.toml",
    }
    done = run(place, arguments[command])
    assert done.code == 0, done.error


def test_text_that_is_no_utf8_is_no_reason_to_refuse_a_parquet_file(place):
    cells = columns()
    raw = [(ward or "").encode() for ward in cells["ward"].to_pylist()]
    cells["ward"] = pa.array([b"\xff\xfe", *raw[1:]], pa.binary()).view(pa.string())
    write_parquet(place / "data.parquet", cells)
    done = run(place, "fit schema.toml data.parquet --ledger patients.db --out model")
    assert done.code == 0, done.error
    assert run(place, "predict model data.parquet").output.count("\n") == 1 + len(raw)


def test_a_damaged_file_is_refused_before_the_charge_and_a_damaged_folder_after_it(place):
    whole = bytearray((place / "data.parquet").read_bytes())
    whole[int(0.3 * len(whole))] ^= 0x55
    (place / "many").mkdir()
    for name in ("data.parquet", "many/1.parquet"):
        (place / name).write_bytes(bytes(whole))
    alone = run(place, [word.replace("many", "data.parquet") for word in COMMAND])
    assert (alone.code, "cannot be read as Parquet" in alone.error) == (2, True)
    assert not Ledger(place / "patients.db").history()
    assert "nothing is released; a charge stands" in run(place, COMMAND).error
    assert len(Ledger(place / "patients.db").history()) == 1


SINGLE = """
[target]
name = "t"
task = "classification"
classes = [0.1, 0.2]

[columns.a]
type = "category"
categories = [0.3, 0.7]
"""


@pytest.mark.parametrize("kind", ["float32", "decimal", "text", "double"])
def test_a_folder_means_what_its_file_means(place, kind):
    (place / "single.toml").write_text(SINGLE)
    t, a = ["0.1", "0.2", "0.2", "0.5"] * 50, ["0.3", "0.7", "0.7", "0.3"] * 50
    types = {"float32": pa.float32(), "double": pa.float64(), "decimal": pa.decimal128(4, 1)}
    cells = {"t": pa.array(t), "a": pa.array(a)}
    if kind in types:
        cells = {name: column.cast(types[kind]) for name, column in cells.items()}
    (place / "many").mkdir()
    parquet.write_table(pa.table(cells), place / "many" / "one.parquet")
    fit = "fit single.toml {} --rehearse 1 --epsilon 9 --max-rows 4096 --out {}"
    for data, out in (("many", "folder"), ("many/one.parquet", "file")):
        done = run(place, fit.format(data, out))
        assert done.code == 0, done.error
    numbers = [np.load(place / out / "arrays.npz") for out in ("folder", "file")]
    for name in numbers[0]:
        np.testing.assert_allclose(numbers[0][name], numbers[1][name], rtol=1e-9)
    said = [run(place, f"predict file {data} --json") for data in ("many", "many/one.parquet")]
    assert said[0].output == said[1].output

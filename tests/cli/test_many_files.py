"""Folders and patterns of Parquet files at the command line."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.ledger import Ledger
from support.place import run

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

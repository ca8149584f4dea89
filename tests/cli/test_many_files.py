"""Folders and patterns of Parquet files at the command line."""

from __future__ import annotations

import json

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
    assert "the column 'age' must hold numbers" in run(place, COMMAND).error
    assert not Ledger(place / "patients.db").history()
    assert not (place / "model").exists()


def test_an_empty_folder(place):
    (place / "many").mkdir()
    result = run(place, COMMAND)
    assert result.code == 2
    assert "no Parquet file here" in result.error

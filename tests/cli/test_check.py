"""``discreet check``: what the owner is shown, and what it leaves alone."""

from __future__ import annotations

import json

import pytest

from support.place import CANARY, books, files_in, run

TABLE = "age,stay,ward,back,id\n" + "".join(
    f"{20 + number % 70},{number % 30},{'surgery' if number % 2 else 'medicine'},"
    f"{'no' if number % 3 else 'yes'},p{number}\n"
    for number in range(600)
)


def put(place, text, name="data.csv"):
    (place / name).write_text(text)


def test_a_sound_table_passes_and_nothing_is_charged_or_written(place):
    put(place, TABLE)
    before = files_in(place), books(place)
    found = run(place, "check schema.toml data.csv --person id")
    assert (found.code, found.error) == (0, "")
    assert found.output.startswith("AS PRIVATE AS THE TABLE")
    assert "600 rows: nothing that speaks against a fit." in found.output
    assert "600 persons have 1 rows on average and 1 at most." in found.output
    assert (files_in(place), books(place)) == before


def test_misspelt_classes_are_serious(place):
    put(place, TABLE.replace(",yes,", ",Yes,"))
    found = run(place, "check schema.toml data.csv")
    assert found.code == 1
    assert "'Yes' (33 %, did you mean 'yes'?)" in found.output


def test_a_range_ten_times_too_wide_is_serious(place):
    put(place, TABLE)
    schema = (place / "schema.toml").read_text()
    put(place, schema.replace("[0, 30]", "[0, 300]"), "schema.toml")
    found = run(place, "check schema.toml data.csv")
    assert found.code == 1
    assert "stay: 98 % of the values lie within" in found.output


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_files_of_both_kinds_are_looked_at_alike(place, name):
    found = run(place, f"check schema.toml {name} --person id --json")
    document = json.loads(found.output)
    assert found.code == 1
    assert document["rows"] == 6
    assert "AS PRIVATE" in document["warning"]
    lines = {line["column"]: line for line in document["columns"]}
    assert lines["age"]["above"] == "33 %"
    assert lines["stay"]["missing"] == "33 %"
    assert lines["ward"]["undeclared"] == "33 %"
    said = " ".join(one["what"] for one in document["findings"])
    assert f"'{CANARY}' (33 %)" in said
    assert "5 persons have 1.2 rows on average and 2 at most; 1 have more than 1." in said


def test_a_cell_that_is_no_number_is_shown_to_the_owner_and_to_nobody_else(place):
    put(place, TABLE.replace("20,0,", "about twenty,0,", 1).replace("21,1,", "NA,1,", 1))
    refused = run(place, "fit schema.toml data.csv --ledger patients.db --out model")
    assert refused.code == 2
    assert "about twenty" not in refused.error
    found = run(place, "check schema.toml data.csv")
    assert found.code == 1
    assert "the file: data.csv: the column 'age' has a cell that is no number" in found.output
    assert "0.17 % of the cells are no numbers: 'about twenty'." in found.output
    assert "age: 0.17 % of the cells are missing." in found.output


def test_rows_of_a_person_are_compared_with_what_is_promised(place):
    put(place, TABLE.replace(",p1\n", ",p0\n"))
    assert run(place, "check schema.toml data.csv --person id").code == 1
    assert run(place, "check schema.toml data.csv --person id --rows-per-person 2").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("check schema.toml", 2, "Missing argument 'DATA'"),
        ("check data.csv schema.toml", 2, "The schema comes first, the data second"),
        ("check schema.toml nowhere.csv", 3, "nowhere.csv: No such file"),
        ("check schema.toml data.csv --person nobody", 2, "'nobody'"),
        ("check schema.toml data.parquet --person nobody", 2, "'nobody'"),
        ("check schema.toml data.csv --rows-per-person 0", 2, "rows_per_person must be at least 1"),
    ],
)
def test_a_wrong_argument_gets_one_clear_line(place, arguments, code, said):
    found = run(place, arguments)
    assert (found.code, found.output) == (code, "")
    assert said in found.error
    assert len(found.error.strip().splitlines()) == 1
    assert CANARY not in found.error

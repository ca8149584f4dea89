"""What the commands do when all is well."""

from __future__ import annotations

import csv
import json
import os

import numpy as np
import pytest
from pyarrow import parquet

from discreet.artifact import load
from discreet.ledger import Ledger
from discreet.schema import Undeclared, read
from support.malformed import FIT
from support.place import CANARIES, HEADER, TABLE, columns, run, write_parquet

WITH_COSTS = TABLE.replace("back", "back,cost").replace("\n", ",1\n").replace("cost,1", "cost")


def test_a_fit_is_charged_once_and_leaves_model_schema_and_card(place):
    result = run(place, [*FIT.split(), "--purpose", "who comes back"])
    assert result.code == 0
    assert sorted(os.listdir(place / "model")) == sorted(
        ["arrays.npz", "card.html", "card.json", "card.md", "model.json", "schema.toml"]
    )
    ledger = Ledger(place / "patients.db")
    (entry,) = ledger.history()
    assert (entry.purpose, entry.state.value) == ("who comes back", "released")
    model = load(place / "model")
    assert model.release_.receipt_number == entry.number
    assert model.privacy_.epsilon() == pytest.approx(0.5)
    assert model.privacy_.sentence() in result.output
    assert "epsilon 0.5 of 1 is left" in result.output
    assert read(place / "model" / "schema.toml") == read(place / "schema.toml")


def test_what_the_command_line_says_goes_before_what_the_schema_says(place):
    command = (
        f"{FIT} --epsilon 0.25 --delta 0 --mechanism objective_perturbation --part north --json"
    )
    told = json.loads(run(place, command).output)
    assert (told["epsilon"], told["delta"]) == (pytest.approx(0.25), 0)
    assert told["mechanism"] == "objective_perturbation"
    (entry,) = Ledger(place / "patients.db").history()
    assert entry.part == "north"


@pytest.mark.parametrize(
    ("classes", "cells"),
    [
        ("[false, true]", ["True", "false", "1", "x"]),
        ("[0, 1]", ["0", "1.0", "1", "x"]),
        ("[1.5, -2]", ["1.5", "-2", "-2.0", "x"]),
        ('["a", "b", "c"]', ["a", "b", "c", "x"]),
        ('["naïve \\"x\\"", "b, c", "d\\n"]', ["b", "b", "b", "x"]),
    ],
)
def test_classes_of_every_kind_come_back_as_they_were_declared(place, classes, cells):
    schema = (place / "schema.toml").read_text().replace('["no", "yes"]', classes)
    (place / "schema.toml").write_text(schema)
    declared = read(place / "schema.toml").target.classes
    text = "age,stay,ward,back\n" + "".join(f"40,5,surgery,{cell}\n" for cell in cells)
    (place / "data.csv").write_text(text)
    assert run(place, "fit schema.toml data.csv --rehearse 1 --out model").code == 0
    predicted = json.loads(run(place, "predict model data.csv --json").output)["prediction"]
    assert set(predicted) <= set(declared)
    assert {type(label) for label in predicted} <= {bool, str, float, int}
    printed = run(place, "predict model data.csv --proba --out p.parquet")
    assert printed.code == 0
    assert parquet.read_table(place / "p.parquet").num_columns == 1 + len(declared)


def test_names_of_columns_may_hold_anything(place):
    schema = (place / "schema.toml").read_text()
    spelled = '[columns."a \\"b\\" [c]\'d, ünï\\t"]'
    (place / "schema.toml").write_text(schema.replace("[columns.age]", spelled), encoding="utf-8")
    table = (place / "data.csv").read_text()
    spelled = '"a ""b"" [c]\'d, ünï\t"'
    (place / "data.csv").write_text(table.replace("age", spelled, 1), encoding="utf-8")
    assert run(place, FIT).code == 0
    assert run(place, "predict model data.csv").code == 0
    assert run(place, "card model").code == 0


def test_a_second_fit_over_the_budget_is_refused_and_not_written(place):
    assert run(place, f"{FIT} --epsilon 0.8").code == 0
    refused = run(place, f"{FIT}2 --epsilon 0.8")
    assert (refused.code, refused.output) == (1, "")
    assert "cannot pay" in refused.error
    assert not (place / "model2").exists()
    assert len(Ledger(place / "patients.db").history()) == 1


def test_a_rehearsal_repeats_itself_and_says_that_it_is_not_private(place):
    first, second = (
        run(place, f"fit schema.toml data.csv --rehearse 7 --out rehearsal{number}")
        for number in (1, 2)
    )
    assert first.code == second.code == 0
    assert "NOT PRIVATE" in first.error
    models = [load(place / f"rehearsal{number}") for number in (1, 2)]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert not models[0].release_.is_private


def test_a_large_delta_is_questioned_and_a_missing_ledger_is_said(place):
    asked = run(place, "fit schema.toml data.csv --no-ledger --delta 0.01 --out large")
    assert asked.code == 0
    assert asked.error.count("Is this meant? delta = 0.01 allows one record in 100") == 1
    assert asked.output.count("no ledger was charged") == 1
    usual = run(place, "fit schema.toml data.csv --no-ledger --out usual")
    assert "meant" not in usual.error
    bound = run(
        place, "fit schema.toml data.csv --no-ledger --delta 1e-5 --max-rows 9000000 --out b"
    )
    assert "there may be 900,000 of them" in bound.error


def test_a_regression_takes_missing_and_infinite_targets_as_they_come(place):
    costs = WITH_COSTS.replace(",1\n", ",\n", 1).replace(",1\n", ",1e999\n", 1)
    (place / "data.csv").write_text(costs)
    assert run(place, FIT.replace("schema", "regression")).code == 0
    result = run(place, "predict model data.csv --json")
    predicted = json.loads(result.output)["prediction"]
    assert len(predicted) == len(TABLE.splitlines()) - 1
    assert np.isfinite(predicted).all()


def test_predictions_are_the_models_own_in_the_order_of_the_rows(place):
    for name in ("p.csv", "p.parquet"):
        assert run(place, f"predict fitted data.csv --proba --out {name}").code == 0
    table = parquet.read_table(place / "p.parquet").to_pydict()
    with (place / "p.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["prediction"] for row in rows] == table["prediction"]
    chances = np.array([table["probability_of_no"], table["probability_of_yes"]])
    np.testing.assert_allclose(chances.sum(axis=0), 1)
    likelier = np.array(["no", "yes"])[chances.argmax(axis=0)].tolist()
    assert table["prediction"] == likelier
    printed = run(place, "predict fitted data.csv").output.splitlines()
    assert printed == ["prediction", *table["prediction"]]


def test_a_card_is_printed_and_written(place):
    assert run(place, FIT).code == 0
    result = run(place, "card model --ledger patients.db --html card.html --md card.md")
    assert result.code == 0
    assert "one patient" in result.output
    assert (place / "card.md").read_text() == result.output
    assert "<html" in (place / "card.html").read_text()
    document = json.loads(run(place, "card model --ledger patients.db --json").output)
    assert document["about"]["protects"] == "one patient"


def test_init_copies_no_value(place):
    result = run(place, "init data.csv --out new.toml --target back")
    assert result.code == 0
    text = (place / "new.toml").read_text()
    assert not any(canary in text + result.output + result.error for canary in CANARIES)
    assert not any(cell in text for cell in ("surgery", "medicine", "47", "yes"))
    schema = read(place / "new.toml")
    assert {*schema.columns, "back"} == set(HEADER)
    assert all(isinstance(column, Undeclared) for column in schema.columns.values())
    refused = run(place, FIT.replace("schema", "new"))
    assert refused.code == 2
    assert "not yet declared" in refused.error


def test_init_says_in_both_places_what_it_took_for_names(place):
    (place / "no_names.csv").write_text("Smith,surgery\nJones,medicine\n")
    result = run(place, "init no_names.csv --out new.toml")
    written = (place / "new.toml").read_text()
    assert result.code == 0
    assert "first line of the CSV file was taken as the names of its columns" in result.error
    assert "names in new.toml are no values of a record" in result.error
    assert "# The first line of the CSV file was taken as the names of its columns." in written
    write_parquet(place / "a.parquet", columns())
    assert "first line" not in run(place, "init a.parquet --out other.toml").error
    assert "first line" not in (place / "other.toml").read_text()


def test_init_measures_only_when_told_to_and_warns_in_both_places(place):
    result = run(place, "init data.csv --out new.toml --target back --measure")
    assert result.code == 0
    assert "MEASURED" in result.error
    assert (place / "new.toml").read_text().startswith("# WARNING")
    assert "surgery" in read(place / "new.toml").columns["ward"].levels


def test_init_leaves_out_what_no_schema_has_a_word_for(place):
    text = (
        TABLE.replace("stay", "admitted").replace("3.5", "2020-01-02").replace("0.5", "2020-01-03")
    )
    lines = [line.split(",") for line in text.splitlines()]
    for line in lines[1:]:
        line[2] = "2020-01-02"
    (place / "dates.csv").write_text("\n".join(map(",".join, lines)) + "\n")
    assert run(place, "init dates.csv --out new.toml").code == 0
    assert read(place / "new.toml").ignored == ("admitted",)


def test_existing_files_are_written_over_only_by_force(place):
    for command in (
        "init data.csv --out regression.toml",
        "predict fitted data.csv --out data.parquet",
    ):
        assert run(place, command).code == 2
        assert run(place, f"{command} --force").code == 0


def test_the_demonstration_can_be_fitted_as_it_is_written(tmp_path):
    assert run(tmp_path, "demo --write hospital --patients 2000").code == 0
    result = run(
        tmp_path,
        "fit hospital/schema.toml hospital/hospital.parquet --epsilon 5 --rehearse 1 --out model",
    )
    assert result.code == 0
    assert run(tmp_path, "predict model hospital/holdout.csv --out p.csv").code == 0
    with (tmp_path / "hospital" / "holdout.csv").open() as file:
        truth = [row["back_within_90_days"] for row in csv.DictReader(file)]
    with (tmp_path / "p.csv").open() as file:
        predicted = [row["prediction"] for row in csv.DictReader(file)]
    assert np.mean(np.array(truth) == np.array(predicted)) > 0.6


def test_a_table_of_other_records_than_the_ledger_counts_is_refused(place):
    schema = place / "schema.toml"
    schema.write_text(schema.read_text().replace("one patient", "one visit"))
    result = run(place, FIT)
    assert (result.code, result.output) == (2, "")
    assert "the ledger protects 'one patient', " in result.error
    assert Ledger(place / "patients.db").history() == ()


def test_a_schema_that_is_not_the_models_own_is_not_shown_on_its_card(place):
    assert run(place, FIT).code == 0
    stored = place / "model" / "schema.toml"
    stored.write_text(stored.read_text().replace("[18", "[17"))
    assert "declares other columns" in run(place, "card model").error
    stored.unlink()
    (place / "elsewhere.toml").write_text("[passwords]\nroot = 1\n")
    stored.symlink_to(place / "elsewhere.toml")
    result = run(place, "card model")
    assert (result.code, "passwords" in result.error) == (2, False)


def test_a_purpose_cannot_forge_a_line_of_the_history(place):
    forged = "harmless\n    2  2026-01-01 00:00:00  refunded\x1b[2K"
    assert run(place, [*FIT.split(), "--purpose", forged]).code == 0
    shown = run(place, "ledger history patients.db").output
    assert len(shown.splitlines()) == 1
    assert "\x1b" not in shown

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
from support.place import (
    CANARIES,
    HEADER,
    REGRESSION,
    SCHEMA,
    TABLE,
    columns,
    files_in,
    run,
    write_parquet,
)

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
    assert "You may still release epsilon 0.5; the budget guarantees 1 in all." in result.output
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


def test_a_fit_may_find_ranges_within_public_bounds(place):
    wide = (
        (place / "schema.toml")
        .read_text()
        .replace("range = [18, 100]", "public_bounds = [0, 1000]")
    )
    (place / "wide.toml").write_text(wide)
    assert run(place, "plan wide.toml --n 1000 --draws 1 --epsilon 1").code == 0
    assert run(place, "fit wide.toml data.csv --no-ledger --epsilon 1 --out found").code == 0
    ((low, high),) = load(place / "found").ranges_
    assert 0 <= low < high <= 1000
    assert read(place / "found" / "schema.toml") == read(place / "wide.toml")
    assert "found privately" in (place / "found" / "card.md").read_text()
    assert run(place, "predict found data.csv --out p.csv").code == 0


KINDS = {"AdditiveClassifier": (SCHEMA, TABLE), "AdditiveRegressor": (REGRESSION, WITH_COSTS)}


@pytest.mark.parametrize("kind", KINDS)
def test_an_additive_model_is_fitted_used_and_scored_like_any_other(place, kind):
    schema, table = KINDS[kind]
    (place / "bent.toml").write_text(schema.replace("output_perturbation", "auto"))
    (place / "data.csv").write_text(table)
    fit = "fit bent.toml data.csv --no-ledger --epsilon 3 --model additive --out curves"
    assert run(place, fit).code == 0
    is_of_classes = kind == "AdditiveClassifier"
    assert (run(place, "predict curves data.csv --proba").code == 0) == is_of_classes
    assert type(load(place / "curves")).__name__ == kind
    assert "A curve for each of the columns" in (place / "curves" / "card.md").read_text()
    assert run(place, "predict curves data.csv --out p.csv").code == 0
    assert "looks like" in (place / "curves" / "card.md").read_text()
    assert run(place, "score curves data.csv --no-ledger --epsilon 1 --card s.md").code == 0
    assert "looks like" in (place / "s.md").read_text()
    refused = run(place, f"{fit}2 --mechanism noisy_gradient")
    assert refused.code != 0
    assert "for linear models" in refused.error


WIDE = ("range = [18, 100]", "public_bounds = [0, 1000]")
BY_DEFAULT = {
    "classes": (SCHEMA, "", "AdditiveClassifier", ""),
    "three classes": (SCHEMA.replace('"no", ', '"no", "dead", '), "", "AdditiveClassifier", ""),
    "numbers": (REGRESSION, "", "LinearRegressor", ""),
    "no delta": (SCHEMA, "--delta 0", "LinearClassifier", "only with a delta"),
    "no ranges": (SCHEMA.replace(*WIDE), "", "LinearClassifier", "needs a range for each column"),
    "a mechanism": (SCHEMA, "--mechanism noisy_gradient", "LinearClassifier", ""),
}


@pytest.mark.parametrize("case", BY_DEFAULT)
def test_who_names_no_model_gets_the_one_that_is_ahead_or_a_line_that_says_why_not(place, case):
    schema, more, kind, why = BY_DEFAULT[case]
    (place / "own.toml").write_text(schema.replace("output_perturbation", "auto"))
    (place / "data.csv").write_text(WITH_COSTS if "regression" in schema else TABLE)
    done = run(place, f"fit own.toml data.csv --ledger patients.db --out own {more}")
    assert (done.code, type(load(place / "own")).__name__) == (0, kind)
    noted = [line for line in done.error.splitlines() if line.startswith("The model is linear")]
    assert [why in line for line in noted] == [True] * bool(why)
    assert run(place, "check own.toml data.csv").code in (0, 1)


def test_why_a_model_is_linear_is_said_before_anything_is_paid(place):
    schema = SCHEMA.replace("output_perturbation", "auto").replace(*WIDE)
    (place / "own.toml").write_text(schema)
    refused = run(place, "fit own.toml data.csv --ledger patients.db --epsilon 9 --out own")
    said, cannot_pay = refused.error.splitlines()
    assert (refused.code, said.startswith("The model is linear")) == (1, True)
    assert "cannot pay" in cannot_pay


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
    assert (result.code, result.output) == (0, "Wrote card.html and card.md.\n")
    printed = run(place, "card model --ledger patients.db").output
    assert "one patient" in printed
    written = (place / "card.md").read_text()
    assert written.splitlines()[:-1] == printed.splitlines()[:-1]  # the last says when
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
    assert "first line of the file was taken as the names of its columns" in result.error
    assert "names in new.toml are no values of a record" in result.error
    assert "# The first line of the file was taken as the names of its columns." in written
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


def test_no_words_stand_for_any_others(place):
    schema = place / "schema.toml"
    text = schema.read_text()
    schema.write_text(text.replace("one patient", "one record"))
    assert "Write the same words" in run(place, FIT).error
    run(place, "ledger create other.db --epsilon 1")
    schema.write_text(text)
    result = run(place, FIT.replace("patients.db", "other.db"))
    assert (result.code, "the ledger protects 'one record', " in result.error) == (2, True)


def test_a_schema_that_protects_a_person_says_how_many_rows_one_has(place):
    schema = place / "schema.toml"
    text = schema.read_text()
    schema.write_text(text.replace("rows_per_person = 1\n", ""))
    result = run(place, FIT)
    assert (result.code, "Declare rows_per_person = 1 if none has more" in result.error) == (
        2,
        True,
    )
    assert Ledger(place / "patients.db").history() == ()
    schema.write_text(text.replace("rows_per_person = 1\n", "rows_per_person = 7\n"))
    create = "ledger create seven.db --epsilon 100 --rows-per-person 7 --protects"
    run(place, [*create.split(), "one patient"])
    assert run(place, FIT.replace("patients.db", "seven.db")).code == 0
    assert "one patient has at most so many" in run(place, "card model").output
    (entry,) = Ledger(place / "seven.db").history()
    assert entry.epsilon > 7 * 0.5 > entry.guarantee.epsilon()


@pytest.mark.parametrize("rows", [5, 30])
@pytest.mark.parametrize(
    "command",
    [
        "fit schema.toml data.csv --out model",
        "select schema.toml data.csv --features 1 --out chosen",
        "tune schema.toml data.csv --grid C=[0.1,1] --out tuned",
        "score fitted data.csv",
        "stream schema.toml data.csv --horizon 10 --out learner",
    ],
)
def test_every_command_refuses_a_ledger_for_another_number_of_records(place, command, rows):
    unit = "replace" if command.startswith("stream") else "add_remove"
    schema = place / "schema.toml"
    schema.write_text(schema.read_text().replace('"add_remove"', f'"{unit}"'))
    create = f"ledger create other.db --epsilon 9 --unit {unit} --rows-per-person {rows} --protects"
    run(place, [*create.split(), "one patient"])
    result = run(place, f"{command} --epsilon 1 --ledger other.db")
    assert result.code == 2
    assert f"at most {rows} records of one person, " in result.error
    assert Ledger(place / "other.db").history() == ()


def test_the_deltas_that_nobody_names_fit_together(place):
    run(place, ["ledger", "create", "new.db", "--epsilon", "1", "--protects", "one patient"])
    usual = FIT.replace("patients.db", "new.db")
    assert run(place, usual).code == 0
    opening = "ledger create pure.db --epsilon 1 --delta 0 --protects"
    run(place, [*opening.split(), "one patient"])
    pure = FIT.replace("patients.db", "pure.db").replace("model", "second")
    result = run(place, pure)
    assert (result.code, "pass delta=0 (--delta 0)" in result.error) == (1, True)
    assert run(place, f"{pure} --delta 0").code == 0


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


def test_a_target_of_zeros_and_ones_is_one_of_classes(place):
    for cells, classes in ((("0", "1", ""), (0, 1)), (("true", "false", "true"), (False, True))):
        text = "age,ill\n" + "".join(f"40,{cell}\n" for cell in cells)
        (place / "new.csv").write_text(text)
        assert run(place, "init new.csv --target ill --out new.toml --force").code == 0
        target = read(place / "new.toml").target
        assert (target.task, target.classes) == ("classification", classes)
    (place / "new.csv").write_text("age,ill\n40,0\n41,2\n")
    assert run(place, "init new.csv --target ill --out new.toml --force").code == 0
    assert read(place / "new.toml").target.task == "regression"


def test_how_many_rows_are_expected_decides_whether_scores_are_counted(place):
    reasons = []
    for hint in (10, 10**6):
        hinted = SCHEMA.replace("[model]\n", f"[model]\nexpected_rows = {hint}\n")
        (place / "schema.toml").write_text(hinted)
        fit = f"fit schema.toml data.csv --rehearse 1 --mechanism auto --out model_{hint}"
        assert run(place, fit).code == 0
        reasons.append(load(place / f"model_{hint}").release_.reason)
    assert "scores counted" not in reasons[0]
    assert "scores counted for 3% of the budget" in reasons[1]


def test_a_delta_over_the_budget_is_questioned_and_refused(place):
    before = files_in(place)
    refused = run(place, f"{FIT} --epsilon 0.9 --delta 0.1")
    question, refusal = refused.error.splitlines()
    assert refused.code == 1
    assert question.startswith(
        "Is this meant? delta = 0.1 allows one record in 10 to be given away"
    )
    assert "Ask for delta" in refusal
    assert files_in(place) == before


def test_init_writes_a_spreadsheet_that_can_be_filled_in_and_fitted(place):
    result = run(place, "init data.csv --csv --target back")
    assert result.code == 0
    sheet = (place / "schema.csv").read_text()
    assert sheet.startswith("column,role,type,lowest,highest,missing,values\n")
    assert not any(canary in sheet for canary in CANARIES)
    for empty, filled in (
        ("age,use,number,,,,", "age,use,number,18,100,,"),
        ("stay,use,number,,,,", "stay,use,number,0,30,,"),
        ("ward,use,category,,,,", "ward,use,category,,,,surgery; medicine"),
        ("back,predict,category,,,,", "back,predict,category,,,,no; yes"),
        ("id,use,category,,,,", "id,ignore,,,,,"),
        (
            "protects,setting,,,,,one record",
            "protects,setting,,,,,one patient\nrows_per_person,setting,,,,,1",
        ),
    ):
        assert empty in sheet
        sheet = sheet.replace(empty, filled)
    (place / "schema.csv").write_text(sheet)
    fitted = run(place, "fit schema.csv data.csv --ledger patients.db --epsilon 0.5 --out model")
    assert fitted.code == 0, fitted.error
    refused = run(place, "init data.csv --csv --measure --out b.csv")
    assert (refused.code, "drop --csv" in refused.error) == (2, True)
    assert run(place, "init data.csv --csv --out b.toml").code == 2


def test_a_csv_file_with_the_index_of_pandas_is_told_how_to_go_on(place):
    lines = TABLE.splitlines()
    rows = [f"{number},{line}\n" for number, line in enumerate(lines[1:])]
    (place / "data.csv").write_text("".join([f",{lines[0]}\n", *rows]))
    refused = run(place, FIT)
    assert refused.code == 2
    assert "the first column has no name; pandas writes its index so" in refused.error
    assert 'put "" on the list `ignored`' in refused.error
    assert run(place, "init data.csv --target back --out new.toml").code == 0
    assert read(place / "new.toml").ignored == ("",)
    schema = (place / "schema.toml").read_text()
    (place / "schema.toml").write_text(schema.replace('["id"]', '["id", ""]'))
    assert run(place, FIT).code == 0


def test_a_csv_file_with_semicolons_is_told_how_to_go_on(place):
    (place / "data.csv").write_text(TABLE.replace(",", ";"))
    for command in (FIT, "init data.csv --out new.toml", "check schema.toml data.csv"):
        refused = run(place, command)
        assert refused.code == 2
        assert "cells must be separated by commas" in refused.error
        assert "sep=';'" in refused.error


@pytest.mark.parametrize(
    ("table", "command", "code", "said"),
    [
        (b"age,back\n", "init new.csv --out new.toml", 0, ""),
        (b"age,ward\n40,caf\xe9\n", "init new.csv --out new.toml", 2, "'ward' is not UTF-8 text"),
        (b"age,came_back\n40,1\n", "init new.csv --target back --out new.toml", 2,
         "there is no column 'back' to be the target. Did you mean 'came_back'?"),
        (b"Age,stay ,ward,back\n40,1,surgery,no\n", "check schema.toml new.csv", 2,
         "They seem to differ in capitals or spaces only."),
        (b"", "card nowhere", 2, "there is none of that name"),
    ],
    ids=["a header alone", "another encoding", "a target", "capitals", "no model"],
)  # fmt: skip
def test_a_newcomers_mistake_is_told_with_what_to_do(place, table, command, code, said):
    (place / "new.csv").write_bytes(table)
    result = run(place, command)
    assert result.code == code
    assert said in result.error

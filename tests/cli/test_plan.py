"""``discreet plan``: what it prints, writes and refuses; it reads a schema and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.cli.console import DONE, WRONG_INPUT
from discreet.cli.plan import _show, _wrap
from discreet.planning import Cell, Prediction, PublicFacts
from discreet.preprocessing import Numeric

SCHEMA = """
[data]
protects = "one patient"
[target]
name = "back"
task = "classification"
classes = ["no", "yes"]
[columns.age]
type = "number"
range = [18, 100]
[columns.ward]
type = "category"
categories = ["surgery", "medicine"]
[privacy]
delta = 0
"""

QUICK = ("--draws", 2, "--n", 500, "--epsilon", 0.5, "--epsilon", 2)


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(SCHEMA)
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["plan", *map(str, arguments)])


def test_the_conclusion_comes_first_and_theorems_are_asked_for(schema):
    result = run(schema, *QUICK)
    assert result.exit_code == DONE, result.output
    said = "With 500 rows and epsilon 0.5, accuracy is predicted to be"
    assert result.output.startswith(said)
    assert "Predicted accuracy" in result.output
    assert "not about your data" in result.output
    assert "some mechanism exceeds the least by at most" not in result.output
    assert "some mechanism exceeds" in run(schema, *QUICK, "--theorems").output


def test_a_range_is_printed_and_both_of_its_ends_are_in_the_document(schema):
    schema.write_text(
        SCHEMA.replace(
            "[columns.ward]", "[columns.bmi]\ntype = 'number'\nrange = [10, 60]\n[columns.ward]"
        )
    )
    said = run(schema, *QUICK).output
    (cell, _) = json.loads(run(schema, *QUICK, "--json").stdout)["cells"]
    assert cell["low"] < cell["high"] - 0.001
    assert f"predicted to be between {cell['low']:.3f} and {cell['high']:.3f}, against" in said
    assert f"{cell['low']:.3f} to {cell['high']:.3f}" in said


def test_theorems_and_smaller_tables_are_spoken_of_in_whole_sentences(schema):
    result = run(schema, "--draws", 1, "--n", 20_000, "--epsilon", 1, "--theorems")
    assert result.exit_code == DONE, result.output
    assert 'the bound "two points", proved in docs/theory.md under "Two points"' in result.output
    assert "Tables of 20,000 rows were too large to try: smaller ones were fitted" in result.output


def test_a_cost_of_nothing_is_shown_without_a_sign(capsys):
    facts = PublicFacts([Numeric(0, 1)], classes=["no", "yes"])
    cells = (Cell(1.0, 100, "auto", 0.8502, 0.8503, 0.85, is_scaled=False),)
    _show(Prediction(facts, cells, (), 1, 0))
    shown = capsys.readouterr().out
    assert "0.000" in shown
    assert "-0.000" not in shown
    assert "0.850 to" not in shown


def test_long_lines_are_broken_between_words():
    text = "Theorems are:\n  some mechanism exceeds the least\n\nend"
    assert _wrap(text, 20) == ("Theorems are:\n  some mechanism\n    exceeds the\n    least\n\nend")


def test_an_additive_plan_says_what_a_linear_model_reaches(schema):
    asked = "--draws", 1, "--n", 300, "--epsilon", 1, "--model", "additive"
    said = run(schema, *asked).output
    (cell,) = json.loads(run(schema, *asked, "--json").stdout)["cells"]
    assert f"accuracy of an additive model is predicted to be {cell['low']:.3f}, against" in said
    assert f"that of a linear model is predicted to be {cell['linear']['low']:.3f}, against" in said
    assert "linear model" in said.split("Predicted accuracy")[1]


def test_json_is_all_that_is_printed(schema):
    result = run(schema, *QUICK, "--json", "--accuracy", 0.75, "--signal", 0.9)
    document = json.loads(result.stdout)
    assert [cell["epsilon"] for cell in document["cells"]] == [0.5, 2.0]
    assert [answer["quantity"] for answer in document["answers"]] == ["epsilon", "n"]
    assert document["facts"]["signal"] == 0.9
    assert document["bounds"][0]["theorem"]


def test_only_the_epsilons_that_were_asked_for_are_shown(schema):
    result = run(schema, "--draws", 1, "--n", 200, "--epsilon", 1, "--json")
    assert [cell["epsilon"] for cell in json.loads(result.stdout)["cells"]] == [1.0]


def test_of_a_rare_outcome_the_auc_is_told(capsys):
    facts = PublicFacts([Numeric(0, 1)], classes=["no", "yes"], majority=0.95, signal=0.96)
    rare = Cell(1.0, 100, "auto", 0.941, 0.961, 0.96, is_scaled=False)
    told = replace(rare, auc=0.7, auc_without_privacy=0.8, log_loss=0.2)
    for cell, said, heads in (
        (told, "reaches 0.950: the AUC is predicted to be 0.700, against 0.800.", True),
        (rare, "little to go by: a constant answer reaches 0.950.", False),
    ):
        prediction = Prediction(facts, (cell,), (), 1, 0)
        assert prediction.conclusion().endswith(said)
        _show(prediction)
        shown = capsys.readouterr().out
        assert ("AUC" in shown and "log loss" in shown) is heads
    usual = Prediction(PublicFacts([Numeric(0, 1)], classes=[0, 1]), (told,), (), 1, 0)
    assert "AUC" not in usual.conclusion()


def test_the_schemas_own_budget_and_unit_are_used(schema):
    schema.write_text(SCHEMA.replace("[data]", '[data]\nunit = "replace"') + "epsilon = 2\n")
    document = json.loads(run(schema, "--draws", 1, "--n", 200, "--json").stdout)
    assert document["facts"]["unit"] == "replace"
    assert document["facts"]["delta"] == 0
    assert 2.0 in [cell["epsilon"] for cell in document["cells"]]


def test_a_regression_is_planned_by_its_range(schema):
    schema.write_text(
        SCHEMA.replace("classification", "regression").replace(
            'classes = ["no", "yes"]', "range = [0, 9]"
        )
    )
    result = run(schema, *QUICK)
    assert result.exit_code == DONE, result.output
    assert "Predicted R2" in result.output


def test_a_plot_is_written_once(schema, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "plan.png"
    assert run(schema, *QUICK, "--plot", picture).exit_code == DONE
    assert picture.read_bytes().startswith(b"\x89PNG")
    again = run(schema, *QUICK, "--plot", picture)
    assert again.exit_code == WRONG_INPUT
    assert "exists already" in again.stderr
    assert run(schema, *QUICK, "--plot", picture, "--force").exit_code == DONE


def test_a_refused_mechanism_is_a_row_with_its_reason(schema):
    result = run(schema, *QUICK, "--mechanism", "noisy_gradient", "--accuracy", 0.8)
    assert result.exit_code == DONE
    assert "refused" in result.output
    assert "cannot be predicted, the mechanism refuses" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--epsilon", "-1"], "epsilon must be a positive number"),
        (["--epsilon", "nan"], "epsilon must be a positive number"),
        (["--epsilon", "1e-300"], "epsilon must be at least 1e-50"),
        (["--n", "3"], "n must be at least 10"),
        (["--mechanism", "magic"], "mechanism must be one of"),
        (["--model", "magic"], "model must be one of 'linear', 'additive'"),
        (["--model", "additive", "--mechanism", "noisy_gradient"], "is chosen for linear models"),
        (["--signal", "0.5"], "signal must lie above 0.5"),
        (["--signal", "7"], "signal must lie between 0 and 1"),
        (["--majority", "0.99"], "signal must lie above"),
        (["--delta", "2"], "delta must be"),
        (["--draws", "0"], "draws must be at least 1"),
        (["--seed", "-1"], "seed must be at least 0"),
        (["--plot", "plan.doc"], "a plot is a .png, .svg, .pdf file"),
        (["--plot", "no/such/plan.png"], "does not exist"),
        (["--epsilon", "one"], "--epsilon"),
        (["--frobnicate"], "No such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_argument_gets_one_clear_line(schema, arguments, said):
    extra = ["--signal", "0.9"] if "--majority" in arguments else []
    result = run(schema, *arguments, *extra)
    assert result.exit_code == WRONG_INPUT
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""


def test_what_is_not_yet_declared_is_named(schema):
    schema.write_text(SCHEMA.replace("[18, 100]", "[]"))
    result = run(schema, *QUICK)
    assert result.exit_code == WRONG_INPUT
    assert "range of 'age' is not yet declared" in result.stderr

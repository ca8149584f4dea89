"""Columns chosen from the command line: paid for once, stored with a card, and said."""

from __future__ import annotations

import json
import os

import numpy as np
import pandas as pd
import pytest

from discreet.artifact import load
from discreet.ledger import Ledger
from support.place import CANARIES, run

SELECT = "select schema.toml data.csv --features 2 --ledger patients.db --out choice"


WARD = '[columns.ward]\ntype = "category"\ncategories = ["surgery", "medicine"]\n'


def write_many(place, rows=3000):
    """Write a table in which the length of a stay decides, and a schema of its numbers."""
    text = (place / "schema.toml").read_text()
    numbers = text.replace(WARD, "").replace('["id"]', '["id", "ward"]')
    told = numbers.replace("[model]", f"[model]\nexpected_rows = {rows}")
    (place / "numbers.toml").write_text(told)
    generator = np.random.default_rng(1)
    stay = generator.uniform(0, 30, rows)
    frame = pd.DataFrame(
        {
            "age": generator.uniform(18, 100, rows),
            "stay": stay,
            "ward": generator.choice(["surgery", "medicine"], rows),
            "back": np.where(stay > 15, "yes", "no"),
        }
    )
    frame.to_csv(place / "many.csv", index=False)
    frame.to_parquet(place / "many.parquet")


def test_a_choice_is_charged_once_and_leaves_model_schema_and_card(place):
    result = run(place, [*SELECT.split(), "--purpose", "what matters"])
    assert result.code == 0
    assert sorted(os.listdir(place / "choice")) == sorted(
        ["arrays.npz", "card.html", "card.json", "card.md", "model.json", "schema.toml"]
    )
    (entry,) = Ledger(place / "patients.db").history()
    assert (entry.purpose, entry.state.value) == ("what matters", "released")
    stored = load(place / "choice")
    names = [stored.feature_names_in_[place] for place in stored.selected_]
    assert f"Chosen: {', '.join(names)}." in result.output
    assert stored.privacy_.sentence() in result.output
    assert "Choosing 2 of 3 columns by peeling, for epsilon 0.5." in result.error
    assert not any(canary in result.output + result.error for canary in CANARIES)
    card = (place / "choice" / "card.md").read_text()
    assert "A choice of 2 of 3 columns, so of 3 sets" in card
    assert "costs as much as one with an answer" in card
    shown = run(place, "card choice")
    assert shown.code == 0
    assert "A choice of 2 of 3 columns" in shown.output


@pytest.mark.parametrize("method", ["peeling", "votes", "columns", "subsets", "lasso"])
def test_every_method_finds_the_column_that_decides(place, method):
    write_many(place)
    table = "many.parquet" if method == "peeling" else "many.csv"
    schema = "numbers.toml" if method in ("subsets", "lasso") else "schema.toml"
    command = (
        f"select {schema} {table} --features 1 --method {method} --rehearse 3 --epsilon 3 "
        f"--out {method} --json"
    )
    result = run(place, command)
    told = json.loads(result.output)
    assert (told["columns"], told["is_stable"], told["method"]) == (["stay"], True, method)
    assert "NOT PRIVATE" in result.error
    stored = load(place / method)
    assert stored.get_feature_names_out().tolist() == ["stay"]
    assert not stored.release_.is_private


def test_no_stable_answer_is_said_costs_the_same_and_is_stored(place):
    result = run(place, f"{SELECT} --method votes")
    assert result.code == 0
    assert "No stable answer" in result.output
    assert "would cost the same" in result.error
    stored = load(place / "choice")
    assert (stored.is_stable_, stored.selected_.tolist()) == (False, [])
    (entry,) = Ledger(place / "patients.db").history()
    assert entry.guarantee.epsilon(1e-9) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("--features 0", "features"),
        ("--features 4", "features"),
        ("--method ridge", "method"),
        ("--blocks 20", "--blocks and --jobs are for votes"),
        ("--method votes --delta 0", "positive delta"),
        ("--method votes --blocks 0", "blocks"),
        ("--no-ledger", "exclude one another"),
        ("--epsilon -1", "epsilon"),
    ],
)
def test_a_wrong_wish_is_one_line_and_nothing_is_paid(place, change, says):
    result = run(place, [*SELECT.split(), *change.split()])
    assert result.code in (1, 2)
    assert says in result.error
    assert not (place / "choice").exists()
    assert Ledger(place / "patients.db").history() == ()


def test_ranges_that_nobody_declared_are_refused(place):
    text = (place / "schema.toml").read_text()
    (place / "wide.toml").write_text(text.replace("range = [18, 100]", "public_bounds = [0, 1000]"))
    result = run(place, SELECT.replace("schema.toml", "wide.toml"))
    assert result.code == 2
    assert "declare their range" in result.error


def test_a_choice_predicts_nothing_and_says_so(place):
    assert run(place, SELECT).code == 0
    for command in ("predict choice data.csv", "score choice data.csv --no-ledger --epsilon 1"):
        result = run(place, command)
        assert result.code == 2
        assert "this is a choice of columns" in result.error

"""``discreet score``: paid for first, with intervals, from the same files as a fit."""

from __future__ import annotations

import json

import pytest

from discreet.ledger import Ledger
from support.place import run


def test_scores_are_charged_and_told_with_intervals(place):
    command = "score fitted data.csv --ledger patients.db --epsilon 0.25 --purpose holdout"
    result = run(place, f"{command} --metrics accuracy,roc_auc,log_loss --json")
    assert result.code == 0
    told = json.loads(result.output)
    assert [line["score"] for line in told["scores"]] == ["accuracy", "roc_auc", "log_loss"]
    assert all(line["low"] <= line["value"] <= line["high"] for line in told["scores"])
    (entry,) = Ledger(place / "patients.db").history()
    assert (entry.purpose, entry.state.value) == ("holdout", "released")
    assert Ledger(place / "patients.db").spent(0.0) == pytest.approx(0.25)


def test_files_of_either_kind_give_the_same_counts(place):
    told = [
        json.loads(run(place, f"score fitted {data} --rehearse 3 --json").output)
        for data in ("data.csv", "data.parquet")
    ]
    assert told[0]["counts"] == told[1]["counts"]
    printed = run(place, "score fitted data.csv --rehearse 3 --training").output
    assert "these rows, on which the model was fitted" in printed


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("", 2),  # who pays?
        ("--ledger patients.db --epsilon 50", 1),
        ("--ledger patients.db --metrics loss", 2),
        ("--ledger patients.db --level 2", 2),
    ],
)
def test_what_is_refused_costs_nothing(place, options, code):
    assert run(place, f"score fitted data.csv {options}").code == code
    assert Ledger(place / "patients.db").history() == ()

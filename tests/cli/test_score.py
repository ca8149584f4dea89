"""``discreet score``: paid for first, with intervals, from the same files as a fit."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

import discreet.cli.score
import discreet.metrics
from discreet.cli.signals import SIGNALS
from discreet.ledger import Ledger
from discreet.record import Release
from discreet.report import Card
from support.place import files_in, run


def test_scores_are_charged_and_told_with_intervals(place):
    command = "score fitted data.csv --ledger patients.db --epsilon 0.25 --purpose holdout"
    result = run(place, f"{command} --metrics accuracy,roc_auc,log_loss --json")
    assert result.code == 0
    told = json.loads(result.output)
    assert [line["score"] for line in told["scores"]] == ["accuracy", "roc_auc", "log_loss"]
    assert all(line["low"] <= line["value"] <= line["high"] for line in told["scores"])
    assert len(told["counts"]) == 1 + 4 * (1 + len(told["edges"]))  # class by bin by half
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
        ("--ledger patients.db --delta 1.5", 2),
        ("--ledger patients.db --card card.pdf", 2),
        ("--ledger patients.db --card schema.toml", 2),
        ("--ledger patients.db --card data.md/card.md", 2),
    ],
)
def test_what_is_refused_costs_nothing(place, options, code):
    assert run(place, f"score fitted data.csv {options}").code == code
    assert Ledger(place / "patients.db").history() == ()


def test_gaussian_noise_is_used_where_a_delta_makes_it_smaller(place):
    command = "score fitted data.csv --no-ledger --json"
    told = [json.loads(run(place, f"{command} --delta {delta}").output) for delta in (0, 1e-9, 0.2)]
    assert [one["noise"] for one in told] == ["laplace", "laplace", "gaussian"]
    assert [one["delta"] for one in told] == [0, 0, 0.2]


@pytest.mark.parametrize("kind", ["html", "md", "json"])
def test_the_card_of_the_model_is_written_with_its_scores(place, kind):
    command = f"score fitted data.csv --ledger patients.db --metrics accuracy --card card.{kind}"
    assert run(place, command).code == 0
    text = (place / f"card.{kind}").read_text()
    if kind == "json":
        assert Card.from_json(text).document["scores"]["entry"] == 1
    else:
        assert "How good it is" in text
    again = run(place, command)
    assert (again.code, len(Ledger(place / "patients.db").history())) == (2, 1)


@pytest.mark.parametrize("number", SIGNALS)
def test_scores_are_told_though_a_signal_came_after_they_were_paid(place, monkeypatch, number):
    tell = discreet.cli.score._tell

    def impatient(*arguments):
        os.kill(os.getpid(), number)
        tell(*arguments)

    monkeypatch.setattr(discreet.cli.score, "_tell", impatient)
    result = run(place, "score fitted data.csv --ledger patients.db --epsilon 0.25")
    assert result.code == 0
    assert "accuracy" in result.output


def test_a_signal_before_the_charge_stops(place, monkeypatch):
    def stopped(*arguments, **options):
        os.kill(os.getpid(), SIGNALS[0])

    monkeypatch.setattr(discreet.metrics, "private_score", stopped)
    result = run(place, "score fitted data.csv --ledger patients.db")
    assert (result.code, result.output) == (130, "")
    assert Ledger(place / "patients.db").history() == ()


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_scores_that_cannot_be_told_are_kept(place, monkeypatch, tmp_path, failure):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = files_in(place)

    def fails(*_):
        raise failure

    monkeypatch.setattr(discreet.cli.score, "_tell", fails)
    result = run(place, "score fitted data.csv --ledger patients.db --epsilon 0.25")
    assert (result.code, result.output) == (3, "")
    where = Path(result.error.split("kept in ")[1].split(", as JSON")[0])
    (entry,) = Ledger(place / "patients.db").history()
    assert Release.from_json(where.read_text()).receipt_number == entry.number
    assert files_in(place) == before

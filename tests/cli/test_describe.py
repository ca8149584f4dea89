"""``discreet describe``: what it tells, writes, charges and refuses."""

from __future__ import annotations

import json
import shlex

import pandas as pd
import pytest

from discreet.ledger import Ledger
from discreet.record import Release
from support.place import run

LINE = "describe hospital/schema.toml hospital/hospital.csv"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a table, its schema and a ledger."""
    here = tmp_path_factory.mktemp("describe")
    for line in ("demo --write hospital", 'ledger create patients.db --epsilon 2 --protects '
                 '"one patient"'):  # fmt: skip
        assert run(here, shlex.split(line)).code == 0
    return here


def test_it_tells_charges_once_and_writes_what_it_is_asked_for(place):
    files = "--out page.html --out table.csv --out release.json --out picture.svg"
    line = f"{LINE} --ledger patients.db --epsilon 0.3 --by ward {files}"
    found = run(place, line.split())
    assert found.code == 0, found.error
    for word in ("age", "median", "surgery", "anything else", "95 %", "back_within_90_days"):
        assert word in found.output
    assert len(Ledger(place / "patients.db").history()) == 1
    table = pd.read_csv(place / "table.csv")
    truth = pd.read_csv(place / "hospital" / "hospital.csv")
    age = table[(table.group == "all") & (table.column == "age") & (table.statistic == "mean")]
    assert age.low.item() - 3 < truth.age.mean() < age.high.item() + 3
    assert "<table>" in (place / "page.html").read_text()
    released = Release.from_json((place / "release.json").read_text())
    assert released.is_private
    assert released.mechanism == "marginal_splits"
    assert (place / "picture.svg").stat().st_size > 1000


def test_json_has_every_statistic_and_the_price(place):
    found = run(place, f"{LINE} --no-ledger --epsilon 0.5 --json".split())
    document = json.loads(found.output)
    assert document["epsilon"] == pytest.approx(0.5, rel=1e-3)
    assert {"mean", "std", "50 %", "share"} <= {one["statistic"] for one in document["statistics"]}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("--epsilon 0.3", "which ledger is charged"),
        ("--no-ledger", "--epsilon is missing"),
        ("--no-ledger --epsilon 0.3 --by age", "by must be a category"),
        ("--no-ledger --epsilon 0.3 --by town", "by must be one of the declared columns"),
        ("--no-ledger --epsilon 0.3 --level 2", "--level must be between 0 and 1"),
        ("--no-ledger --epsilon 0.3 --out table.xlsx", "--out must end in .html"),
        ("--no-ledger --epsilon 0.3 --out nowhere/table.csv", "does not exist"),
    ],
)
def test_what_is_wrong_is_refused(place, more, words):
    found = run(place, f"{LINE} {more}".split())
    assert found.code == 2
    assert words in found.error


def test_a_release_that_cannot_be_written_is_kept_elsewhere(place, monkeypatch):
    monkeypatch.setattr("discreet.statistics.Description.html", lambda _: 1 / 0)
    found = run(place, f"{LINE} --no-ledger --epsilon 0.3 --out lost.html".split())
    assert found.code == 3
    assert "paid for and kept in" in found.error
    assert not (place / "lost.html").exists()

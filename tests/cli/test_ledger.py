"""``discreet ledger``: what it says, and with which exit code."""

from __future__ import annotations

import json

import pytest

from discreet.ledger import Ledger, State
from discreet.ledger.durable import high_water_mark
from discreet.ledger.durable.sql_tables import DATASETS
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure
from support.behind import open_behind
from support.place import run


@pytest.fixture
def books(tmp_path):
    ledger = Ledger.create(
        tmp_path / "patients.db", Budget(1.0), dataset="patients", parts=["north", "south"]
    )
    receipt = ledger.charge(Guarantee(Pure(0.25), AddRemoveOne()), purpose="a mean")
    receipt.redeem()
    ledger.settle(receipt, State.RELEASED)
    ledger.for_part("north").charge(Guarantee(Pure(0.5), AddRemoveOne()), purpose="a model")
    return ledger


def answer(folder, command):
    result = run(folder, f"ledger {command} --json")
    assert result.code == 0, result.error
    return json.loads(result.output)


def test_books_are_opened_with_what_is_declared(tmp_path):
    told = answer(
        tmp_path,
        "create p.db --epsilon 2 --delta 1e-6 --dataset visits --part a --part b --notes hello",
    )
    assert (told["name"], told["epsilon"], told["delta"]) == ("visits", 2.0, 1e-6)
    declared = Ledger(tmp_path / "p.db").declared
    assert (declared.parts, declared.notes) == (("a", "b"), "hello")
    again = run(tmp_path, "ledger create p.db --epsilon 9 --dataset visits")
    assert again.code == 2
    assert "Budgets are never reset" in again.error


def test_showing_says_what_was_spent_and_what_is_left(tmp_path, books):
    (told,) = answer(tmp_path, "show patients.db")["datasets"]
    assert told["charges"] == {"released": 1, "reserved": 1}
    assert told["epsilon_left_pure"] == pytest.approx(0.25)
    assert told["epsilon_total"] == pytest.approx(0.75)
    assert told["used_share"] == pytest.approx(0.75)
    assert told["parts_left"] == pytest.approx({"north": 0.25, "south": 0.75})
    assert told["refundable"] == [2]
    assert told["epsilon_left"] == books.remaining() == pytest.approx(0.25)
    text = run(tmp_path, "ledger show patients.db").output
    headline = "patients: You may still release epsilon 0.25; the budget guarantees 1 in all."
    assert text.splitlines()[0] == headline
    assert "charges whose rows were not opened: 2" in text
    assert "pure releases only: fit with --delta 0" in text
    assert "total" not in text
    details = run(tmp_path, "ledger show patients.db --verbose").output
    assert details.splitlines()[0] == headline
    assert "used     75.0% of the privacy filter" in details
    assert "if all had been fixed in advance" in details


def test_refunding_says_what_is_left_then(tmp_path, books):
    text = run(tmp_path, "ledger refund patients.db 2").output
    assert text.strip() == (
        "Charge 2 is refunded. You may still release epsilon 0.75; the budget guarantees 1 in all."
    )


def test_the_history_lists_every_charge(tmp_path, books):
    charges = answer(tmp_path, "history patients.db")["charges"]
    assert [(each["purpose"], each["part"]) for each in charges] == [
        ("a mean", None),
        ("a model", "north"),
    ]
    assert [each["digest"] for each in charges] == [entry.digest for entry in books.history()]
    assert "a mean" in run(tmp_path, "ledger history patients.db").output
    assert "No charge yet" in run(_empty(tmp_path), "ledger history empty.db").output


def _empty(folder):
    Ledger.create(folder / "empty.db", Budget(1.0))
    return folder


def test_verifying_tells_sound_books_from_others(tmp_path, books):
    digest = books.history()[0].digest
    told = answer(tmp_path, f"verify patients.db --known {digest}")
    assert told["is_sound"]
    assert told["datasets"][0]["head"] == books.verify().head
    missing = run(tmp_path, f"ledger verify patients.db --known {'0' * 64}")
    assert missing.code == 1
    assert "digest that was kept" in missing.error
    with open_behind(tmp_path / "patients.db") as connection:
        connection.execute(DATASETS.update().values(charges=1))
    damaged = run(tmp_path, "ledger verify patients.db")
    assert damaged.code == 1
    assert "NOT sound" in damaged.output


def test_anchors_show_whether_the_books_went_back(tmp_path, books, monkeypatch):
    kept = answer(tmp_path, "anchor patients.db --to anchors.jsonl")
    assert kept["anchors"][0]["digest"] == books.verify().head
    older = (tmp_path / "patients.db").read_bytes()
    books.charge(Guarantee(Pure(0.25), AddRemoveOne()))
    printed = run(tmp_path, "ledger anchor patients.db --to anchors.jsonl").output
    assert (tmp_path / "anchors.jsonl").read_text().splitlines()[1] == printed.strip()
    assert answer(tmp_path, "verify patients.db --anchor anchors.jsonl")["is_sound"]
    one = "verify patients.db --dataset patients --anchor anchors.jsonl"
    assert answer(tmp_path, one)["is_sound"]
    (tmp_path / "older.db").write_bytes(older)
    monkeypatch.setattr(high_water_mark, "_marks", {})  # nobody here has seen more of it
    assert run(tmp_path, "ledger verify older.db").code == 0
    for which in ("", "--dataset patients "):
        gone = run(tmp_path, f"ledger verify older.db {which}--anchor anchors.jsonl")
        assert gone.code == 1
        assert "anchored" in gone.error
    assert run(tmp_path, "ledger anchor patients.db --to nowhere/anchors").code == 2
    assert run(tmp_path, "ledger verify patients.db --anchor nowhere").code == 2


def test_a_charge_is_refunded_once_and_only_if_its_rows_were_not_opened(tmp_path, books):
    assert answer(tmp_path, "refund patients.db 2")["used_share"] == pytest.approx(0.25)
    for number in (1, 2, 3):
        assert run(tmp_path, f"ledger refund patients.db {number}").code == 1


def test_the_picture_is_drawn_once(tmp_path, books):
    pytest.importorskip("matplotlib", reason="pictures need the extra plot")
    assert answer(tmp_path, "plot patients.db --out budget.svg")["picture"] == "budget.svg"
    assert run(tmp_path, "ledger plot patients.db --out budget.svg").code == 2
    assert run(tmp_path, "ledger plot patients.db --out budget.svg --force").code == 0
    assert run(tmp_path, "ledger plot patients.db --out budget.doc").code == 2
    assert sorted(path.name for path in tmp_path.iterdir() if "budget" in path.name) == [
        "budget.svg"
    ]


def test_the_picture_names_dates_purposes_and_what_is_left(tmp_path, books):
    pytest.importorskip("matplotlib", reason="pictures need the extra plot")
    assert run(tmp_path, "ledger plot patients.db --out budget.svg").code == 0
    drawn = (tmp_path / "budget.svg").read_text()
    date = f"{books.history()[0].time:%Y-%m-%d}"
    for words in (books.allowance().sentence(), date, "a mean", "a model", "north", "south"):
        assert f"<!-- {words} -->" in drawn  # text is drawn as shapes, and named beside
    assert books.allowances() == {"north": [0.75, 0.25], "south": [0.75, 0.75]}
    assert run(_empty(tmp_path), "ledger plot empty.db --out empty.svg").code == 0
    odd = Ledger.create(
        tmp_path / "odd.db", Budget(1.0), dataset="$a", protects="$b^$", parts=["$"]
    )
    odd.charge(Guarantee(Pure(0.25), AddRemoveOne()), purpose=r"$\frac{$")
    assert run(tmp_path, "ledger plot odd.db --out odd.svg").code == 0


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("show missing.db", 3),
        ("history missing.db", 3),
        ("verify missing.db", 3),
        ("refund patients.db one", 2),
        ("refund patients.db 0", 2),
        ("create new.db", 2),
        ("create new.db --epsilon -1", 2),
        ("create new.db --epsilon nan", 2),
        ("create new.db --epsilon inf", 2),
        ("create new.db --epsilon 1 --delta 2", 2),
        ("create new.db --epsilon 1 --unit person", 2),
        ("create new.db --epsilon 1 --part a --part a", 2),
        ("create new.db --epsilon 1 --unit replace --part a", 2),
        ("create nowhere/new.db --epsilon 1", 3),
        ("create mysql://here/there --epsilon 1", 2),
        ("show patients.db --dataset cats", 2),
        ("show patients.db --delta 7", 2),
        ("plot patients.db --out nowhere/budget.png", 2),
        ("enlarge patients.db", 2),
    ],
)
def test_mistakes_get_one_line_and_change_nothing(tmp_path, books, command, code):
    before, head = sorted(tmp_path.iterdir()), books.verify().head
    result = run(tmp_path, f"ledger {command}")
    assert (result.code, result.output) == (code, "")
    assert len(result.error.strip().splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before
    assert books.verify().head == head

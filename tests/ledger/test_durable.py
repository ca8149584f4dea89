"""Books on disk do what books in memory do, for everybody who opens them."""

from __future__ import annotations

import copy
import decimal
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sqlalchemy as sql
from sklearn.base import clone

from discreet import LinearClassifier
from discreet.errors import (
    BudgetExceeded,
    InputError,
    InputTypeError,
    LedgerError,
    ReceiptError,
    RehearsalRefused,
    UnitMismatch,
)
from discreet.ledger import Ledger, MemoryLedger, Receipt, State
from discreet.ledger.durable import migration, sql_tables
from discreet.linear_model import LogisticRegression
from discreet.privacy import (
    AddRemoveOne,
    Approximate,
    Budget,
    Gaussian,
    Guarantee,
    Laplace,
    NoPrivacy,
    Pure,
    ReplaceOne,
    WithinDistance,
)
from support.behind import open_behind

X = np.random.default_rng(0).uniform(-1, 1, size=(60, 2))
Y = np.arange(60) % 2


def pure(epsilon):
    return Guarantee(Pure(epsilon), AddRemoveOne())


def made(place, epsilon=1.0, delta=0.0, **declared):
    return Ledger.create(place, Budget(epsilon, delta), **declared)


def states(ledger):
    return [entry.state for entry in ledger.history()]


def test_what_is_declared_is_kept(place):
    made(place, dataset="patients", protects="one patient", notes="ward 3")
    ledger = Ledger(place)
    kept = ledger.declared
    assert (kept.name, kept.protects, kept.notes) == ("patients", "one patient", "ward 3")
    assert ledger.budget == Budget(1.0)
    assert ledger.unit == AddRemoveOne()
    assert "@" in kept.opened_by
    assert kept.opened_at.startswith("20")
    assert ledger.history() == ()
    assert ledger.total() is None
    assert ledger.spent(0.0) == 0.0
    assert "patients" in ledger.identity
    assert "postgres:" not in repr(ledger)


def test_a_charge_is_there_for_everybody_who_opens_the_books(place):
    ledger = made(place)
    receipt = ledger.charge(pure(0.75), purpose="a mean")
    other = Ledger(place)
    (entry,) = other.history()
    assert (entry.number, entry.guarantee, entry.purpose) == (1, pure(0.75), "a mean")
    assert (entry.state, entry.part, entry.digest) == (State.RESERVED, None, receipt.digest)
    assert "@" in entry.actor
    assert entry.version
    assert round(other.remaining(0.0), 6) == 0.25
    with pytest.raises(BudgetExceeded, match=r"still release epsilon 0\.25; .* No row was read"):
        other.charge(pure(0.5))
    assert len(ledger.history()) == 1


def test_the_life_of_a_charge(place):
    ledger = made(place)
    receipt = ledger.charge(pure(0.25))
    receipt.redeem()
    assert states(ledger) == [State.OPENED]
    with pytest.raises(ReceiptError, match="is opened; only one that is reserved"):
        receipt.redeem()
    with pytest.raises(ReceiptError, match="can become refunded"):
        ledger.refund(receipt)
    with pytest.raises(InputError, match="released or failed"):
        ledger.settle(receipt, State.OPENED)
    ledger.settle(receipt, State.RELEASED)
    with pytest.raises(ReceiptError):
        ledger.settle(receipt, State.FAILED)
    other = ledger.charge(pure(0.25))
    ledger.refund(other)
    with pytest.raises(ReceiptError):
        other.redeem()
    assert states(ledger) == [State.RELEASED, State.REFUNDED]
    assert round(ledger.remaining(0.0), 6) == 0.75
    assert ledger.verify().is_sound


def test_a_charge_whose_process_is_gone_can_be_refunded_by_its_number(place):
    ledger = made(place)
    lost, opened = ledger.charge(pure(0.25)), ledger.charge(pure(0.25))
    opened.redeem()
    again = Ledger(place)
    assert [entry.number for entry in again.refundable()] == [1]
    again.refund(1)
    with pytest.raises(ReceiptError, match="is refunded"):
        lost.redeem()  # it turns up late, and opens nothing
    for number in (2, 1, 3):
        with pytest.raises(ReceiptError):
            again.refund(number)
    for number in (0, -1, 2**70, True, 1.0, "1"):
        with pytest.raises((InputError, InputTypeError)):
            again.refund(number)
    assert states(again) == [State.REFUNDED, State.OPENED]
    assert again.verify().is_sound


def test_forged_and_foreign_receipts_open_nothing(place, tmp_path):
    ledger = made(place, 2.0)
    receipt = ledger.charge(pure(0.5))
    elsewhere = made(tmp_path / "other.db", 2.0).charge(pure(0.5))
    for forged in (
        Receipt(1, pure(0.5), ledger, "0" * 32),
        Receipt(1, pure(0.25), ledger, receipt.token),
        Receipt(2, pure(0.5), ledger, receipt.token),
        Receipt(1, pure(0.5), MemoryLedger(Budget(1.0)), receipt.token),
        elsewhere,
    ):
        with pytest.raises(ReceiptError):
            ledger.redeem(forged)
    assert states(ledger) == [State.RESERVED]


def test_a_fit_is_charged_opened_and_released(place):
    ledger = made(place, 1.0, 1e-6)
    model = LogisticRegression(epsilon=0.5, delta=1e-7, ledger=ledger, data_norm=1.0).fit(X, Y)
    assert states(ledger) == [State.RELEASED]
    assert model.release_.receipt_number == 1
    with pytest.raises(BudgetExceeded):
        clone(model).fit(X, Y).fit(X, Y)
    assert len(ledger.history()) == 2 - (ledger.history()[-1].number == 1)


def test_copies_clones_and_pickles_are_the_same_ledger(place):
    ledger = made(place, parts=["north", "south"])
    for same in (copy.copy(ledger), copy.deepcopy(ledger), pickle.loads(pickle.dumps(ledger))):
        same.charge(pure(0.25))
    assert len(ledger.history()) == 3
    assert pickle.loads(pickle.dumps(ledger.for_part("north"))).part == "north"
    assert clone(LinearClassifier(ledger=ledger, data_norm=1.0)).ledger is ledger


def test_another_process_charges_the_same_books(place):
    made(place, 1.0, dataset="patients")
    code = (
        "import sys; from discreet.ledger import Ledger; from discreet.privacy import *;"
        "Ledger(sys.argv[1]).charge(Guarantee(Pure(0.75), AddRemoveOne()))"
    )
    subprocess.run([sys.executable, "-c", code, place], check=True)
    with pytest.raises(BudgetExceeded):
        Ledger(place).charge(pure(0.5))


def test_several_data_sets_have_budgets_of_their_own(place):
    made(place, 1.0, dataset="patients").charge(pure(1.0))
    visits = made(place, 2.0, dataset="visits", unit="replace")
    visits.charge(Guarantee(Pure(2.0), ReplaceOne()))
    assert [each.name for each in Ledger.datasets(place)] == ["patients", "visits"]
    with pytest.raises(InputError, match=r"several data sets: 'patients', 'visits'. Say which"):
        Ledger(place)
    with pytest.raises(InputError, match="has no data set 'cats'"):
        Ledger(place, "cats")
    with pytest.raises(InputError, match=r"already.*Budgets are never reset"):
        made(place, 9.0, dataset="patients")
    assert all(Ledger(place, name).verify().is_sound for name in ("patients", "visits"))


def test_parts_are_charged_apart_and_the_whole_with_each(place):
    ledger = made(place, 1.0, parts=["north", "south"])
    north, south = ledger.for_part("north"), Ledger(place, part="south")
    north.charge(pure(0.75))
    south.charge(pure(0.5))
    assert [round(each.remaining(0.0), 6) for each in (north, south, ledger)] == [0.25, 0.5, 0.25]
    with pytest.raises(BudgetExceeded):
        ledger.charge(pure(0.375))
    ledger.charge(pure(0.25))
    with pytest.raises(BudgetExceeded):
        north.charge(pure(0.001))
    south.charge(pure(0.25))
    assert round(ledger.spent(0.0), 6) == round(north.spent(0.0), 6) == 1.0
    assert [entry.part for entry in ledger.history()] == ["north", "south", None, "south"]
    assert ledger.verify().is_sound
    with pytest.raises(InputError, match="no part 'east' of this data set"):
        Ledger(place, part="east")


@pytest.mark.parametrize("parts", ["north", ["a", "a"], [""], [3]])
def test_parts_that_are_none_are_refused_and_nothing_is_made(tmp_path, parts):
    with pytest.raises((InputError, InputTypeError)):
        made(tmp_path / "p.db", parts=parts)
    assert list(tmp_path.iterdir()) == []


def test_parts_need_a_unit_that_changes_one_of_them(tmp_path):
    with pytest.raises(InputError, match="parts need the unit 'add_remove'"):
        made(tmp_path / "p.db", parts=["a", "b"], unit="replace")


@pytest.mark.parametrize("seed", range(2))
def test_it_admits_exactly_what_the_books_in_memory_admit(place, seed):
    generator = np.random.default_rng(seed)
    budget = Budget(float(generator.choice([0.5, 1.0, 3.0])), 1e-6)
    durable, memory = Ledger.create(place, budget), MemoryLedger(budget)
    admitted = 0
    for _ in range(16):
        size = float(generator.uniform(0.01, 0.4))
        request = [
            pure(size),
            Guarantee(Gaussian(size / 5), AddRemoveOne(), (), 1e-9),
            Guarantee(Laplace(size), AddRemoveOne()),
            Guarantee(Approximate(size, 1e-9), AddRemoveOne(), (), 1e-9),
            Guarantee(WithinDistance(Gaussian(size / 5), 2.0**-79), AddRemoveOne(), (), 1e-9),
        ][generator.integers(5)]
        answers = []
        for ledger in (memory, durable):
            try:
                receipt = ledger.charge(request)
                answers.append(True)
                if admitted % 7 == 3:
                    ledger.refund(receipt)
            except BudgetExceeded as refusal:
                answers.append(str(refusal))
        assert answers[0] == answers[1]
        admitted += answers[0] is True
    assert memory.remaining(1e-9) == durable.remaining(1e-9)
    assert admitted > 2
    assert durable.spent(1e-6) == memory.spent(1e-6)
    assert durable.verify().is_sound


def test_what_cannot_be_charged_is_refused_before_the_books_are_touched(place):
    ledger = made(place)
    head = ledger.verify().head
    for request, error in (
        (Guarantee(Pure(0.1), ReplaceOne()), UnitMismatch),
        (Guarantee(NoPrivacy(), AddRemoveOne()), RehearsalRefused),
        ("epsilon", InputTypeError),
    ):
        with pytest.raises(error):
            ledger.charge(request)
    for purpose in (3, "x" * 20_000, "a\0b", "\ud800"):
        with pytest.raises((InputError, InputTypeError)):
            ledger.charge(pure(0.1), purpose=purpose)
    assert ledger.verify().head == head


def test_a_missing_ledger_is_not_made_in_passing(tmp_path):
    with pytest.raises(LedgerError, match=r"no ledger at 'p.db'; make one"):
        Ledger(tmp_path / "p.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "where", ["", ":memory:", "sqlite://", "mysql://here/there", "://", "http://x", 7]
)
def test_an_address_that_is_none_is_refused(where):
    with pytest.raises((InputError, InputTypeError)):
        Ledger(where)


def test_a_server_that_is_not_there_is_named_without_the_password(tmp_path):
    with pytest.raises(LedgerError, match="no PostgreSQL server lets you in") as caught:
        Ledger(f"postgresql://me:secret@/books?host={tmp_path}")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"age,ward\n3,4\n", b"SQLite format 3\0" + b"\xff" * 4000]
)
def test_a_file_that_is_no_ledger_is_left_alone(tmp_path, content):
    path = tmp_path / "patients.csv"
    path.write_bytes(content)
    with pytest.raises(LedgerError):
        Ledger(path)
    assert path.read_bytes() == content
    if content:
        with pytest.raises(LedgerError):
            made(path)
        assert path.read_bytes() == content


def test_a_data_base_of_another_program_is_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with sql.create_engine(f"sqlite:///{path}").begin() as connection:
        connection.exec_driver_sql("CREATE TABLE cats (name TEXT)")
    for attempt in (lambda: Ledger(path), lambda: made(path)):
        with pytest.raises(LedgerError):
            attempt()
    with sql.create_engine(f"sqlite:///{path}").connect() as connection:
        assert sql.inspect(connection).get_table_names() == ["cats"]


def test_a_folder_and_a_missing_folder_are_no_places(tmp_path):
    for where in (tmp_path, tmp_path / "missing" / "p.db"):
        for attempt in (lambda: Ledger(where), lambda: made(where)):  # noqa: B023
            with pytest.raises(LedgerError):
                attempt()
    assert list(tmp_path.iterdir()) == []


def test_older_books_are_brought_up_to_date_and_newer_ones_refused(place, monkeypatch):
    made(place).charge(pure(0.5))
    done = []
    monkeypatch.setattr(sql_tables, "FORMAT", 6)
    with pytest.raises(LedgerError, match="no way from format 4"):
        Ledger(place)
    monkeypatch.setattr(migration, "MIGRATIONS", {4: lambda _: done.append(1), 5: _add_a_column})
    assert len(Ledger(place).history()) == 1
    assert done == [1]
    Ledger(place).charge(pure(0.25))
    assert Ledger(place).verify().is_sound
    monkeypatch.setattr(sql_tables, "FORMAT", 4)
    with pytest.raises(LedgerError, match="has format 6; this version of discreet reads up to 4"):
        Ledger(place)


def _add_a_column(transaction):
    transaction.write("ALTER TABLE discreet_datasets ADD COLUMN colour TEXT")


def test_a_migration_that_fails_changes_nothing(place, monkeypatch):
    made(place).charge(pure(0.5))

    def fail(transaction):
        _add_a_column(transaction)
        raise LedgerError("no")

    monkeypatch.setattr(sql_tables, "FORMAT", 5)
    monkeypatch.setattr(migration, "MIGRATIONS", {4: fail})
    with pytest.raises(LedgerError):
        Ledger(place)
    monkeypatch.setattr(migration, "MIGRATIONS", {4: _add_a_column})
    assert len(Ledger(place).history()) == 1


def test_the_core_does_not_need_the_data_base():
    code = "import discreet, sys; print('sqlalchemy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_entries_are_json_that_anybody_can_read(tmp_path):
    ledger = made(tmp_path / "p.db", dataset="patients")
    ledger.charge(pure(0.5), purpose="a mean")
    with sql.create_engine(f"sqlite:///{tmp_path / 'p.db'}").connect() as connection:
        texts = connection.execute(sql.select(sql_tables.EVENTS.c.text)).scalars().all()
    declared, charged = map(json.loads, texts)
    assert declared["dataset"]["name"] == "patients"
    assert charged["guarantee"] == json.loads(pure(0.5).to_json())
    assert (charged["what"], charged["charge"], charged["purpose"]) == ("reserved", 1, "a mean")


def test_how_the_caller_writes_decimals_does_not_matter(tmp_path):
    ledger = Ledger.create(tmp_path / "books.db", Budget(1.0, 1e-6))
    with decimal.localcontext() as context:
        context.capitals, context.prec = 0, 3
        ledger.charge(Guarantee(Approximate(0.1, 1e-7), AddRemoveOne(), quoted_delta=1e-7))
    ledger.charge(Guarantee(Approximate(0.1, 1e-7), AddRemoveOne(), quoted_delta=1e-7))
    assert ledger.verify().is_sound


@pytest.mark.parametrize("end", [State.RELEASED, State.FAILED])
def test_books_do_not_tell_how_long_private_work_took(place, end):
    """Only what happens before rows are read has a time of its own."""
    ledger = made(place)
    receipt = ledger.charge(pure(0.5), purpose="")
    ledger.redeem(receipt)
    ledger.settle(receipt, end)
    with open_behind(place) as connection:
        texts = connection.execute(sql.text("SELECT text FROM discreet_events")).scalars().all()
    lines = [json.loads(text) for text in texts]
    times = {line["what"]: line["time"] for line in lines if "time" in line}
    assert times[end.value] == times[State.OPENED.value]

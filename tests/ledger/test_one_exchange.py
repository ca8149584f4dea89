"""Who is alone on a server charges in one exchange of messages; in a crowd it is two."""

from __future__ import annotations

import pytest

from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger import Ledger
from discreet.ledger.durable import high_water_mark
from discreet.ledger.durable.ledger_store import LedgerStore
from discreet.ledger.durable.sql_tables import DATASETS
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure
from support.behind import open_behind

pytestmark = pytest.mark.parametrize("place", ["postgresql"], indirect=True)


def pure(epsilon):
    return Guarantee(Pure(epsilon), AddRemoveOne())


@pytest.fixture
def exchanges(monkeypatch):
    """Record how each charge was written: alone (and whether it was), or in the queue."""
    told = []
    attempt, change = LedgerStore.attempt, LedgerStore.change

    def attempted(self, *asked):
        told.append("alone" if (done := attempt(self, *asked)) else "not alone")
        return done

    def changed(self, dataset):
        told.append("queue")
        return change(self, dataset)

    monkeypatch.setattr(LedgerStore, "attempt", attempted)
    monkeypatch.setattr(LedgerStore, "change", changed)
    return told


def test_who_is_alone_writes_at_once_and_who_is_not_waits(place, exchanges, monkeypatch):
    ledger = Ledger.create(place, Budget(1.0))
    for _ in range(4):
        ledger.charge(pure(2.0**-5))
    assert exchanges == ["queue", "queue", "alone", "alone"]
    with monkeypatch.context() as another_process:
        another_process.setattr(high_water_mark, "_marks", {})
        Ledger(place).charge(pure(2.0**-5))
    del exchanges[:]
    ledger.charge(pure(2.0**-5))
    ledger.charge(pure(2.0**-5))
    ledger.charge(pure(2.0**-5))
    assert exchanges == ["not alone", "queue", "queue", "alone"]
    found = ledger.verify()
    assert found.is_sound, found.problems
    assert (found.charges, ledger.remaining(0.0)) == (8, 0.75)


def test_a_refusal_is_decided_on_the_books_and_not_on_what_was_remembered(place, exchanges):
    ledger = Ledger.create(place, Budget(1.0))
    for _ in range(4):
        ledger.charge(pure(0.25))
    Ledger(place).refund(1)
    ledger.charge(pure(0.25))
    with pytest.raises(BudgetExceeded):
        ledger.charge(pure(0.25))
    assert exchanges[-2:] == ["queue", "queue"]


@pytest.mark.parametrize("what", ["balance", "facts"])
def test_who_is_alone_notices_a_changed_summary(place, exchanges, what):
    ledger = Ledger.create(place, Budget(1.0))
    for _ in range(3):
        ledger.charge(pure(0.25))
    assert exchanges[-1] == "alone"
    with open_behind(place) as connection:
        column = DATASETS.c[what]
        connection.execute(DATASETS.update().values({what: column + " "}))
    with pytest.raises(LedgerError, match=r"not what its history says|exchanged"):
        ledger.charge(pure(0.125))
    assert exchanges[-2:] == ["not alone", "queue"]

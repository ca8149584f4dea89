"""Books of format 1, whose summary nothing vouched for, are brought up to date or refused."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sql

from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger import Ledger, State
from discreet.ledger.durable import high_water_mark
from discreet.ledger.durable.hash_chain import BEGINNING, digest_of
from discreet.ledger.durable.sql_tables import BOOKS, DATASETS, EVENTS
from discreet.privacy import AddRemoveOne, Budget, Gaussian, Guarantee, Pure
from support.behind import open_behind

TRIGGERS = {"sqlite": "discreet_no_update", "postgresql": "discreet_append_only ON discreet_events"}


def pure(epsilon):
    return Guarantee(Pure(epsilon), AddRemoveOne())


@pytest.fixture
def older(place, monkeypatch):
    """Books of format 1 with half of the budget spent: what stands was written in another way."""
    ledger = Ledger.create(place, Budget(1.0, 1e-6), dataset="patients")
    receipt = ledger.charge(pure(0.5))
    receipt.redeem()
    ledger.settle(receipt, State.RELEASED)
    ledger.refund(ledger.charge(pure(0.25)))
    old_costs = [["0.5", "0.0", "0.0"], ["0.125", "0.0", "0.0"], ["inf", "0.0"]]
    with open_behind(place) as connection:
        connection.exec_driver_sql(f"DROP TRIGGER {TRIGGERS[connection.dialect.name]}")
        head = BEGINNING
        for line in connection.execute(sql.select(EVENTS).order_by(EVENTS.c.line)).all():
            document = json.loads(line.text)
            del document["books"]
            if "costs" in document:
                document["costs"] = old_costs
            text = json.dumps(document, sort_keys=True, separators=(",", ":"))
            head = digest_of(head, text)
            connection.execute(
                EVENTS.update().where(EVENTS.c.line == line.line).values(text=text, digest=head)
            )
        balance = json.dumps({"": {"count": 1, "costs": old_costs}})
        connection.execute(DATASETS.update().values(head=head, balance=balance))
        connection.execute(BOOKS.update().values(format=1))
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(
                "CREATE TRIGGER discreet_no_update BEFORE update ON discreet_events "
                "BEGIN SELECT RAISE(ABORT, 'the history is never changed'); END"
            )
        else:
            connection.exec_driver_sql(
                "CREATE TRIGGER discreet_append_only BEFORE UPDATE OR DELETE ON discreet_events "
                "FOR EACH ROW EXECUTE FUNCTION discreet_refuse()"
            )
    monkeypatch.setattr(high_water_mark, "_marks", {})
    return place


def test_older_books_keep_what_was_spent_and_go_on(older):
    ledger = Ledger(older)
    assert ledger.remaining(0.0) == 0.5
    assert [entry.state for entry in ledger.history()] == [State.RELEASED, State.REFUNDED]
    assert all(found.is_sound for found in Ledger.verify_all(older))
    third = ledger.charge(pure(0.25))
    ledger.charge(Guarantee(Gaussian(0.01), AddRemoveOne()))
    ledger.refund(third)  # adds up charges of both formats
    found = ledger.verify()
    assert found.is_sound, found.problems
    assert (found.lines, found.charges) == (10, 4)
    with pytest.raises(BudgetExceeded):
        ledger.charge(pure(0.5000001))


def test_a_summary_that_was_changed_before_is_not_believed(older):
    with open_behind(older) as connection:
        balance = connection.execute(sql.select(DATASETS.c.balance)).scalar_one()
        connection.execute(DATASETS.update().values(balance=balance.replace("0.5", "0.0")))
    assert Ledger(older).remaining(0.0) == 0.5  # worked out from the history


@pytest.mark.parametrize("changed", [{"lines": 3}, {"head": "0"}, {"facts": "{}"}], ids=str)
def test_books_that_disagree_with_themselves_are_not_brought_up_to_date(older, changed):
    with open_behind(older) as connection:
        connection.execute(DATASETS.update().values(changed))
    for _ in range(2):
        with pytest.raises(LedgerError, match="not sound and cannot be brought up to date"):
            Ledger(older)


def test_lines_without_a_seal_cannot_follow_sealed_ones(place):
    ledger = Ledger.create(place, Budget(1.0))
    ledger.charge(pure(0.25))
    with open_behind(place) as connection:
        line = connection.execute(sql.select(EVENTS).where(EVENTS.c.line == 2)).one()
        document = json.loads(line.text) | {"line": 3, "charge": 2}
        del document["books"]
        text = json.dumps(document, sort_keys=True)
        values = {"dataset": 1, "line": 3, "charge": 2, "what": "reserved", "text": text}
        head = digest_of(line.digest, text)
        connection.execute(EVENTS.insert().values(**values, digest=head))
        connection.execute(DATASETS.update().values(head=head, lines=3, charges=2))
    assert any("another summary" in problem for problem in ledger.verify().problems)
    with pytest.raises(LedgerError):
        ledger.charge(pure(0.25))

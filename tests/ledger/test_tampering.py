"""Whatever is changed in the stored books, verification finds it."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sql

from discreet.errors import LedgerError
from discreet.ledger import Ledger, State
from discreet.ledger.chain import digest_of
from discreet.ledger.store import Store
from discreet.ledger.tables import DATASETS, EVENTS
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure

TRIGGERS = {
    "sqlite": ["DROP TRIGGER discreet_no_update", "DROP TRIGGER discreet_no_delete"],
    "postgresql": ["DROP TRIGGER discreet_append_only ON discreet_events"],
}


@pytest.fixture
def ledger(place):
    made = Ledger.create(place, Budget(2.0), dataset="patients", parts=["north", "south"])
    opened, _reserved, refunded = (
        made.charge(Guarantee(Pure(0.5), AddRemoveOne()), purpose=word) for word in "abc"
    )
    opened.redeem()
    made.settle(opened, State.RELEASED)
    made.refund(refunded)
    made.for_part("north").charge(Guarantee(Pure(0.25), AddRemoveOne()))
    assert made.verify().is_sound
    return made


def change(place, *statements):
    """Change the stored books as somebody could who owns the data base."""
    store = Store(place)
    with store.writing() as connection:
        for trigger in TRIGGERS[connection.dialect.name]:
            connection.exec_driver_sql(trigger)
        for statement in statements:
            connection.execute(statement)


def text_of(place, line):
    with Store(place).reading() as connection:
        query = sql.select(EVENTS.c.text).where(EVENTS.c.line == line)
        return connection.execute(query).scalar_one()


def test_sound_books_say_so(ledger):
    found = ledger.verify()
    assert (found.lines, found.charges) == (8, 4)
    assert found.head in found.sentence()
    assert "are sound: 8 lines, 4 charges" in found.sentence()


@pytest.mark.parametrize("line", [1, 2, 6, 8])
@pytest.mark.parametrize(
    ("column", "value"),
    [("text", None), ("digest", "0" * 64), ("charge", 9), ("what", "released")],
    ids=str,
)
def test_a_changed_cell_of_the_history_is_found(ledger, place, line, column, value):
    if (line, column) == (6, "what"):
        value = "failed"  # it was released
    if column == "text":
        value = text_of(place, line).replace("20", "21").replace('"a"', '"z"')
    change(place, EVENTS.update().where(EVENTS.c.line == line).values({column: value}))
    found = Ledger(place).verify() if line > 1 or column != "text" else ledger.verify()
    assert not found.is_sound
    assert "NOT sound" in found.sentence()


@pytest.mark.parametrize("line", [1, 4, 8])
def test_a_removed_line_is_found(ledger, place, line):
    change(place, EVENTS.delete().where(EVENTS.c.line == line))
    assert not ledger.verify().is_sound


@pytest.mark.parametrize(
    ("column", "value"),
    [("head", "0" * 64), ("lines", 7), ("charges", 3), ("name", "cats"), ("balance", "{}"),
     ("balance", "nothing"), ("facts", "{}"), ("facts", "nothing")],
)  # fmt: skip
def test_a_changed_summary_is_found(ledger, place, column, value):
    change(place, DATASETS.update().values({column: value}))
    assert not ledger.verify().is_sound


def test_a_raised_budget_is_found(ledger, place):
    facts = {**ledger.declared.to_json(), "epsilon": 20.0}
    change(place, DATASETS.update().values(facts=json.dumps(facts)))
    assert "the summary's declaration is not what the history says" in ledger.verify().problems


def test_a_history_rewritten_as_a_whole_is_found_by_a_digest_kept_elsewhere(ledger, place):
    digest = ledger.history()[1].digest
    assert ledger.verify(known=digest).is_sound
    with Store(place).reading() as connection:
        lines = connection.execute(sql.select(EVENTS).order_by(EVENTS.c.line)).all()
    before, statements = "discreet ledger 1", []
    for line in lines:
        text = line.text.replace('"purpose":"b"', '"purpose":"z"')
        before = digest_of(before, text)
        where = EVENTS.update().where(EVENTS.c.line == line.line)
        statements.append(where.values(text=text, digest=before))
    change(place, *statements, DATASETS.update().values(head=before))
    assert ledger.verify().is_sound
    assert ledger.verify(known=digest).problems == (
        "the history does not contain the digest that was kept",
    )


def test_a_cut_off_history_is_found_by_a_digest_kept_elsewhere(place):
    ledger = Ledger.create(place, Budget(1.0))
    before = ledger.verify()
    with Store(place).reading() as connection:
        kept = connection.execute(sql.select(DATASETS)).one()
    receipt = ledger.charge(Guarantee(Pure(1.0), AddRemoveOne()))
    change(
        place,
        EVENTS.delete().where(EVENTS.c.line == 2),
        DATASETS.update().values(
            head=kept.head, lines=kept.lines, charges=kept.charges, balance=kept.balance
        ),
    )
    assert ledger.verify() == before
    assert not ledger.verify(known=receipt.digest).is_sound


def forged_charge(place, guarantee, costs):
    """Add a second charge with digests and a summary as they should be."""
    with Store(place).reading() as connection:
        last = connection.execute(sql.select(EVENTS).where(EVENTS.c.line == 2)).one()
    document = {**json.loads(last.text), "guarantee": guarantee, "costs": costs}
    document |= {"line": 3, "charge": 2}
    text = json.dumps(document, sort_keys=True)
    digest = digest_of(last.digest, text)
    values = {"dataset": 1, "line": 3, "charge": 2, "what": "reserved", "text": text}
    change(
        place,
        EVENTS.insert().values(**values, digest=digest),
        DATASETS.update().values(head=digest, lines=3, charges=2),
    )


def test_a_charge_beyond_the_budget_is_found_though_every_digest_is_right(place):
    ledger = Ledger.create(place, Budget(1.0))
    ledger.charge(Guarantee(Pure(0.75), AddRemoveOne()))
    document = json.loads(text_of(place, 2))
    forged_charge(place, document["guarantee"], document["costs"])
    assert "line 3 was charged though the budget was spent" in ledger.verify().problems


def test_costs_below_those_of_the_guarantee_are_found_though_every_digest_is_right(place):
    ledger = Ledger.create(place, Budget(1.0))
    ledger.charge(Guarantee(Pure(0.25), AddRemoveOne()))
    dear = json.loads(Guarantee(Pure(0.5), AddRemoveOne()).to_json())
    forged_charge(place, dear, json.loads(text_of(place, 2))["costs"])
    assert "line 3 records other costs than its guarantee has" in ledger.verify().problems


def test_the_history_refuses_to_be_changed_by_accident(ledger, place):
    for statement in (EVENTS.update().values(what="refunded"), EVENTS.delete()):
        with (
            pytest.raises(LedgerError, match="is never changed"),
            Store(place).writing() as connection,
        ):
            connection.execute(statement)
    assert ledger.verify().is_sound

"""Whatever is changed in the stored books, verification finds it."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sql

from discreet.errors import LedgerError
from discreet.ledger import Anchor, Ledger, State
from discreet.ledger.durable import high_water_mark, summary
from discreet.ledger.durable.hash_chain import digest_of
from discreet.ledger.durable.ledger_store import LedgerStore
from discreet.ledger.durable.sql_tables import DATASETS, EVENTS
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure
from support.behind import open_behind

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
    with open_behind(place) as connection:
        for trigger in TRIGGERS[connection.dialect.name]:
            connection.exec_driver_sql(trigger)
        for statement in statements:
            connection.execute(statement)


def text_of(place, line):
    with open_behind(place) as connection:
        query = sql.select(EVENTS.c.text).where(EVENTS.c.line == line)
        return connection.execute(query).scalar_one()


def test_sound_books_say_so(ledger):
    found = ledger.verify()
    assert (found.lines, found.charges) == (8, 4)
    assert found.head in found.sentence()
    assert "is sound: 8 lines, 4 charges" in found.sentence()


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


@pytest.fixture
def forget(monkeypatch):
    """Return what makes this process as good as new: it has seen no line of any history."""
    return lambda: monkeypatch.setattr(high_water_mark, "_marks", {})


def test_a_history_rewritten_as_a_whole_is_found_by_a_digest_kept_elsewhere(ledger, place, forget):
    digest, anchor = ledger.history()[1].digest, ledger.anchor()
    assert ledger.verify(known=digest).is_sound
    with open_behind(place) as connection:
        lines = connection.execute(sql.select(EVENTS).order_by(EVENTS.c.line)).all()
    before, statements = "discreet ledger 1", []
    for line in lines:
        text = line.text.replace('"purpose":"b"', '"purpose":"z"')
        before = digest_of(before, text)
        where = EVENTS.update().where(EVENTS.c.line == line.line)
        statements.append(where.values(text=text, digest=before))
    change(place, *statements, DATASETS.update().values(head=before))
    assert ledger.verify().problems == ("the history lacks line 8 as this process has seen it",)
    with pytest.raises(LedgerError, match=r"lacks line 8 as this process has seen it"):
        ledger.charge(Guarantee(Pure(0.25), AddRemoveOne()))
    forget()
    assert ledger.verify().is_sound
    assert ledger.verify(known=digest).problems == (
        "the history does not contain the digest that was kept",
    )
    (problem,) = ledger.verify(anchors=[anchor]).problems
    assert problem.startswith("the history does not contain line 8 as it was anchored on 20")
    (problem,) = Ledger.verify_all(place, anchors=[anchor])[-1].problems[-1:]
    assert problem == "no history contains line 8 of 'patients' as it was anchored"


def test_a_cut_off_history_is_found_by_a_digest_kept_elsewhere(place, forget):
    ledger = Ledger.create(place, Budget(1.0))
    before = ledger.verify()
    with open_behind(place) as connection:
        kept = connection.execute(sql.select(DATASETS)).one()
    receipt = ledger.charge(Guarantee(Pure(1.0), AddRemoveOne()))
    anchor = ledger.anchor()
    change(
        place,
        EVENTS.delete().where(EVENTS.c.line == 2),
        DATASETS.update().values(
            head=kept.head, lines=kept.lines, charges=kept.charges, balance=kept.balance
        ),
    )
    assert not ledger.verify().is_sound  # this process has seen the line that is gone
    forget()
    assert ledger.verify() == before
    assert not ledger.verify(known=receipt.digest).is_sound
    assert not ledger.verify(anchors=[anchor]).is_sound


def forged_charge(place, guarantee, costs):
    """Add a second charge with digests and a summary as they should be."""
    with open_behind(place) as connection:
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


TAMPERED = {
    "a smaller balance": lambda s: {"balance": s.balance.replace("1.25", "0.25")},
    "no balance": lambda s: {"balance": s.balance.replace("1.25", "0").replace("1", "0")},
    "a larger budget": lambda s: {"facts": s.facts.replace('"epsilon": 2.0', '"epsilon": 20.0')},
    "fewer charges": lambda s: {"charges": s.charges - 1},
    "fewer lines": lambda s: {"lines": s.lines - 1},
    "another head": lambda _: {"head": "0" * 64},
}


@pytest.mark.parametrize("what", TAMPERED)
@pytest.mark.parametrize("is_known", [True, False], ids=["same process", "new process"])
def test_no_charge_is_decided_on_a_summary_that_was_changed(ledger, place, forget, what, is_known):
    receipt = ledger.charge(Guarantee(Pure(0.25), AddRemoveOne()))
    with open_behind(place) as connection:
        stored = connection.execute(sql.select(DATASETS)).one()
    changed = TAMPERED[what](stored)
    assert all(getattr(stored, name) != value for name, value in changed.items())
    with open_behind(place) as connection:
        connection.execute(DATASETS.update().values(changed))
    if not is_known:
        forget()
        ledger = Ledger(place)
    for attempt in (
        lambda: ledger.charge(Guarantee(Pure(0.75), AddRemoveOne())),
        lambda: ledger.refund(2),
        lambda: ledger.remaining(0.0),
        receipt.redeem,
    ):
        with pytest.raises(LedgerError, match=r"not what its history says|exchanged|lacks line"):
            attempt()
    assert not ledger.verify().is_sound
    with open_behind(place) as connection:  # put right, the books go on
        restored = {name: getattr(stored, name) for name in changed}
        connection.execute(DATASETS.update().values(restored))
    Ledger(place).charge(Guarantee(Pure(0.25), AddRemoveOne()))


def test_a_changed_last_line_is_noticed_by_the_next_charge(ledger, place, forget):
    text = text_of(place, 8).replace('"purpose":""', '"purpose":"x"')
    change(place, EVENTS.update().where(EVENTS.c.line == 8).values(text=text))
    forget()
    with pytest.raises(LedgerError, match="not what its history says"):
        Ledger(place).charge(Guarantee(Pure(0.25), AddRemoveOne()))


def test_a_last_line_forged_to_agree_with_a_forged_balance_is_found_by_verifying(
    ledger, place, forget
):
    # Whoever can write to the data base can make the last line and the summary agree again.
    with open_behind(place) as connection:
        stored = connection.execute(sql.select(DATASETS)).one()
        before = connection.execute(sql.select(EVENTS.c.digest).where(EVENTS.c.line == 7))
        before = before.scalar_one()
    balance = stored.balance.replace("1.25", "0.25")
    document = json.loads(text_of(place, 8))
    document["books"] = summary.seal(stored.facts, stored.charges, balance)
    text = json.dumps(document, sort_keys=True)
    digest = digest_of(before, text)
    change(
        place,
        EVENTS.update().where(EVENTS.c.line == 8).values(text=text, digest=digest),
        DATASETS.update().values(head=digest, balance=balance),
    )
    assert not ledger.verify().is_sound
    with pytest.raises(LedgerError, match="lacks line 8"):
        ledger.charge(Guarantee(Pure(0.25), AddRemoveOne()))
    forget()
    problems = Ledger(place).verify().problems
    assert "line 8 was written with another summary than the lines before it give" in problems


def test_an_anchor_of_other_books_with_the_same_name_is_not_found(ledger, place, tmp_path):
    other = Ledger.create(tmp_path / "other.db", Budget(2.0), dataset="patients")
    assert not ledger.verify(anchors=[other.anchor()]).is_sound
    foreign = Anchor("cats", "0", 1, "0", "2026")
    assert ledger.verify(anchors=[foreign]).problems == ("none of the anchors is of this data set",)
    assert ledger.verify(anchors=[foreign, ledger.anchor()]).is_sound
    assert not Ledger.verify_all(place, anchors=[foreign, ledger.anchor()])[-1].is_sound


def test_the_history_refuses_to_be_changed_by_accident(ledger, place):
    for statement in (EVENTS.update().values(what="refunded"), EVENTS.delete()):
        with (
            pytest.raises(LedgerError, match="is never changed"),
            LedgerStore(place).write() as transaction,
        ):
            transaction.write(statement)
    assert ledger.verify().is_sound

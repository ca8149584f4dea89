"""One store for all: one state is read, all or nothing is written, and nothing gets out."""

from __future__ import annotations

import logging
import os
import threading

import pytest
import sqlalchemy as sql

from discreet.errors import StoreError
from discreet.interaction.oracle_store import OracleStore
from discreet.ledger.durable.ledger_store import LedgerStore
from discreet.service.key_store import KeyStore
from discreet.storage.store import Store

TABLES = sql.MetaData()
NOTES = sql.Table(
    "discreet_notes",
    TABLES,
    sql.Column("number", sql.Integer, primary_key=True),
    sql.Column("text", sql.Text, nullable=False),
)
ALL = sql.select(NOTES).order_by(NOTES.c.number)
CANARY = "quetzal7351"


class Notes(Store):
    error, noun, content, mark, patience = StoreError, "note book", "the notes", NOTES, 20.0


class NotesInTheFile(Notes):
    flushes_log = False


@pytest.fixture(params=[Notes, NotesInTheFile])
def notes(request, place):
    store = request.param(place)
    store.prepare()
    with store.write() as transaction:
        transaction.make(TABLES)
        transaction.write(NOTES.insert(), {"number": 1, "text": "one"})
    yield store
    store.close()


def texts(store):
    with store.read() as transaction:
        return [line.text for line in transaction.fetch(ALL)]


def give_up(store, statement, line, again=()):
    """Write, and fail before it is committed."""
    with store.write() as transaction:
        transaction.write(statement, line)
        for more, facts in again:
            transaction.send(more, **facts)
        raise KeyError("what is not there")


def test_what_is_written_is_kept_as_a_whole_or_not_at_all(notes):
    with pytest.raises(KeyError):
        give_up(notes, NOTES.insert(), {"number": 2, "text": "two"})
    assert texts(notes) == ["one"]
    with notes.write() as transaction:
        lines = [{"number": number, "text": str(number)} for number in (2, 3)]
        transaction.write(NOTES.insert(), *lines)
        changed = transaction.write(NOTES.update().where(NOTES.c.number > 1).values(text="more"))
    assert (texts(notes), changed.rowcount) == (["one", "more", "more"], 2)


def test_a_reader_sees_one_state(notes):
    with notes.read() as transaction:
        before = transaction.fetch(ALL)
        with notes.single() as other:
            assert other.write(NOTES.update().values(text="changed")).rowcount == 1
        assert transaction.fetch(ALL) == before
    assert texts(notes) == ["changed"]


def test_writers_wait_for_one_another(notes):
    def add():
        for _ in range(5):
            with notes.write() as transaction:
                lock = "LOCK TABLE discreet_notes IN EXCLUSIVE MODE"
                if not notes.is_file:
                    transaction.send(lock)
                (line,) = transaction.fetch(ALL)
                transaction.write(NOTES.update().values(text=line.text + "."))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts(notes) == ["one" + "." * 20]


def test_nothing_that_is_written_reaches_an_error_or_a_log(notes, caplog):
    """A server quotes the values that a line has twice."""
    twice = {"number": 1, "text": CANARY}
    with caplog.at_level(logging.DEBUG):
        for way in (notes.write, notes.single):
            with pytest.raises(StoreError) as caught, way() as transaction:
                transaction.write(NOTES.insert(), twice)
            assert CANARY not in str(caught.value)
            assert caught.value.__cause__ is None
        again = [(NOTES.insert(), twice)] if not notes.is_file else []  # nobody waits for it
        with pytest.raises(KeyError):
            give_up(notes, NOTES.insert(), {"number": 2, "text": CANARY}, again=again)
    assert CANARY not in caplog.text
    assert texts(notes) == ["one"]


@pytest.mark.parametrize("kind", [LedgerStore, OracleStore, KeyStore])
@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_every_store_refuses_a_second_name_and_a_file_of_others(place, kind, tmp_path):
    store = kind(place)
    store.prepare()
    os.link(place, tmp_path / "second.db")
    with pytest.raises(kind.error, match="hard links"), store.read():
        pass
    (tmp_path / "second.db").unlink()
    other = Notes(place)
    with other.write() as transaction:
        transaction.make(TABLES)
    with pytest.raises(kind.error, match="another program"):
        store.prepare()


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_log_that_was_removed_is_noticed(place):
    store = KeyStore(place)
    store.make()
    store.check()
    for ending in ("-wal", "-shm"):
        os.unlink(f"{place}{ending}")
    with pytest.raises(store.error, match="the log of"):
        store.check()
    store.check()
    store.close()

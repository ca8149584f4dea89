"""Books that are exchanged, renamed, linked or forked under a process that uses them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
import sqlalchemy as sql

from discreet.errors import BudgetExceeded, InputError, LedgerError
from discreet.ledger import Ledger, State
from discreet.ledger.durable.sql_tables import BOOKS, DATASETS, EVENTS
from discreet.linear_model import LogisticRegression
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure
from support.behind import open_behind

X = np.random.default_rng(0).uniform(-1, 1, size=(60, 2))
Y = np.arange(60) % 2
forks = pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")


def pure(epsilon):
    return Guarantee(Pure(epsilon), AddRemoveOne())


def python(code, *arguments, **options):
    command = [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


RACE = """
import sys
from discreet.errors import InputError
from discreet.ledger import Ledger
from discreet.privacy import *
sys.stdin.readline()
try:
    ledger = Ledger.create(sys.argv[1], Budget(1.0))
    ledger.charge(Guarantee(Pure(1.0), AddRemoveOne()))
    print("made")
except InputError:
    print("was there")
"""


def test_of_many_who_make_the_same_books_one_does_and_loses_nothing(place):
    command = [sys.executable, "-W", "ignore", "-c", RACE, place]
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    racers = [subprocess.Popen(command, **options) for _ in range(2)]
    for racer in racers:
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = sorted(racer.communicate()[0].strip() for racer in racers)
    assert said == ["made", "was there"]
    with pytest.raises(BudgetExceeded):
        Ledger(place).charge(pure(0.5))
    with pytest.raises(InputError):
        Ledger.create(place, Budget(9.0))


FORKED = """
import os, sys, time
from discreet.ledger import Ledger
from discreet.privacy import *
ledger = Ledger(sys.argv[1])
charge = Guarantee(Pure(0.25), AddRemoveOne())
ledger.charge(charge)
reader, writer = os.pipe()
parent = os.getpid()
if os.fork() == 0:
    ledger.charge(charge)
    os.write(writer, b"1")
    while os.getppid() == parent:    # until it ends, and with it its connections
        time.sleep(0.01)
    ledger.charge(charge).redeem()
    os._exit(0)
os.read(reader, 1)
"""


@forks
def test_charges_of_a_forked_child_outlive_its_parent(tmp_path):
    path = tmp_path / "p.db"
    ledger = Ledger.create(path, Budget(1.0))
    assert python(FORKED, path).returncode == 0
    assert [entry.state for entry in _after(ledger, 3)] == [
        State.RESERVED,
        State.RESERVED,
        State.OPENED,
    ]
    with pytest.raises(BudgetExceeded):
        ledger.charge(pure(0.5))


def _after(ledger, count):
    """Return the history once it has so many entries, or after ten minutes."""
    waited = threading.Event()
    for _ in range(6000):
        if len(ledger.history()) >= count:
            break
        waited.wait(0.1)
    return ledger.history()


AMID = """
import os, sys, threading
from discreet.ledger.durable.ledger_store import LedgerStore
from discreet.errors import LedgerError
from discreet.ledger import Ledger
from discreet.privacy import *
ledger = Ledger(sys.argv[1])
inside, go_on = threading.Event(), threading.Event()
def work():
    with LedgerStore(sys.argv[1]).write():
        inside.set()
        go_on.wait()
thread = threading.Thread(target=work)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    try:
        ledger.charge(Guarantee(Pure(0.25), AddRemoveOne()))
    except LedgerError as error:
        os.write(1, str(error).encode())
    os._exit(0)
os.waitpid(child, 0)
go_on.set()
thread.join()
ledger.charge(Guarantee(Pure(0.25), AddRemoveOne()))
"""


@forks
def test_a_child_forked_amid_a_transaction_is_told_so_at_once(tmp_path):
    ledger = Ledger.create(tmp_path / "p.db", Budget(1.0))
    run = python(AMID, tmp_path / "p.db", timeout=600)
    assert "was forked while another thread used its ledger" in run.stdout
    assert run.returncode == 0, run.stderr
    assert len(ledger.history()) == 1


def test_a_file_put_in_the_place_of_the_books_is_noticed(tmp_path):
    path = tmp_path / "p.db"
    ledger = Ledger.create(path, Budget(1.0))
    ledger.charge(pure(0.25))
    os.rename(path, tmp_path / "old.db")
    with pytest.raises(LedgerError, match=r"no ledger at 'p.db' any more. No row was read"):
        ledger.charge(pure(0.25))
    assert not path.exists()
    for ending in ("-wal", "-shm"):
        (tmp_path / f"p.db{ending}").unlink(missing_ok=True)
    Ledger.create(path, Budget(1.0))
    with pytest.raises(LedgerError, match=r"was exchanged; open it again. No row was read"):
        ledger.charge(pure(0.25))
    assert Ledger(path).history() == ()


def test_books_put_in_the_place_of_others_are_noticed(place):
    ledger = Ledger.create(place, Budget(10.0))
    receipt = ledger.charge(pure(1.0))
    with open_behind(place) as connection:
        for table in (EVENTS, DATASETS, BOOKS):
            table.drop(connection)
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("DROP FUNCTION discreet_refuse")
    Ledger.create(place, Budget(1.0))
    for attempt in (lambda: ledger.charge(pure(8.0)), receipt.redeem):
        with pytest.raises(LedgerError, match="was exchanged"):
            attempt()


def test_books_of_a_newer_format_are_not_written_to_by_who_has_them_open(place):
    ledger = Ledger.create(place, Budget(1.0))
    receipt = ledger.charge(pure(0.25))
    with open_behind(place) as connection:
        connection.execute(BOOKS.update().values(format=5))
    for attempt in (lambda: ledger.charge(pure(0.25)), receipt.redeem):
        with pytest.raises(LedgerError, match="was migrated; open it again"):
            attempt()


def test_a_second_name_of_the_file_is_refused(tmp_path):
    path, other = tmp_path / "p.db", tmp_path / "q.db"
    ledger = Ledger.create(path, Budget(1.0))
    os.link(path, other)
    for attempt in (lambda: Ledger(other), lambda: ledger.charge(pure(0.25))):
        with pytest.raises(LedgerError, match="hard links"):
            attempt()
    other.unlink()
    ledger.charge(pure(0.25))


@pytest.mark.parametrize("name", ["q?x=1.db", "a#b.db", "50%25.db", "with space.db", "ä.db"])
def test_odd_names_lead_to_the_same_file(tmp_path, name):
    Ledger.create(tmp_path / name.partition("?")[0], Budget(99.0), parts=["n"])
    path = tmp_path / f"here {name}"
    ledger = Ledger.create(path, Budget(1.0), parts=["n"])
    for same in (Ledger(path), ledger.for_part("n"), pickle.loads(pickle.dumps(ledger))):
        assert same.budget == Budget(1.0)
    assert path.is_file()


def test_a_link_is_followed(tmp_path):
    Ledger.create(tmp_path / "p.db", Budget(1.0)).charge(pure(1.0))
    (tmp_path / "link.db").symlink_to(tmp_path / "p.db")
    with pytest.raises(BudgetExceeded):
        Ledger(tmp_path / "link.db").charge(pure(0.5))


@pytest.mark.parametrize("where", ["~nobody-of-that-name/p.db", "x" * 5000], ids=len)
def test_a_path_that_leads_nowhere_is_refused(where):
    with pytest.raises((InputError, LedgerError)):
        Ledger.create(where, Budget(1.0))


def test_only_receipts_open_rows_and_settle(place):
    ledger = Ledger.create(place, Budget(1.0))
    ledger.charge(pure(0.25))
    for attempt in (lambda: ledger.redeem(1), lambda: ledger.settle(1, State.RELEASED)):
        with pytest.raises(Exception, match="not written by this ledger"):
            attempt()
    assert ledger.history()[0].state is State.RESERVED


@pytest.mark.parametrize("is_error", [False, True])
def test_a_release_is_not_lost_if_the_books_cannot_be_reached_at_its_end(
    tmp_path, monkeypatch, is_error
):
    ledger = Ledger.create(tmp_path / "p.db", Budget(1.0))

    def away(*_):
        raise LedgerError("the disk is gone.")

    monkeypatch.setattr(Ledger, "settle", away)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error" if is_error else "always")
        model = LogisticRegression(epsilon=0.5, delta=0.0, ledger=ledger, data_norm=1.0).fit(X, Y)
    assert model.coef_.shape == (1, 2)
    assert [str(each.message) for each in caught] == [
        "how the release ended was not recorded: the disk is gone."
    ] * (not is_error)
    assert ledger.history()[0].state is State.OPENED


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [(DATASETS, "facts", "{"), (DATASETS, "facts", "{}"), (DATASETS, "facts", DEEP),
     (DATASETS, "balance", DEEP), (DATASETS, "balance", "[]"), (EVENTS, "text", DEEP),
     (EVENTS, "text", "{}"), (EVENTS, "what", "eaten")],
    ids=str,
)  # fmt: skip
def test_damaged_books_are_reported_and_never_charged(place, table, column, value):
    ledger = Ledger.create(place, Budget(1.0), dataset="one")
    Ledger.create(place, Budget(1.0), dataset="two")
    ledger.charge(pure(0.25))
    is_first = (DATASETS.c.id if table is DATASETS else EVENTS.c.dataset) == 1
    with open_behind(place) as connection:
        if table is EVENTS:
            for trigger in ("discreet_no_update", "discreet_append_only ON discreet_events"):
                if (connection.dialect.name == "sqlite") != ("ON" in trigger):
                    connection.exec_driver_sql(f"DROP TRIGGER {trigger}")
        connection.execute(table.update().where(is_first).values({column: value}))
    found = Ledger.verify_all(place)
    assert not found[0].is_sound
    assert found[1].is_sound
    assert Ledger(place, "two").charge(pure(0.25)).number == 1
    if table is DATASETS:
        with pytest.raises(LedgerError):
            ledger.charge(pure(0.25))
    else:
        with pytest.raises(LedgerError):
            ledger.history()


def test_a_data_set_without_its_summary_and_lost_triggers_are_reported(place):
    Ledger.create(place, Budget(1.0), dataset="one")
    Ledger.create(place, Budget(1.0), dataset="two")
    assert all(found.is_sound for found in Ledger.verify_all(place))
    with open_behind(place) as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("DROP TRIGGER discreet_no_delete")
            connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
            connection.execute(EVENTS.delete().where(EVENTS.c.dataset == 1))
            connection.execute(DATASETS.delete().where(DATASETS.c.id == 1))
        else:
            connection.exec_driver_sql("DROP TRIGGER discreet_append_only ON discreet_events")
            connection.execute(EVENTS.delete().where(EVENTS.c.dataset == 1))
            connection.execute(DATASETS.delete().where(DATASETS.c.id == 1))
    found = Ledger.verify_all(place)
    assert [each.is_sound for each in found] == [False, True, False]
    assert found[0].problems == ("the summary is gone",)
    assert found[2].problems == ("the triggers that guard the history are gone",)


def test_two_copies_of_one_declaration_are_told_apart(place):
    Ledger.create(place, Budget(1.0), dataset="one")
    Ledger.create(place, Budget(1.0), dataset="two")
    with open_behind(place) as connection:
        facts = connection.execute(sql.select(DATASETS.c.facts).where(DATASETS.c.id == 1))
        connection.execute(
            DATASETS.update().where(DATASETS.c.id == 2).values(facts=facts.scalar_one())
        )
    assert [each.is_sound for each in Ledger.verify_all(place)] == [True, False]


def test_a_server_whose_default_isolation_is_stricter_admits_as_much(server):
    address = server.replace("?", "?options=-c%20default_transaction_isolation%3Dserializable&")
    ledger = Ledger.create(address, Budget(1.0), dataset="strict")
    answers = []

    def charge():
        for _ in range(4):
            answers.append(Ledger(address, "strict").charge(pure(2.0**-6)).number)

    threads = [threading.Thread(target=charge) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == list(range(1, 33))
    assert ledger.verify().is_sound

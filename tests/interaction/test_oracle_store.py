"""An oracle in a store: restarts, kills, two processes, other models, edits and full disks."""

from __future__ import annotations

import itertools
import logging
import os
import resource
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sql

from discreet.errors import PrivacyError, StoreError
from discreet.gate import reopen
from discreet.interaction import oracle_store
from discreet.interaction.oracle_store import ENTRIES, MODELS, STATES, OracleStore
from discreet.ledger import Ledger, MemoryLedger
from discreet.privacy import Budget
from discreet.storage.transaction import FileTransaction
from support.behind import open_behind
from support.oracles import LASTING, STEPS, begin, grid_of_points

SCRIPT = Path(__file__).parents[1] / "support" / "oracles.py"
on_disk = pytest.mark.parametrize("place", ["sqlite"], indirect=True)
both = pytest.mark.parametrize("name", LASTING)


def change(place, statement):
    """Change a store behind its back."""
    with open_behind(place) as connection:
        connection.execute(statement)


def count_rows(place):
    with open_behind(place) as connection:
        return connection.execute(sql.select(sql.func.count()).select_from(ENTRIES)).scalar_one()


@both
def test_an_oracle_that_starts_again_goes_on_where_it_stopped(place, name):
    oracle = begin(name, store=place)
    points = grid_of_points(8)
    told = oracle.ask(points[:4])
    again = reopen(place)
    assert again.n_answers == 4
    assert again.guarantee == oracle.guarantee
    assert again.ask(points[:4]) == told  # to the last bit
    more = again.ask(points)
    assert more[:4] == told
    assert oracle.ask(points) == more
    assert count_rows(place) == 8


def test_nothing_of_the_store_reaches_a_log(place, caplog):
    """Parameters and lines of statements hold the state of the noise."""
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, "sqlalchemy.engine"):
        sql.create_engine("sqlite://").connect().execute(sql.text("SELECT 4 + 4")).all()
        assert "4 + 4" in caplog.text  # other engines log as they did
        caplog.clear()
        begin(store=place).ask(grid_of_points(2))
        reopen(place).ask(grid_of_points(3))
    assert "sqlalchemy.engine.Engine" not in {record.name for record in caplog.records}
    assert "INSERT" not in caplog.text.upper()


@on_disk
def test_a_stored_oracle_answers_as_one_in_memory_does(place, monkeypatch):
    """The same noise gives the same answers, whether or not it starts again in between."""
    from discreet.noise import RehearsalNoise

    noise = RehearsalNoise(5)
    monkeypatch.setattr("discreet.noise.SystemNoise.words", lambda self: noise.words())
    points = grid_of_points(6)
    memory = begin()
    noise.__setstate__({"seed": 5, "calls": 100})
    whole = memory.ask(points)
    begin(store=place)
    noise.__setstate__({"seed": 5, "calls": 100})
    parts = []
    for point in points:
        calls = noise.__getstate__()
        taken = reopen(place)  # which looks whether there is noise
        noise.__setstate__(calls)
        parts += taken.ask(point[None, :])
    assert parts == whole


def test_two_processes_are_one_oracle(place):
    first = begin(store=place, max_answers=5)
    second = reopen(place)
    points = grid_of_points(7)
    one, two = first.ask(points[:3]), second.ask(points[2:5])
    assert one[2] == two[0]
    assert [each.status for each in first.ask(points[5:])] == ["frozen"] * 2
    assert (first.status, count_rows(place)) == ("frozen", 5)
    assert second.ask(points) == first.ask(points)


def test_freezing_is_seen_by_all(place):
    first = begin(store=place)
    second = reopen(place)
    first.ask(grid_of_points(2))
    first.freeze()
    assert {one.status for one in second.ask(grid_of_points(4))[2:]} == {"frozen"}
    assert second.status == "frozen"
    assert reopen(place).status == "frozen"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_process_killed_at_any_step_leaves_one_answer_for_each_point(place):
    begin(store=place, max_answers=12)
    told: dict[str, str] = {}
    for seed, step in enumerate((*STEPS, "none", "none")):
        command = [sys.executable, str(SCRIPT), place, step, str(seed % 3)]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert run.returncode == (0 if step == "none" else -9), run.stderr[-2000:]
        kept = len(reopen(place).look().value)
        assert kept % 5 == 0 or kept == 12  # a batch is kept as a whole, up to the cap
        for number, line in enumerate(run.stdout.splitlines()):
            assert told.setdefault(f"{seed % 3}, {number}", line) == line
    oracle = reopen(place)
    for seed in range(3):
        for number, answer in enumerate(oracle.ask(grid_of_points(5, seed))):
            line = f"{answer.value.hex()} {answer.status}"
            assert told.setdefault(f"{seed}, {number}", line) == line
    assert count_rows(place) <= 12


@on_disk
@pytest.mark.parametrize("step", ["_insert", "commit"])
def test_what_cannot_be_stored_is_not_told_and_asked_again(place, step, monkeypatch):
    oracle = begin(store=place)
    told = oracle.ask(grid_of_points(2))

    def fail(*_, **__):
        raise sqlite3.OperationalError("database or disk is full")

    target = (oracle_store, "_insert") if step == "_insert" else (FileTransaction, "commit")
    with monkeypatch.context() as patch:
        patch.setattr(*target, fail)
        with pytest.raises(StoreError, match="is full; make room"):
            oracle.ask(grid_of_points(4))
    assert oracle.n_answers == count_rows(place) == 2
    assert oracle.ask(grid_of_points(4))[:2] == told
    assert count_rows(place) == 4


@on_disk
def test_a_commit_of_unknown_outcome_is_no_answer_and_the_store_says(place, monkeypatch):
    oracle = begin(store=place)
    commit = FileTransaction.commit

    def commit_and_fail(self):
        commit(self)
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(FileTransaction, "commit", commit_and_fail)
        with pytest.raises(StoreError):
            oracle.ask(grid_of_points(2))
    assert oracle.n_answers == 0
    told = oracle.ask(grid_of_points(2))
    assert count_rows(place) == 2
    assert reopen(place).ask(grid_of_points(2)) == told


@on_disk
def test_whoever_takes_an_oracle_up_waits_for_the_disk_once_and_reads_from_then_on(
    place, monkeypatch
):
    """What a killed process left in the log may not have been flushed."""
    told = begin(store=place).ask(grid_of_points(2))
    commits, commit = [], FileTransaction.commit
    monkeypatch.setattr(FileTransaction, "commit", lambda self: commits.append(1) or commit(self))
    again = reopen(place)
    assert commits == [1]
    assert again.ask(grid_of_points(2)) == told
    again.refresh()
    assert commits == [1]


def log_of(place):
    return Path(f"{place}-wal").read_bytes()


@on_disk
@pytest.mark.parametrize("reason", ["taken up", "forked"])
def test_waiting_for_the_disk_writes_to_the_log(place, reason):
    """SQLite commits nothing where a line stays as it is, and would wait for nothing."""
    oracle = begin(store=place)
    oracle.ask(grid_of_points(2))
    with sqlite3.connect(place) as holder:  # keeps the log from being emptied
        holder.execute("BEGIN")
        holder.execute(f"SELECT * FROM {STATES.name}").fetchall()
        before = log_of(place)
        oracle.refresh()
        assert log_of(place) == before  # a plain read
        if reason == "forked":
            child = os.fork()
            if not child:
                os._exit(0)
            os.waitpid(child, 0)
            oracle.refresh()
        else:
            reopen(place)
        assert log_of(place) != before


@on_disk
def test_a_store_that_cannot_grow_does_not_tell_what_it_knows(place):
    """After a failure known points get no answer either: that would tell that they were asked."""
    oracle = begin(store=place)
    told = oracle.ask(grid_of_points(2))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with sqlite3.connect(place) as holder:
        holder.execute("BEGIN")
        holder.execute(f"SELECT * FROM {STATES.name}").fetchall()
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(log_of(place)), hard))
        try:
            for count in (3, 2, 3, 2):
                with pytest.raises(StoreError):
                    oracle.ask(grid_of_points(count))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert oracle.ask(grid_of_points(3))[:2] == told


@on_disk
def test_after_a_failure_nothing_is_told_until_something_can_be_written(place, monkeypatch):
    oracle = begin(store=place)
    told = oracle.ask(grid_of_points(2))

    def fail(*_, **__):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(FileTransaction, "commit", fail)
        for count in (3, 2):
            with pytest.raises(StoreError, match="is full"):
                oracle.ask(grid_of_points(count))
    assert oracle.ask(grid_of_points(2)) == told
    assert count_rows(place) == 2


EDITS = {
    "an answer": ENTRIES.update().where(ENTRIES.c.number == 2).values(value=0.25),
    "a secret": ENTRIES.update().where(ENTRIES.c.number == 1).values(secret=0.5),
    "a factor": ENTRIES.update().where(ENTRIES.c.number == 3).values(public=b"\0" * 24),
    "a status": ENTRIES.update().where(ENTRIES.c.number == 1).values(status="frozen"),
    "the last one left out": ENTRIES.delete().where(ENTRIES.c.number == 4),
    "one left out": ENTRIES.delete().where(ENTRIES.c.number == 2),
    "the number": STATES.update().values(answers=3),
    "the model": MODELS.update().values(model=b"\0" * 64),
    "the facts": MODELS.update().values(facts="{}"),
}


@on_disk
@pytest.mark.parametrize("edit", EDITS)
def test_what_was_changed_is_refused(place, edit):
    oracle = begin(store=place)
    oracle.ask(grid_of_points(4))
    change(place, EDITS[edit])
    with pytest.raises(StoreError, match=r"cut off or changed|past was put back"):
        reopen(place).ask(grid_of_points(5))


def test_a_past_that_was_put_back_is_noticed_by_whoever_saw_more(place):
    oracle = begin(store=place)
    oracle.ask(grid_of_points(2))
    with open_behind(place) as connection:
        before = connection.execute(sql.select(STATES.c.answers, STATES.c.head)).one()
    oracle.ask(grid_of_points(4))
    change(place, ENTRIES.delete().where(ENTRIES.c.number > 2))
    change(place, STATES.update().values(answers=before.answers, head=before.head))
    for count in (6, 4):  # what it knows is not told either
        with pytest.raises(StoreError, match="past was put back"):
            oracle.ask(grid_of_points(count))


@on_disk
def test_the_store_of_another_model_is_refused(place, tmp_path):
    oracle = begin(store=place)
    oracle.ask(grid_of_points(1))
    other = tmp_path / "other.oracle"
    begin(store=other)
    for ending in ("", "-wal", "-shm"):
        source = Path(f"{other}{ending}")
        target = Path(f"{place}{ending}")
        target.unlink(missing_ok=True)
        if source.exists():
            os.replace(source, target)
    with pytest.raises(StoreError):
        oracle.ask(grid_of_points(2))


def test_a_place_holds_one_oracle_and_is_not_paid_for_twice(place):
    ledger = MemoryLedger(Budget(10.0, 1e-4))
    begin(store=place, ledger=ledger)
    with pytest.raises(StoreError, match="holds an oracle already"):
        begin(store=place, ledger=ledger)
    assert len(ledger.history()) == 1
    assert OracleStore(place).holds_oracle()


def test_nobody_else_can_make_one_meanwhile(place, monkeypatch):
    monkeypatch.setattr(OracleStore, "patience", 0.2)
    new = OracleStore(place).make()
    try:
        with pytest.raises(StoreError, match=r"somebody else is making|busy for 0.2 seconds"):
            OracleStore(place).make()
    finally:
        new.close()
    assert not OracleStore(place).holds_oracle()
    begin(store=place)


@on_disk
def test_a_model_that_could_not_be_stored_leaves_its_place_free(place, monkeypatch):
    def fail(*_, **__):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(FileTransaction, "commit", fail)
        with pytest.raises(StoreError, match="is full"):
            begin(store=place)
    begin(store=place)


@on_disk
def test_a_file_is_for_its_owner_alone(place):
    oracle = begin(store=place)
    oracle.ask(grid_of_points(1))
    for ending in ("", "-wal", "-shm"):
        assert stat.S_IMODE(os.stat(place + ending).st_mode) == 0o600
    os.chmod(place, 0o640)
    for attempt in (lambda: reopen(place), lambda: oracle.ask(grid_of_points(2))):
        with pytest.raises((PrivacyError, StoreError), match="others may read"):
            attempt()


@on_disk
def test_the_ledger_that_paid_is_compared(place, tmp_path):
    books = Ledger.create(tmp_path / "books.db", Budget(3.0, 1e-5))
    others = Ledger.create(tmp_path / "others.db", Budget(3.0, 1e-5))
    oracle = begin(store=place, ledger=books)
    assert reopen(place, ledger=books).look().ledger == oracle.look().ledger
    with pytest.raises(PrivacyError, match="another ledger"):
        reopen(place, ledger=others)


@on_disk
def test_files_that_hold_no_oracle_are_refused(place, tmp_path):
    Path(place).write_bytes(b"no data base at all, but some text that is long enough" * 10)
    os.chmod(place, 0o600)
    with pytest.raises(StoreError, match="another kind of file"):
        reopen(place)
    books = tmp_path / "books.db"
    Ledger.create(books, Budget(1.0, 1e-6))
    for path in tmp_path.glob("books.db*"):
        path.chmod(0o600)
    with pytest.raises(StoreError, match="another program"):
        begin(store=books)
    with pytest.raises(StoreError, match="there is no oracle"):
        reopen(tmp_path / "nothing")


@on_disk
def test_another_versions_plan_is_refused(place, monkeypatch):
    begin(store=place)
    monkeypatch.setattr("discreet.mechanisms.gaussian_process.GaussianProcessPlan.packed_format", 2)
    with pytest.raises(PrivacyError, match="planned it otherwise"):
        reopen(place)


def test_keys_belong_to_the_model(place):
    begin(store=place).ask(grid_of_points(3))
    with open_behind(place) as connection:
        rows = connection.execute(sql.select(ENTRIES)).mappings().all()
        identity = connection.execute(sql.select(MODELS.c.identity)).scalar_one()
    assert {row["model"] for row in rows} == {identity}
    assert len({row["key"] for row in rows}) == 3
    assert not any(
        first["key"] in second["key"] for first, second in itertools.permutations(rows, 2)
    )
    points = np.array([np.frombuffer(bytes(row["point"])) for row in rows])
    np.testing.assert_array_equal(points, grid_of_points(3))

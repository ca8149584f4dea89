"""What can be taken up again refuses a state that is older than what was told."""

from __future__ import annotations

import shutil
from contextlib import closing
from sqlite3 import connect

import pytest

from discreet import interact
from discreet.errors import InputError, PrivacyError, ReceiptError, StoreError
from discreet.gate import reopen, resume
from discreet.interaction.answer_record import SHARE, AnswerRecord, Seen
from discreet.ledger import Ledger, State
from discreet.ledger.durable import high_water_mark
from discreet.privacy import Budget
from support.batch_sums import BatchSums
from support.oracles import LASTING, begin, grid_of_points
from support.streams import BUDGET, STREAM, records

POINTS = grid_of_points(20)


def copy_store(source, target):
    """Copy a data base as it is now, as a backup would; or put a copy back."""
    target.touch(mode=0o600)
    with closing(connect(source)) as old, closing(connect(target)) as new:
        old.backup(new)
    return target


class StoredOracle:
    """An oracle of which a copy is kept before it answers."""

    error = StoreError

    def __init__(self, name):
        self.name = name

    def make_older(self, folder, *, told):
        """Answer so many points after a copy was made, and put the copy back."""
        ledger = Ledger.create(folder / "books.db", Budget(3.0, 1e-5))
        store = folder / "a.oracle"
        oracle = begin(self.name, store=str(store), ledger=ledger)
        oracle.ask(POINTS[:3])
        copy = copy_store(store, folder / "copy")
        oracle.ask(POINTS[: 3 + told])
        copy_store(copy, store)
        return lambda: reopen(store, ledger=Ledger(folder / "books.db"))


class SavedStream:
    """A stream that was saved, resumed and saved again; the first state is kept."""

    error = ReceiptError

    def make_older(self, folder, *, told):
        ledger = Ledger.create(folder / "books.db", Budget(3.0, 1e-5), unit="replace")
        X, y = records(100)
        live, path = interact(BatchSums(), STREAM, budget=BUDGET, ledger=ledger), folder / "s"
        live.learn(X[:10], y[:10])
        live.save(path)
        copy = shutil.copy(path, folder / "copy")
        live = resume(path, ledger=ledger)
        live.learn(X[10 : 10 + told], y[10 : 10 + told])
        live.save(folder / "newer")
        return lambda: resume(copy, ledger=ledger)


RESUMABLE = {**{name: StoredOracle(name) for name in LASTING}, "stream": SavedStream()}


@pytest.mark.parametrize("told", [1, 17])
@pytest.mark.parametrize("name", RESUMABLE)
def test_whatever_is_taken_up_again_refuses_an_older_state(tmp_path, name, told):
    kind = RESUMABLE[name]
    take_up = kind.make_older(tmp_path, told=told)
    for _ in range(2):
        with pytest.raises(kind.error, match=r"was put back|newer state of this interaction"):
            take_up()


def test_without_its_ledger_a_paid_oracle_is_not_taken_up(tmp_path):
    ledger = Ledger.create(tmp_path / "books.db", Budget(3.0, 1e-5))
    begin(store=str(tmp_path / "a.oracle"), ledger=ledger)
    with pytest.raises(PrivacyError, match="pass it as ledger="):
        reopen(tmp_path / "a.oracle")


def test_the_ledger_counts_answers_before_they_are_told(tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "books.db", Budget(3.0, 1e-5))
    oracle = begin(store=str(tmp_path / "a.oracle"), ledger=ledger)
    oracle.ask(POINTS[:4])
    (entry,) = ledger.history()
    assert (entry.state, entry.answers) == (State.ANSWERING, 4)
    moved = (tmp_path / "books.db").rename(tmp_path / "gone.db")
    with pytest.raises(StoreError, match="once the ledger knows of them"):
        oracle.ask(POINTS[:6])
    assert oracle.n_answers == 4
    moved.rename(tmp_path / "books.db")
    assert len(oracle.ask(POINTS[:6])) == 6
    assert ledger.history()[0].answers == 6
    assert ledger.verify().is_sound


def test_two_processes_that_answer_by_turns_are_no_rollback(tmp_path):
    ledger = Ledger.create(tmp_path / "books.db", Budget(3.0, 1e-5))
    store = tmp_path / "a.oracle"
    first = begin(store=str(store), ledger=ledger)
    second = reopen(store, ledger=ledger)
    for last in range(1, 7):
        (first, second)[last % 2].ask(POINTS[:last])
    assert ledger.history()[0].answers == 6
    assert reopen(store, ledger=ledger).n_answers == 6


def test_a_second_copy_that_is_asked_beside_the_first_is_refused(tmp_path):
    ledger = Ledger.create(tmp_path / "books.db", Budget(3.0, 1e-5))
    first = begin(store=str(tmp_path / "a.oracle"), ledger=ledger)
    first.ask(POINTS[:2])
    second = reopen(copy_store(tmp_path / "a.oracle", tmp_path / "copy"), ledger=ledger)
    first.ask(POINTS[:4])
    with pytest.raises(StoreError, match="was put back"):
        second.ask(POINTS[2:3])
    assert len(first.ask(POINTS[:5])) == 5


@pytest.mark.parametrize("more", [0, 1, 3])
def test_a_second_copy_is_refused_if_it_is_asked_as_much_as_the_first_or_more(tmp_path, more):
    ledger = Ledger.create(tmp_path / "books.db", Budget(3.0, 1e-5))
    first = begin(store=str(tmp_path / "a.oracle"), ledger=ledger)
    first.ask(POINTS[:2])
    second = reopen(copy_store(tmp_path / "a.oracle", tmp_path / "copy"), ledger=ledger)
    first.ask(POINTS[:4])
    for _ in range(2):
        with pytest.raises(StoreError, match="second copy"):
            second.ask(POINTS[: 4 + more])
    with pytest.raises(StoreError, match="second copy"):
        reopen(tmp_path / "copy", ledger=ledger)
    assert len(first.ask(POINTS[:9])) == 9
    assert ledger.verify().is_sound


def test_an_anchor_shows_a_store_and_a_ledger_that_were_put_back_together(tmp_path, monkeypatch):
    books, store = tmp_path / "books.db", tmp_path / "a.oracle"
    ledger = Ledger.create(books, Budget(3.0, 1e-5))
    oracle = begin(store=str(store), ledger=ledger)
    copies = copy_store(store, tmp_path / "one"), copy_store(books, tmp_path / "two")
    oracle.ask(POINTS[:1])
    anchor = ledger.anchor()
    copy_store(copies[0], store)
    copy_store(copies[1], books)
    monkeypatch.setattr(high_water_mark, "_marks", {})
    assert not Ledger(books).verify(anchors=[anchor]).is_sound


def test_a_count_that_does_not_grow_is_written_once_and_one_that_is_forged_is_seen(tmp_path):
    ledger = Ledger.create(tmp_path / "books.db", Budget(3.0, 1e-5))
    begin(store=str(tmp_path / "a.oracle"), ledger=ledger)
    lines = ledger.verify().lines
    for count in (5, 5, 3, 0):
        assert ledger.record_answers(1, count, f"of {count}") == (5, "of 5")
    for after in ("", "of 3"):
        assert ledger.record_answers(1, 6, "of 6", after=after) == (5, "of 5")
    assert (ledger.verify().lines, ledger.history()[0].answers) == (lines + 1, 5)
    assert ledger.record_answers(1, 6, "of 6", after="of 5") == (6, "of 6")
    with pytest.raises(ReceiptError, match="no charge 2"):
        ledger.record_answers(2, 1, "")
    with pytest.raises(InputError):
        ledger.record_answers(1, -1, "")


def test_one_in_a_thousand_answers_at_most_is_told_before_it_is_on_record():
    class Books:
        count = written = 0

        def record_answers(self, _, count, head, *, after):
            self.count, self.written = count, self.written + 1
            return count, head

    books = Books()
    record = AnswerRecord(books, 1)
    for count in range(1, 20_001):
        record.keep(Seen(count, str(count)), str)
        assert 0 <= count - books.count <= books.count // SHARE
        if count == SHARE:
            assert books.count == books.written == SHARE
    assert books.written < 5 * SHARE

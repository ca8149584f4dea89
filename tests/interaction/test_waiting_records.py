"""Single records wait in line, which nobody can tell; none is lost, counted twice or shown."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import signal
import sys
import threading

import numpy as np
import pytest

from discreet import Budget, Ledger, MemoryLedger, interact
from discreet.errors import InputError, InteractionEnded, LedgerError, SealedError
from discreet.gate import resume
from discreet.interaction.waiting_records import FAR, MOST_NUMBERS, MOST_WAITING, WaitingRecords
from discreet.ledger import State
from discreet.mechanisms import FollowTheLeader
from discreet.noise import RehearsalNoise
from discreet.questions import Stream
from support.batch_sums import BatchSums, BatchSumsSession
from support.streams import BUDGET, PROBLEM, misbehave, records

CANARY = 7654321.0625
LONG = Stream(PROBLEM, horizon=100_000, batch=8)


def begin(stream=LONG, mechanism=None, **options):
    given = {"budget": BUDGET, "unit": "zero_out", **options}
    return interact(mechanism or BatchSums(), stream, **given)


def exact(stream=LONG):
    """Without noise, so that what was learnt can be told."""
    return begin(stream, budget=Budget(np.inf, 1e-6))


def learn_each(live, X, y):
    for place in range(len(X)):
        live.learn(X[place : place + 1], y[place : place + 1])


def line_of(live):
    return live._Interaction__held.line


@pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
@pytest.mark.parametrize("mechanism", [BatchSums(), FollowTheLeader()], ids=lambda one: one.name)
def test_no_answer_depends_on_what_waits_nor_on_what_is_asked_when(mechanism):
    X, y = records(1500)
    whole, single = (begin(mechanism=mechanism, noise=RehearsalNoise(5)) for _ in range(2))
    generator, place, waited = np.random.default_rng(2), 0, 0
    while place < 1500:
        stop = min(1500, place + int(generator.choice([1] * 40 + [30])))
        single.learn(X[place:stop], y[place:stop])
        whole.learn(X[place:stop], y[place:stop])
        place = stop
        if generator.random() < 0.05:
            single.skip()
            whole.skip()
        waited = max(waited, line_of(single).count)
        whole.n_seen  # noqa: B018  # learns from all that waits
        assert line_of(whole).count == 0
        if generator.random() < 0.02:
            np.testing.assert_array_equal(single.answer(), whole.answer())
    assert waited > 20  # it is not in vain
    assert whole.n_seen == single.n_seen > 1500
    np.testing.assert_array_equal(single.freeze().value, whole.freeze().value)


def test_an_answer_is_new_as_soon_as_a_batch_is_full():
    X, y = np.tile([[0.5, 0.0, 0.0]], (17, 1)), np.ones(17)
    live, seen = exact(), []
    for place in range(17):
        live.learn(X[place : place + 1], y[place : place + 1])
        seen.append(float(live.answer()[0]))
    np.testing.assert_allclose(seen, [0.0] * 7 + [4.0] * 10)
    assert line_of(live).count == 1


def test_a_record_that_its_owner_overwrites_has_been_read():
    live, row, label = exact(), np.zeros((1, 3)), np.ones(1)
    for place in range(8):
        row[:], label[:] = [[0.25, 0.0, 0.0]], 1.0
        live.learn(row, label)
        assert (line_of(live).count > 0) == (place > 0)
        row[:], label[:] = CANARY, -1.0
    np.testing.assert_allclose(live.answer(), [2.0, 0.0, 0.0, 4.0])


def test_few_records_wait_and_wide_ones_fewer():
    live = begin()
    X, y = records(2 * MOST_WAITING)
    counts = []
    for place in range(len(X)):
        live.learn(X[place : place + 1], y[place : place + 1])
        counts.append(line_of(live).count)
    assert max(counts) == MOST_WAITING
    assert 0 in counts[1:]  # then all of them were learnt from
    assert live.n_seen == len(X)
    for width, room in ((MOST_NUMBERS // 4, 4), (MOST_NUMBERS + 1, 0)):
        line = WaitingRecords(width)
        line.open_unless_near(10**6)
        assert sum(line.join((np.zeros((1, 1)), None)) for _ in range(10)) == room


def test_the_first_record_opens_the_receipt_and_near_the_horizon_nobody_waits():
    ledger = MemoryLedger(Budget(2.0, 1e-5), "zero_out")
    horizon = FAR + MOST_WAITING + 4
    live = begin(Stream(PROBLEM, horizon=horizon, batch=8), ledger=ledger)
    X, y = records(8)
    assert not line_of(live).is_open
    live.learn(X[:1], y[:1])
    assert [entry.state for entry in ledger.history()] == [State.OPENED]
    assert line_of(live).is_open
    live.learn(*records(4))
    assert not line_of(live).is_open
    learn_each(live, X, y)
    assert line_of(live).count == 0
    live.learn(*records(horizon - live.n_seen))
    for attempt in (lambda: live.learn(X[:1], y[:1]), live.skip):
        with pytest.raises(InputError, match="declared with a horizon"):
            attempt()
    assert live.n_seen == horizon
    assert live.is_over


@pytest.mark.parametrize("ask", ["learn", "answer", "freeze", "n_seen", "skip"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_on_what_waits_is_the_same_sentence_and_the_end(ask, error, monkeypatch):
    ledger = MemoryLedger(Budget(2.0, 1e-5), "zero_out")
    live = begin(ledger=ledger)
    live.learn(*records(16))
    before = live.answer()

    def fail(session, X, y):
        raise error(f"cannot learn from {CANARY}")

    misbehave(monkeypatch, fail)
    learn_each(live, np.full((9, 3), CANARY), np.ones(9))
    acts = {
        "learn": lambda: live.learn(*records(2)),
        "skip": lambda: [live.skip() for _ in range(MOST_WAITING)],
        "n_seen": lambda: (live.n_seen, live.learn(*records(1))),
        "answer": live.answer,
        "freeze": live.freeze,
    }
    with pytest.raises(InteractionEnded, match="the private part stopped") as caught:
        acts[ask]()
    assert str(CANARY) not in repr(caught.value) + repr(live)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    monkeypatch.undo()
    assert [entry.state for entry in ledger.history()] == [State.FAILED]
    assert (line_of(live).count, live.n_seen, live.is_over) == (0, 16, True)
    with pytest.raises(InteractionEnded, match="the private part stopped"):
        live.learn(*records(1))
    np.testing.assert_array_equal(live.answer(), before)


def test_what_waits_is_shown_to_nobody():
    live = begin()
    live.learn(*records(1))
    live.learn(np.full((1, 3), CANARY), np.ones(1))
    line = line_of(live)
    assert line.count == 1
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy, list, len, np.asarray, hash):
        for secret in (line, live):
            with pytest.raises((SealedError, TypeError)) as caught:
                attempt(secret)
            assert str(CANARY) not in repr(caught.value)
    assert repr(line) == "<secret records>"
    assert not [name for name in dir(line) if name.lstrip("_") == "waiting"]
    public = [getattr(line, name) for name in dir(line) if not name.startswith("_")]
    assert not any(isinstance(value, list | np.ndarray) for value in public)
    ours = [one for one in gc.get_referrers(line) if type(one).__module__.startswith("discreet")]
    assert [repr(one) for one in ours] == ["<secret state>"]


def test_what_waits_is_saved_and_goes_on_where_it_is_resumed(tmp_path):
    books = Ledger.create(
        tmp_path / "books.db", Budget(1.0, 1e-5), unit="zero_out", dataset="a", protects="b"
    )
    live = begin(ledger=books)
    learn_each(live, *records(30))
    assert line_of(live).count > 20
    live.save(tmp_path / "state")
    assert (live.n_seen, line_of(live).count) == (30, 0)
    with pytest.raises(InteractionEnded, match="was saved"):
        live.learn(*records(1))
    again = resume(tmp_path / "state", ledger=books)
    learn_each(again, *records(30))
    assert again.n_seen == 60


# Threads: who joins the line when somebody else ends the interaction.


def elsewhere(act):
    """Do something in another thread, and wait for it."""
    told = []

    def work():
        try:
            act()
        except Exception as error:
            told.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return told


def meddle(monkeypatch, act, *, joins_before):
    """Let something happen in another thread while a record is put in line."""
    join = WaitingRecords.join

    def join_meanwhile(self, record):
        monkeypatch.setattr(WaitingRecords, "join", join)
        if joins_before:
            assert join(self, record)
            elsewhere(act)
        else:
            assert self.is_open  # somebody looks, and is slow to join
            elsewhere(act)
            self._WaitingRecords__waiting.append(record)
        return True

    monkeypatch.setattr(WaitingRecords, "join", join_meanwhile)


@pytest.mark.parametrize("end", ["freeze", "fail"])
def test_a_record_that_joins_before_the_end_is_learnt_from_and_one_after_it_refused(
    end, monkeypatch
):
    def stop(live):
        if end == "freeze":
            live.freeze()
            return
        with monkeypatch.context() as patch:
            patch.setattr(BatchSumsSession, "_skip", None)
            patch.setattr(WaitingRecords, "join", lambda *_: False)
            live.skip()

    X, y = records(1)
    for joins_before in (True, False):
        live = begin()
        live.learn(*records(5))
        meddle(monkeypatch, lambda live=live: stop(live), joins_before=joins_before)
        if joins_before and end == "freeze":
            live.learn(X, y)
            assert live.n_seen == 6
        else:
            with pytest.raises(InteractionEnded):
                live.learn(X, y)
            assert live.n_seen == (6 if joins_before else 5)
        assert line_of(live).count == 0


def test_a_record_that_joins_while_something_is_asked_is_learnt_from_once(monkeypatch):
    for joins_before in (True, False):
        live = begin()
        live.learn(*records(7))
        meddle(monkeypatch, live.answer, joins_before=joins_before)
        live.learn(*records(1))
        assert live.n_seen == 8


def test_a_record_that_joins_when_others_have_reached_the_horizon_is_refused_and_no_more(
    monkeypatch,
):
    horizon = FAR + 2 * MOST_WAITING
    live = begin(Stream(PROBLEM, horizon=horizon, batch=8))
    live.learn(*records(5))
    meddle(monkeypatch, lambda: live.learn(*records(horizon - 5)), joins_before=False)
    with pytest.raises(InputError, match="declared with a horizon"):
        live.learn(*records(1))
    assert (live.n_seen, line_of(live).count) == (horizon, 0)
    assert live.freeze().value is not None


def test_a_record_that_joins_a_state_nobody_knows_the_fate_of_waits_for_the_ledger(
    tmp_path, monkeypatch
):
    books = Ledger.create(
        tmp_path / "books.db", Budget(1.0, 1e-5), unit="zero_out", dataset="a", protects="b"
    )
    live = begin(ledger=books)
    live.learn(*records(5))

    def fail(*_):
        raise LedgerError("cannot be reached")

    def lose():
        with monkeypatch.context() as patch:
            patch.setattr(type(books), "hand_over", fail)
            patch.setattr(type(books), "reclaim", fail)
            live.save(tmp_path / "state")

    meddle(monkeypatch, lose, joins_before=False)
    live.learn(*records(1))  # the ledger can be reached again
    assert live.n_seen == 6
    assert not (tmp_path / "state").exists()


@pytest.fixture
def hasty_threads():
    """Let threads take turns far more often than usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_of_many_threads_no_record_is_lost_or_counted_twice(monkeypatch):
    learnt = []
    misbehave(monkeypatch, lambda session, X, y: learnt.extend(X[:, 0].tolist()))
    live = exact()
    values = np.arange(1, 1001) / 4096

    def feed(mine):
        for place, value in enumerate(mine):
            live.learn(np.array([[value, 0.0, 0.0]]), np.ones(1))
            if place % 5 == 0:
                live.answer()

    threads = [threading.Thread(target=feed, args=(values[k::4],)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert live.n_seen == 1000
    assert sorted(learnt) == values.tolist()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are POSIX's")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_has_none_of_the_records_that_wait():
    live = begin()
    learn_each(live, *records(10))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                live.learn(*records(1))
            except InteractionEnded as error:
                gone = line_of(live).count == 0
                code = 0 if gone and "a fork of it must not go on" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert live.n_seen == 10


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers are POSIX's")
def test_whoever_is_interrupted_anywhere_finds_in_n_seen_where_to_go_on():
    class Stop(BaseException):
        pass

    def stop(*_):
        raise Stop

    X, y = records(3000)
    live, alone = exact(), exact()
    alone.learn(X, y)
    generator, before = np.random.default_rng(1), signal.signal(signal.SIGALRM, stop)
    stops = 0
    try:
        while live.n_seen < len(X):
            begun = live.n_seen
            try:
                signal.setitimer(signal.ITIMER_REAL, float(generator.uniform(5e-4, 8e-3)))
                learn_each(live, X[begun:], y[begun:])
            except Stop:
                stops += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    except Stop:  # between two of them
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    begun = live.n_seen
    live.learn(X[begun:], y[begun:]) if begun < len(X) else None
    assert stops
    assert live.n_seen == len(X)
    np.testing.assert_array_equal(live.answer(), alone.answer())

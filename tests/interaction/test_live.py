"""An interaction learns, answers, ends, and shows nothing of its state, whatever happens."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import signal
import threading
import traceback
import warnings
from types import FrameType

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from discreet import Budget, Interaction, MemoryLedger, interact
from discreet.data import parquet_rows
from discreet.data.dense import ArraySource
from discreet.data.source import refuse_changed
from discreet.errors import (
    BudgetExceeded,
    EntropyError,
    InputError,
    InputTypeError,
    InteractionEnded,
    NotAccepted,
    RehearsalWarning,
    SealedError,
    SourceChanged,
)
from discreet.interaction.live import AT_ONCE
from discreet.ledger import State
from discreet.mechanisms import GaussianSum, Session
from discreet.noise import RehearsalNoise
from discreet.privacy import ReplaceOne
from discreet.questions import Stream
from discreet.record import Release
from support.batch_sums import BatchSums, BatchSumsPlan
from support.opened import open_rows
from support.streams import BOUNDS, BUDGET, PROBLEM, STREAM, misbehave, records

CANARY = 7654321.0625
LONG = Stream(PROBLEM, horizon=100_000, batch=8)


def begin(stream=STREAM, **options):
    return interact(BatchSums(), stream, **{"budget": BUDGET, **options})


def exact(stream=STREAM):
    """Without noise, so that what was learnt can be told."""
    return begin(stream, budget=Budget(np.inf, 1e-6))


def rehearse(stream=STREAM, seed=5):
    with pytest.warns(RehearsalWarning):
        return begin(stream, noise=RehearsalNoise(seed))


def transcript(X, y, stream=STREAM, seed=5):
    opened = open_rows(X, y, bounds=stream.bounds, unit="replace")
    return BatchSums().plan(stream, BUDGET, ReplaceOne()).run(opened, RehearsalNoise(seed))


def test_one_at_a_time_in_blocks_and_over_rows_the_answers_are_the_same():
    X, y = records(200)
    expected = transcript(X, y)
    single, blocks = rehearse(), rehearse()
    answers = []
    for x, label in zip(X, y, strict=True):
        single.learn(x[None], np.array([label]))
        if single.n_seen % 8 == 0:
            answers.append(single.answer())
    np.testing.assert_array_equal(answers, expected)
    for start, stop in ((0, 1), (1, 60), (60, 61), (61, 200)):
        blocks.learn(X[start:stop], y[start:stop])
    np.testing.assert_array_equal(blocks.answer(), expected[-1])
    assert single.is_over
    assert blocks.is_over


@pytest.mark.parametrize("kind", ["list", "frame", "sparse", "float32", "objects", "by columns"])
def test_records_come_in_any_container_and_are_read_alike(kind):
    X, y = records(64)
    X[5], X[6, 0] = 0.0, 1e30
    if kind == "float32":
        X = X.astype(np.float32).astype(float)
    made = {
        "list": lambda: (X.tolist(), y.tolist()),
        "frame": lambda: (pd.DataFrame(X), pd.Series(y)),
        "sparse": lambda: (sparse.csr_array(X), y),
        "float32": lambda: (X.astype(np.float32), y.astype(np.float32)),
        "objects": lambda: (X.astype(object), y.astype(object)),
        "by columns": lambda: (np.asfortranarray(X), y),
    }
    plain, other = exact(), exact()
    plain.learn(X, y)
    other.learn(*made[kind]())
    np.testing.assert_allclose(other.answer(), plain.answer(), rtol=0, atol=1e-8)
    assert other.n_seen == 64


def test_no_cell_is_an_error_and_spoilt_records_are_the_fixed_one():
    live, fixed = exact(), exact()
    live.learn([["x", None, 1.0], [np.inf, 0.0, 0.0], [0.5, 0.5, 0.5]], ["1", 1.0, 7])
    fixed.learn([[0.0] * 3] * 3, [1.0, 1.0, -1.0])
    live.learn(np.full((5, 3), np.nan), np.ones(5))
    fixed.learn(np.zeros((5, 3)), np.ones(5))
    np.testing.assert_allclose(live.answer(), fixed.answer(), atol=1e-8)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((2, 4)), np.ones(2), "X must have 3 columns, as declared; got 4"),
        (np.zeros((0, 3)), np.ones(0), "at least one row"),
        (np.zeros((2, 3)), np.ones(3), "one label for each row"),
        (np.zeros((2, 3)), None, "the bounds declare labels; pass y"),
        (np.zeros(3), np.ones(1), "X must"),
    ],
)
def test_shapes_that_were_not_declared_are_refused_and_nothing_is_learnt(X, y, message):
    live = begin()
    with pytest.raises((InputError, InputTypeError), match=message):
        live.learn(X, y)
    assert live.n_seen == 0


def test_after_the_horizon_it_refuses_to_learn_and_answers_for_ever():
    X, y = records(200)
    live = begin()
    live.learn(X[:190], y[:190])
    with pytest.raises(InputError, match="a horizon of 200 records; no more"):
        live.learn(X[:11], y[:11])
    assert live.n_seen == 190
    live.learn(X[:10], y[:10])
    assert live.is_over
    last = live.answer()
    with pytest.raises(InputError, match="a horizon of 200 records; no more"):
        live.learn(X[:1], y[:1])
    np.testing.assert_array_equal(live.answer(), last)
    np.testing.assert_array_equal(live.freeze().value, last)


def test_a_frozen_interaction_is_an_ordinary_release():
    ledger = MemoryLedger(Budget(2.0, 1e-5), "zero_out")
    live = begin(ledger=ledger, unit="zero_out", purpose="a stream")
    assert [entry.state for entry in ledger.history()] == [State.RESERVED]
    live.learn(*records(50))
    assert [entry.state for entry in ledger.history()] == [State.OPENED]
    made = live.freeze()
    assert [entry.state for entry in ledger.history()] == [State.RELEASED]
    assert live.freeze() is made
    assert made.is_private
    assert made.purpose == "a stream"
    assert made.guarantee == live.guarantee == live.receipt.guarantee
    assert made.receipt_number == live.receipt.number == 1
    again = Release.from_json(made.to_json())
    np.testing.assert_array_equal(again.value, made.value)
    with pytest.raises(InteractionEnded, match="frozen"):
        live.learn(*records(1))
    np.testing.assert_array_equal(live.answer(), made.value)
    assert live.is_over


def test_it_is_charged_once_and_before_anything():
    ledger = MemoryLedger(Budget(1.2, 1e-5), "replace")
    begin(ledger=ledger)
    spent = ledger.spent(1e-5)
    with pytest.raises(BudgetExceeded):
        begin(ledger=ledger)
    assert ledger.spent(1e-5) == spent > 0
    assert len(ledger.history()) == 1


def test_an_answer_that_is_changed_changes_nothing():
    live = begin()
    live.learn(*records(16))
    answer = live.answer()
    answer += 1e6
    assert np.abs(live.answer()).max() < 1e5


def test_only_interactive_mechanisms_and_declared_streams_are_taken():
    with pytest.raises(InputTypeError, match="mechanism"):
        interact(GaussianSum(), STREAM, budget=BUDGET)
    with pytest.raises(InputTypeError, match="question"):
        interact(BatchSums(), PROBLEM, budget=BUDGET)
    with pytest.raises(NotAccepted, match="add_remove"):
        begin(unit="add_remove")


def test_what_cannot_begin_is_refunded(monkeypatch):
    def fail(self, noise):
        raise RuntimeError(CANARY)

    monkeypatch.setattr(BatchSumsPlan, "start", fail)
    ledger = MemoryLedger(Budget(2.0, 1e-5), "replace")
    with pytest.raises(InteractionEnded) as caught:
        begin(ledger=ledger)
    assert str(CANARY) not in everything_told(caught.value)
    assert [entry.state for entry in ledger.history()] == [State.REFUNDED]


# What is secret stays so.


def everything_told(error):
    """All that an exception tells: its chain, its text, and the variables of its frames."""
    told = ["".join(traceback.format_exception(error)), repr(error), str(error.args)]
    assert error.__context__ is None
    assert error.__cause__ is None
    trace = error.__traceback__
    while trace is not None:
        values = trace.tb_frame.f_locals.values()
        assert not any(isinstance(value, Session) for value in values)
        if "src/discreet" in trace.tb_frame.f_code.co_filename:
            told += [repr(value) for value in values]
        trace = trace.tb_next
    return "\n".join(told)


def test_it_refuses_to_be_looked_at():
    live = begin()
    live.learn(np.full((3, 3), CANARY), np.ones(3))
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy, list, len, np.asarray, hash):
        with pytest.raises((SealedError, TypeError)) as caught:
            attempt(live)
        assert str(CANARY) not in everything_told(caught.value)
    with pytest.raises(TypeError):
        vars(live)
    assert repr(live) == str(live) == "<interaction: batch_sums, 3 of 200 records>"
    public = {name: getattr(live, name) for name in dir(live) if not name.startswith("_")}
    assert not any(isinstance(value, Session | np.ndarray) for value in public.values())
    for name in ("session", "state", "held", "noise", "plan"):
        assert not hasattr(live, name)


def test_no_public_attribute_of_anything_that_refers_to_a_session_shows_it():
    live = begin()
    live.learn(*records(3))
    sessions = [one for one in gc.get_objects() if isinstance(one, Session)]
    assert sessions
    for one in sessions:
        for holder in gc.get_referrers(one):
            if not isinstance(holder, list | FrameType):  # those of this test
                assert repr(holder) == "<secret state>"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_a_failure_inside_is_one_sentence_and_the_end(error, monkeypatch, capsys):
    ledger = MemoryLedger(Budget(2.0, 1e-5), "replace")
    live = begin(ledger=ledger)
    live.learn(*records(16))
    before = live.answer()

    def fail(session, X, y):
        warnings.warn(f"beware of {CANARY}", stacklevel=1)
        raise error(f"cannot learn from {CANARY}")

    misbehave(monkeypatch, fail)
    with pytest.raises(InteractionEnded) as caught:
        live.learn(np.full((1, 3), CANARY), np.ones(1))
    assert "the private part stopped" in str(caught.value)
    text = everything_told(caught.value) + repr(live) + "".join(capsys.readouterr())
    assert str(CANARY) not in text.replace(repr(np.full((1, 3), CANARY)), "")
    assert [entry.state for entry in ledger.history()] == [State.FAILED]
    monkeypatch.undo()
    for attempt in (lambda: live.learn(*records(1)), live.freeze):
        with pytest.raises(InteractionEnded, match="the private part stopped"):
            attempt()
    assert live.n_seen == 16
    np.testing.assert_array_equal(live.answer(), before)


def test_no_entropy_is_said_and_ends_it(monkeypatch):
    live = begin()

    def fail(session, X, y):
        raise EntropyError("no entropy")

    misbehave(monkeypatch, fail)
    with pytest.raises(EntropyError, match="no entropy") as caught:
        live.learn(*records(1))
    assert "fail" not in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    with pytest.raises(InteractionEnded):
        live.learn(*records(1))


def test_records_that_change_while_they_are_read_do_not_end_it(monkeypatch):
    live, read = begin(), ArraySource.prepare

    def fail(self, bounds):
        refuse_changed()

    monkeypatch.setattr(ArraySource, "prepare", fail)
    with pytest.raises(SourceChanged, match="the interaction goes on"):
        live.learn([[0.1, 0.2, 0.3]], [1])
    monkeypatch.setattr(ArraySource, "prepare", read)
    live.learn([[0.1, 0.2, 0.3]], [1])
    assert live.n_seen == 1


def test_stored_rows_are_a_stream_too(tmp_path):
    X, y = records(60)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=y)
    frame.to_parquet(tmp_path / "visits.parquet")
    stored, plain = exact(), exact()
    stored.learn(parquet_rows(tmp_path / "visits.parquet", ["a", "b", "c"], target="label"))
    plain.learn(X, y)
    np.testing.assert_allclose(stored.answer(), plain.answer(), atol=1e-8)
    assert stored.n_seen == 60
    more = exact(Stream(PROBLEM, horizon=50, batch=8))
    with pytest.raises(InputError, match="a horizon of 50 records"):
        more.learn(parquet_rows(tmp_path / "visits.parquet", ["a", "b", "c"], target="label"))
    assert more.n_seen == 0


def test_a_release_says_what_was_declared_about_the_stream():
    made = begin().freeze()
    (stream,) = [fact.words for fact in made.facts if fact.what == "stream"]
    assert stream.startswith("at most 200 records, each once, in rounds that are public")


def test_a_rehearsal_shows_its_error(monkeypatch):
    live = rehearse()

    def fail(session, X, y):
        raise ZeroDivisionError("of the author")

    misbehave(monkeypatch, fail)
    with pytest.raises(ZeroDivisionError, match="of the author"):
        live.learn(*records(1))
    with pytest.raises(InteractionEnded):
        live.learn(*records(1))


def test_what_is_warned_of_inside_is_not_seen(monkeypatch, recwarn):
    live = begin()
    misbehave(monkeypatch, lambda session, X, y: warnings.warn(f"{X}", stacklevel=1))
    live.learn(*records(20))
    assert live.n_seen == 20
    assert [str(one.message) for one in recwarn.list] == []


# Threads, forks and signals.


def test_threads_take_turns_and_nothing_is_lost_or_counted_twice():
    X, y = records(4000)
    live, alone = exact(LONG), exact(LONG)
    alone.learn(X, y)
    cuts = np.array_split(np.arange(4000), 80)

    def feed(mine):
        for places in mine:
            live.learn(X[places], y[places])

    threads = [threading.Thread(target=feed, args=(cuts[k::4],)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert live.n_seen == 4000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are POSIX's")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_does_not_go_on_and_has_no_state():
    live = begin()
    live.learn(*records(10))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                live.learn(*records(1))
            except InteractionEnded as error:
                gc.collect()  # what other tests left
                gone = not any(isinstance(one, Session) for one in gc.get_objects())
                code = 0 if gone and "a fork of it must not go on" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    live.learn(*records(10))
    assert live.n_seen == 20


@pytest.mark.parametrize("when", [0, 1, 3])
def test_an_interruption_leaves_whole_blocks_and_the_rest_can_be_given(when, monkeypatch):
    X, y = records(5 * AT_ONCE)
    live, alone = exact(LONG), exact(LONG)
    alone.learn(X, y)
    main = threading.main_thread().ident
    blocks = []

    def interrupt(session, X, y):
        blocks.append(len(X))
        if len(blocks) == when + 1:
            signal.pthread_kill(main, signal.SIGINT)
            while not told.is_set():  # until the caller has noticed
                told.wait(0.001)

    told = threading.Event()
    misbehave(monkeypatch, interrupt)

    def handler(*_):
        told.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            live.learn(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    everything_told(caught.value)
    seen = live.n_seen
    assert seen in ((when + 1) * AT_ONCE, (when + 2) * AT_ONCE)  # the next may have begun
    monkeypatch.undo()
    live.learn(X[seen:], y[seen:])
    np.testing.assert_array_equal(live.answer(), alone.answer())
    assert live.n_seen == alone.n_seen


def test_many_interactions_do_not_keep_threads():
    before = threading.active_count()
    for _ in range(30):
        begin().learn(*records(1))
    assert threading.active_count() <= before + 9


def test_the_class_is_exported():
    assert isinstance(begin(), Interaction)
    assert begin().question.bounds == STREAM.bounds
    assert BOUNDS.width == begin().answer().size

"""A signal, or several, at any step of a release: nothing of the private part comes out with it."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
import types

import numpy as np
import pytest

import discreet._own_thread
from discreet._own_thread import NoThread, Stoppable, Stopped, run_in_own_thread
from discreet.data import Bounds, Rows
from discreet.errors import EntropyError, LedgerError, ReleaseFailed
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.ledger import Ledger, MemoryLedger, State
from discreet.mechanisms import GaussianSum
from discreet.noise import SystemNoise
from discreet.privacy import Budget
from discreet.questions import VectorSum

CANARY = 0.27182818
BOUNDS = Bounds(L2Ball(1.0), 1)
PRIVATE = ("_private", "run", "gaussian", "prepare", "units", "sum")
PRIVATE_ROOMS = ("discreet.data", "discreet.gate", "discreet.mechanisms", "discreet.noise")
"""What is called in a private part only, and where; of a profile, units are asked in public."""

GATE = ("gate.py", "_own_thread.py")


class Failing(SystemNoise):
    """Fails in the midst of the private part, with a private number at hand."""

    def gaussian(self, count, bits):
        secret = CANARY + 0.0
        raise EntropyError if secret else ZeroDivisionError


class Slow(SystemNoise):
    """Takes a while, with a private number at hand."""

    def gaussian(self, count, bits):
        secret = CANARY + 0.0
        end = time.perf_counter() + 0.002
        while time.perf_counter() < end:
            secret += 0.0
        return super().gaussian(count, bits)


ROWS = Rows(np.full((3, 1), CANARY), bounds=BOUNDS)
"""Sealed before anything is interrupted: until then they are in the caller's own hands."""


def ask(noise, ledger):
    return release(
        GaussianSum(), VectorSum(BOUNDS), ROWS, budget=Budget(1.0, 1e-6), ledger=ledger, noise=noise
    )


def books():
    return MemoryLedger(Budget(2.0, 1e-5))


def at_rest():
    """Wait for private parts that were left to end by themselves.

    Python goes on listing a thread that an interruption kept from being started.
    """
    for thread in threading.enumerate():
        if thread.name == "discreet-private" and thread.ident is not None:
            thread.join(10)
            assert not thread.is_alive()


def states_at_rest(ledger):
    """Return what became of the charges, once private parts have ended that were left to.

    One of them may begin late: the thread of an interrupted caller is listed before it runs.
    """
    end = time.monotonic() + 10
    while True:
        at_rest()
        states = [entry.state for entry in ledger.history()]
        if State.OPENED not in states or time.monotonic() > end:
            return states
        time.sleep(0.001)


def holds_the_canary(value, depth=3):
    """Say whether a variable holds the private number, in it or in what it lists."""
    if isinstance(value, float | np.floating):
        return abs(abs(float(value)) - CANARY) < 1e-6 or abs(float(value) - 3 * CANARY) < 1e-6
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and any(map(holds_the_canary, value.ravel()[:10].tolist()))
    if depth and isinstance(value, list | tuple | set | dict):
        inside = value.values() if isinstance(value, dict) else value
        return any(holds_the_canary(one, depth - 1) for one in list(inside)[:20])
    return False


def frames_of(error):
    """Return every frame that can be reached from an error: its own, and of what it came after."""
    errors, seen, frames = [error], set(), {}
    while errors:
        one = errors.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        errors += [one.__context__, one.__cause__]
        trace = one.__traceback__
        while trace is not None:
            frame = trace.tb_frame
            while frame is not None and id(frame) not in frames:
                frames[id(frame)] = frame
                frame = frame.f_back
            trace = trace.tb_next
    return list(frames.values())


def private_frames(error):
    """Return where frames of a private part are, of those that an error leads to."""
    found = []
    for frame in frames_of(error):
        path, name = frame.f_code.co_filename, frame.f_code.co_name
        room = frame.f_globals.get("__name__", "")
        is_private = name in PRIVATE and room.startswith(PRIVATE_ROOMS)
        if is_private or any(map(holds_the_canary, frame.f_locals.values())):
            found.append(f"{name} ({path}:{frame.f_lineno})")
    return found


class Interrupter:
    """Raises as a signal would, at one step of the gate, and again at what is called next.

    Python stops tracing once that raises, and goes on profiling: so two can be sent.
    """

    def __init__(self, place, again):
        self._steps, self._place, self._again = 0, place, again

    def trace(self, frame, event, _):
        if not frame.f_code.co_filename.endswith(GATE):
            return None
        if event == "line":
            self._steps += 1
            if self._steps == self._place:
                if self._again:
                    sys.setprofile(self.profile)
                raise KeyboardInterrupt
        return self.trace

    def profile(self, frame, event, _):
        if event in ("call", "c_call") and frame.f_code.co_filename.endswith(GATE):
            raise KeyboardInterrupt

    @property
    def is_beyond(self):
        return self._steps < self._place


@pytest.fixture
def interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(interrupter, noise, ledger):
    """Return what a release raises while it is interrupted."""
    try:
        sys.settrace(interrupter.trace)
        ask(noise, ledger)
    except BaseException as error:
        return error
    finally:
        sys.settrace(None)
        sys.setprofile(None)


@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("noise", [Failing, Slow])
def test_no_interruption_of_the_gate_carries_anything_out(noise, again, monkeypatch):
    """At every step of it, and once more where the first one is dealt with.

    A step may be one of a destructor, of which Python passes on to a hook what is raised there.
    """
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    monkeypatch.setattr(discreet._own_thread, "PATIENCE", 0.001)
    place, raised = 1, set()
    while True:
        interrupter, ledger = Interrupter(place, again), books()
        error = interrupted(interrupter, noise(), ledger)
        if interrupter.is_beyond:
            break
        assert private_frames(error) == []
        raised.add(type(error))
        del error
        assert states_at_rest(ledger) in ([], [State.RESERVED], [State.FAILED], [State.RELEASED])
        place += 1
    assert place > 40  # so many steps there are at least
    assert KeyboardInterrupt in raised


def is_within(frame, function):
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


@pytest.mark.usefixtures("interrupts")
def test_timers_that_interrupt_again_and_again_carry_nothing_out(monkeypatch):
    """Three signals a fifth of a millisecond apart, at any moment of a release.

    Python passes what is raised in a destructor to a hook; that of pytest is not made for being
    interrupted itself.
    """
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    generator, raised = np.random.default_rng(3), []

    def again(number, frame):
        sent.append(number)
        if len(sent) < 4 and is_within(frame, ask):
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, again)
    try:
        for _ in range(80):
            ledger, sent, caught = books(), [], None
            try:
                signal.setitimer(signal.ITIMER_REAL, generator.uniform(1e-4, 4e-3), 2e-4)
                ask(Slow(), ledger)
            except BaseException as error:
                caught = error
            signal.setitimer(signal.ITIMER_REAL, 0)
            if caught is not None:
                raised.append(type(caught))
                assert private_frames(caught) == []
            del caught
            assert State.OPENED not in states_at_rest(ledger)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert KeyboardInterrupt in raised


@pytest.mark.usefixtures("interrupts")
def test_a_handler_does_not_see_the_frame_of_a_private_part():
    """Handlers get the frame that they came upon, and some of them print it."""
    found, inside = [], threading.Event()

    class Waiting(SystemNoise):
        def gaussian(self, count, bits):
            secret = CANARY + 0.0
            inside.set()
            time.sleep(0.1)
            return super().gaussian(count, bits) if secret else None

    def look(number, frame):
        while frame is not None:
            found.append(frame.f_code.co_name)
            assert not any(map(holds_the_canary, frame.f_locals.values()))
            frame = frame.f_back

    signal.signal(signal.SIGINT, look)
    sender = threading.Thread(target=lambda: (inside.wait(10), signal.raise_signal(signal.SIGINT)))
    sender.start()
    ask(Waiting(), books())
    sender.join()
    assert "release" in found
    assert "gaussian" not in found


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_an_interrupted_release_is_settled_before_the_interruption_goes_on(where, tmp_path):
    inside = threading.Event()

    class Endless(SystemNoise):
        def gaussian(self, count, bits):
            inside.set()
            while True:
                time.sleep(0.001)

    ledger = books()
    if where == "disk":
        ledger = Ledger.create(tmp_path / "books.db", Budget(2.0, 1e-5))
    sender = threading.Thread(target=lambda: (inside.wait(10), signal.raise_signal(signal.SIGINT)))
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        ask(Endless(), ledger)
    assert [entry.state for entry in ledger.history()] == [State.FAILED]
    assert not [one for one in threading.enumerate() if one.name == "discreet-private"]
    sender.join()


@pytest.mark.usefixtures("interrupts")
def test_what_a_handler_raises_comes_out_as_it_is():
    """A time limit set by an alarm is the caller's own, and says so."""

    class Late(Exception):
        pass

    def late(number, frame):
        raise Late("too slow")

    class Endless(SystemNoise):
        def gaussian(self, count, bits):
            while True:
                time.sleep(0.001)

    before = signal.signal(signal.SIGALRM, late)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Late, match="too slow"):
            ask(Endless(), books())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_failure_comes_with_nothing_attached():
    for noise, error in ((Failing(), EntropyError), (Broken(), ReleaseFailed)):
        ledger = books()
        with pytest.raises(error) as caught:
            ask(noise, ledger)
        assert private_frames(caught.value) == []
        assert (caught.value.__context__, caught.value.__cause__) == (None, None)
        assert [entry.state for entry in ledger.history()] == [State.FAILED]


class Broken(SystemNoise):
    """Raises something that quotes a private number."""

    def gaussian(self, count, bits):
        raise ZeroDivisionError(f"{CANARY}")


def test_no_frame_of_a_private_part_outlives_it():
    """Not even where an exception and its frames refer to one another."""
    with pytest.raises(ReleaseFailed):
        ask(Broken(), books())
    gc.collect()
    alive = [one for one in gc.get_objects() if isinstance(one, types.FrameType)]
    assert not [one for one in alive if one.f_code is Broken.gaussian.__code__]


def test_without_a_thread_nothing_is_read_and_the_charge_is_given_back(monkeypatch):
    def none_left(self):
        raise RuntimeError("can't start new thread")

    ledger = books()
    monkeypatch.setattr(threading.Thread, "start", none_left)
    monkeypatch.setattr("discreet.data.dense.ArraySource.prepare", lambda *_: pytest.fail("read"))
    with pytest.raises(NoThread, match="nothing was read"):
        ask(SystemNoise(), ledger)
    assert [entry.state for entry in ledger.history()] == [State.REFUNDED]


def test_what_a_handler_raises_while_the_thread_starts_is_for_the_caller(monkeypatch):
    start = threading.Thread.start

    def interrupted(self):
        start(self)
        raise RuntimeError("a time-out of the caller's")

    ledger = books()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(RuntimeError, match="a time-out of the caller's"):
            ask(SystemNoise(), ledger)
    (entry,) = ledger.history()
    assert entry.state in (State.RELEASED, State.FAILED)


def test_work_is_stopped_once_and_not_after_its_end():
    steps = []

    def work(stoppable):
        try:
            with stoppable:
                stoppable.stop()
                while True:
                    time.sleep(0.001)
        except Stopped:
            steps.append("stopped")
        stoppable.stop()
        for _ in range(10_000):
            pass
        return steps

    assert run_in_own_thread(work) == ["stopped"]


def test_work_that_was_stopped_before_it_began_does_not_begin():
    stoppable = Stoppable()
    stoppable.stop()
    with pytest.raises(Stopped), stoppable:
        pytest.fail("it began")


def test_a_fit_in_a_signal_handler_is_refused_in_the_midst_of_a_charge(monkeypatch):
    """It could neither wait for what it interrupts nor decide on the same balance."""
    ledger, refused = books(), []
    pay = ledger._account.pay

    def handle(*_):
        with pytest.raises(LedgerError, match="interrupted in the midst of a charge") as caught:
            ask(SystemNoise(), ledger)
        refused.append(caught)

    def interrupted(*arguments):
        paid = pay(*arguments)
        signal.raise_signal(signal.SIGUSR1)
        return paid

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        monkeypatch.setattr(type(ledger._account), "pay", lambda self, *given: interrupted(*given))
        ask(SystemNoise(), ledger)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(refused) == 1
    assert [entry.state for entry in ledger.history()] == [State.RELEASED]

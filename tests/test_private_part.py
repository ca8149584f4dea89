"""The private part is silent, can be interrupted, and nothing of it hangs on what comes out."""

from __future__ import annotations

import gc
import pickle
import signal
import sys
import threading
import time
import traceback
import types
import warnings
from collections import deque
from warnings import warn as bound_early

import cloudpickle
import numpy as np
import pytest

from discreet import _private_part
from discreet._parallel import map_in_order, prefetch
from discreet._private_part import THREAD, NoThread, call_privately, run_privately, silence
from discreet.data import Bounds, Rows
from discreet.data.stored.worker import run_quietly
from discreet.errors import EntropyError, LedgerError, ReleaseFailed
from discreet.gate import interact, release
from discreet.geometry import L2Ball
from discreet.ledger import Ledger, MemoryLedger, NoLedger, State
from discreet.linear_model import LogisticRegression
from discreet.losses import Logistic
from discreet.mechanisms import FollowTheLeader, GaussianSum
from discreet.noise import SystemNoise
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure
from discreet.questions import LabelSet, Problem, Stream, VectorSum

CANARY = 0.27182818
SECRET = "patient 17 earns 73519264"
BOUNDS = Bounds(L2Ball(1.0), 1)
PRIVATE = ("_private", "run", "gaussian", "prepare", "units", "sum")
PRIVATE_ROOMS = (
    *("discreet.data", "discreet.gate", "discreet.interaction", "discreet.mechanisms"),
    "discreet.noise",
)
"""What is called in a private part only, and where; of a profile, units are asked in public."""

ROWS = Rows(np.full((3, 1), CANARY), bounds=BOUNDS)
"""Sealed before anything is interrupted: until then they are in the caller's own hands."""


def warn_in_every_way():
    """Warn of a private value from Python and from C, where NumPy's own settings do not help."""
    warnings.warn(SECRET, stacklevel=1)
    warnings.warn(SECRET, DeprecationWarning, stacklevel=2)
    bound_early(SECRET, RuntimeWarning, stacklevel=1)
    warnings.warn_explicit(SECRET, UserWarning, "rows.csv", 17)
    np.array([73519264.0], dtype=np.complex128).astype(np.float64)  # C: ComplexWarning
    np.float64(1e300) * np.float64(1e300)  # C: RuntimeWarning
    np.log(np.array([-1.0]))
    with warnings.catch_warnings():  # as libraries do
        warnings.warn(SECRET, stacklevel=1)


class Talkative(SystemNoise):
    """Warns in the midst of the private part."""

    def gaussian(self, count, bits):
        warn_in_every_way()
        return super().gaussian(count, bits)


class Failing(SystemNoise):
    """Fails in the midst of the private part, with a private number at hand."""

    def __init__(self, error=EntropyError):
        super().__init__()
        self._error = error

    def gaussian(self, count, bits):
        secret = CANARY + 0.0
        raise self._error if secret else AssertionError


class Broken(SystemNoise):
    """Raises something that quotes a private number."""

    def gaussian(self, count, bits):
        raise ZeroDivisionError(f"{CANARY}")


class Slow(SystemNoise):
    """Takes a while, with a private number at hand."""

    def gaussian(self, count, bits):
        secret = CANARY + 0.0
        end = time.perf_counter() + 0.002
        while time.perf_counter() < end:
            secret += 0.0
        return super().gaussian(count, bits)


class Endless(SystemNoise):
    """Goes on until it is stopped, once it has said that it began."""

    def __init__(self, begun=lambda: None):
        super().__init__()
        self._begun = begun

    def gaussian(self, count, bits):
        secret = CANARY + 0.0
        self._begun()
        while secret:
            time.sleep(0.001)


def books():
    return MemoryLedger(Budget(2.0, 1e-5))


def ask(noise, ledger=None):
    return release(
        GaussianSum(), VectorSum(BOUNDS), ROWS, budget=Budget(1.0, 1e-6),
        ledger=books() if ledger is None else ledger, noise=noise,
    )  # fmt: skip


def states(ledger):
    return [entry.state for entry in ledger.history()]


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


# Silence


@pytest.mark.parametrize("action", ["error", "always", "default", "once", "module"])
def test_no_filter_of_the_caller_reaches_a_private_part(action, capfd):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        ledger = books()
        ask(Talkative(), ledger)
        kept = list(warnings.filters)
    assert states(ledger) == [State.RELEASED]
    assert caught == []
    assert kept[0][0] == action
    assert capfd.readouterr() == ("", "")


def test_the_module_of_warnings_is_what_it_was_after_a_fit():
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (40, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same, before, names = warnings.filters, list(warnings.filters), set(vars(warnings))
        LogisticRegression(1.0, 1e-6, data_norm=1.0, classes=[0, 1]).fit(X, X[:, 0] > 0)
        ask(Talkative())
        call_privately(warn_in_every_way)
        assert warnings.filters is same
        assert list(same) == before
        with pytest.raises(UserWarning):
            warnings.warn("mine", stacklevel=1)
    assert type(warnings) is types.ModuleType
    assert set(vars(warnings)) == names
    assert pickle.loads(cloudpickle.dumps(warnings)) is warnings


def test_what_the_caller_was_warned_of_is_not_said_again_after_a_fit():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            warnings.warn("mine", stacklevel=1)
            ask(SystemNoise())
    assert [str(one.message) for one in caught] == ["mine"]


@pytest.mark.parametrize("ends_first", ["first", "second"])
def test_two_releases_at_once_leave_the_warning_filters_alone(ends_first):
    in_first, in_second = threading.Event(), threading.Event()
    out = {"first": threading.Event(), "second": threading.Event()}

    def waiting(here, name):
        class Waiting(SystemNoise):
            def gaussian(self, count, bits):
                here.set()
                out[name].wait(600)
                warn_in_every_way()
                return super().gaussian(count, bits)

        return threading.Thread(target=ask, args=(Waiting(),))

    threads = {"first": waiting(in_first, "first"), "second": waiting(in_second, "second")}
    with warnings.catch_warnings(record=True) as caught:  # whatever happens, put filters back
        warnings.simplefilter("always")
        before = list(warnings.filters)
        for name, here in (("first", in_first), ("second", in_second)):
            threads[name].start()
            here.wait(600)
        for name in (ends_first, *({*out} - {ends_first})):
            out[name].set()
            threads[name].join()
        assert list(warnings.filters) == before
    assert caught == []


@pytest.mark.parametrize("begins", ["before", "within"])
@pytest.mark.parametrize("ends", ["after", "within"])
def test_filters_that_others_exchange_meanwhile_are_theirs_at_the_end(begins, ends):
    """A private part may be heard then, but nobody is silenced, or another, from then on."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", FutureWarning)
        before, private = list(warnings.filters), silence()
        others = warnings.catch_warnings()
        for manager in (others, private) if begins == "before" else (private, others):
            manager.__enter__()
        for manager in (others, private) if ends == "within" else (private, others):
            manager.__exit__(None, None, None)
        assert list(warnings.filters) == before
        with silence():
            warnings.resetwarnings()
        assert list(warnings.filters) == []


def test_no_registry_keeps_what_was_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        ask(Talkative())
    kept = [
        registry
        for module in list(sys.modules.values())
        for registry in [getattr(module, "__dict__", {}).get("__warningregistry__")]
        if registry
    ]
    assert SECRET not in repr(kept)
    assert "73519264" not in repr(kept)


def warned(_):
    warn_in_every_way()
    return 1


def test_threads_of_a_private_part_are_silent_too(capfd):
    """Those that decode ahead, that work on pieces, that sum blocks, and what Dask runs."""
    table = Rows(np.ones((2000, 1)), bounds=BOUNDS, threads=2, block_rows=100)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        assert list(prefetch(map(warned, range(3)), depth=1)) == [1, 1, 1]
        assert list(map_in_order(warned, range(3), threads=2)) == [1, 1, 1]
        assert run_quietly(lambda: warned(0)) == 1
        opened = table.open(NoLedger().charge(Guarantee(Pure(1.0), AddRemoveOne())))
        total = opened.sum(lambda block: np.array([warned(block)]))
    assert total.tolist() == [20]
    assert caught == []
    assert capfd.readouterr() == ("", "")


# Failures


@pytest.mark.parametrize(
    ("noise", "error"),
    [
        (Failing(), EntropyError),
        (Broken(), ReleaseFailed),
        (Failing(KeyboardInterrupt), KeyboardInterrupt),
        (Failing(SystemExit), SystemExit),
        (Failing(GeneratorExit), ReleaseFailed),
    ],
)
@pytest.mark.parametrize("action", ["error", "ignore"])
def test_a_failure_comes_with_nothing_attached(noise, error, action):
    ledger = books()
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        with pytest.raises(error) as caught:
            ask(noise, ledger)
    assert private_frames(caught.value) == []
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)
    assert str(CANARY) not in str(caught.value)
    assert states(ledger) == [State.FAILED]


def test_whoever_exits_in_a_private_part_says_that_it_did_not_succeed():
    def leave():
        raise SystemExit(CANARY)

    assert run_privately(leave, (), ReleaseFailed()).stopped.code == 1


def test_no_frame_of_a_private_part_outlives_it():
    """Not even where an exception and its frames refer to one another."""
    with pytest.raises(ReleaseFailed):
        ask(Broken())
    gc.collect()
    alive = [one for one in gc.get_objects() if isinstance(one, types.FrameType)]
    assert not [one for one in alive if one.f_code is Broken.gaussian.__code__]


# Interruptions of a release


@pytest.fixture
def interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Interrupter:
    """Raises as a signal would, at one step of some files."""

    def __init__(self, place, files):
        self._steps, self._place, self._files = 0, place, files

    def trace(self, frame, event, _):
        if not frame.f_code.co_filename.endswith(self._files):
            return None
        if event == "line":
            self._steps += 1
            if self._steps == self._place:
                raise KeyboardInterrupt
        return self.trace

    @property
    def is_beyond(self):
        return self._steps < self._place


def interrupted(interrupter, noise, ledger):
    """Return what a release raises while it is interrupted."""
    try:
        sys.settrace(interrupter.trace)
        ask(noise, ledger)
    except BaseException as error:
        return error
    finally:
        sys.settrace(None)


@pytest.mark.parametrize(
    ("noise", "files"),
    [
        (Slow, ("gate.py", "settlement.py", "_private_part.py")),
        (Failing, ("gate.py", "settlement.py")),
    ],
    ids=["slow", "failing"],
)
def test_no_interruption_of_the_gate_carries_anything_out(noise, files, monkeypatch):
    """At every step, but for the clause that deals with a failure.

    A step may be one of a destructor, of which Python passes on to a hook what is raised there.
    """
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    place, raised = 1, set()
    while True:
        interrupter, ledger = Interrupter(place, files), books()
        with warnings.catch_warnings():
            error = interrupted(interrupter, noise(), ledger)
        if interrupter.is_beyond:
            break
        assert private_frames(error) == []
        raised.add(type(error))
        del error
        assert len(states(ledger)) <= 1
        place += 1
    assert place > 30  # so many steps there are at least
    assert KeyboardInterrupt in raised


def is_within(frame, function):
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


@pytest.mark.usefixtures("interrupts")
def test_a_timer_that_interrupts_carries_nothing_out_and_silences_nobody(monkeypatch):
    """At any moment of a release.

    Python passes what is raised in a destructor to a hook; that of pytest is not made for being
    interrupted itself.
    """
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    generator, raised = np.random.default_rng(3), []

    def interrupt(number, frame):
        if is_within(frame, ask):
            raise KeyboardInterrupt

    before, filters = signal.signal(signal.SIGALRM, interrupt), list(warnings.filters)
    try:
        for _ in range(80):
            ledger, caught = books(), None
            try:
                signal.setitimer(signal.ITIMER_REAL, generator.uniform(1e-4, 4e-3))
                ask(Slow(), ledger)
            except BaseException as error:
                caught = error
            signal.setitimer(signal.ITIMER_REAL, 0)
            if caught is not None:
                raised.append(type(caught))
                assert private_frames(caught) == []
            del caught
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    gc.collect()
    assert list(warnings.filters) == filters
    assert KeyboardInterrupt in raised


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_an_interrupted_release_is_settled_before_the_interruption_goes_on(where, tmp_path):
    ledger = books()
    if where == "disk":
        ledger = Ledger.create(tmp_path / "books.db", Budget(2.0, 1e-5))
    with pytest.raises(KeyboardInterrupt) as caught:
        ask(Endless(lambda: signal.raise_signal(signal.SIGINT)), ledger)
    assert private_frames(caught.value) == []
    assert caught.value.__context__ is None
    assert states(ledger) == [State.FAILED]


def test_a_time_limit_of_the_callers_stops_a_release_which_has_failed_then():
    """What a handler raises cannot be told from what the private part raises."""

    class Late(Exception):
        pass

    def late(number, frame):
        raise Late("too slow")

    before, ledger = signal.signal(signal.SIGALRM, late), books()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(ReleaseFailed):
            ask(Endless(), ledger)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert states(ledger) == [State.FAILED]


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
    assert states(ledger) == [State.RELEASED]


# Short calls


@pytest.fixture
def raising_handler():
    def handler(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, handler)
    yield
    signal.signal(signal.SIGUSR1, before)


def interrupt_caller():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)


def test_calls_run_elsewhere_and_threads_are_used_again():
    names = {call_privately(threading.get_ident) for _ in range(200)}
    assert len(names) == 1
    assert threading.get_ident() not in names


def test_what_raises_is_nothing_and_the_next_call_is_fine():
    for error in (ValueError, KeyboardInterrupt, SystemExit, GeneratorExit):

        def work(error=error):
            raise error(CANARY)

        assert call_privately(work) is None
        assert call_privately(lambda: 3) == 3


def test_many_threads_call_at_once_and_each_gets_its_own_answer():
    wrong, before = [], list(warnings.filters)

    def ask_often(mine):
        wrong.extend(k for k in range(300) if call_privately(lambda k=k: (mine, k)) != (mine, k))

    threads = [threading.Thread(target=ask_often, args=(mine,)) for mine in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert list(warnings.filters) == before
    alive = [thread for thread in threading.enumerate() if thread.name == THREAD]
    assert len(_private_part._idle) <= _private_part.MOST_IDLE + 12  # twelve may see room at once
    assert len(alive) < 40


def test_a_call_within_a_call_does_not_wait_for_itself():
    assert call_privately(lambda: call_privately(lambda: call_privately(lambda: 5))) == 5


def test_nothing_is_warned_of(recwarn):
    def work():
        warn_in_every_way()
        return True

    assert call_privately(work)
    assert list(recwarn) == []


def test_an_interrupted_caller_waits_for_the_end_and_holds_no_frame_of_it(raising_handler):
    ended, told = [], []

    def work():
        secret = CANARY
        interrupt_caller()
        while not told:
            time.sleep(0.001)
        ended.append(secret)

    with pytest.raises(KeyboardInterrupt) as caught:
        call_privately(work, lambda: told.append(True))
    assert ended == [CANARY]
    frames = [frame.f_code.co_name for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    assert "work" not in frames
    assert call_privately(lambda: 3) == 3


def test_who_interrupts_again_does_not_wait(raising_handler):
    go, ended = threading.Event(), threading.Event()

    def work():
        interrupt_caller()
        go.wait(30)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        call_privately(work, interrupt_caller)
    assert not ended.is_set()
    go.set()
    assert ended.wait(30)


def test_an_interruption_at_any_step_neither_hangs_nor_loses_a_call(raising_handler):
    """At every step of the caller's own code, by way of a trace function."""
    steps = 0

    def attempt(at):
        nonlocal steps
        steps, done = 0, []

        def trace(frame, event, argument):
            nonlocal steps
            if frame.f_code.co_filename != _private_part.__file__:
                return None
            if event == "line":
                steps += 1
                if steps == at:
                    raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            call_privately(lambda: done.append(True))
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        assert done == [True]
        return False

    attempt(0)
    interrupted = 0
    for at in range(1, steps + 1):
        # Steps of waiting differ from call to call: one that needs fewer is not interrupted.
        assert attempt(at) == (steps >= at)
        interrupted += steps >= at
        assert call_privately(lambda: 3) == 3
    assert interrupted > 10


def test_without_threads_nothing_is_begun_and_the_charge_is_given_back(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_private_part, "_idle", deque(maxlen=0))  # none is idle, ever
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(NoThread, match="nothing was read"):
        call_privately(lambda: 3)
    bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]))
    ledger = MemoryLedger(Budget(2.0, 1e-5), "replace")
    stream = Stream(Problem(Logistic(), bounds, ridge=1.0), horizon=100)
    with pytest.raises(NoThread):
        interact(FollowTheLeader(), stream, budget=Budget(1.0, 1e-6), ledger=ledger)
    assert states(ledger) == [State.REFUNDED]

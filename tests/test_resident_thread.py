"""Short private calls: answered in order, in silence, and finished whatever interrupts."""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback
import warnings

import pytest

from discreet import _resident_thread
from discreet._own_thread import NoThread
from discreet._resident_thread import call_privately

CANARY = 7654321.0625


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
    wrong = []

    def ask(mine):
        wrong.extend(k for k in range(300) if call_privately(lambda k=k: (mine, k)) != (mine, k))

    threads = [threading.Thread(target=ask, args=(mine,)) for mine in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(_resident_thread._idle) <= _resident_thread.MOST_IDLE


def test_a_call_within_a_call_does_not_wait_for_itself():
    assert call_privately(lambda: call_privately(lambda: call_privately(lambda: 5))) == 5


def test_nothing_is_warned_of(recwarn):
    def work():
        warnings.warn(str(CANARY), stacklevel=1)
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
            if frame.f_code.co_filename != _resident_thread.__file__:
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


def test_without_threads_nothing_is_begun(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_resident_thread, "_idle", [])
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(NoThread, match="nothing was read"):
        call_privately(lambda: 3)


def test_a_thread_without_work_ends(monkeypatch):
    monkeypatch.setattr(_resident_thread, "IDLE", 0.01)
    monkeypatch.setattr(_resident_thread, "_idle", [])
    thread = call_privately(threading.current_thread)
    thread.join(30)
    assert not thread.is_alive()
    assert call_privately(lambda: 3) == 3

"""Work in a thread of its own, so that whatever interrupts the caller finds nothing of it.

Isolation of frames and tracebacks from signal handlers, ``KeyboardInterrupt`` among them. A handler
of a signal runs between any two steps of the main thread, sees the frame it came upon, and may
raise there; so may others, again and again, also in the clause that clears up after the first. An
exception keeps every frame that it went through, with all variables, and the exception that was
being handled. No clause is short enough to keep these apart; another thread does.
"""

from __future__ import annotations

import contextvars
import ctypes
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

from discreet.errors import DiscreetError

Answer = TypeVar("Answer")

PATIENCE = 0.05
"""How long, in seconds, is waited before looking whether a signal came that woke another thread."""

ARRIVES_WITHIN = 2.0
"""How long, in seconds, work that is being stopped waits for that at its end."""


REFUSED = ("can't start new thread", "can't create new thread")
"""How Python says that the system gives no thread."""


class NoThread(DiscreetError, RuntimeError):
    """The system gives no thread; no work was begun."""


class Stopped(BaseException):
    """Raised in the midst of work whose caller no longer waits for it."""


class Stoppable:
    """The part of some work that may be stopped at any step, once.

    Before and after, nothing interrupts it: the ledger is written there.
    """

    def __init__(self) -> None:
        self._thread = 0
        self._once = threading.Lock()  # taken by who stops the work, or by the work at its end
        self._is_sent = self._is_decided = False

    def __enter__(self) -> None:
        self._thread = threading.get_ident()
        if self._once.locked():
            self._await()
            raise Stopped

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        is_stopped = kind is not None and issubclass(kind, Stopped)
        if not is_stopped and not self._once.acquire(blocking=False):
            self._await()

    def _await(self) -> None:
        """Wait for a stop that is on its way: it is never taken back.

        CPython 3.11 would go on looking for it at every step of every thread.
        """
        try:
            end = time.monotonic() + ARRIVES_WITHIN
            while (self._is_sent or not self._is_decided) and time.monotonic() < end:
                time.sleep(0.0001)
        except Stopped:
            pass

    def stop(self) -> None:
        """Stop the work, from another thread, unless it is too late."""
        if self._once.acquire(blocking=False):
            try:
                if self._thread:
                    self._is_sent = True
                    _raise_in(self._thread, Stopped)
            finally:
                self._is_decided = True


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise an error in another thread, at its next step."""
    api = getattr(ctypes, "pythonapi", None)  # CPython's; elsewhere work goes on to its end
    if api is not None:
        api.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


class _Job(Generic[Answer]):
    def __init__(self, work: Callable[[Stoppable], Answer]) -> None:
        self._work, self._answers = work, list[Answer]()
        self._stoppable = Stoppable()
        self._begun, self._is_over = threading.Lock(), False
        self._wake = threading.Lock()  # and no Event: interrupted, that leaves a lock behind
        self._wake.acquire()
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._run,), name="discreet-private"
        )

    def _run(self) -> None:
        if not self._begun.acquire(blocking=False):
            return
        try:
            self._answers.append(self._work(self._stoppable))
        except BaseException:
            pass  # nothing of it is for anybody else
        finally:
            self._is_over = True
            self._wake.release()

    def _start(self) -> None:
        try:
            self._thread.start()
            return
        except RuntimeError as error:  # or a handler's own, which is for the caller
            if not str(error).startswith(REFUSED):
                raise
        raise NoThread("no thread could be started for the private part; nothing was read.")

    def _wait(self) -> None:
        while not self._is_over:
            self._wake.acquire(timeout=PATIENCE)

    def answer(self) -> Answer | None:
        try:
            self._start()
            self._wait()
        except BaseException:
            self._stoppable.stop()
            if not self._begun.acquire(blocking=False):  # otherwise it never will
                self._wait()  # who interrupts this as well leaves the work to end by itself
            raise
        return self._answers[0] if self._answers else None


def run_in_own_thread(work: Callable[[Stoppable], Answer]) -> Answer | None:
    """Return what the work returns, None if it raises; it runs in a thread of its own.

    Whatever interrupts this call stops the work in its stoppable part, waits for its end, and goes
    on to the caller with nothing of the work attached.

    Examples
    --------
    >>> run_in_own_thread(lambda stoppable: 6 * 7)
    42
    """
    return _Job(work).answer()

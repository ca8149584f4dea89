"""Short private calls in threads that stay: the frames of the caller never hold what is private.

What ``_own_thread`` does for one long piece of work, for many short ones: a thread that has done
its work waits for more, so that a call costs microseconds. Calls are never stopped in their midst.
Whatever interrupts the caller waits until the call has ended, unless that is interrupted too; then
the call ends by itself.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any

from discreet._own_thread import PATIENCE, REFUSED, NoThread
from discreet._quiet import quiet

IDLE = 5.0
"""How long, in seconds, a thread waits for work before it ends."""

MOST_IDLE = 8
"""How many threads may wait for work."""


class _Worker:
    """A thread that runs what it is given, one call after another."""

    def __init__(self) -> None:
        self._work: Callable[[], Any] | None = None
        self._answer: Any = None
        self._begun = threading.Lock()  # of the present call: taken by the work, or who gives it up
        self._is_over = self._is_left = False
        self._go, self._done = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._done.acquire()
        self._thread = threading.Thread(target=self._run, name="discreet-resident", daemon=True)

    def start(self) -> None:
        try:
            self._thread.start()
            return
        except RuntimeError as error:
            if not str(error).startswith(REFUSED):
                raise
        raise NoThread("no thread could be started for the private part; nothing was read.")

    def _run(self) -> None:
        while not self._is_left:
            if self._go.acquire(timeout=IDLE):
                self._do()
            elif self._retire():
                return

    def _do(self) -> None:
        work, self._work = self._work, None
        try:
            if work is not None and self._begun.acquire(blocking=False):
                with quiet():
                    self._answer = work()
        except BaseException:
            pass  # nothing of it is for anybody else
        finally:
            del work
            self._is_over = True
            with contextlib.suppress(RuntimeError):  # the last caller did not wait for it
                self._done.release()

    def _retire(self) -> bool:
        """Say whether nobody will give this thread work any more."""
        try:
            _idle.remove(self)
        except ValueError:
            return self._is_left
        return True

    def call(self, work: Callable[[], Any], interrupt: Callable[[], Any] | None) -> Any:
        begun = self._begun = threading.Lock()
        self._work, self._is_over = work, False
        try:
            self._go.release()
            self._wait()
        except BaseException:
            self._is_left = True  # it ends after this call
            if interrupt is not None:
                interrupt()
            if not begun.acquire(blocking=False):  # otherwise it never will
                self._wait()  # who interrupts this as well leaves the call to end by itself
            raise
        answer, self._answer = self._answer, None
        return answer

    def _wait(self) -> None:
        while not self._is_over:
            self._done.acquire(timeout=PATIENCE)
        self._done.acquire(blocking=False)


_idle: list[_Worker] = []

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads stay with the parent


def call_privately(work: Callable[[], Any], interrupt: Callable[[], Any] | None = None) -> Any:
    """Return what the work returns, None if it raises; it runs quietly in another thread.

    ``interrupt`` is called if something interrupts the caller, before it waits for the work to end:
    work that is long may look whether it was.

    Examples
    --------
    >>> call_privately(lambda: 6 * 7)
    42
    >>> call_privately(lambda: 1 / 0)
    """
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
        worker.start()
    answer = worker.call(work, interrupt)
    if len(_idle) < MOST_IDLE:
        _idle.append(worker)
    else:
        worker._is_left = True
    return answer

"""The private part: what runs there is silent, and nothing of it hangs on what comes out.

A guard against accidents: no warning, no error and no frame of it quotes a cell. Long work runs in
the caller's thread, where an interruption stops it (:func:`run_privately`). Short calls run in
threads that stay (:func:`call_privately`): they are never stopped in their midst, so that no state
is half changed. ``docs/threat_model.md`` says what this does not cover.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, ClassVar, NoReturn

import numpy as np

from discreet.errors import DiscreetError, SealedError

MOST_IDLE = 8
"""How many threads may wait for work."""

PATIENCE = 0.05
"""How long, in seconds, is waited before looking whether a signal came that woke another thread."""

THREAD = "discreet-private"
"""The name of its threads."""

IGNORE_ALL = ("ignore", None, object, None, 0)
"""A filter of all warnings, equal to nobody else's, who would write ``Warning``."""


class Sealed:
    """Refuses every way of being looked at that Python lets a class refuse.

    Examples
    --------
    >>> class Letter(Sealed):
    ...     _sealed = "a letter is not copied."
    >>> import copy
    >>> copy.copy(Letter())
    Traceback (most recent call last):
        ...
    discreet.errors.SealedError: a letter is not copied.
    """

    __slots__ = ()
    _sealed: ClassVar[str] = "a secret cannot be looked at, copied or stored."

    def _refuse(self, *_: object) -> NoReturn:
        raise SealedError(self._sealed)

    __iter__ = __len__ = __getitem__ = __contains__ = __array__ = _refuse
    __reduce__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _refuse
    __hash__ = None  # type: ignore[assignment]


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Let nothing be warned of, neither by Python's warnings, of the whole process, nor by NumPy.

    A filter is put into the list that is in force and taken out of the same list, so that private
    parts that overlap, in any threads, leave it as it was, and so do others who exchange lists.

    Examples
    --------
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error")
    ...     with silence():
    ...         warnings.warn("a value")
    ...         float(np.float64(1e300) * 1e300)
    inf
    """
    filters: Any = warnings.filters
    try:
        filters.insert(0, IGNORE_ALL)
        with np.errstate(all="ignore"), _ignore_in_context():
            yield
    finally:
        if IGNORE_ALL in filters:  # unless somebody has emptied the list
            filters.remove(IGNORE_ALL)


def _ignore_in_context() -> contextlib.AbstractContextManager[Any]:
    """Return filters of the context, where Python (from 3.14 on) is told to keep such."""
    if not getattr(sys.flags, "context_aware_warnings", False):
        return contextlib.nullcontext()
    return warnings.catch_warnings(action="ignore")


@dataclass(frozen=True)
class Outcome:
    """What comes out of a private part: something public, or what to raise instead."""

    value: Any = None
    stopped: BaseException | None = None

    def take(self) -> Any:
        """Return it, or raise it."""
        if self.stopped is not None:
            raise self.stopped
        return self.value


def without_frames(error: BaseException) -> BaseException:
    """Return the same error without the frames that it went through."""
    if isinstance(error, OSError):
        return OSError(error.errno, error.strerror, error.filename)
    return type(error)(*error.args)


def run_privately(
    work: Callable[[], Any], told: tuple[type[BaseException], ...], failure: BaseException
) -> Outcome:
    """Return what comes out of private work, which runs here, silently.

    Errors that say nothing about rows are told; an interruption stops the work and goes on; all
    others become the failure. What is to be raised is new, and to be raised by the caller: outside
    of the clause nothing is chained to it.

    Examples
    --------
    >>> run_privately(lambda: 6 * 7, (), ValueError("failed")).value
    42
    >>> run_privately(lambda: 1 / 0, (), ValueError("failed")).stopped
    ValueError('failed')
    """
    try:
        with silence():
            return Outcome(work())
    except told as error:
        return Outcome(stopped=without_frames(error))
    except KeyboardInterrupt:
        return Outcome(stopped=KeyboardInterrupt())
    except SystemExit:
        return Outcome(stopped=SystemExit(1))
    except BaseException:
        return Outcome(stopped=failure)


class NoThread(DiscreetError, RuntimeError):
    """The system gives no thread; no work was begun."""


class _Call:
    """Work for another thread: done there, or given up before it began."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work, self.answer, self.is_over = work, None, False
        self.begun, self._wake = threading.Lock(), threading.Lock()
        self._wake.acquire()

    def end(self) -> None:
        """Let the caller go on."""
        self.is_over = True
        self._wake.release()

    def wait(self) -> None:
        """Wait for the end."""
        while not self.is_over:
            self._wake.acquire(timeout=PATIENCE)


_idle: list[SimpleQueue[_Call]] = []
"""Where threads that are idle wait for calls."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads stay with the parent


def _find_thread() -> SimpleQueue[_Call]:
    """Return where a thread waits for calls; a new one if none is idle."""
    with contextlib.suppress(IndexError):
        return _idle.pop()
    calls: SimpleQueue[_Call] = SimpleQueue()
    try:
        threading.Thread(target=_serve, args=(calls,), name=THREAD, daemon=True).start()
    except RuntimeError:
        raise NoThread(
            "no thread could be started for the private part; nothing was read."
        ) from None
    return calls


def _serve(calls: SimpleQueue[_Call]) -> None:
    """Do one call after another, as long as few others are idle; nothing they raise is told."""
    is_wanted = True
    while is_wanted:
        call = calls.get()
        with contextlib.suppress(BaseException), silence():
            if call.begun.acquire(blocking=False):
                call.answer = call.work()
        is_wanted = len(_idle) < MOST_IDLE
        if is_wanted:
            _idle.append(calls)
        call.end()
        del call


def call_privately(work: Callable[[], Any], interrupt: Callable[[], Any] | None = None) -> Any:
    """Return what the work returns, None if it raises; it runs silently in another thread.

    Whatever interrupts the caller waits until the work has ended, unless that is interrupted too;
    then the work ends by itself. ``interrupt`` is called before: work that is long may look whether
    it was.

    Examples
    --------
    >>> call_privately(lambda: 6 * 7)
    42
    >>> call_privately(lambda: 1 / 0)
    """
    call = _Call(work)
    try:
        _find_thread().put(call)
        call.wait()
    except BaseException:
        if interrupt is not None:
            interrupt()
        if not call.begun.acquire(blocking=False):  # otherwise it never will
            call.wait()  # who interrupts this as well leaves the work to end by itself
        raise
    return call.answer

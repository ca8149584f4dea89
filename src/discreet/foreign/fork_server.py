"""The process in which foreign code is run, each time in a fork of its own that ends with it.

Three generations, of which only the last is sent anything private. The first imports libraries and
waits. Its child loads the packed code, and waits. A grandchild, forked anew for each row or block,
reads it, runs the code and says what came out: numbers. So the code is in the same state each time,
whatever it draws, remembers or changes. There is no standard output or error and no terminal, a
core is not written, and no ledger is charged. If any of them dies, the others know.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import select
import signal
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

IMPORT, HOLD, ASK, LET_GO = b"I", b"H", b"A", b"L"
"""What is asked of it."""

HELD, REFUSED, SAID, OVER = b"h", b"r", b"s", b"o"
"""What it answers; the last one whenever a process of a later generation has ended."""

_READ, _WRITES = b"r", b"w"

LENGTH = 8
"""Bytes in which the length of what follows is written."""

_is_here = False


def runs_foreign_code() -> bool:
    """Say whether this process is one that runs foreign code, where nothing is paid."""
    return _is_here


def numbers_of(said: Any) -> Any:
    """Return what foreign code says as an array of numbers of its own."""
    return np.array(said, dtype=np.float64).ravel()


def frame(content: bytes) -> bytes:
    """Return bytes with their length before them."""
    return len(content).to_bytes(LENGTH, "big") + content


def serve(commands: int, answers: int) -> None:
    """Import what is named, and let a child hold what is packed, until nobody is left to ask."""
    global _is_here
    _is_here = True
    _leave_no_core()
    try:
        while True:
            kind = _read(commands, 1)
            if kind == IMPORT:
                _import_all(_read_frame(commands).decode().split())
            elif kind == HOLD:
                child = os.fork()
                if not child:
                    _hold(commands, answers)
                if os.WIFSIGNALED(os.waitpid(child, 0)[1]):  # perhaps in the middle of an answer
                    break
                _write(answers, OVER)
            else:  # meant for a child that is no more
                break
    finally:
        _end_all()


def _import_all(names: list[str]) -> None:
    for name in names:
        with contextlib.suppress(BaseException):
            importlib.import_module(name)


def _hold(commands: int, answers: int) -> None:
    """Load packed code, and run it in a grandchild whenever that is asked."""
    try:
        path, packed = pickle.loads(_read_frame(commands))
        sys.path[:] = path
        run = pickle.loads(packed)
    except BaseException:
        _write(answers, REFUSED)
        os._exit(1)
    _write(answers, HELD)
    gc.freeze()  # what is never looked at stays shared
    while (kind := _read(commands, 1)) != LET_GO:
        if kind == IMPORT:
            _import_all(_read_frame(commands).decode().split())
        else:
            _fork_once(run, commands, answers)
            _write(answers, OVER)
    os._exit(0)


def _fork_once(run: Callable[..., Any], commands: int, answers: int) -> None:
    """Run the code in a grandchild and wait for its end; end everything if it ends in between."""
    listening, telling = os.pipe()
    child = os.fork()
    if not child:
        os.close(listening)
        _answer(run, commands, answers, telling)
    os.close(telling)
    told = os.read(listening, 1)
    if told:  # all that was sent has been read; whatever comes now is that nobody waits any more
        both = select.poll()
        both.register(listening, select.POLLIN)
        both.register(commands, select.POLLIN)
        while commands not in dict(both.poll()):
            last = os.read(listening, 1)
            if not last:
                break
            told = last
        else:
            _end_all()
    status = os.waitpid(child, 0)[1]
    os.close(listening)
    if not told or (told == _WRITES and status):
        _end_all()  # something was read or written in part


def _answer(run: Callable[..., Any], commands: int, answers: int, telling: int) -> None:
    """Read what the code is run on, run it and say what came out, if anything did; then end."""
    content = _read_frame(commands)
    os.close(commands)
    _write(telling, _READ)
    try:
        _seed_generators()
        with _one_after_another():
            said = numbers_of(run(*pickle.loads(content)))
    except BaseException:
        os._exit(0)
    _write(telling, _WRITES)
    _write(answers, SAID + frame(said.tobytes()))
    os._exit(0)


def _seed_generators() -> None:
    """Put the generators of the process into one state, the same in every such process."""
    for name in ("random", "numpy.random"):
        if name in sys.modules:
            sys.modules[name].seed(0)


def _one_after_another() -> contextlib.AbstractContextManager[Any]:
    """Keep joblib, if it is there, from starting others."""
    joblib = sys.modules.get("joblib")
    if joblib is None:
        return contextlib.nullcontext()
    within: contextlib.AbstractContextManager[Any] = joblib.parallel_config(backend="sequential")
    return within


def _leave_no_core() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(file: int, count: int) -> bytes:
    """Read so many bytes; end if there is nobody to send them."""
    parts = []
    while count:
        part = os.read(file, min(count, 2**20))
        if not part:
            os._exit(0)
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _read_frame(file: int) -> bytes:
    return _read(file, int.from_bytes(_read(file, LENGTH), "big"))


def _write(file: int, content: bytes) -> None:
    try:
        while content:
            content = content[os.write(file, content) :]
    except OSError:
        os._exit(0)


def _end_all() -> None:
    """End all generations: they are a session of their own."""
    os.killpg(0, signal.SIGKILL)

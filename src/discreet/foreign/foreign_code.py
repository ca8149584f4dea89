"""Foreign code, packed once and asked about rows or blocks, here or in a process of its own.

What it says of one row or block may depend on that one alone: whatever it raises, or how it dies,
is its answer for that row or block, and no other's.
"""

from __future__ import annotations

import atexit
import os
import pickle
import pickletools
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import cloudpickle
import numpy as np
from joblib import parallel_config

from discreet._private_part import silence
from discreet._types import Vector
from discreet.errors import InputError, PrivacyError
from discreet.foreign.fork_server import (
    ASK,
    HELD,
    HOLD,
    IMPORT,
    LENGTH,
    LET_GO,
    OVER,
    REFUSED,
    SAID,
    frame,
    numbers_of,
    runs_foreign_code,
)
from discreet.foreign.known_code import is_known

LIBRARIES = ("discreet", "joblib", "numpy", "pandas", "scipy", "sklearn")
"""What is imported once for all; anything else anew, as it may have been edited."""

SETTINGS = {
    "PYTHONHASHSEED": "0",
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
}
"""The environment of foreign code, beside what this process has."""

PATIENCE = 50
"""How long is waited, in milliseconds, before looking whether this thread is to stop."""


class ForeignCode:
    """A function that runs foreign code, packed once: whenever it is run it is in the same state.

    Examples
    --------
    >>> code = ForeignCode(np.cumsum, "cumsum", fits=False)
    >>> [said.tolist() for said in code.run_on([([1, 2],), ([5],)])]
    [[1.0, 3.0], [5.0]]
    >>> code.run_on([("no number",)])
    [None]
    """

    def __init__(
        self, run: Callable[..., Any], name: str, *, fits: bool, apart: bool = False
    ) -> None:
        is_here = not apart and is_known(run, fits=fits)
        self._run = run if is_here else None
        self._packed = b"" if is_here else _pack(run, name)
        self._name = name

    def check(self) -> None:
        """Refuse code that cannot be copied to a process of its own; reads no row.

        What is loaded in such a process may ask this for foreign code in turn, and is let be.
        """
        if self._packed and not runs_foreign_code():
            with _server_with(self._packed, self._name):
                pass

    def run_on(self, given: Iterable[tuple[Any, ...]]) -> list[Vector | None]:
        """Return the numbers that come out for each of several; None where none do."""
        if self._run is not None:
            with silence(), parallel_config(backend="sequential"):  # joblib stays in this thread
                return [_run_here(self._run, each) for each in given]
        with _server_with(self._packed, self._name) as server:
            return [server.ask(each) for each in given]


def _run_here(run: Callable[..., Any], given: tuple[Any, ...]) -> Vector | None:
    try:
        return numbers_of(run(*given))  # type: ignore[no-any-return]
    except (Exception, SystemExit, GeneratorExit):  # one record must not decide on a failure
        return None


def _pack(run: Callable[..., Any], name: str) -> bytes:
    if not hasattr(os, "fork"):
        raise InputError(
            f"{name} runs in a process of its own for each row or block, which needs a system "
            "that can fork, as Linux and macOS can."
        )
    try:
        with silence():
            return cloudpickle.dumps(run)  # type: ignore[no-any-return]
    except Exception:
        pass
    raise _refusal_of(name)


def _refusal_of(name: str) -> InputError:
    return InputError(
        f"{name} cannot be copied to another process, and has to be: foreign code is asked about "
        "private rows in the same state each time, so that no row decides what is said of others. "
        "It must be picklable, and what it imports must be found there too."
    )


class _Lost(Exception):
    """The process has ended."""


class _Server:
    """A process that holds packed code, seen from here."""

    def __init__(self) -> None:
        self._holding: tuple[bytes, frozenset[tuple[str, float]]] | None = None
        self._imported, self._known = set[str](), set[str]()
        self._start()

    def _start(self) -> None:
        theirs_in, self._commands = os.pipe()
        self._answers, theirs_out = os.pipe()
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            f"from discreet.foreign.fork_server import serve; serve({theirs_in}, {theirs_out})"
        )
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", code],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs_in, theirs_out),
                env={**os.environ, **SETTINGS},
                start_new_session=True,  # neither the terminal's interrupts nor its output
            )
        finally:
            os.close(theirs_in)
            os.close(theirs_out)

    @property
    def is_alive(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def hold(self, packed: bytes) -> bool:
        """Load packed code; say whether it can be."""
        with suppress(_Lost):
            return self._hold(packed)
        return False

    def _hold(self, packed: bytes) -> bool:
        names = _modules_in(packed)
        holding = (packed, _edition(names))
        if self._holding == holding:  # it has run nothing itself
            return True
        self._let_go()
        self._imported |= self._import(_libraries(names) - self._imported)
        self._write(HOLD + frame(pickle.dumps((sys.path, packed))))
        kind = self._read(1)
        if kind == REFUSED:
            kind = self._read(1)  # that it is over
        self._holding = holding if kind == HELD else None
        self._known = set(self._imported)
        return kind == HELD

    def _import(self, names: set[str]) -> set[str]:
        """Have modules imported by whoever listens."""
        if names:
            self._write(IMPORT + frame(" ".join(sorted(names)).encode()))
        return names

    def ask(self, given: tuple[Any, ...]) -> Vector | None:
        """Run the code once; if everything dies, that is its answer, and a new process follows."""
        try:
            content = pickle.dumps(given, protocol=5)
        except Exception:
            return None
        modules = _libraries(type(one).__module__ for one in given)  # those of containers: public
        try:
            return self._ask(content, modules)
        except _Lost:
            pass
        self.end()
        packed = self._holding[0] if self._holding else b""
        self._holding = None
        self._imported.clear()
        self._start()
        if not self.hold(packed):
            raise PrivacyError("foreign code that was copied to a process cannot be any more.")
        return None

    def _ask(self, content: bytes, modules: set[str]) -> Vector | None:
        self._known |= self._import(modules - self._known)
        self._write(ASK + frame(content))
        said = None
        while (kind := self._read(1)) != OVER:
            if kind != SAID:
                raise _Lost
            said = np.frombuffer(self._read(int.from_bytes(self._read(LENGTH), "big"))).copy()
        return said

    def _let_go(self) -> None:
        if self._holding:
            self._holding = None
            self._write(LET_GO)
            self._read(1)

    def _read(self, count: int) -> bytes:
        """Read so many bytes, and let this thread be stopped meanwhile."""
        waiting = select.poll()
        waiting.register(self._answers, select.POLLIN)
        parts = []
        while count:
            while not waiting.poll(PATIENCE):
                pass
            part = os.read(self._answers, min(count, 2**20))
            if not part:
                raise _Lost
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _write(self, content: bytes) -> None:
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(self._commands, rest) :]
        except BrokenPipeError:
            raise _Lost from None

    def end(self) -> None:
        """End the process and all that it has begun."""
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.close()

    def close(self) -> None:
        """Close this end of the pipes."""
        for file in (self._commands, self._answers):
            with suppress(OSError):
                os.close(file)


def _modules_in(packed: bytes) -> set[str]:
    """Return the modules in use here that packed code names."""
    texts = {text for _, text, _ in pickletools.genops(packed) if isinstance(text, str)}
    return texts.intersection(sys.modules)


def _libraries(names: Iterable[str]) -> set[str]:
    """Return the names of modules of known libraries."""
    return {name for name in names if name.partition(".")[0] in LIBRARIES}


def _edition(names: set[str]) -> frozenset[tuple[str, float]]:
    """Return when the files of modules were written last, of those that may be edited."""
    found = set()
    for name in names - _libraries(names):
        with suppress(OSError, TypeError):
            found.add((name, os.stat(getattr(sys.modules[name], "__file__", None) or "").st_mtime))
    return frozenset(found)


_idle: list[_Server] = []
_lock = threading.Lock()
_left: list[_Server] = []


@contextmanager
def _server_with(packed: bytes, name: str) -> Iterator[_Server]:
    """Take an idle process, or start one, with packed code; refuse code that cannot be loaded."""
    server = _take_server()
    try:
        if not server.hold(packed):
            raise _refusal_of(name)
        yield server
    except BaseException:
        server.end()
        raise
    with _lock:
        _idle.append(server)


def _take_server() -> _Server:
    """Return an idle process that is alive, or a new one."""
    if runs_foreign_code():
        raise PrivacyError("foreign code cannot begin a process for foreign code.")
    while True:
        with _lock:
            server = _idle.pop() if _idle else None
        if server is None:
            return _Server()
        if server.is_alive:
            return server
        server.end()


def _end_idle() -> None:
    with _lock:
        while _idle:
            _idle.pop().end()


def _leave_to_parent() -> None:
    """In a fork of this process: its processes are not ours."""
    global _lock
    _lock = threading.Lock()
    _left.extend(_idle)
    for server in _idle:
        server.close()
    _idle.clear()


atexit.register(_end_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)

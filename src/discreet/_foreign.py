"""Foreign code in the private part is silent, is in the same state each time, and pays nothing.

A model that is scored, a selector or a function that is run on blocks: what it says of one row or
block may depend on that one alone. Code of this library, and of scikit-learn as far as it is known
not to draw, remember or print, is run here (``_known_code.py``). Any other runs in a process of its
own, forked anew for each row or block (``_foreign_server.py``). Whatever it raises, or how it dies,
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

from discreet._foreign_server import (
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
)
from discreet._known_code import is_known
from discreet._quiet import quiet
from discreet._types import Vector
from discreet.errors import InputError, PrivacyError

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
        self._run, self._name = run, name
        self.is_known = not apart and is_known(run, fits=fits)
        self._packed = None if self.is_known else _pack(run, name)

    def check(self) -> None:
        """Refuse code that cannot be copied to a process of its own; reads no row."""
        if self._packed is not None:
            with _server_with(self._packed, self._name):
                pass

    def run_on(self, given: Iterable[tuple[Any, ...]]) -> list[Vector | None]:
        """Return the numbers that come out for each of several; None where none do."""
        if self._packed is None:
            return [_run_here(self._run, each) for each in given]
        with _server_with(self._packed, self._name) as server:
            return [server.ask(each) for each in given]


def _run_here(run: Callable[..., Any], given: tuple[Any, ...]) -> Vector | None:
    """Run known code; what joblib runs for it stays in this thread, which is silent."""
    with quiet(), parallel_config(backend="sequential"):
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
        with quiet():
            return cloudpickle.dumps(run)  # type: ignore[no-any-return]
    except Exception:
        pass
    raise _uncopied(name)


def _uncopied(name: str) -> InputError:
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
        self._held, self._imported = b"", set[str]()
        self._start()

    def _start(self) -> None:
        theirs_in, self._commands = os.pipe()
        self._answers, theirs_out = os.pipe()
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; from discreet._foreign_server import serve; "
            f"serve({theirs_in}, {theirs_out})"
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
        names = _libraries_in(packed) - self._imported
        if names:
            self._write(IMPORT + frame(" ".join(sorted(names)).encode()))
            self._imported |= names
        self._write(HOLD + frame(pickle.dumps((sys.path, packed))))
        kind = self._read(1)
        if kind == REFUSED:
            kind = self._read(1)  # that it is over
        self._held = packed if kind == HELD else b""
        return kind == HELD

    def ask(self, given: tuple[Any, ...]) -> Vector | None:
        """Run the code once; if everything dies, that is its answer, and a new process follows."""
        try:
            content = pickle.dumps(given, protocol=5)
        except Exception:
            return None
        try:
            return self._ask(content)
        except _Lost:
            pass
        self.end()
        self._imported.clear()
        self._start()
        if not self.hold(self._held):
            raise PrivacyError("foreign code that was copied to a process cannot be any more.")
        return None

    def _ask(self, content: bytes) -> Vector | None:
        self._write(ASK + frame(content))
        said = None
        while (kind := self._read(1)) != OVER:
            if kind != SAID:
                raise _Lost
            said = np.frombuffer(self._read(int.from_bytes(self._read(LENGTH), "big"))).copy()
        return said

    def let_go(self) -> None:
        """Forget the code."""
        if self._held:
            self._held = b""
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


def _libraries_in(packed: bytes) -> set[str]:
    """Return the modules of known libraries that packed code names, if they are in use here."""
    texts = {str(text) for _, text, _ in pickletools.genops(packed) if isinstance(text, str)}
    named = {text for text in texts if text.partition(".")[0] in LIBRARIES}
    return named.intersection(sys.modules)


_idle: list[_Server] = []
_lock = threading.Lock()
_left: list[_Server] = []


@contextmanager
def _server_with(packed: bytes, name: str) -> Iterator[_Server]:
    """Take an idle process, or start one, with packed code; refuse code that cannot be loaded."""
    server = _take_server()
    try:
        if not server.hold(packed):
            raise _uncopied(name)
        yield server
        server.let_go()
    except BaseException:
        server.end()
        raise
    with _lock:
        _idle.append(server)


def _take_server() -> _Server:
    """Return an idle process that is alive, or a new one."""
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

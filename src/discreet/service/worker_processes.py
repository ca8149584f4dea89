"""Worker processes: started, watched, and started again when they die.

A worker is never killed for being slow: on a busy machine it may take minutes until it answers, and
one that stands still for a while goes on where it was. Only processes that have ended are replaced.
A worker ends with whoever watches it, also if that was killed: nobody else would stop it.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

LOG = logging.getLogger("discreet.service")

SPAWN = multiprocessing.get_context("spawn")

TICK = 0.25
"""Seconds after which signals are looked at, at the latest."""

LEAVE_WITHIN = 35.0
"""Seconds in which a worker must end once it was told; it finishes what it does first."""

STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP")]


class Worker:
    """One process, and a pipe on which it says that it is up."""

    def __init__(self, work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self.said, saying = SPAWN.Pipe(duplex=False)
        given = (work, (*arguments, saying))
        self._process = SPAWN.Process(target=_work_while_watched, args=given, daemon=True)
        self._process.start()
        saying.close()
        self.is_up = False

    @property
    def ending(self) -> int:
        """What is ready once the process has ended."""
        return self._process.sentinel

    @property
    def has_ended(self) -> bool:
        """Whether it has."""
        return not self._process.is_alive()

    def listen(self) -> None:
        """Hear whether it is up."""
        if not self.is_up and self.said.poll():
            try:
                self.said.recv()
                self.is_up = True
            except EOFError:
                pass  # it has ended

    def describe(self) -> str:
        """Return who it was, and how it ended."""
        code = self._process.exitcode or 0
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        return f"worker {self._process.pid} has ended ({how})"

    def close(self) -> None:
        """Forget one that has ended."""
        self._process.join()
        self.said.close()

    def stop(self) -> None:
        """Tell it to end."""
        self._process.terminate()

    def wait(self) -> None:
        """Wait until it has ended; kill it if it does not."""
        self._process.join(LEAVE_WITHIN)
        self._process.kill()
        self.close()


def _work_while_watched(work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Work as long as the process lives that started this one."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    work(*arguments)


def _leave_with_parent() -> None:
    """Wait for the end of the process that started this one, then leave as if told to."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def keep_working(
    work: Callable[..., None],
    arguments: tuple[Any, ...],
    *,
    workers: int,
    on_up: Callable[[], None],
) -> bool:
    """Run workers until this process is told to stop; say whether any was ever up.

    One that ends is replaced. If one ends before any was up, all are stopped: it would end again.
    """
    with _stop_signals() as signals:
        running = [Worker(work, arguments) for _ in range(workers)]
        was_up = False
        try:
            while not signals:
                said: list[Connection | int] = [each.said for each in running if not each.is_up]
                wait([*said, *(each.ending for each in running)], TICK)
                for place, worker in enumerate(running):
                    worker.listen()
                    if worker.is_up and not was_up:
                        was_up = True
                        on_up()
                    if not worker.has_ended or signals:
                        continue
                    worker.close()
                    if not was_up:
                        LOG.error("%s before it could answer; nothing is served", worker.describe())
                        return False
                    LOG.warning("%s; another is started", worker.describe())
                    running[place] = Worker(work, arguments)
        finally:
            for worker in running:
                worker.stop()
            for worker in running:
                worker.wait()
    return was_up


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """Note signals that stop a process, in place of being stopped by them."""
    noted: list[int] = []
    before = {
        each: signal.signal(each, lambda number, _: noted.append(number)) for each in STOPPING
    }
    try:
        yield noted
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)

"""What was paid for is written down, whoever wants this process to stop.

SIGINT, SIGTERM and SIGHUP stop a fit, and are deferred once there is a release. They stop a stream
while it waits for records; whatever else it does is done first.
"""

from __future__ import annotations

import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class SignalHandler(ABC):
    """Handles the signals that stop a process, inside of a with statement."""

    @abstractmethod
    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Do what is done when a signal comes."""

    def __enter__(self) -> Self:
        self._before: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


class Unhurried(SignalHandler):
    """Lets a signal stop a fit until there is a release; from then on it waits until all is done.

    Examples
    --------
    >>> class Model: ...
    >>> with Unhurried(Model()):
    ...     pass
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if not hasattr(self._model, "release_"):
            raise KeyboardInterrupt


class StopRequests(SignalHandler):
    """Remembers that somebody wants to stop, and interrupts nothing that is half done.

    The first signal raises, unless it is held back; no later one does.

    Examples
    --------
    >>> with StopRequests() as requests:
    ...     requests.hold_back()
    ...     signal.raise_signal(signal.SIGINT)
    >>> requests.is_stopped
    True
    """

    def __init__(self) -> None:
        self.is_stopped = False
        self._raises = True

    def hold_back(self) -> None:
        """Only remember signals, from now on."""
        self._raises = False

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let a signal raise meanwhile: this only waits for records."""
        self._raises = not self.is_stopped
        try:
            yield
        finally:
            self._raises = False

    def _stop(self, number: int, frame: FrameType | None) -> None:
        is_first, self.is_stopped = not self.is_stopped, True
        if is_first and self._raises:
            raise KeyboardInterrupt

"""What was paid for is written down, whoever wants this process to stop.

SIGINT, SIGTERM and SIGHUP stop a fit, and are deferred once there is a release.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class Unhurried:
    """Lets a signal stop a fit until there is a release; from then on it waits until all is done.

    Examples
    --------
    >>> class Model: ...
    >>> with Unhurried(Model()):
    ...     pass
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._stop)
        return self

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if not hasattr(self._model, "release_"):
            raise KeyboardInterrupt

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

"""The server: worker processes, their log, and what they take from the network."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import tempfile
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from discreet import _checks
from discreet.service.counters import FOLDER
from discreet.service.service_target import ServiceTarget

WORKER = "discreet.service.service_worker:build_app"

LOGS: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "loggers": {
        "discreet.service": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
}
"""Lines of the service, and the server's warnings; no address, no query, no body."""

CONNECTIONS = 1000
"""How many connections a worker has at once; others are told to come again."""


HEADERS_WITHIN = 15.0
"""Seconds within which the headers of a request must have arrived."""

READ_WITHIN = 30.0
"""Seconds within which a client must have read what is sent to it."""


class PromptProtocol(H11Protocol):
    """Sends at once what there is; closes connections that send nothing, or do not read.

    The kernel would hold the body of an answer back until the client has confirmed its headers,
    which takes 40 milliseconds. Sockets that workers share keep that habit unless they are told.
    """

    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.set_write_buffer_limits(high=0)  # pauses as soon as something is not taken
        self._patience = self.loop.call_later(HEADERS_WITHIN, self._give_up)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(READ_WITHIN, self.transport.abort)

    def resume_writing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        was_idle = self.conn.their_state is h11.IDLE
        super().data_received(data)
        is_idle = self.conn.their_state is h11.IDLE
        if was_idle and not is_idle:
            self._patience.cancel()
        elif is_idle and not was_idle:
            self._patience = self.loop.call_later(HEADERS_WITHIN, self._give_up)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._patience.cancel()
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._patience = self.loop.call_later(HEADERS_WITHIN, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._patience.cancel()
        if self._unread is not None:
            self._unread.cancel()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


def run_server(target: ServiceTarget, *, host: str, port: int, workers: int) -> None:
    """Serve until somebody stops it.

    Parameters
    ----------
    target
        What is served, and who may ask.
    host, port
        Where to listen; addresses other than this machine's need TLS in front.
    workers
        How many processes answer; one that dies is started again if there are several.
    """
    _checks.whole(at_least=1, at_most=64, workers=workers)
    _checks.whole(at_least=0, at_most=65535, port=port)
    target.announce()
    folder = tempfile.mkdtemp(prefix="discreet-metrics-") if workers > 1 else None
    if folder is not None:
        os.environ[FOLDER] = folder
    try:
        uvicorn.run(
            WORKER,
            factory=True,
            host=host,
            port=port,
            workers=workers,
            log_config=LOGS,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=CONNECTIONS,
            timeout_keep_alive=20,
            timeout_graceful_shutdown=30,
            h11_max_incomplete_event_size=2**15,
            ws="none",
            lifespan="off",
            http=PromptProtocol,
        )
    finally:
        if folder is not None:
            os.environ.pop(FOLDER, None)
            shutil.rmtree(folder, ignore_errors=True)

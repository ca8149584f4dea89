"""The server: worker processes, their log, and what they take from the network."""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from socket import socket
from typing import Any

import uvicorn

from discreet import _checks
from discreet.service.counters import FOLDER
from discreet.service.prompt_protocol import PATIENCE, Owed, PromptProtocol
from discreet.service.service_target import ServiceTarget
from discreet.service.worker_processes import keep_working

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
"""How many connections a worker has at once; whoever is slowest makes room for others."""

FAILED = 3
"""What the process says to its parent if it never served."""


class AnnouncingServer(uvicorn.Server):
    """A server that says so once it listens."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._announce()


def run_server(
    target: ServiceTarget,
    *,
    host: str,
    port: int,
    workers: int,
    on_up: Callable[[], None] = lambda: None,
) -> None:
    """Serve until somebody stops it."""
    _checks.whole(at_least=1, at_most=64, workers=workers)
    _checks.whole(at_least=0, at_most=65535, port=port)
    target.announce()
    folder = tempfile.mkdtemp(prefix="discreet-metrics-") if workers > 1 else None
    if folder is not None:
        os.environ[FOLDER] = folder
    try:
        listener = _configure(host, port).bind_socket()
        if workers > 1:
            given = (host, port, listener)
            is_served = keep_working(_work, given, workers=workers, on_up=on_up)
        else:
            is_served = _serve(host, port, listener, on_up)
        if not is_served:
            sys.exit(FAILED)
    finally:
        if folder is not None:
            os.environ.pop(FOLDER, None)
            shutil.rmtree(folder, ignore_errors=True)


def _configure(host: str, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        WORKER,
        factory=True,
        host=host,
        port=port,
        log_config=LOGS,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=math.ceil(PATIENCE[Owed.HEADERS]),
        timeout_graceful_shutdown=30,
        h11_max_incomplete_event_size=2**15,
        ws="none",
        lifespan="off",
        http=PromptProtocol,
    )


def _serve(host: str, port: int, listener: socket, announce: Callable[[], None]) -> bool:
    """Serve in this process; say whether it ever did."""
    server = AnnouncingServer(_configure(host, port), announce)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
    return server.started


def _work(host: str, port: int, listener: socket, saying: Connection) -> None:
    """Be a worker."""
    _serve(host, port, listener, lambda: saying.send(True))

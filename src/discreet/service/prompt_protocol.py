"""How a worker treats connections: it sends at once, and waits for no client for ever.

At every instant a connection waits for its client or for the application. For what it waits follows
from the states of both sides, so there is one clock: it starts again when the client is waited for
with something else, never because another byte came. Where there are as many connections as
there may be, whoever was waited for longest makes room: nobody can keep others out by being slow.
"""

from __future__ import annotations

import asyncio
import socket
from enum import Enum
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class Owed(Enum):
    """What a client is waited for with."""

    HEADERS = "all headers of a request, the first or a further one"
    REST = "the rest of a body whose request is answered"
    READING = "that it reads what was sent"
    BODY = "a body that the application reads, which has a deadline of its own"


PATIENCE = {Owed.HEADERS: 15.0, Owed.REST: 5.0, Owed.READING: 30.0}
"""Seconds that a client has."""


class PromptProtocol(H11Protocol):
    """Sends at once what there is; closes connections of clients that do not do their part.

    The kernel would hold the body of an answer back until the client has confirmed its headers,
    which takes 40 milliseconds. Sockets that workers share keep that habit unless they are told.
    """

    _clock: asyncio.TimerHandle | None = None
    _owed: Owed | None = None
    _since = 0.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.set_write_buffer_limits(high=0)  # pauses as soon as something is not taken
        self._look()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_clock()

    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()  # a response has begun, and cannot be taken back

    def _should_upgrade(self) -> bool:
        """Answer as if no other protocol had been proposed, which HTTP allows."""
        return False

    def _find_owed(self) -> Owed | None:
        """Return what the client is waited for with; None while the application works."""
        if self.flow.write_paused:
            return Owed.READING
        if self.conn.their_state is h11.IDLE:
            return Owed.HEADERS
        if self.conn.their_state is h11.SEND_BODY:
            return Owed.REST if self.cycle.response_complete else Owed.BODY
        return None

    def _look(self) -> None:
        """Start the clock again if the client is waited for with something else than before."""
        owed = self._find_owed()
        if owed is self._owed:
            return
        self._stop_clock()
        self._owed, self._since = owed, self.loop.time()
        if owed in PATIENCE:
            self._clock = self.loop.call_later(PATIENCE[owed], self.transport.abort)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()

    def _make_room(self) -> None:
        """Close connections of those waited for longest, as long as there are too many.

        Whoever sends a body that is still read, and so was let in, comes last.
        """
        most = self.limit_concurrency
        if most is None or len(self.connections) < most:
            return
        others: list[Any] = [each for each in self.connections if each is not self]
        waiting = [each for each in others if each._owed is not None]
        waiting.sort(key=lambda each: (each._owed is Owed.BODY, each._since))
        for each in waiting[: len(self.connections) - most + 1]:
            self.connections.discard(each)
            each.transport.abort()

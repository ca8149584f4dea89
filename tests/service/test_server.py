"""What the server does with connections, below requests."""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from uvicorn.server import ServerState

from discreet.service.server import PromptProtocol


async def app(scope, receive, send):
    """Answer nothing."""


async def is_prompt():
    """Say whether the socket of a connection to a listener that workers share sends at once."""
    config = uvicorn.Config(app, lifespan="off", log_config=None)
    config.load()
    made = asyncio.get_running_loop().create_future()

    class Noted(PromptProtocol):
        def connection_made(self, transport):
            super().connection_made(transport)
            made.set_result(transport.get_extra_info("socket"))

    listening = socket.create_server(("127.0.0.1", 0))
    server = await asyncio.get_running_loop().create_server(
        lambda: Noted(config=config, server_state=ServerState(), app_state={}), sock=listening
    )
    async with server:
        _, writer = await asyncio.open_connection(*listening.getsockname())
        accepted = await made
        found = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.close()
    return bool(found)


def test_the_kernel_does_not_hold_the_body_of_an_answer_back():
    assert asyncio.run(is_prompt())

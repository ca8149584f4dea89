"""What the server does with connections, below requests."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager

import pytest
import uvicorn
from uvicorn.server import ServerState

from discreet.service import server
from discreet.service.server import PromptProtocol

LONG = 64 * 2**20


async def send_little(scope, receive, send):
    """Answer at once, with a body of two bytes."""
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"ok"})


async def send_much(scope, receive, send):
    """Answer more than any buffer holds."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * LONG})


@asynccontextmanager
async def connected(app=send_much):
    """Yield both ends of a connection: its reader and writer, and the socket that was accepted."""
    config = uvicorn.Config(app, lifespan="off", log_config=None)
    config.load()
    loop = asyncio.get_running_loop()
    made = loop.create_future()

    class Noted(PromptProtocol):
        def connection_made(self, transport):
            super().connection_made(transport)
            made.set_result(transport.get_extra_info("socket"))

    listening = socket.create_server(("127.0.0.1", 0))  # as workers share it
    serving = await loop.create_server(
        lambda: Noted(config=config, server_state=ServerState(), app_state={}), sock=listening
    )
    async with serving:
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        yield reader, writer, await made
        writer.close()


def test_the_kernel_does_not_hold_the_body_of_an_answer_back():
    async def look():
        async with connected() as (_, _, accepted):
            return accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    assert asyncio.run(look()) != 0


@pytest.mark.parametrize("is_read", [True, False])
def test_a_client_that_does_not_read_is_let_go(monkeypatch, is_read):
    monkeypatch.setattr(server, "READ_WITHIN", 60.0 if is_read else 0.2)

    async def ask():
        async with connected() as (reader, writer, accepted):
            writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
            while not is_read and accepted.fileno() != -1:
                await asyncio.sleep(0.01)
            try:
                return len(await reader.readexactly(LONG))
            except (asyncio.IncompleteReadError, ConnectionError):
                return 0

    assert asyncio.run(asyncio.wait_for(ask(), 50)) == (LONG if is_read else 0)


@pytest.mark.parametrize("requests", [0, 1])
def test_headers_that_never_end_are_let_go_whatever_was_asked_before(monkeypatch, requests):
    monkeypatch.setattr(server, "HEADERS_WITHIN", 1.0)

    async def ask():
        async with connected(send_little) as (reader, writer, _):
            for _ in range(requests):
                writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
                await reader.readuntil(b"ok")
            writer.write(b"G")
            return await reader.read()

    assert asyncio.run(asyncio.wait_for(ask(), 50)) == b""

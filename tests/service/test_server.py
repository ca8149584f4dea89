"""What the server does with connections, below requests: nobody keeps others out by being slow."""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import socket
from dataclasses import replace

import pytest

from discreet.service import KeyBook, create_app
from discreet.service.prompt_protocol import PATIENCE, Owed
from support.connections import listening
from support.service_world import QUICK, StandIn

LONG = 64 * 2**20
HOST = b"Host: here\r\n"
HEALTH = b"GET /health HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"


async def send_much(scope, receive, send):
    """Answer more than any buffer holds."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * LONG})


def post(path, *headers):
    """Return the headers of a request that has a body."""
    lines = [f"POST {path} HTTP/1.1", "Host: here", *headers, "", ""]
    return "\r\n".join(lines).encode()


DRIPS = {
    "nothing": (b"", b""),
    "headers": (b"GET /health HTTP/1.1\r\nX: ", b"y"),
    "a further request": (b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n", b""),
    "headers of a further request": (b"GET /health HTTP/1.1\r\n" + HOST + b"\r\nG", b"E"),
    "a body without a key": (post("/predict", "Content-Length: 100000"), b" "),
    "a body in pieces without a key": (
        post("/predict", "Transfer-Encoding: chunked"), b"1\r\n \r\n"
    ),
    "a body that nobody wants": (post("/health", "Content-Length: 100000"), b" "),
    "a body of GET": (
        b"GET /health HTTP/1.1\r\nContent-Length: 100000\r\n" + HOST + b"\r\n", b" "
    ),
    "a body nowhere": (post("/nothing", "Content-Length: 100000"), b" "),
    "a body that is too long": (post("/predict", "Content-Length: 9999999999"), b" "),
    "an unfinished piece": (post("/predict", "Transfer-Encoding: chunked"), b"0"),
    "a proposal": (
        b"GET /health HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n" + HOST + b"\r\n",
        b"x",
    ),
    "a proposal with a body": (
        post("/predict", "Connection: upgrade", "Upgrade: h2c", "Content-Length: 9999"), b" "
    ),
    "another host": (b"CONNECT there:443 HTTP/1.1\r\n" + HOST + b"\r\n", b"x"),
    "a promise to go on": (
        post("/predict", "Expect: 100-continue", "Content-Length: 9999"), b" "
    ),
}  # fmt: skip
"""Ways to be slow without a key: what is sent first, and what is dripped for ever."""

OPEN_DRIPS = {
    "a body": (post("/predict", "Content-Type: application/json", "Content-Length: 99999"), b" "),
    "a body in pieces": (
        post("/predict", "Content-Type: application/json", "Transfer-Encoding: chunked"),
        b"1\r\n \r\n",
    ),
    "a stream": (
        post("/predict/stream", "Content-Type: application/x-ndjson", "Content-Length: 99999"),
        b" ",
    ),
    "a stream in pieces": (
        post("/predict/stream", "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked"),
        b"1\r\n \r\n",
    ),
}
"""Where everybody may ask, bodies are read."""


@pytest.fixture
def keyed(released, tmp_path):
    """An application with keys, of which nobody here has one."""
    book = KeyBook(tmp_path / "keys.db")
    book.create_key("somebody else")
    yield create_app(StandIn(released), book, limits=QUICK)
    book.close()


@pytest.fixture
def hasty(monkeypatch):
    """Less patience, so that a test can wait for its end."""
    for owed in PATIENCE:
        monkeypatch.setitem(PATIENCE, owed, 0.4)


async def drip(writer, first, then):
    """Send something, and a little more for ever."""
    writer.write(first)
    for _ in itertools.count():
        await asyncio.sleep(0.05)
        writer.write(then)


async def is_let_go(server, first, then):
    """Say that a connection was ended by the server, however long that takes."""
    reader, writer = await server.connect()
    dripping = asyncio.create_task(drip(writer, first, then))
    try:
        while await reader.read(2**16):
            pass
    except ConnectionError:
        pass
    finally:
        dripping.cancel()
    return True


@pytest.mark.parametrize("way", [*DRIPS, *OPEN_DRIPS])
def test_whoever_is_slow_without_a_key_is_let_go(keyed, released, hasty, caplog, way):
    is_open = way in OPEN_DRIPS
    first, then = (OPEN_DRIPS if is_open else DRIPS)[way]
    app = create_app(released, None, limits=replace(QUICK, deadline=0.4)) if is_open else keyed

    async def be_slow():
        async with listening(app) as server:
            return await is_let_go(server, first, then)

    with caplog.at_level(logging.WARNING):
        assert asyncio.run(asyncio.wait_for(be_slow(), 50))
    said = {record.getMessage() for record in caplog.records}
    assert said <= {"Invalid HTTP request received."}  # no advice, no trace of a failure


@pytest.mark.parametrize("way", ["nothing", "headers", "a further request", "a body without a key",
                                 "a body in pieces without a key", "a proposal"])  # fmt: skip
def test_as_many_slow_clients_as_there_may_be_keep_nobody_out(keyed, monkeypatch, way):
    for owed in PATIENCE:
        monkeypatch.setitem(PATIENCE, owed, 1000.0)  # so that time alone does not help
    first, then = DRIPS[way]
    most = 50

    async def crowd():
        async with listening(keyed, most) as server:
            drips, said = [], []
            for _ in range(3 * most):
                _, writer = await server.connect()
                drips.append(asyncio.create_task(drip(writer, first, then)))
            for _ in range(5):
                await asyncio.sleep(0.05)
                said.append((await server.ask(HEALTH))[:12])
                assert len(server.connections) < most
            for each in drips:
                each.cancel()
            return said

    assert asyncio.run(asyncio.wait_for(crowd(), 50)) == [b"HTTP/1.1 200"] * 5


def test_whoever_is_let_in_stays_while_there_are_others_to_go(released):
    most, limits = 20, replace(QUICK, deadline=1000.0)
    row = b'{"age": 47, "ward": "surgery"}\n'
    first, _ = OPEN_DRIPS["a stream in pieces"]

    async def crowd():
        async with listening(create_app(released, None, limits=limits), most) as server:
            reader, writer = await server.connect()
            writer.write(first + b"%x\r\n%s\r\n" % (len(row), row))
            await reader.readuntil(b'"released"')
            for _ in range(3 * most):
                await server.connect()
            writer.write(b"%x\r\n%s\r\n" % (len(row), row) + b"0\r\n\r\n")
            await reader.readuntil(b'"released"')
            return await reader.readuntil(b"0\r\n\r\n")

    assert asyncio.run(asyncio.wait_for(crowd(), 50)).endswith(b"0\r\n\r\n")


REQUESTS = {
    "200": (b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n", b""),
    "400": (post("/predict", "Content-Type: application/json", "Content-Length: 1"), b"{"),
    "401": (post("/predict", "Content-Length: 4"), b"null"),
    "404": (post("/nothing", "Content-Length: 4"), b"null"),
    "405": (post("/health", "Content-Length: 4"), b"null"),
    "415": (post("/predict", "Content-Length: 4"), b"null"),
    "401 in pieces": (post("/predict", "Transfer-Encoding: chunked"), b"1\r\n \r\n0\r\n\r\n"),
}


@pytest.mark.parametrize("status", REQUESTS)
def test_a_connection_goes_on_if_the_body_comes_after_the_answer(keyed, released, status):
    head, body = REQUESTS[status]
    is_open = status in ("400", "415")
    app = create_app(released, None, limits=QUICK) if is_open else keyed

    async def ask():
        async with listening(app) as server:
            reader, writer = await server.connect()
            said = []
            for _ in range(2):
                writer.write(head)
                if status != "400":  # otherwise the body is waited for
                    said.append((await reader.readuntil(b"\r\n"))[9:12])
                writer.write(body)
                if status == "400":
                    said.append((await reader.readuntil(b"\r\n"))[9:12])
                headers = await reader.readuntil(b"\r\n\r\n")
                length = int(headers.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
            return said

    assert asyncio.run(asyncio.wait_for(ask(), 50)) == [status[:3].encode()] * 2


def test_the_kernel_does_not_hold_the_body_of_an_answer_back(keyed):
    async def look():
        async with listening(keyed) as server:
            await server.connect()
            while not server.connections:
                await asyncio.sleep(0.01)
            (protocol,) = server.connections
            accepted = protocol.transport.get_extra_info("socket")
            return accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    assert asyncio.run(look()) != 0


@pytest.mark.parametrize("is_read", [True, False])
def test_a_client_that_does_not_read_is_let_go(monkeypatch, is_read):
    monkeypatch.setitem(PATIENCE, Owed.READING, math.inf if is_read else 0.2)

    async def ask():
        async with listening(send_much) as server:
            reader, writer = await server.connect()
            writer.write(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
            while not is_read and not server.connections:
                await asyncio.sleep(0.01)
            while not is_read and server.connections:
                await asyncio.sleep(0.01)
            try:
                return len(await reader.readexactly(LONG))
            except (asyncio.IncompleteReadError, ConnectionError):
                return 0

    assert asyncio.run(asyncio.wait_for(ask(), 50)) == (LONG if is_read else 0)

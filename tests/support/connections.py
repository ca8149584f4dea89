"""Connections to a server in this process, with limits that a test can wait for."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, suppress

import uvicorn
from uvicorn.server import ServerState

from discreet.service.prompt_protocol import PromptProtocol


class LocalServer:
    """An address that answers as a worker does, and the connections that it has."""

    def __init__(self, address, state):
        self.address, self.connections = address, state.connections
        self._writers = []

    async def connect(self):
        """Return the reader and the writer of a new connection."""
        reader, writer = await asyncio.open_connection(*self.address)
        self._writers.append(writer)
        return reader, writer

    async def ask(self, request):
        """Return all that is said to a request on a connection of its own."""
        reader, writer = await self.connect()
        writer.write(request)
        return await reader.read()

    async def close(self):
        """Close all connections that were made."""
        for writer in self._writers:
            writer.close()
        for writer in self._writers:
            with suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def listening(app, most=None):
    """Serve an application as long as the block lasts."""
    config = uvicorn.Config(
        app, lifespan="off", log_config=None, ws="none", limit_concurrency=most, access_log=False
    )
    config.load()
    state, listener = ServerState(), socket.create_server(("127.0.0.1", 0), backlog=512)
    serving = await asyncio.get_running_loop().create_server(
        lambda: PromptProtocol(config=config, server_state=state, app_state={}), sock=listener
    )
    async with serving:
        server = LocalServer(listener.getsockname(), state)
        try:
            yield server
        finally:
            await server.close()

"""Streams of rows: one JSON object a line in, one answer a line out, in the same order.

Lines that arrive together are answered together. What cannot be answered ends the stream with a
line ``{"error": ...}``; before the first answer it is an ordinary refusal.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from discreet.service.answer_desk import AnswerDesk, KeyedRows
from discreet.service.answering import QueryAnswer
from discreet.service.query_rows import Row, read_row
from discreet.service.refusal import SLOW_BODY, TOO_LARGE, WRONG_ROWS, Refusal
from discreet.service.request_body import LINES, parse_body
from discreet.service.request_guard import respond


class LineStream(Response):
    """Answers a request line by line."""

    media_type = LINES

    def __init__(self, desk: AnswerDesk, request: Request, key: str) -> None:
        super().__init__()
        self._desk, self._request, self._key = desk, request, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read, answer and send until the lines end."""
        has_begun = False
        try:
            async for answers in self._answer_groups():
                lines = (json.dumps(each.to_json(), allow_nan=False) for each in answers)
                text = "".join(f"{line}\n" for line in lines)
                if not has_begun:
                    await self._begin(send)
                    has_begun = True
                await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
        except Refusal as refusal:
            if not has_begun:
                await respond(refusal)(scope, receive, send)
                return
            last = f"{json.dumps(refusal.document)}\n".encode()
            await send({"type": "http.response.body", "body": last, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _begin(self, send: Send) -> None:
        headers = [(b"content-type", LINES.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def _answer_groups(self) -> AsyncIterator[list[QueryAnswer]]:
        count = 0
        async for lines in self._groups():
            start = count
            count += len(lines)

            async def work(lines: list[bytes] = lines, start: int = start) -> list[QueryAnswer]:
                rows = read_lines(lines, self._desk, start)
                # The first row was booked when the key was admitted.
                return await self._desk.answer(KeyedRows(self._key, rows, booked=int(start == 0)))

            yield await self._desk.pad(work, len(lines))
        if not count:
            raise Refusal(WRONG_ROWS, "Send at least one row, one JSON object a line.")

    async def _groups(self) -> AsyncIterator[list[bytes]]:
        """Yield lines as they arrive, as many at a time as a request may hold."""
        limits, rest, empty = self._desk.limits, bytearray(), 0
        chunks = self._request.stream().__aiter__()
        due = anyio.current_time() + limits.deadline
        while True:
            chunk = await self._next(chunks, due)
            first, *others = (b"\n" if chunk is None else chunk).split(b"\n")
            rest += first
            lines = []
            for piece in others:
                lines.append(bytes(rest))
                rest = bytearray(piece)
            if max(map(len, [rest, *lines])) > limits.max_bytes:
                raise Refusal(TOO_LARGE, f"A line may have {limits.max_bytes} bytes.")
            filled = [line for line in lines if line.strip()]
            empty += len(lines) - len(filled)
            if empty > limits.max_lines:
                raise Refusal(TOO_LARGE, "There are too many empty lines.")
            for start in range(0, len(filled), limits.max_rows):
                yield filled[start : start + limits.max_rows]
            if filled:  # a whole row is due within each deadline
                due = anyio.current_time() + limits.deadline
            if chunk is None:
                return

    async def _next(self, chunks: AsyncIterator[bytes], due: float) -> bytes | None:
        try:
            with anyio.fail_after(max(0.0, due - anyio.current_time())):
                return await chunks.__anext__()
        except StopAsyncIteration:
            return None
        except (TimeoutError, ClientDisconnect):
            raise Refusal(SLOW_BODY) from None


def read_lines(lines: list[bytes], desk: AnswerDesk, start: int) -> list[Row]:
    """Return the rows of some lines."""
    if start + len(lines) > desk.limits.max_lines:
        raise Refusal(TOO_LARGE, f"A stream may hold {desk.limits.max_lines} rows.")
    columns: Mapping = desk.answering.columns  # type: ignore[type-arg]
    return [
        read_row(parse_body(line), columns, start + place)
        for place, line in enumerate(lines, start=1)
    ]

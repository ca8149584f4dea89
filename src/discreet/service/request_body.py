"""Bodies of requests: read within limits before anything is parsed, and parsed strictly."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from discreet import _json
from discreet._types import Json
from discreet.errors import DiscreetError
from discreet.service.refusal import BAD_JSON, NOT_JSON, SLOW_BODY, TOO_LARGE, Refusal
from discreet.service.service_limits import ServiceLimits

JSON, LINES = "application/json", "application/x-ndjson"


def check_type(request: Request, kind: str) -> None:
    """Refuse a body of another type, in several parts, or compressed."""
    said = request.headers.getlist("content-type")
    if len(said) != 1 or said[0].partition(";")[0].strip().lower() != kind:
        raise Refusal(NOT_JSON)
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(NOT_JSON)
    if "content-length" in request.headers and "transfer-encoding" in request.headers:
        raise Refusal(NOT_JSON)  # servers in front may disagree about where such a body ends


async def read_body(request: Request, limits: ServiceLimits) -> bytes:
    """Return the body of a request, never more of it than the limit."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > limits.max_bytes:
        raise Refusal(TOO_LARGE, f"A body may have {limits.max_bytes} bytes.")
    body = bytearray()
    try:
        async with asyncio.timeout(limits.deadline):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limits.max_bytes:
                    raise Refusal(TOO_LARGE, f"A body may have {limits.max_bytes} bytes.")
    except (TimeoutError, ClientDisconnect):
        raise Refusal(SLOW_BODY) from None
    return bytes(body)


def parse_body(body: bytes) -> Json:
    """Return the JSON object of a body."""
    try:
        return _json.parse(body.decode("utf-8"), "the body")
    except (DiscreetError, UnicodeDecodeError):
        raise Refusal(BAD_JSON) from None

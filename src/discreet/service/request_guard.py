"""What every request passes: headers of every response, counters, a log without values.

An error that nobody foresaw becomes one fixed sentence; the log says where in the code it was, and
nothing of what it said.
"""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.service.counters import ServiceCounters
from discreet.service.refusal import BUG, Refusal

LOG = logging.getLogger("discreet.service")

NOTES = "discreet.service"
"""Where a request's scope holds what the log says of it: the identity of its key, its rows."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Of every response, unless a route says otherwise."""


class RequestGuard:
    """Wraps an application."""

    def __init__(self, app: ASGIApp, counters: ServiceCounters) -> None:
        self._app, self._counters = app, counters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        statuses: list[int] = []

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        notes: dict[str, Any] = scope.setdefault(NOTES, {})
        try:
            await self._app(scope, receive, send_guarded)
        except Exception as error:
            log_bug(error)
            if not statuses:
                await respond(Refusal(BUG))(scope, receive, send_guarded)
        finally:
            status = statuses[0] if statuses else 499
            route = getattr(scope.get("route"), "path", "other")
            self._counters.count_request(route, status)
            words = "".join(f" {name}={value}" for name, value in sorted(notes.items()))
            LOG.info("%s %s %d%s", _known_method(scope["method"]), route, status, words)


def _known_method(method: str) -> str:
    return method if method in ("GET", "POST", "HEAD", "OPTIONS") else "OTHER"


def log_bug(error: BaseException) -> None:
    """Log where an error was, and nothing of what it said: its words may quote a value."""
    places = traceback.extract_tb(error.__traceback__)
    where = f"{Path(places[-1].filename).name}, line {places[-1].lineno}" if places else "nowhere"
    LOG.error("a bug: %s in %s", type(error).__name__, where)


def respond(refusal: Refusal) -> JSONResponse:
    """Return the response of a refusal."""
    status = refusal.reason.status
    return JSONResponse(refusal.document, status_code=status, headers=refusal.headers)

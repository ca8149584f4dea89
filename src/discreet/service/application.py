"""The web application: its routes, and what they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from discreet import __version__
from discreet._types import Json
from discreet.errors import InputError
from discreet.service.access_key import METRICS, PREDICT, STATUS
from discreet.service.answer_desk import AnswerDesk, check_answered
from discreet.service.answering import Answering, QueryAnswer
from discreet.service.counters import ServiceCounters
from discreet.service.key_book import KeyBook
from discreet.service.line_stream import LineStream
from discreet.service.openapi_document import (
    KEYED,
    SECURITY,
    answer_schema,
    lines_body,
    needs,
    responses,
    rows_body,
)
from discreet.service.padding import Padding
from discreet.service.query_rows import read_rows
from discreet.service.refusal import (
    BAD_JSON,
    BUG,
    EXHAUSTED,
    GONE,
    NOT_FOUND,
    NOT_JSON,
    SLOW_BODY,
    TOO_LARGE,
    UNAVAILABLE,
    WRONG_METHOD,
    WRONG_ROWS,
    Refusal,
)
from discreet.service.request_body import JSON, LINES, check_type, parse_body, read_body
from discreet.service.request_guard import NOTES, RequestGuard, respond
from discreet.service.service_limits import ServiceLimits

BODIES = (BAD_JSON, SLOW_BODY, TOO_LARGE, NOT_JSON, WRONG_ROWS, GONE)
"""What may happen to a request with rows."""

PAGE_FILES = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
"""Everything that is served from the package; no path of a request is looked up on a disk."""

OWN_STYLE = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox"
)
"""Of the card, a page with a style of its own and nothing else, which the first page may show."""

OBJECT: Json = {"type": "object"}


def create_app(
    answering: Answering,
    keys: KeyBook | None,
    *,
    limits: ServiceLimits | None = None,
    counters: ServiceCounters | None = None,
    padding: Padding | None = None,
) -> FastAPI:
    """Return the web application that answers from a model.

    Parameters
    ----------
    answering
        A released model, or an oracle.
    keys
        Who may ask; None lets everybody, and is refused for an oracle.
    limits
        Sizes, rates, deadlines and the pad; the defaults if None.
    counters
        What is counted; those of one worker if None.
    padding
        When answers leave, for tests; that of the limits if None.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import LinearRegressor
    >>> from discreet.service import ReleasedModel
    >>> X, y = np.linspace(0, 1, 200)[:, None], np.linspace(0, 1, 200)
    >>> model = LinearRegressor(columns=[(0, 1)], target_range=(0, 1)).fit(X, y)
    >>> app = create_app(ReleasedModel(model), keys=None)
    >>> "/predict" in app.openapi()["paths"]
    True
    """
    if keys is None and answering.kind == "oracle":
        raise InputError("an oracle answers to keys only; make some with `discreet keys create`.")
    limits = ServiceLimits() if limits is None else limits
    counters = ServiceCounters(is_shared=False) if counters is None else counters
    app = FastAPI(
        title="Discreet",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
    )
    app.add_middleware(RequestGuard, counters=counters)
    _refuse_plainly(app)
    desk = AnswerDesk(answering, keys, limits, counters, padding)
    _add_public_routes(app, desk)
    _add_keyed_routes(app, desk)
    _add_page(app)
    app.openapi = _describe(app)  # type: ignore[method-assign]
    return app


def _refuse_plainly(app: FastAPI) -> None:
    """Say every refusal in the same form; FastAPI's own would quote what was sent."""

    def refuse(_: Request, refusal: Any) -> Response:
        return respond(refusal)

    def refuse_status(_: Request, error: Any) -> Response:
        reason = {404: NOT_FOUND, 405: WRONG_METHOD}.get(error.status_code, BAD_JSON)
        response = respond(Refusal(reason))
        if error.headers and "Allow" in error.headers:
            response.headers["Allow"] = error.headers["Allow"]
        return response

    def refuse_request(_: Request, __: Any) -> Response:
        return respond(Refusal(BAD_JSON))

    app.add_exception_handler(Refusal, refuse)
    app.add_exception_handler(HTTPException, refuse_status)
    app.add_exception_handler(RequestValidationError, refuse_request)


def _add_public_routes(app: FastAPI, desk: AnswerDesk) -> None:
    answering = desk.answering
    shown = answering.card()
    texts = {JSON: shown.to_json(), "text/html": shown.html()}
    guarantee = _guarantee_document(answering)

    @app.get("/health", responses=responses(OBJECT, UNAVAILABLE, GONE, BUG), summary="Is it up?")
    async def health() -> Response:
        await desk.standing()
        return JSONResponse({"status": "up", "version": __version__})

    @app.get("/guarantee", responses=responses(OBJECT, BUG), summary="What is promised.")
    async def tell_guarantee() -> Response:
        return JSONResponse(guarantee)

    @app.get("/columns", responses=responses(OBJECT, BUG), summary="How rows must be.")
    async def tell_columns() -> Response:
        return JSONResponse(
            {
                "title": answering.title,
                "kind": answering.kind,
                "columns": answering.describe_columns(),
                "classes": list(answering.classes),
                "max_rows": desk.limits.max_rows,
                "needs_key": desk.needs_key,
            }
        )

    card_responses = responses(OBJECT, BUG)
    card_responses[200]["content"]["text/html"] = {"schema": {"type": "string"}}

    @app.get("/card", responses=card_responses, summary="The privacy card, JSON or HTML.")
    async def tell_card(request: Request) -> Response:
        kind = "text/html" if "text/html" in request.headers.get("accept", "") else JSON
        headers = {"Vary": "Accept"}
        if kind == "text/html":
            headers |= {"Content-Security-Policy": OWN_STYLE, "X-Frame-Options": "SAMEORIGIN"}
        return Response(texts[kind], media_type=kind, headers=headers)


def _guarantee_document(answering: Answering) -> Json:
    guarantee = answering.guarantee
    return {
        "sentence": guarantee.sentence(),
        "epsilon": guarantee.epsilon(),
        "delta": guarantee.quoted_delta,
        "unit": guarantee.unit.name,
        "public_facts": list(guarantee.public_facts),
        "guarantee": json.loads(guarantee.to_json()),
    }


def _add_keyed_routes(app: FastAPI, desk: AnswerDesk) -> None:
    answering, limits = desk.answering, desk.limits
    answer = answer_schema(answering)
    answers: Json = {
        "type": "object",
        "required": ["answers"],
        "additionalProperties": False,
        "properties": {"answers": {"type": "array", "items": answer}},
    }

    @app.post(
        "/predict",
        responses=responses(answers, *KEYED, *BODIES, EXHAUSTED),
        openapi_extra={**rows_body(answering, limits), **needs(PREDICT)},
        summary="Answer rows, in their order.",
    )
    async def predict(request: Request) -> Response:
        entered = await desk.enter(request)
        try:
            check_type(request, JSON)
            body = await read_body(request, limits)
        except Refusal:
            await desk.book_refused(entered)
            raise

        rows, refused = [], None
        try:
            rows = read_rows(parse_body(body), answering.columns, limits.max_rows)
        except Refusal as refusal:
            refused = refusal
        request.scope[NOTES]["rows"] = len(rows)

        async def work() -> list[QueryAnswer]:
            if refused is not None:
                await desk.book_refused(entered)
                raise refused
            answers = await desk.answer(replace(entered, rows=rows))
            check_answered(answers)
            return answers

        answers = await desk.pad(work, len(rows))
        return JSONResponse({"answers": [each.to_json() for each in answers]})

    @app.post(
        "/predict/stream",
        responses=responses(answer, *KEYED, *BODIES, kind=LINES),
        openapi_extra={**lines_body(answering), **needs(PREDICT)},
        summary="Answer rows as they arrive, one JSON object a line.",
    )
    async def predict_stream(request: Request) -> Response:
        key = await desk.admit(request, PREDICT)
        check_type(request, LINES)
        return LineStream(desk, request, key)

    @app.get(
        "/status",
        responses=responses(OBJECT, *KEYED, GONE),
        openapi_extra=needs(STATUS),
        summary="What is left, and what a request may hold.",
    )
    async def tell_status(request: Request) -> Response:
        await desk.admit(request, STATUS)
        standing = await desk.standing()
        return JSONResponse(
            {
                "status": standing.status,
                "answers": standing.n_answers,
                "max_answers": standing.max_answers,
                "limits": vars(limits),
            }
        )

    @app.get(
        "/metrics",
        responses=responses({"type": "string"}, *KEYED, GONE, kind="text/plain"),
        openapi_extra=needs(METRICS),
        summary="Counters for Prometheus.",
    )
    async def tell_metrics(request: Request) -> Response:
        await desk.admit(request, METRICS)
        standing = await desk.standing()
        text = desk.counters.page(standing)
        return Response(text, media_type="text/plain; version=0.0.4")


def _add_page(app: FastAPI) -> None:
    folder = resources.files("discreet.service") / "web_page"
    first = (folder / "index.html").read_text(encoding="utf-8")
    others = {name: (folder / name).read_text(encoding="utf-8") for name in PAGE_FILES}

    @app.get("/", include_in_schema=False)
    async def show_page() -> Response:
        return HTMLResponse(first)

    def serve(name: str) -> Callable[[], Any]:
        async def show_file() -> Response:
            return Response(others[name], media_type=PAGE_FILES[name])

        return show_file

    for name in PAGE_FILES:
        app.get(f"/{name}", include_in_schema=False)(serve(name))


def _describe(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """Return what describes the application, made once."""
    made: dict[str, Any] = {}

    def describe() -> dict[str, Any]:
        if not made:
            made.update(get_openapi(title=app.title, version=app.version, routes=app.routes))
            made.setdefault("components", {})["securitySchemes"] = SECURITY
            made["info"]["description"] = (
                "Predictions of a model that was learnt with differential privacy. Errors have a "
                "code for programs and a sentence for people; neither quotes what was sent."
            )
        return made

    return describe

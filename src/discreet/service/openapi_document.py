"""What the service says of itself in OpenAPI: every route, every status, every field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet._types import Json
from discreet.preprocessing import Category, Column
from discreet.service.answering import Answering
from discreet.service.query_rows import LARGEST
from discreet.service.refusal import BUG, NO_KEY, NO_SCOPE, TOO_FAST, TOO_LATE, UNAVAILABLE, Reason
from discreet.service.request_body import JSON, LINES
from discreet.service.service_limits import ServiceLimits

KEYED = (NO_KEY, NO_SCOPE, TOO_FAST, UNAVAILABLE, TOO_LATE, BUG)
"""What may happen to every request that needs a key."""

REFUSED: Json = {
    "type": "object",
    "required": ["error"],
    "additionalProperties": False,
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "additionalProperties": False,
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}

NULLABLE_NUMBER: Json = {"type": ["number", "null"]}


def row_schema(columns: Mapping[str, Column]) -> Json:
    """Return what a row must be.

    Examples
    --------
    >>> from discreet.preprocessing import Numeric
    >>> row_schema({"age": Numeric(18, 100)})["required"]
    ['age']
    """
    return {
        "type": "object",
        "required": list(columns),
        "additionalProperties": False,
        "properties": {name: _cell_schema(column) for name, column in columns.items()},
    }


def _cell_schema(column: Column) -> Json:
    if isinstance(column, Category):
        return {"enum": list(column.levels)}
    said = f"{column.words}; numbers outside count as the nearest end."
    return {"type": "number", "minimum": -LARGEST, "maximum": LARGEST, "description": said}


def answer_schema(answering: Answering) -> Json:
    """Return what is said of a row."""
    prediction: Json = {"type": ["number", "null"]}
    if answering.classes:
        prediction = {"enum": [*answering.classes, None]}
    return {
        "type": "object",
        "required": ["prediction", "value", "scale", "status", "probabilities"],
        "additionalProperties": False,
        "properties": {
            "prediction": {**prediction, "description": "A class or a number; null if none."},
            "value": {
                **NULLABLE_NUMBER,
                "description": "The noisy number; null for a released model.",
            },
            "scale": {**NULLABLE_NUMBER, "description": "The standard deviation of its noise."},
            "status": {
                "type": "string",
                "description": "The same whenever the row is asked again.",
            },
            "probabilities": {"type": ["array", "null"], "items": {"type": "number"}},
        },
    }


def rows_body(answering: Answering, limits: ServiceLimits) -> Json:
    """Return the body of a batch."""
    rows = {
        "type": "array",
        "minItems": 1,
        "maxItems": limits.max_rows,
        "items": row_schema(answering.columns),
    }
    schema = {
        "type": "object",
        "required": ["rows"],
        "additionalProperties": False,
        "properties": {"rows": rows},
    }
    return _body(JSON, schema)


def lines_body(answering: Answering) -> Json:
    """Return the body of a stream."""
    return _body(LINES, {**row_schema(answering.columns), "description": "One such object a line."})


def _body(kind: str, schema: Json) -> Json:
    return {"requestBody": {"required": True, "content": {kind: {"schema": schema}}}}


def responses(ok: Json, *reasons: Reason, kind: str = JSON) -> dict[int | str, Any]:
    """Return the responses of a route: what it says, and every way to refuse."""
    found: dict[int | str, Any] = {
        200: {"description": "As asked.", "content": {kind: {"schema": ok}}}
    }
    for status in sorted({reason.status for reason in reasons}):
        words = [f"`{each.code}`: {each.message}" for each in reasons if each.status == status]
        found[status] = {
            "description": " ".join(words),
            "content": {JSON: {"schema": REFUSED}},
        }
    return found


def needs(scope: str) -> Json:
    """Say that a route needs a key of a scope."""
    return {"security": [{"key": []}], "x-scope": scope}


SECURITY: Json = {
    "key": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key that `discreet keys create` made, with the scope that x-scope names.",
    }
}

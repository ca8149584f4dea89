"""What a service says when it does not answer: a status, a word for programs, a sentence.

No sentence quotes what a client sent, nor anything that was read from a row.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet._types import Json


@dataclass(frozen=True)
class Reason:
    """One way to refuse, with the status of HTTP that goes with it."""

    status: int
    code: str
    message: str


BAD_JSON = Reason(
    400,
    "bad_json",
    "The body must be one JSON object without repeated fields, NaN or infinite numbers.",
)
NO_KEY = Reason(401, "no_key", "A valid key is needed: send it as 'Authorization: Bearer dk_...'.")
NO_SCOPE = Reason(
    403,
    "no_scope",
    "This key is valid, and was not made for this; ask for one with the scope that the "
    "documentation names.",
)
NOT_FOUND = Reason(404, "not_found", "There is nothing here; /openapi.json lists what there is.")
WRONG_METHOD = Reason(
    405, "wrong_method", "This address takes another method; /openapi.json says which."
)
SLOW_BODY = Reason(408, "slow_body", "The body did not arrive within the deadline.")
EXHAUSTED = Reason(
    409,
    "exhausted",
    "No row of this request can be answered any more: the number of answers that was paid for"
    " is used up. Rows that were answered before are answered again as they were.",
)
TOO_LARGE = Reason(
    413,
    "too_large",
    "The request is larger than this service takes; /status says how many rows and bytes it "
    "may have.",
)
NOT_JSON = Reason(
    415,
    "not_json",
    "Send JSON, neither compressed nor in parts: 'Content-Type: application/json', or "
    "application/x-ndjson for streams.",
)
WRONG_ROWS = Reason(
    422, "wrong_rows", "The rows are not as they are declared; /columns says how they must be."
)
TOO_FAST = Reason(
    429,
    "too_fast",
    "This key has asked for as many rows as it may for now; wait as long as Retry-After says.",
)
BUG = Reason(500, "bug", "This is a bug of the service. Nothing of its data is in this message.")
UNAVAILABLE = Reason(
    503,
    "unavailable",
    "The service cannot store answers at this moment, so it gives none. Ask the same again "
    "later: what was stored stays as it was.",
)
TOO_LATE = Reason(
    503,
    "too_late",
    "The answer was not ready within the deadline. Ask the same again: a row that was "
    "answered meanwhile is answered as it was.",
)
GONE = Reason(
    503,
    "changed",
    "The state of this service was damaged, replaced or taken by another model; its operator "
    "must look at it.",
)

REASONS = (
    *(BAD_JSON, NO_KEY, NO_SCOPE, NOT_FOUND, WRONG_METHOD, SLOW_BODY, EXHAUSTED, TOO_LARGE),
    *(NOT_JSON, WRONG_ROWS, TOO_FAST, BUG, UNAVAILABLE, TOO_LATE, GONE),
)
"""Every way to refuse."""


class Refusal(Exception):
    """A request that is not answered."""

    def __init__(self, reason: Reason, detail: str = "", *, retry_after: int | None = None) -> None:
        super().__init__(reason.code)
        self.reason, self.retry_after = reason, retry_after
        self.message = f"{reason.message} {detail}".strip()

    @property
    def document(self) -> Json:
        """The body of the response."""
        return {"error": {"code": self.reason.code, "message": self.message}}

    @property
    def headers(self) -> dict[str, str]:
        """What else the response says."""
        found = {}
        if self.reason.status == NO_KEY.status:
            found["WWW-Authenticate"] = "Bearer"
        if self.retry_after is not None:
            found["Retry-After"] = str(self.retry_after)
        return found

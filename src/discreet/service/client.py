"""A thin client of a service: ask rows, get answers; retries are safe.

It needs the standard library alone, so whoever only asks installs nothing of the service. A
request may be sent again whenever its outcome is unknown: a row that was answered is answered as it
was, and is not counted again.
"""

from __future__ import annotations

import http.client
import json
import math
import ssl
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from discreet import _checks, _json
from discreet._types import Json
from discreet.errors import DiscreetError, InputError

Cell = str | float | bool

AGAIN = (429, 502, 503, 504)
"""Statuses after which the same request may succeed."""

TOO_LARGE = 413
"""The status of a request with more rows or bytes than the service takes."""

LONGEST_WAIT = 60.0
LARGEST_RESPONSE = 2**28


@dataclass(frozen=True)
class ClientAnswer:
    """What a service said of one row.

    Parameters
    ----------
    prediction
        A class or a number; None if there is no answer any more.
    value
        The noisy number that an oracle answered; None for a released model.
    scale
        The standard deviation of its noise; None for a released model.
    status
        ``"released"``, or what the oracle says; the same whenever the row is asked again.
    probabilities
        Of each class; None if the model has none.

    Examples
    --------
    >>> ClientAnswer("yes", 0.8, 0.1, "answered").prediction
    'yes'
    """

    prediction: Cell | None
    value: float | None = None
    scale: float | None = None
    status: str = "released"
    probabilities: tuple[float, ...] | None = None


class ServiceRefused(DiscreetError):
    """A service did not answer.

    Parameters
    ----------
    status
        The status of HTTP; zero if the service could not be reached.
    code
        A word for programs.
    message
        A sentence for people.

    Examples
    --------
    >>> ServiceRefused(429, "too_fast", "Wait a little.").status
    429
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class Client:
    """Asks a service.

    Parameters
    ----------
    url
        Where the service is: ``https://host/``. Plain ``http`` is for this machine only, because
        the key would be read on the way.
    key
        A key that `discreet keys create` made; None for a service that is open.
    timeout
        Seconds to wait for a response.
    retries
        How often a request is sent again that failed on the way, or was told to wait.
    context
        How certificates are checked; the system's way if None.
    sleep
        What waits between attempts, for tests.

    Examples
    --------
    >>> client = Client("https://models.example.org", key=None)
    >>> client.url
    'https://models.example.org'
    >>> Client("http://models.example.org", key="dk_...")
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: a key must not travel in the open: use https, ...
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 4,
        context: ssl.SSLContext | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        _checks.positive(timeout=timeout)
        _checks.whole(at_least=0, at_most=100, retries=retries)
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise InputError("url must read https://host/ or http://localhost/.")
        is_here = parts.hostname in ("localhost", "127.0.0.1", "::1")
        if parts.scheme == "http" and key is not None and not is_here:
            raise InputError(
                "a key must not travel in the open: use https, or http on this machine only."
            )
        if key is not None and not (key.isascii() and key.isprintable()):
            raise InputError("a key is printable ASCII text, as `discreet keys create` showed it.")
        self.url = url.rstrip("/")
        self._parts, self._key, self._context = parts, key, context
        self._timeout, self._retries, self._sleep = timeout, retries, sleep
        self._connection: http.client.HTTPConnection | None = None
        self._most_rows: int | None = None

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def ask(self, rows: Iterable[Mapping[str, Cell]]) -> list[ClientAnswer]:
        """Return the answers to rows, in their order; all of them, or an error.

        More rows than a request may hold are sent in several.

        Parameters
        ----------
        rows
            A list of dicts with a cell for each declared column, or a data frame of such columns.

        Raises
        ------
        ServiceRefused
            If the service did not answer, after all retries.
        """
        found, most = _read_rows(rows), self._most_rows
        if most is not None and len(found) > most:
            pieces = (found[place : place + most] for place in range(0, len(found), most))
            return [answer for piece in pieces for answer in self.ask(piece)]
        try:
            answers = self._call("POST", "/predict", {"rows": found}).get("answers")
        except ServiceRefused as refused:
            if refused.status != TOO_LARGE or len(found) <= 1:
                raise
            self._most_rows = min(self._find_most_rows(), (len(found) + 1) // 2)
            return self.ask(found)
        if not isinstance(answers, list) or len(answers) != len(found):
            raise ServiceRefused(200, "no_service", "This is no service of Discreet.")
        return [_read_answer(each) for each in answers]

    def _find_most_rows(self) -> int:
        """Return how many rows a request may hold, if the service says so."""
        said = self.columns().get("max_rows")
        return said if isinstance(said, int) and said >= 1 else sys.maxsize

    def predict(self, rows: Iterable[Mapping[str, Cell]]) -> list[Cell | None]:
        """Return the predictions alone."""
        return [each.prediction for each in self.ask(rows)]

    def status(self) -> Json:
        """Return what is left, and what a request may hold."""
        return self._call("GET", "/status")

    def guarantee(self) -> Json:
        """Return what is promised."""
        return self._call("GET", "/guarantee")

    def card(self) -> Json:
        """Return the privacy card."""
        return self._call("GET", "/card")

    def columns(self) -> Json:
        """Return how rows must be."""
        return self._call("GET", "/columns")

    def _call(self, method: str, path: str, body: Json | None = None) -> Json:
        try:
            text = (
                None if body is None else json.dumps(body, allow_nan=False, default=_plain).encode()
            )
        except (TypeError, ValueError):
            raise InputError("rows must hold text, finite numbers and truth values.") from None
        wait = 0.25
        for attempt in range(self._retries + 1):
            try:
                status, after, said = self._exchange(method, path, text)
            except (OSError, http.client.HTTPException):
                self.close()
                status, after, said = 0, None, b""
            if status == 200:
                return _parse(status, said)
            refused = _read_refusal(status, said)
            if attempt == self._retries or status not in (0, *AGAIN):
                raise refused
            self._sleep(min(LONGEST_WAIT, wait if after is None else max(after, wait)))
            wait *= 2
        raise InputError("retries must not be negative.")

    def _exchange(
        self, method: str, path: str, text: bytes | None
    ) -> tuple[int, float | None, bytes]:
        """Send a request once; return the status, what Retry-After says, and the body."""
        connection = self._connect()
        headers = {"Accept": "application/json"}
        if text is not None:
            headers["Content-Type"] = "application/json"
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        connection.request(method, f"{self._parts.path.rstrip('/')}{path}", text, headers)
        response = connection.getresponse()
        said = response.read(LARGEST_RESPONSE)
        expected = response.headers.get("Content-Length", "")
        if expected.isdecimal() and len(said) != int(expected):
            raise http.client.HTTPException("a response was cut off")
        if response.will_close:
            self.close()
        return response.status, _seconds(response.headers.get("Retry-After")), said

    def _connect(self) -> http.client.HTTPConnection:
        if self._connection is None:
            host, port = str(self._parts.hostname), self._parts.port
            if self._parts.scheme == "https":
                self._connection = http.client.HTTPSConnection(
                    host,
                    port,
                    timeout=self._timeout,
                    context=self._context or ssl.create_default_context(),
                )
            else:
                self._connection = http.client.HTTPConnection(host, port, timeout=self._timeout)
        return self._connection


def _read_rows(rows: Any) -> list[dict[str, Any]]:
    """Return rows as dicts: those of a list, or of a data frame."""
    try:
        names = getattr(rows, "columns", None)
        if names is not None:
            cells = [rows[name].to_list() for name in names]
            return [dict(zip(names, line, strict=True)) for line in zip(*cells, strict=True)]
        found = list(rows)
        if not isinstance(rows, Mapping) and all(isinstance(row, Mapping) for row in found):
            return [dict(row) for row in found]
    except (AttributeError, LookupError, TypeError, ValueError):
        pass
    raise InputError(
        "rows must be a list of dicts by column, or a data frame; for one row, ask([row])."
    )


def _plain(cell: Any) -> Any:
    """Return a cell of NumPy as Python writes it."""
    if getattr(cell, "shape", None) == ():
        return cell.item()
    raise TypeError


def _seconds(text: str | None) -> float | None:
    try:
        found = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return found if 0 <= found < math.inf else None


def _parse(status: int, said: bytes) -> Json:
    try:
        return _json.parse(said.decode("utf-8"), "a response")
    except (DiscreetError, UnicodeDecodeError):
        raise ServiceRefused(status, "no_service", "This is no service of Discreet.") from None


def _read_refusal(status: int, said: bytes) -> ServiceRefused:
    if status == 0:
        return ServiceRefused(0, "unreachable", "The service cannot be reached.")
    try:
        error: Any = _json.parse(said.decode("utf-8"), "a response")["error"]
        return ServiceRefused(status, str(error["code"]), str(error["message"]))
    except (DiscreetError, UnicodeDecodeError, LookupError, TypeError):
        return ServiceRefused(status, "unknown", f"The service says {status}.")


def _read_answer(said: Any) -> ClientAnswer:
    try:
        chances: Sequence[float] | None = said["probabilities"]
        return ClientAnswer(
            prediction=said["prediction"],
            value=said["value"],
            scale=said["scale"],
            status=said["status"],
            probabilities=None if chances is None else tuple(chances),
        )
    except (LookupError, TypeError):
        raise ServiceRefused(200, "no_service", "This is no service of Discreet.") from None

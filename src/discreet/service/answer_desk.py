"""Where requests are answered: who asks, how much, how long it may take, when it leaves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio
from anyio import to_thread
from starlette.requests import Request

from discreet._types import Json
from discreet.errors import DiscreetError, InputError, InputTypeError, LedgerError, StoreError
from discreet.service.access_key import AccessKey
from discreet.service.answering import Answering, QueryAnswer
from discreet.service.counters import ServiceCounters
from discreet.service.key_book import KeyBook
from discreet.service.padding import Padding
from discreet.service.query_rows import Row
from discreet.service.refusal import (
    BUG,
    EXHAUSTED,
    GONE,
    NO_KEY,
    TOO_LATE,
    UNAVAILABLE,
    WRONG_ROWS,
    Refusal,
)
from discreet.service.request_guard import NOTES, log_bug
from discreet.service.service_database import ServiceUnavailable
from discreet.service.service_limits import ServiceLimits

Result = TypeVar("Result")

MISSING = (ServiceUnavailable, LedgerError, StoreError, OSError, TimeoutError)
"""What is raised where a state cannot be read or written at this moment."""


class AnswerDesk:
    """Admits, answers and pads.

    Parameters
    ----------
    answering
        What answers.
    keys
        Who may ask; None for everybody, which is for released models only.
    limits
        Sizes, rates, deadlines, the pad.
    counters
        Where rows and overruns are counted.
    padding
        When answers leave; that of the limits if None.
    """

    def __init__(
        self,
        answering: Answering,
        keys: KeyBook | None,
        limits: ServiceLimits,
        counters: ServiceCounters,
        padding: Padding | None = None,
    ) -> None:
        self.answering, self.limits, self.counters = answering, limits, counters
        self.padding = Padding(limits.pad) if padding is None else padding
        self._keys = keys
        self._threads = anyio.CapacityLimiter(limits.at_once)

    async def admit(self, request: Request, scope: str) -> str:
        """Return the key of a request that may do this; one row is booked."""
        if self._keys is None:
            return ""
        said = request.headers.getlist("authorization")
        scheme, _, key = said[0].partition(" ") if len(said) == 1 else ("", "", "")
        if scheme.lower() != "bearer":
            raise Refusal(NO_KEY)
        found = await self.run(partial(self._keys.admit, key, scope, 1, self.limits))
        request.scope[NOTES]["key"] = found.identity
        return key

    async def book(self, key: str, scope: str, rows: int) -> AccessKey | None:
        """Book further rows of a key that was admitted."""
        if self._keys is None or rows == 0:
            return None
        return await self.run(partial(self._keys.admit, key, scope, rows, self.limits))

    async def pad(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Do some work, and give back what it returned or raised when the pad is over."""
        start = self.padding.clock()
        try:
            return await work()
        finally:
            if self.padding.is_overrun(start):
                self.counters.count_overrun()
            await self.padding.wait(start)

    async def answer(self, rows: Sequence[Row]) -> list[QueryAnswer]:
        """Answer rows; whatever that changed is stored."""
        answers = await self.run(partial(self.answering.answer, rows))
        for each in answers:
            self.counters.count_rows(each.status)
        return answers

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do what may wait for a data base in a thread, within the deadline."""
        try:
            with anyio.fail_after(self.limits.deadline):
                return await to_thread.run_sync(work, limiter=self._threads, abandon_on_cancel=True)
        except Refusal:
            raise
        except TimeoutError:
            raise Refusal(TOO_LATE, retry_after=1) from None
        except MISSING:
            raise Refusal(UNAVAILABLE, retry_after=1) from None
        except (InputError, InputTypeError):
            raise Refusal(WRONG_ROWS) from None
        except DiscreetError as error:
            log_bug(error)
            raise Refusal(GONE) from None
        except Exception as error:
            log_bug(error)
            raise Refusal(BUG) from None


def answers_document(answers: Sequence[QueryAnswer]) -> Json:
    """Return the body of a response; refuse if not one row was answered."""
    if all(each.prediction is None for each in answers):
        raise Refusal(EXHAUSTED)
    return {"answers": [each.to_json() for each in answers]}

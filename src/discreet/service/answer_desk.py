"""Where requests are answered: who asks, how much, how long it may take, when it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio
from starlette.requests import Request

from discreet.errors import DiscreetError, InputError, InputTypeError, LedgerError, StoreError
from discreet.service.access_key import AccessKey
from discreet.service.answering import Answering, QueryAnswer, ServiceStanding
from discreet.service.bounded_threads import BoundedThreads
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
from discreet.service.standing_watch import StandingWatch

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
        self.padding = Padding(limits.pad, limits.pad_row) if padding is None else padding
        self._keys = keys
        self._desks = BoundedThreads(limits.at_once)
        self._doors = BoundedThreads(limits.at_once)
        is_padded = self.padding.pad > 0 and answering.kind == "oracle"
        self._watch = StandingWatch(answering, self.padding.pad) if is_padded else None

    async def admit(self, request: Request, scope: str) -> str:
        """Return the key of a request that may do this; one row is counted against its rate."""
        if self._keys is None:
            return ""
        said = request.headers.getlist("authorization")
        scheme, _, key = said[0].partition(" ") if len(said) == 1 else ("", "", "")
        if scheme.lower() != "bearer":
            raise Refusal(NO_KEY)
        admit = partial(self._keys.admit, key, scope, 1, self.limits)
        found = await self.run(admit, self._doors)
        request.scope[NOTES]["key"] = found.identity
        return key

    async def book(self, key: str, scope: str, rows: int, booked: int = 1) -> AccessKey | None:
        """Count further rows of a key that was admitted; it is checked again in any case.

        Parameters
        ----------
        key, scope
            As they were admitted.
        rows
            How many more.
        booked
            How many of the same request were counted before.
        """
        if self._keys is None:
            return None
        admit = partial(self._keys.admit, key, scope, rows, self.limits, booked)
        return await self.run(admit, self._doors)

    async def pad(
        self, work: Callable[[], Awaitable[list[QueryAnswer]]], rows: int
    ) -> list[QueryAnswer]:
        """Do some work, and give back what it returned or raised when the pad is over.

        Parameters
        ----------
        work
            What answers.
        rows
            How many rows were sent, which is public; each makes the pad longer.
        """
        start = self.padding.clock()
        try:
            answers = await work()
        finally:
            is_overrun = self.padding.is_overrun(start, rows)
            await self.padding.wait(start, rows)
            if is_overrun:  # counters move after the pad: they would tell the time otherwise
                self.counters.count_overrun()
        for each in answers:
            self.counters.count_rows(each.status)
        return answers

    async def answer(self, rows: Sequence[Row]) -> list[QueryAnswer]:
        """Answer rows; whatever that changed is stored."""
        return await self.run(partial(self.answering.answer, rows), self._desks)

    async def standing(self) -> ServiceStanding:
        """Say what is left: as it is if nothing is padded, otherwise as of the last public tick."""
        if self._watch is None:
            return await self.run(self.answering.standing, self._doors)
        found = self._watch.shown
        if found is None:
            raise Refusal(UNAVAILABLE, retry_after=1)
        return found

    async def run(self, work: Callable[[], Result], threads: BoundedThreads) -> Result:
        """Do what may wait for a data base in a thread, within the deadline.

        Parameters
        ----------
        work
            What is done; it is not stopped when the deadline passes, and keeps its thread.
        threads
            Where.
        """
        future = threads.submit(work)
        if future is None:
            raise Refusal(UNAVAILABLE, "It has more to do than it can.", retry_after=1)
        try:
            with anyio.fail_after(self.limits.deadline):
                return await asyncio.shield(asyncio.wrap_future(future))
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


def check_answered(answers: Sequence[QueryAnswer]) -> None:
    """Refuse if not one row was answered."""
    if all(each.prediction is None for each in answers):
        raise Refusal(EXHAUSTED)

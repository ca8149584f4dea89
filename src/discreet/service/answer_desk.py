"""Where requests are answered: who asks, how much, how long it may take, when it leaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TypeVar

from starlette.requests import Request

from discreet.errors import DiscreetError, InputError, InputTypeError, LedgerError, StoreError
from discreet.mechanisms.query_answering import EXHAUSTED as EXHAUSTED_ANSWER
from discreet.mechanisms.query_answering import FROZEN
from discreet.service.access_key import PREDICT, digest_of, identity_of
from discreet.service.answering import Answering, QueryAnswer, ServiceStanding
from discreet.service.bounded_threads import LINE, BoundedThreads
from discreet.service.counters import ServiceCounters
from discreet.service.joint_calls import JointCalls
from discreet.service.key_book import KeyBook
from discreet.service.key_store import ServiceUnavailable
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
from discreet.service.service_limits import ServiceLimits
from discreet.service.standing_watch import StandingWatch

Result = TypeVar("Result")

CLOSED = (FROZEN, EXHAUSTED_ANSWER)
"""Statuses of answers for which the private model was not asked."""

MISSING = (ServiceUnavailable, LedgerError, StoreError, OSError, TimeoutError)
"""What is raised where a state cannot be read or written at this moment."""


ADMITTED_FOR, MOST_ADMITTED = 60.0, 10_000
"""For how many seconds a body is read before its key is looked up again, and of how many keys."""

SHORT_BODY = 16_384
"""Bytes of a body that costs hardly more to read than its headers."""

MOST_TOGETHER = 64
"""Rows of several requests that share a transaction."""


@dataclass(frozen=True)
class KeyedRows:
    """Rows, who asks about them, and how many of them were booked before."""

    key: str
    rows: Sequence[Row]
    booked: int

    def __len__(self) -> int:
        return len(self.rows)


class AnswerDesk:
    """Admits, answers and pads."""

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
        line = limits.at_once * (1 + LINE)
        self._jointly: JointCalls[KeyedRows, list[QueryAnswer]] = JointCalls(
            self._answer_together, len, most=MOST_TOGETHER, line=line
        )
        self._admitted: dict[str, float] = {}
        is_padded = self.padding.pad > 0 and answering.kind == "oracle"
        self._watch = StandingWatch(answering, self.padding.pad) if is_padded else None

    @property
    def needs_key(self) -> bool:
        """Whether rows are answered for keys only."""
        return self._keys is not None

    async def admit(self, request: Request, scope: str) -> str:
        """Return the key of a request that may do this; one row is counted against its rate."""
        if self._keys is None:
            return ""
        key = _read_key(request)
        admit = partial(self._keys.admit, key, scope, 1, self.limits)
        found = await self.run(admit, self._doors)
        request.scope[NOTES]["key"] = found.identity
        return key

    async def enter(self, request: Request) -> KeyedRows:
        """Let a request for predictions in, so that its body may be read.

        The short body of a key that was admitted within the last minute is read before the key is
        looked up and booked; whether it is answered is decided then, with all of its rows.
        """
        if self._keys is None:
            return KeyedRows("", [], booked=1)
        key, length = _read_key(request), request.headers.get("content-length", "")
        identity, now = identity_of(key), time.monotonic()
        is_short = length.isdecimal() and len(length) <= 9 and int(length) <= SHORT_BODY
        if is_short and identity is not None and self._admitted.get(digest_of(key), 0.0) > now:
            request.scope[NOTES]["key"] = identity
            return KeyedRows(key, [], booked=0)
        await self.admit(request, PREDICT)
        if len(self._admitted) >= MOST_ADMITTED:
            self._admitted.clear()
        self._admitted[digest_of(key)] = now + ADMITTED_FOR
        return KeyedRows(key, [], booked=1)

    async def book_refused(self, entered: KeyedRows) -> None:
        """Book one row of a request that is refused for what it sent."""
        if not entered.booked:
            await self.run(partial(self._book, replace(entered, rows=[{}])), self._doors)

    async def pad(
        self, work: Callable[[], Awaitable[list[QueryAnswer]]], rows: int
    ) -> list[QueryAnswer]:
        """Do some work, and give back what it returned or raised when the pad is over."""
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

    async def answer(self, asked: KeyedRows) -> list[QueryAnswer]:
        """Book rows of a key and answer them; what that changed is stored.

        The key is looked at in any case: it may have been revoked since it was admitted.
        """
        if self.answering.is_joint:
            answers = await self._wait(self._jointly.submit(asked))
        else:
            answers = await self.run(partial(self._answer_alone, asked), self._desks)
        if not self.limits.refuse_closed:
            return answers
        return [
            QueryAnswer(None, status=each.status) if each.status in CLOSED else each
            for each in answers
        ]

    def _book(self, asked: KeyedRows) -> None:
        """Book rows; a key that is refused is looked up first from now on."""
        if self._keys is None:
            return
        rows = len(asked.rows) - asked.booked
        try:
            self._keys.admit(asked.key, PREDICT, rows, self.limits, asked.booked)
        except Refusal:
            self._admitted.pop(digest_of(asked.key), None)
            raise

    def _answer_alone(self, asked: KeyedRows) -> list[QueryAnswer]:
        self._book(asked)
        return self.answering.answer(asked.rows)

    def _answer_together(self, group: list[KeyedRows]) -> list[list[QueryAnswer] | Exception]:
        """Answer the rows of several requests at once; each by itself if some cannot be answered.

        Whoever is refused is refused alone. Keys that cannot be read are waited for once.
        """
        told: list[list[QueryAnswer] | Exception] = []
        admitted: list[KeyedRows] = []
        for asked in group:
            if told and isinstance(told[-1], MISSING):
                told.append(told[-1])
                continue
            try:
                self._book(asked)
            except Exception as error:
                told.append(error)
            else:
                told.append([])
                admitted.append(asked)
        answers = iter(self._answer_admitted(admitted))
        return [each if isinstance(each, Exception) else next(answers) for each in told]

    def _answer_admitted(self, group: list[KeyedRows]) -> list[list[QueryAnswer] | Exception]:
        if not group:
            return []
        try:
            answers = iter(self.answering.answer([row for asked in group for row in asked.rows]))
        except (InputError, InputTypeError) as error:
            if len(group) == 1:
                return [error]
            return [one for asked in group for one in self._answer_admitted([asked])]
        except Exception as error:
            return [error] * len(group)  # of the store: nobody's rows are to blame
        return [list(islice(answers, len(asked.rows))) for asked in group]

    async def standing(self) -> ServiceStanding:
        """Say what is left: as it is if nothing is padded, otherwise as of the last public tick."""
        if self._watch is None:
            return await self.run(self.answering.standing, self._doors)
        found = self._watch.shown
        if found is None:
            raise Refusal(UNAVAILABLE, retry_after=1)
        return found

    async def run(self, work: Callable[[], Result], threads: BoundedThreads) -> Result:
        """Do what may wait for a data base in a thread, within the deadline."""
        future = threads.submit(work)
        return await self._wait(None if future is None else asyncio.shield(_wrap(future)))

    async def _wait(self, future: Future[Result] | Awaitable[Result] | None) -> Result:
        """Wait for work that has begun, within the deadline; None stands for too much work."""
        if future is None:
            raise Refusal(UNAVAILABLE, "It has more to do than it can.", retry_after=1)
        try:
            async with asyncio.timeout(self.limits.deadline):
                return await (_wrap(future) if isinstance(future, Future) else future)
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


def _wrap(future: Future[Result]) -> asyncio.Future[Result]:
    return asyncio.wrap_future(future)


def _read_key(request: Request) -> str:
    """Return the key that a request shows."""
    said = request.headers.getlist("authorization")
    scheme, _, key = said[0].partition(" ") if len(said) == 1 else ("", "", "")
    if scheme.lower() != "bearer":
        raise Refusal(NO_KEY)
    return key


def check_answered(answers: Sequence[QueryAnswer]) -> None:
    """Refuse if not one row was answered."""
    if all(each.prediction is None for each in answers):
        raise Refusal(EXHAUSTED)

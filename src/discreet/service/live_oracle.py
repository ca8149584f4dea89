"""An oracle behind the service: a private model in this process, its answers in its store.

The store has an answer on disk before the oracle returns it, and an answer is all that leaves this
file. What fails is taken up again from the store at the next request.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet._types import Array
from discreet.errors import InteractionEnded, StoreError
from discreet.interaction.oracle import Oracle
from discreet.mechanisms.query_answering import Answer
from discreet.preprocessing import Column
from discreet.report import Card, card
from discreet.service.answering import Answering, Label, QueryAnswer, ServiceStanding
from discreet.service.joint_calls import JointCalls
from discreet.service.query_rows import Row

MOST_AT_ONCE = 64
"""Rows of several requests that share a transaction."""

LOG = logging.getLogger("discreet.service")

Encode = Callable[[Sequence[Row]], Array]
"""From rows of declared columns to points of the kernel; public."""


class LiveOracle(Answering):
    """Answers from an oracle.

    Parameters
    ----------
    reopen
        What takes the oracle up from its store; called now, and again after a failure inside.
    columns
        What is declared about each column.
    classes
        The class of values below zero, and that of others; empty if the target is a number.
    encode
        What makes points of rows.
    about
        What its card says it is about; see :func:`discreet.report.card`.
    """

    kind = "oracle"

    def __init__(
        self,
        reopen: Callable[[], Oracle],
        *,
        columns: Mapping[str, Column],
        classes: tuple[Label, ...],
        encode: Encode,
        about: str | Mapping[str, Any] | None = None,
    ) -> None:
        self._reopen, self._encode = reopen, encode
        self._oracle, self._guard = reopen(), threading.Lock()
        self._asking = JointCalls(self._ask, MOST_AT_ONCE)
        self._card = card(self._oracle.look(), about=about)
        self.columns, self.classes = columns, classes
        self.guarantee = self._oracle.guarantee
        self.title = self._card.document["about"]["title"] or "An oracle"

    def card(self) -> Card:
        return self._card

    def answer(self, rows: Sequence[Row]) -> list[QueryAnswer]:
        return [self._tell(each) for each in self._asking(self._encode(rows).tolist())]

    def _ask(self, points: list[list[float]]) -> list[Answer]:
        answers: list[Answer] = self._call(lambda oracle: oracle.ask(points))
        return answers

    def standing(self) -> ServiceStanding:
        def look(oracle: Oracle) -> ServiceStanding:
            oracle.refresh()
            return ServiceStanding(oracle.status, oracle.n_answers, oracle.max_answers)

        found: ServiceStanding = self._call(look)
        return found

    def _call(self, work: Callable[[Oracle], Any]) -> Any:
        """Ask the oracle; take it up again, for later requests, if it failed inside."""
        oracle = self._oracle
        try:
            return work(oracle)
        except StoreError as error:
            LOG.warning("%s", error)  # a sentence of ours: no value, no password
            raise
        except InteractionEnded:
            with self._guard:
                if self._oracle is oracle:
                    self._oracle = self._reopen()
            raise StoreError("the private part stopped; it was taken up again.") from None

    def _tell(self, answer: Answer) -> QueryAnswer:
        if not math.isfinite(answer.value):
            return QueryAnswer(None, None, None, answer.status)
        prediction: Label = answer.value
        if self.classes:
            prediction = self.classes[int(answer.value > 0)]
        return QueryAnswer(prediction, answer.value, answer.scale, answer.status)

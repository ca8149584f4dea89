"""An oracle behind the service: a private model in this process, its answers in its store.

The store has an answer on disk before the oracle returns it, and an answer is all that leaves this
file. Every request looks at the store first, also for rows that are known: a service whose state is
lost, replaced or put back answers nothing. An oracle that failed inside answers no more in this
process; another process takes it up.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import InteractionEnded, StoreError
from discreet.estimators.oracle_estimator import OracleEstimator
from discreet.kernel import open_oracle
from discreet.ledger import AbstractLedger
from discreet.mechanisms import OracleAnswer
from discreet.report import Card, card
from discreet.service.answering import Answering, Label, QueryAnswer, ServiceStanding
from discreet.service.model_columns import columns_of
from discreet.service.query_rows import Row, as_frame, as_matrix

LOG = logging.getLogger("discreet.service")


class LiveOracle(Answering):
    """Answers from an oracle."""

    kind = "oracle"
    is_joint = True

    def __init__(
        self,
        model: OracleEstimator,
        about: str | Mapping[str, Any] | None = None,
    ) -> None:
        self._model = model
        self._card = card(model.release_, about=about)
        self.columns, self._is_named = columns_of(model)
        self.classes = tuple(np.asarray(getattr(model, "classes_", ())).tolist())
        self.guarantee = model.privacy_
        self.title = self._card.document["about"]["title"] or "An oracle"

    @classmethod
    def open(
        cls,
        where: str | Path,
        about: Mapping[str, Any] | None = None,
        identity: str | None = None,
        ledger: AbstractLedger | None = None,
    ) -> LiveOracle:
        """Take up an oracle from its store."""
        model: OracleEstimator = open_oracle(where, ledger)
        if identity not in (None, model.oracle_.identity):
            raise StoreError("the store holds another oracle than the service began with.")
        return cls(model, about)

    def card(self) -> Card:
        return self._card

    def answer(self, rows: Sequence[Row]) -> list[QueryAnswer]:
        make = as_frame if self._is_named else as_matrix
        X = make(rows, self.columns)
        answers: list[OracleAnswer] = self._call(lambda model: model.ask_with_status(X))
        return [self._tell(each) for each in answers]

    def standing(self) -> ServiceStanding:
        def look(model: OracleEstimator) -> ServiceStanding:
            oracle = model.oracle_
            oracle.refresh()
            return ServiceStanding(oracle.status, oracle.n_answers, oracle.max_answers)

        found: ServiceStanding = self._call(look)
        return found

    def _call(self, work: Callable[[OracleEstimator], Any]) -> Any:
        """Ask the oracle; what it cannot do is told to the operator."""
        try:
            return work(self._model)
        except (StoreError, InteractionEnded) as error:
            LOG.warning("%s", error)  # a sentence of ours: no value, no password
            raise

    def _tell(self, answer: OracleAnswer) -> QueryAnswer:
        if not math.isfinite(answer.value):
            return QueryAnswer(None, None, None, answer.status)
        prediction: Label = answer.value
        if self.classes:
            prediction = self.classes[int(answer.value > 0)]
        return QueryAnswer(prediction, answer.value, answer.scale, answer.status)

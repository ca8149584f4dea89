"""What is served, in a form that travels to the worker processes: paths and public limits.

An oracle behind the service is a private model in this process, its answers in its store.
The store has an answer on disk before the oracle returns it, and an answer is all that leaves it.
Every request looks at the store first, also for rows that are known: a service whose state is lost,
replaced or put back answers nothing. An oracle that failed inside answers no more in this process;
another process takes it up.
"""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet._types import Json
from discreet.errors import InputError, InteractionEnded, StoreError
from discreet.kernel import open_oracle
from discreet.kernel.oracle_estimator import OracleEstimator
from discreet.ledger import AbstractLedger
from discreet.mechanisms import OracleAnswer
from discreet.report import Card, card
from discreet.service.answering import Answering, Label, QueryAnswer, ServiceStanding
from discreet.service.key_book import KeyBook
from discreet.service.model_columns import columns_of
from discreet.service.oracle_file import read_oracle_file
from discreet.service.query_rows import Row, as_frame, as_matrix
from discreet.service.released_model import ReleasedModel
from discreet.service.service_limits import ServiceLimits

VARIABLE = "DISCREET_SERVICE"
"""The variable of the environment by which workers are told what to serve."""


@dataclass(frozen=True)
class ServiceTarget:
    """A model or an oracle to be served, and who may ask.

    Examples
    --------
    >>> target = ServiceTarget("model", None, ServiceLimits(pad=0.0))
    >>> ServiceTarget.from_json(target.to_json()) == target
    True
    """

    path: str
    keys: str | None
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    about: Json | None = None
    identity: str | None = None

    @property
    def is_oracle(self) -> bool:
        """Whether it is an oracle, whose answers are counted."""
        return Path(self.path).suffix == ".toml"

    def to_json(self) -> str:
        """Return it as text for another process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ServiceTarget:
        """Read it again."""
        found = json.loads(text)
        return cls(**{**found, "limits": ServiceLimits(**found["limits"])})

    def open_answering(self) -> Answering:
        """Open what answers; an oracle must have been begun."""
        if not self.is_oracle:
            return ReleasedModel.open(self.path, self.about)
        from discreet.ledger import Ledger  # slow to import
        from discreet.service.service_target import LiveOracle

        found = read_oracle_file(self.path)
        ledger = Ledger(found.ledger, found.dataset)
        return LiveOracle.open(found.store, found.about(), self.identity, ledger)

    def open_keys(self) -> KeyBook | None:
        """Open the keys; an oracle has some."""
        if self.keys is None:
            return None
        book = KeyBook(self.keys)
        book.check()
        return book

    def announce(self) -> None:
        """Tell processes that are started from now on."""
        os.environ[VARIABLE] = self.to_json()


def find_target(
    path: str | Path, *, keys: str | None, is_open: bool, limits: dict[str, Any], about: Json | None
) -> ServiceTarget:
    """Return what is to be served."""
    path = Path(path).resolve()
    if path.suffix == ".toml":
        found = read_oracle_file(path)
        if is_open:
            raise InputError("an oracle answers to keys only; it cannot be open to everybody.")
        return ServiceTarget(str(path), keys or found.keys, replace(found.limits, **limits))
    if not path.is_dir():
        raise InputError(f"{path}: give the folder of a model, or the .toml file of an oracle.")
    if (keys is None) is not is_open:
        raise InputError("say who may ask: --keys KEYS, or --open for everybody.")
    public = ServiceLimits(**{"pad": 0.0, **limits})  # a released model has nothing to hide
    return ServiceTarget(str(path), keys, public, about)


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

"""What was declared when an interaction or an oracle began, to plan the same again elsewhere."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, Self, TypeVar

from discreet._json import ValueCodec
from discreet.errors import DiscreetError, InputError
from discreet.geometry import SETS
from discreet.kernels import KERNELS
from discreet.losses import LOSSES
from discreet.mechanisms import (
    InteractiveMechanism,
    InteractivePlan,
    Mechanism,
    Plan,
    QueryMechanism,
    QueryPlan,
)
from discreet.penalties import PENALTIES
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne, Unit, ZeroOutOne
from discreet.questions import (
    QUESTIONS,
    Bounds,
    DeclaredStream,
    Interval,
    KernelQueries,
    LabelSet,
    Question,
)
from discreet.record import Fact, Origin


@cache
def codec() -> ValueCodec:
    """Return what writes and reads declarations: values of this library alone, from closed lists.

    It needs every mechanism, so it is made when a declaration is, before anything is paid.
    """
    from discreet.mechanisms import REGISTRY
    from discreet.mechanisms.doubling_epochs import DoublingEpochs

    kinds: tuple[type[Any], ...] = (
        *(*SETS, *KERNELS, *LOSSES, *PENALTIES, *QUESTIONS),
        *(*map(type, REGISTRY), DoublingEpochs),
        *(Bounds, Interval, LabelSet, Budget, AddRemoveOne, ReplaceOne, ZeroOutOne),
    )
    return ValueCodec(kinds, "a saved interaction")


Asker = TypeVar("Asker", bound=Mechanism)
Asked = TypeVar("Asked", bound=Question)
Planned = TypeVar("Planned", bound=Plan)


@dataclass(frozen=True, eq=False)
class PlannedQuestion(Generic[Asker, Asked, Planned]):
    """A mechanism, a question, a budget and a unit, with the plan that follows from them."""

    mechanism: Asker
    question: Asked
    budget: Budget
    unit: Unit
    plan: Planned

    @classmethod
    def of(cls, mechanism: Asker, question: Asked, budget: Budget, unit: Unit) -> Self:
        """Plan, from public facts."""
        codec()  # nothing is imported later
        plan: Any = mechanism.plan(question, budget, unit)
        return cls(mechanism, question, budget, unit, plan)

    def to_json(self) -> Any:
        """Return what it takes to plan the same again, as JSON."""
        parts = (self.mechanism, self.question, self.budget, self.unit)
        return [codec().encode(part) for part in parts]

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """Plan again what a document declares."""
        if not isinstance(document, list) or len(document) != 4:
            raise InputError("a declaration has four parts.")
        mechanism, question, budget, unit = map(codec().decode, document)
        try:
            return cls.of(mechanism, question, budget, unit)
        except (AttributeError, TypeError, DiscreetError):
            raise InputError("what was declared cannot be planned by this version.") from None

    def fingerprint(self) -> str:
        """Return a digest of the plan: a state may only be used with the plan that made it."""
        plan: Any = self.plan
        told = [
            type(plan).__name__,
            plan.packed_format,
            json.loads(plan.guarantee.to_json()),
            [[one.what, float(one.value).hex()] for one in plan.tolerances],
            plan.reason,
        ]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()


class Declaration(PlannedQuestion[InteractiveMechanism, DeclaredStream, InteractivePlan]):
    """What was declared about a stream."""

    def fact(self) -> Fact:
        """Return what is declared about a stream as such."""
        question = self.question
        answers = "each" if question.batch == 1 else f"every {question.batch:,}"
        once = ", each once" if self.mechanism.records_come_once else ""
        words = f"at most {question.horizon:,} records{once}, in rounds that are public; an answer "
        return Fact("stream", f"{words}after {answers}", Origin.DECLARED)


class OracleDeclaration(PlannedQuestion[QueryMechanism, KernelQueries, QueryPlan]):
    """What was declared about the queries of an oracle."""

    def fact(self) -> Fact:
        """Return what is declared about queries as such."""
        words = (
            f"at most {self.question.max_answers:,} points are answered with new noise, each "
            "chosen by anybody, also in view of earlier answers"
        )
        return Fact("queries", words, Origin.DECLARED)

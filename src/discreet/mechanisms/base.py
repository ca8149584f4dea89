"""What every mechanism does: accept a question, plan in public, run in private.

The interfaces of mechanisms and plans, and the refusals and helpers that several of them share.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data import Block, OpenRows
from discreet.errors import CalibrationError, InputError, NotAccepted, PrivacyError
from discreet.losses import Loss
from discreet.noise import Grid, Noise
from discreet.privacy import Budget, Guarantee, Profile, Unit
from discreet.questions import Problem, Question
from discreet.questions.bounds import Bounds
from discreet.questions.contributions import ONE_EACH, Contributions
from discreet.record import Tolerance

if TYPE_CHECKING:
    from discreet.mechanisms.summing.standard_frame import Framing


@dataclass(frozen=True)
class Verdict:
    """Whether a mechanism has a proof for a question; if not, why and what to use.

    Parameters
    ----------
    is_yes
        Whether there is a proof; it is also the truth value of the verdict.
    reason
        Why not, and what to use; empty if there is one.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.mechanisms import GaussianSum
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import RowCount
    >>> count = RowCount(Bounds(L2Ball(1.0), n_features=1))
    >>> bool(GaussianSum().accepts(count, AddRemoveOne()))
    False
    """

    is_yes: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.is_yes


YES = Verdict(True)

TABLE_UNITS = ("add_remove", "replace", "add_remove_person", "replace_person")
"""Units of a table: one record, or all records of one person."""

CONSTRAINT_AS_RADIUS = Verdict(
    False, "state a constraint as penalty=Indicator(...), not as a radius."
)


FIXED_OBJECTIVE = (
    "this mechanism's objective is fixed when it is planned; use "
    "ObjectivePerturbation(settles_later=True)."
)


class Plan(ABC):
    """Everything decided before a row is read, and what is promised about the outcome.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.mechanisms import GaussianSum
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import VectorSum
    >>> question = VectorSum(Bounds(L2Ball(1.0), n_features=3))
    >>> plan: Plan = GaussianSum().plan(question, Budget(1.0, 1e-6), AddRemoveOne())
    >>> [tolerance.what for tolerance in plan.tolerances]
    ['scale of the noise', 'step of the grid of the noise']
    """

    guarantee: Guarantee
    reason: str = ""  # why it was planned so, from public facts
    holds_rows: ClassVar[bool] = False
    """Whether all rows are in memory at once; stored ones are refused then if they may be many."""

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        """What stands between ideal and computed numbers; paid for in the guarantee."""
        return ()

    @abstractmethod
    def run(self, rows: OpenRows, noise: Noise) -> Any:
        """Compute the release, which is public: this is the private part."""

    def run_in_frame(self, rows: OpenRows, noise: Noise, framing: Framing) -> Any:
        """Run on rows in a standardised frame; coefficients come back for the declared columns.

        Parameters
        ----------
        rows
            Opened rows, as they were declared.
        noise
            The source of randomness.
        framing
            The frame, which is public, and the bounds within it that this plan was made for.
        """
        return framing.frame.fold(np.asarray(self.run(framing.apply(rows), noise)))

    def rows_of_model(self, rows: OpenRows, value: Any) -> OpenRows:
        """Return rows as the released coefficients see them, each by itself: private.

        Parameters
        ----------
        rows
            Opened rows, within the bounds of the question.
        value
            What this plan has released.
        """
        return rows

    def coefficients_of_model(self, value: Any) -> Array | None:
        """Return what ``rows_of_model`` are multiplied by; None for the mechanism's coefficients.

        Parameters
        ----------
        value
            What this plan has released.
        """
        return None

    @property
    def objective_noise(self) -> float:
        """The standard deviation of the noise in a coordinate of an objective's slope."""
        raise CalibrationError(FIXED_OBJECTIVE)

    def settle(self, loss: Loss, ridge: float) -> Plan:
        """Return the same plan for an objective that was settled by what is released already.

        Noise, mask and guarantee stay: they were planned for every objective that may come.

        Parameters
        ----------
        loss
            What is summed over rows, with the constants of the loss that was planned for.
        ridge
            At least the one that was planned for.
        """
        raise CalibrationError(FIXED_OBJECTIVE)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Any:
        """Run several times over, for studies of a mechanism; work may be shared.

        Parameters
        ----------
        rows
            Opened rows, within the bounds of the question.
        noise
            One stream for all draws.
        draws
            How many times; at least one.
        """
        return np.array([self.run(rows, noise) for _ in range(draws)])


class Mechanism(ABC):
    """Turns a public question and a budget into a plan with a guarantee.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.mechanisms import GaussianSum, LaplaceSum
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import VectorSum
    >>> def cost(mechanism: Mechanism, budget: Budget) -> float:
    ...     question = VectorSum(Bounds(L2Ball(1.0), n_features=3))
    ...     guarantee = mechanism.plan(question, budget, AddRemoveOne()).guarantee
    ...     return round(guarantee.epsilon(budget.delta), 6)
    >>> cost(GaussianSum(), Budget(1.0, 1e-6)), cost(LaplaceSum(), Budget(0.5))
    (1.0, 0.5)
    """

    units: ClassVar[tuple[str, ...]] = ("add_remove", "replace")
    """Names of the units that the proof covers; of these, ``accepts`` may refuse some.

    Units of a person need not be named: if one record of each person is used, a person is a record,
    and is planned for as one. A proof that names them covers all else that bounds may say of a
    person's records.
    """

    refuses_persons: ClassVar[str] = ""
    """Why even one record of each person is refused; empty if it is not."""

    solves_problems: ClassVar[bool] = False
    """Whether it fits linear models: with default arguments it accepts some learning problem."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the file with the proof."""

    @abstractmethod
    def accepts(self, question: Question, unit: Unit) -> Verdict:
        """Say whether the proof covers this question and unit."""

    @abstractmethod
    def _plan(self, question: Any, budget: Budget, unit: Unit) -> Plan:
        """Plan for an accepted question."""

    def plan(self, question: Question, budget: Budget, unit: Unit) -> Plan:
        """Decide noise, grid and guarantee from public facts alone.

        Parameters
        ----------
        question
            What is asked.
        budget
            What the release may spend.
        unit
            Who is protected.

        Returns
        -------
        Plan
            What :func:`discreet.release` runs; its ``guarantee`` is within the budget.

        Raises
        ------
        NotAccepted
            The proof does not cover the question or the unit.
        CalibrationError
            No amount of noise meets the budget.
        """
        if is_one_each(self, question, unit):
            return self._plan_one_each(question, budget, unit)
        self.check(question, budget, unit)
        return self._plan(question, budget, unit)

    def _plan_one_each(self, question: Question, budget: Budget, unit: Unit) -> Plan:
        """Plan for a table of which one record of each person is kept.

        Which one follows from the records of that person alone. So tables that differ by a person
        differ, when they are read, by a record, and what is promised about records holds.
        """
        plan: Any = self.plan(question, budget, unit.of_records)
        promise = plan.guarantee
        about = replace(promise, profile=promise.profile.of_one_each(), unit=unit)
        return replace(plan, guarantee=about)  # type: ignore[no-any-return]

    def coefficients(self, value: Any) -> Array:
        """Return the coefficients that a released value of a learning problem holds."""
        return np.asarray(value)

    def check(self, question: Question, budget: Budget, unit: Unit) -> None:
        """Raise unless the proof covers this question and unit.

        Parameters
        ----------
        question
            What is asked.
        budget
            What the release may spend; only its type is checked.
        unit
            Who is protected.
        """
        _checks.instance(Question, question=question)
        _checks.instance(Budget, budget=budget)
        _checks.instance(Unit, unit=unit)
        check_person(question.bounds, unit)
        verdict = covers(self, question, unit)
        if not verdict:
            raise NotAccepted(verdict.reason)


class Learner(Mechanism):
    """A mechanism for learning problems, whose plan may share its budget with other releases.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.mechanisms import OutputPerturbation
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=3, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> learner: Learner = OutputPerturbation()
    >>> plan = learner.plan_beside(
    ...     Problem(Logistic(), bounds, ridge=10.0), Budget(1.0, 1e-6), AddRemoveOne(), times=3
    ... )
    >>> plan.guarantee.epsilon(1e-6) <= 1.0  # of all three together
    True
    """

    def _plan(self, question: Any, budget: Budget, unit: Unit) -> Plan:
        return self._plan_beside(question, budget, unit, beside=None, times=1)

    def plan_beside(
        self,
        question: Question,
        budget: Budget,
        unit: Unit,
        *,
        beside: Profile | None = None,
        times: int = 1,
    ) -> Plan:
        """Plan for running ``times`` over, on the same rows, beside what is released already.

        The guarantee is that of everything together.

        Parameters
        ----------
        question
            What is asked.
        budget
            What everything together may spend.
        unit
            Who is protected.
        beside
            The profile of what is released already from the same rows; None for nothing.
        times
            How many releases of this kind there will be; at least one.
        """
        _checks.whole(times=times, at_least=1)
        self.check(question, budget, unit)
        return self._plan_beside(question, budget, unit, beside=beside, times=times)

    @abstractmethod
    def _plan_beside(
        self, question: Any, budget: Budget, unit: Unit, *, beside: Profile | None, times: int
    ) -> Plan:
        """Plan for an accepted question."""


def is_one_each(mechanism: Mechanism, question: Question, unit: Unit) -> bool:
    """Say whether a proof about records serves persons, because one record of each is used."""
    _checks.instance(Question, question=question)
    _checks.instance(Unit, unit=unit)
    return (
        unit.protects_persons
        and not mechanism.refuses_persons
        and question.bounds.person == ONE_EACH
    )


def covers(mechanism: Mechanism, question: Question, unit: Unit) -> Verdict:
    """Say whether a proof covers the unit, and the question in it."""
    if unit.name in mechanism.units:
        return mechanism.accepts(question, unit)
    if unit.protects_persons:
        instead = mechanism.refuses_persons or "use one: contributions='cap', rows_per_person=1."
        reason = f"does not cover several records of a person; {instead}"
    else:
        known = " or ".join(map(repr, mechanism.units))
        reason = f"does not cover the unit {unit.name!r}; use {known}."
    return Verdict(False, f"the proof of {mechanism.name} {reason}")


def check_person(bounds: Bounds, unit: Unit) -> None:
    """Refuse bounds that speak of persons where records are protected, and the other way round."""
    if unit.protects_persons and bounds.person is None:
        raise InputError(
            f"the unit {unit.name!r} protects persons; say in the bounds what becomes of their "
            "records: person=Share() or person=Cap(k)."
        )
    if not unit.protects_persons and bounds.person not in (None, ONE_EACH):
        raise InputError(
            f"the bounds speak of persons, and the unit {unit.name!r} protects records; use the "
            "unit 'add_remove_person' or 'replace_person'."
        )


def public_facts(bounds: Bounds, unit: Unit) -> tuple[str, ...]:
    """Return what a guarantee about rows within bounds takes as public."""
    if bounds.person is not None:
        return _facts_of_persons(bounds, bounds.person, unit)
    if unit.rows_are_public:
        counted = "rounds" if unit.has_empty_rounds else "records"
        return (f"the number of {counted}", "the number of columns")
    return (
        f"that there is at least one record and at most {bounds.max_rows:,} (more are outside the "
        "promise)",
        "the number of columns",
    )


def _facts_of_persons(bounds: Bounds, contributions: Contributions, unit: Unit) -> tuple[str, ...]:
    counted = "persons" if contributions == ONE_EACH else "records"
    return (
        "which column holds ids: a person is whoever shares a value of it, so that people who "
        "share one, and one person under two, are not what is protected; records without an id "
        "are not used",
        contributions.words,
        "the number of persons" if unit.is_replace else "that there is at least one person",
        f"that there are at most {bounds.max_rows:,} {counted} (more are outside the promise)",
        "the number of columns",
    )


def accepts_slopes(problem: Problem) -> Verdict:
    """Say whether one row's gradient is bounded, as every sensitivity needs."""
    if math.isfinite(problem.radius):
        return CONSTRAINT_AS_RADIUS
    if math.isfinite(problem.row_lipschitz):
        return YES
    return _refuse_slopes(problem)


def accepts_curvatures(problem: Problem) -> Verdict:
    """Say whether one row's gradient and its second derivatives are bounded."""
    verdict = accepts_slopes(problem)
    if verdict and not math.isfinite(problem.row_smoothness):
        return _refuse_slopes(problem)
    return verdict


def _refuse_slopes(problem: Problem) -> Verdict:
    return Verdict(
        False,
        f"{problem.loss!r} has no bounded slope without a domain; declare one, or use a robust "
        "loss such as PseudoHuber.",
    )


def grid_tolerances(grid: Grid | None, what: str = "the noise") -> tuple[Tolerance, ...]:
    """Return the scale of noise on a grid and the grid's step; nothing without noise."""
    if grid is None:
        return ()
    return (
        Tolerance(f"scale of {what}", grid.scale),
        Tolerance(f"step of the grid of {what}", grid.step),
    )


def labels_of(block: Block) -> Vector:
    """Return the labels of a block of rows, which a learning problem cannot do without."""
    if block.labels is None:
        raise PrivacyError("a learning problem was run on rows without labels.")
    return block.labels


def weigh(block: Block, values: Vector) -> Vector:
    """Multiply what each row says by its weight, if rows have weights."""
    return values if block.weights is None else values * block.weights

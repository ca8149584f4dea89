"""Fit candidates to secret parts of the rows and choose one; proof in ``train_and_choose.md``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError, InputError, InputTypeError, NotAccepted
from discreet.mechanisms.base import (
    TABLE_UNITS,
    YES,
    Mechanism,
    Plan,
    Verdict,
    covers,
    public_facts,
)
from discreet.mechanisms.held_out_errors import PlannedModel, error_weights
from discreet.mechanisms.objective_perturbation import ObjectivePerturbation
from discreet.mechanisms.sampling.choice import score_range
from discreet.mechanisms.sampling.whole_weights import WholeWeights
from discreet.mechanisms.secret_parts import PartSizes
from discreet.mechanisms.trial_budget import settle_budget, share_of_several
from discreet.noise import Noise
from discreet.privacy import (
    BoundedRange,
    Budget,
    Guarantee,
    NoPrivacy,
    Profile,
    Unit,
    compose,
    within,
    worst_of,
)
from discreet.questions import KernelQueries, Question
from discreet.questions.model_choice import ModelChoice
from discreet.record import Tolerance

NOTHING = -1.0
"""What stands in a released value in the place of a candidate if there is none."""


def write_choice(index: int, value: Any) -> Vector:
    """Return a choice as one vector: which candidate, the lines of its value, and its value.

    Examples
    --------
    >>> write_choice(2, np.array([[0.5, 0.25], [0.0, 1.0]])).tolist()
    [2.0, 2.0, 0.5, 0.25, 0.0, 1.0]
    """
    array = np.asarray(value, dtype=np.float64)
    lines = array.shape[0] if array.ndim == 2 else 0
    return np.concatenate([[index, lines], array.ravel()])


def read_choice(value: Any) -> tuple[int, Array | None]:
    """Return which candidate was chosen and its value; -1 and None if no trial was made.

    Examples
    --------
    >>> read_choice(write_choice(2, [0.5, 0.25]))
    (2, array([0.5 , 0.25]))
    """
    vector = np.asarray(value, dtype=np.float64)
    if vector[0] == NOTHING:
        return -1, None
    lines, rest = int(vector[1]), vector[2:]
    return int(vector[0]), rest.reshape(lines, -1) if lines else rest


def pad_choices(choices: Iterable[Vector]) -> Array:
    """Return choices as lines of one length, zeros after the shorter ones; for studies."""
    listed = list(choices)
    lines = np.zeros((len(listed), max(choice.size for choice in listed)))
    for line, choice in zip(lines, listed, strict=True):
        line[: choice.size] = choice
    return lines


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchPlan(Plan):
    """Candidates as they are planned, and how rows are partitioned."""

    models: tuple[PlannedModel, ...]
    sizes: PartSizes
    weights: WholeWeights
    unit: Unit
    guarantee: Guarantee
    reason: str

    @property
    def holds_rows(self) -> bool:  # type: ignore[override]
        return any(model.plan.holds_rows or model.final.holds_rows for model in self.models)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return tuple(
            replace(tolerance, what=f"{tolerance.what} of candidate {place}")
            for place, model in enumerate(self.models)
            for tolerance in model.plan.tolerances
        )

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        return pad_choices(self.run(rows, noise) for _ in range(draws))


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainAndChoosePlan(SearchPlan):
    """Parts for candidates, one to choose on, and a final one if the chosen is fitted again."""

    is_shared: bool
    refits: bool
    rate: Fraction | None

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        parts = self.sizes.deal(rows, self.unit, noise)
        fitted = parts[:-2] if self.refits else parts[:-1]
        held_out = parts[-2] if self.refits else parts[-1]
        values = [
            model.fit(fitted[0 if self.is_shared else place], noise)
            for place, model in enumerate(self.models)
        ]
        chosen = self._choose(held_out, values, noise)  # public from here on, values too
        if not self.refits:
            return write_choice(chosen, values[chosen])
        return write_choice(chosen, self.models[chosen].fit_in_the_end(parts[-1], noise))

    def _choose(self, held_out: OpenRows, values: list[Any], noise: Noise) -> int:
        """Draw a candidate by its errors: the exponential mechanism, exactly."""
        errors = np.array(
            [
                model.count_errors(held_out, value, self.weights)
                for model, value in zip(self.models, values, strict=True)
            ],
            dtype=np.int64,
        )
        if self.rate is None:
            return int(errors.argmin())
        groups, _ = noise.candidates(np.ones_like(errors), errors, self.rate)
        return int(groups[0])


@dataclass(frozen=True)
class TrainAndChoose(Mechanism):
    """Candidates fitted privately to secret parts of the rows, and one chosen on another part.

    A record is in one part, so the whole costs as much as the dearest part, and no more.

    Parameters
    ----------
    learners
        Who learns each candidate, in their order; empty for objective perturbation of all.
    is_shared
        Whether all candidates are fitted to one part, which they share the budget of, and not each
        to a part of its own.
    refits
        Whether half of the rows are kept for the chosen candidate, which is fitted to them anew.
    finals
        Who fits each candidate anew; empty for the same learners.

    Examples
    --------
    >>> from discreet.geometry import L2Ball, LinfBall
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import Bounds, LabelSet, ModelCandidate, Problem
    >>> bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> ridges = (10.0, 100.0)
    >>> candidates = tuple(ModelCandidate(Problem(Logistic(), bounds, r)) for r in ridges)
    >>> rows = Bounds(LinfBall(1.0), 2, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> plan = TrainAndChoose().plan(ModelChoice(rows, candidates), Budget(1.0), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(0.0), 6)  # of both fits and the choice
    1.0
    """

    name: ClassVar[str] = "train_and_choose"
    units = TABLE_UNITS

    learners: tuple[Mechanism, ...] = ()
    is_shared: bool = False
    refits: bool = False
    finals: tuple[Mechanism, ...] = ()

    def __post_init__(self) -> None:
        check_learners(self.learners)
        check_learners(self.finals)
        _checks.instance(bool, is_shared=self.is_shared, refits=self.refits)

    def sizes(self, candidates: int) -> PartSizes:
        """Return how large the parts are: those of candidates, the held-out one, the final one."""
        own = 1 if self.is_shared else candidates
        if self.refits:  # three eighths of the rows, an eighth, a half
            return PartSizes((3,) * own + (own, 4 * own))
        return PartSizes((3, 1)) if self.is_shared else PartSizes((1,) * (own + 1))

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        verdict = accepts_models(question, self.learners, unit)
        if verdict and self.finals:
            verdict = accepts_models(question, self.finals, unit)
        if not verdict or not isinstance(question, ModelChoice):
            return verdict
        sizes = self.sizes(len(question.candidates))
        for candidate in question.candidates:
            for part, asked in ((0, candidate.question), (-1, candidate.in_the_end)):
                if part == -1 and not self.refits:
                    continue
                if not _covers(asked, question, sizes, part, unit):
                    return Verdict(False, TOO_FEW_ROWS)
        return YES

    def _plan(self, question: ModelChoice, budget: Budget, unit: Unit) -> Plan:
        learners = learners_of(question, self.learners)
        ends = (self.finals or learners, budget) if self.refits else None
        each = budget
        if self.is_shared:
            each = share_of_several(budget, len(learners))

        def plan_all(own: Budget) -> tuple[PlannedModel, ...]:
            return plan_models(question, learners, own, unit, ends)

        def profile_of(models: tuple[PlannedModel, ...]) -> Profile:
            profiles = [model.plan.guarantee.profile for model in models]
            return compose(profiles) if self.is_shared else worst_part(profiles)

        rate, weights = None, error_weights(question)
        if not budget.is_private:
            models, guarantee = plan_all(each), Guarantee(NoPrivacy(), unit)
        else:
            if self.is_shared:
                models, profile = settle_budget(plan_all, profile_of, each, budget)
            else:
                models = plan_all(each)
                profile = profile_of(models)
            last = [model.final.guarantee.profile for model in models] if self.refits else []
            rate = Fraction(budget.epsilon) / score_range(question.steps * weights.largest, unit)
            whole = worst_part([profile, BoundedRange(budget.epsilon), *last])
            guarantee = guarantee_of(whole, models, question, budget, unit)
        return TrainAndChoosePlan(
            models=models,
            sizes=self.sizes(len(models)),
            weights=weights,
            unit=unit,
            guarantee=guarantee,
            reason=self._explain(len(models)),
            is_shared=self.is_shared,
            refits=self.refits,
            rate=rate,
        )

    def _explain(self, count: int) -> str:
        where = "one part of the rows" if self.is_shared else "a part of the rows each"
        again = "; the chosen one is fitted to the other half" if self.refits else ""
        return f"{count} candidates, fitted to {where}, and one chosen on another{again}"


NO_COEFFICIENTS = (
    "what is asked of an exact kernel model are its values at points, and not coefficients of "
    'columns, by which a search compares models; use features, as method="nystroem" has.'
)

TOO_FEW_ROWS = (
    "a candidate declares fewer rows than its part may have; declare the same max_rows for all of "
    "them, if the number of rows is private, and the size of the part otherwise."
)


def worst_part(profiles: Iterable[Profile]) -> Profile:
    """Return the profile of parts of which a record is in one: the others run as they did.

    So of the distances from the ideal, too, the largest counts, and not their sum.
    """
    listed = list(profiles)
    whole = worst_of([profile.ideal for profile in listed])
    return within(whole, max(profile.distance for profile in listed))


def check_learners(learners: Any) -> None:
    """Refuse anything but a tuple of mechanisms."""
    if not isinstance(learners, tuple):
        raise InputTypeError("learners must be a tuple of mechanisms.")
    for learner in learners:
        _checks.instance(Mechanism, learner=learner)


def learners_of(question: ModelChoice, learners: tuple[Mechanism, ...]) -> tuple[Mechanism, ...]:
    """Return who learns each candidate."""
    return learners or (ObjectivePerturbation(),) * len(question.candidates)


def accepts_models(question: Question, learners: tuple[Mechanism, ...], unit: Unit) -> Verdict:
    """Say whether every candidate has a learner with a proof for it."""
    if not isinstance(question, ModelChoice):
        return Verdict(False, "this is for a choice among models; use ModelChoice.")
    found = learners_of(question, learners)
    if len(found) != len(question.candidates):
        return Verdict(False, "there must be one learner for each candidate; use as many.")
    for place, (candidate, learner) in enumerate(zip(question.candidates, found, strict=True)):
        for asked in (candidate.question, candidate.in_the_end):
            if isinstance(asked, KernelQueries):
                return Verdict(False, f"candidate {place}: {NO_COEFFICIENTS}")
            verdict = covers(learner, asked, unit)
            if not verdict:
                return Verdict(False, f"candidate {place}: {verdict.reason}")
    return YES


def _covers(
    asked: Question, question: ModelChoice, sizes: PartSizes, part: int, unit: Unit
) -> bool:
    """Say whether what is asked of a part allows for all rows that it may have."""
    most = question.bounds.max_rows
    if unit.rows_are_public:
        return asked.bounds.max_rows >= sizes.largest(part, most)
    return asked.bounds.max_rows == most


def covers_part(question: ModelChoice, sizes: PartSizes, part: int, unit: Unit) -> bool:
    """Say whether all candidates allow for all rows that a part may have."""
    return all(
        _covers(candidate.question, question, sizes, part, unit)
        for candidate in question.candidates
    )


def plan_models(
    question: ModelChoice,
    learners: tuple[Mechanism, ...],
    own: Budget,
    unit: Unit,
    ends: tuple[tuple[Mechanism, ...], Budget] | None = None,
) -> tuple[PlannedModel, ...]:
    """Plan every candidate for what it may spend; what is asked twice is planned once."""
    lasting, spent = (learners, own) if ends is None else ends
    made: dict[tuple[Mechanism, Question, Budget], Plan] = {}

    def plan(place: int, learner: Mechanism, asked: Question, budget: Budget) -> Plan:
        key = (learner, asked, budget)
        if key not in made:
            try:
                made[key] = learner.plan(asked, budget, unit)
            except (CalibrationError, NotAccepted, InputError) as error:
                raise type(error)(f"candidate {place}: {error}") from None
        return made[key]

    models = []
    everyone = zip(question.candidates, learners, lasting, strict=True)
    for place, (candidate, learner, last) in enumerate(everyone):
        fitted = final = plan(place, learner, candidate.question, own)
        if ends is not None:
            final = plan(place, last, candidate.in_the_end, spent)
        models.append(PlannedModel(candidate, learner, fitted, final))
    return tuple(models)


def guarantee_of(
    profile: Profile,
    models: tuple[PlannedModel, ...],
    question: ModelChoice,
    budget: Budget,
    unit: Unit,
) -> Guarantee:
    """Return the guarantee of a whole search."""
    own = (fact for model in models for fact in model.plan.guarantee.public_facts)
    facts = dict.fromkeys((*public_facts(question.bounds, unit), *own, *question.assumed))
    return Guarantee(profile, unit, tuple(facts), budget.delta)

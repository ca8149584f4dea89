"""Fit candidates a random number of times and keep the best; proof in ``repeat_and_select.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from discreet import _checks
from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.mechanisms.base import TABLE_UNITS, YES, Mechanism, Plan, Verdict
from discreet.mechanisms.held_out_errors import PlannedModel, error_weights
from discreet.mechanisms.secret_parts import PartSizes
from discreet.mechanisms.train_and_choose import (
    NOTHING,
    TOO_FEW_ROWS,
    SearchPlan,
    accepts_models,
    check_learners,
    covers_part,
    guarantee_of,
    learners_of,
    plan_models,
    worst_part,
    write_choice,
)
from discreet.mechanisms.trial_budget import equivalent_mu, settle_budget, share_of_trial
from discreet.noise import LARGEST_RATE, UNIT_RATE, Noise
from discreet.privacy import (
    Budget,
    Guarantee,
    NoPrivacy,
    Profile,
    Pure,
    SelectedTrial,
    TrialLaw,
    Unit,
    within,
)
from discreet.privacy.trial_law import RATE_UNITS, SHAPE_UNITS
from discreet.questions import Question
from discreet.questions.model_choice import ModelChoice

SIZES = PartSizes((3, 1))
"""Three quarters of the rows are fitted to, a quarter is held out."""

PADDED = 0.999
"""With this chance as many trials are run as there would be at most, if they are padded."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RepeatAndSelectPlan(SearchPlan):
    """Trials of candidates drawn at random, of which the best score is kept."""

    law: TrialLaw
    rate: int | None  # of the noise in a score, in units of 2**-40; none if nothing is hidden
    padded: int = 0

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        fitted, held_out = self.sizes.deal(rows, self.unit, noise)
        if self.rate is None:
            drawn = list(range(len(self.models)))  # nothing is hidden: each candidate once
        else:
            count = draw_count(self.law, noise)  # secret, now and later
            drawn = noise.below(len(self.models), max(count, self.padded)).astype(int).tolist()
        best, released = math.inf, (int(NOTHING), ())
        for place, index in enumerate(drawn):
            value, score = self._try_out(index, fitted, held_out, noise)
            counts = self.rate is None or place < count
            if counts and score < best:
                best, released = score, (index, value)
        return write_choice(*released)

    def _try_out(
        self, index: int, fitted: OpenRows, held_out: OpenRows, noise: Noise
    ) -> tuple[Any, float]:
        """Fit one candidate and score it, both privately."""
        model = self.models[index]
        value = model.fit(fitted, noise)
        errors = model.count_errors(held_out, value, self.weights)
        if self.rate is None:
            return value, errors
        return value, errors + int(noise.discrete_laplace(1, self.rate)[0])


def draw_count(law: TrialLaw, noise: Noise) -> int:
    """Draw the number of trials, exactly."""
    if law.shape is None:
        return noise.poisson(round(law.rate * SHAPE_UNITS))
    return noise.negative_binomial(round(law.rate * RATE_UNITS), round(law.shape * SHAPE_UNITS))


@dataclass(frozen=True)
class RepeatAndSelect(Mechanism):
    """Private selection: the best of a secret random number of private fits, by a private score.

    Each trial draws a candidate at random, fits it privately and scores it privately. How long a
    release takes tells roughly how many trials there were: that is outside the promise, unless
    trials are padded, and then as well once in a thousand times.

    Parameters
    ----------
    learners
        Who learns each candidate, in their order; empty for objective perturbation of all.
    law
        Of the number of trials.
    pads
        Whether as many trials are run as there are in 999 of 1000 searches, those too many for
        nothing.

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
    >>> plan = RepeatAndSelect().plan(ModelChoice(rows, candidates), Budget(1.0), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(0.0), 6), plan.reason
    (1.0, 'the best of a secret number of trials of 2 candidates, geometric of mean 8')
    """

    name: ClassVar[str] = "repeat_and_select"
    units = TABLE_UNITS

    learners: tuple[Mechanism, ...] = ()
    law: TrialLaw = field(default_factory=lambda: TrialLaw.with_mean(8))
    pads: bool = False

    def __post_init__(self) -> None:
        check_learners(self.learners)
        _checks.instance(TrialLaw, law=self.law)
        _checks.instance(bool, pads=self.pads)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        verdict = accepts_models(question, self.learners, unit)
        if not verdict or not isinstance(question, ModelChoice):
            return verdict
        return YES if covers_part(question, SIZES, 0, unit) else Verdict(False, TOO_FEW_ROWS)

    def _plan(self, question: ModelChoice, budget: Budget, unit: Unit) -> Plan:
        learners, law = learners_of(question, self.learners), self.law
        weights = error_weights(question)
        most = question.steps * weights.largest  # what whoever is protected adds to a score
        rate: int | None = None
        guarantee = Guarantee(NoPrivacy(), unit)
        if not budget.is_private:
            models = plan_models(question, learners, budget, unit)
        else:
            scored = share_of_trial(budget, law)

            def plan_all(own: Budget) -> tuple[tuple[PlannedModel, ...], int]:
                return plan_models(question, learners, own, unit), rate_of_scores(own, most)

            def profile_of(plans: tuple[tuple[PlannedModel, ...], int]) -> Profile:
                return best_trial(plans[0], plans[1], most, law)

            planned, profile = settle_budget(plan_all, profile_of, scored, budget)
            models, rate = planned
            guarantee = guarantee_of(profile, models, question, budget, unit)
        return RepeatAndSelectPlan(
            models=models,
            sizes=SIZES,
            weights=weights,
            unit=unit,
            guarantee=guarantee,
            reason=f"the best of a secret number of trials of {len(models)} candidates, "
            f"{law.words}",
            law=law,
            rate=rate,
            padded=law.quantile(PADDED) if self.pads else 0,
        )


def rate_of_scores(budget: Budget, steps: int) -> int:
    """Return how fast chances of noise in a score fall, so that it costs as much as a fit."""
    epsilon = equivalent_mu(budget)
    rate = min(math.floor(Fraction(epsilon) * UNIT_RATE / steps), LARGEST_RATE)
    if rate < 1:
        raise CalibrationError("epsilon is too small for a private score; use a larger one.")
    return rate


def best_trial(models: tuple[PlannedModel, ...], rate: int, steps: int, law: TrialLaw) -> Profile:
    """Return the profile of the best of a random number of trials."""
    score = Pure(steps * rate / UNIT_RATE)  # discrete noise is no better than that
    one = worst_part([*(model.plan.guarantee.profile for model in models), score])
    best = SelectedTrial(one.ideal, law.rate, law.shape)
    return within(best, one.distance * law.mean) if one.distance else best

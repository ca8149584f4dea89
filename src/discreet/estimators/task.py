"""What the linear models share: from constructor arguments to a release."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from discreet import _checks
from discreet._types import Vector
from discreet.data import Bounds, Labels, LabelSet, Rows
from discreet.data.source import Source as StoredRows
from discreet.errors import InputError, InputTypeError
from discreet.estimators.least_squares import as_strong_as_noise, least_error
from discreet.estimators.penalty_strength import free_ridge
from discreet.gate import release
from discreet.geometry import ConvexSet
from discreet.ledger import AbstractLedger, NoLedger
from discreet.losses import Loss, Squared
from discreet.losses.softmax import softmax_of
from discreet.mechanisms import (
    AdaptiveRidge,
    EachAgainstTheRest,
    ExponentialSampling,
    Learner,
    Localization,
    Mechanism,
    NoisyGradient,
    ObjectivePerturbation,
    OutputPerturbation,
    PrivateStandardisation,
    SufficientStatistics,
)
from discreet.noise import Noise, RehearsalNoise, SystemNoise
from discreet.penalties import L1, Indicator, L1Within, Penalty
from discreet.privacy import Budget, Unit, gaussian_multiplier
from discreet.questions import Question
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest
from discreet.record import Fact, Origin, Release

MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "objective_perturbation": ObjectivePerturbation,
    "output_perturbation": OutputPerturbation,
    "sufficient_statistics": SufficientStatistics,
    "private_standardisation": PrivateStandardisation,
    "adaptive_ridge": AdaptiveRidge,
    "noisy_gradient": NoisyGradient,
    "exponential_sampling": ExponentialSampling,
    "localization": Localization,
}

COUNTED = Fact("records", "their number in this table", Origin.FOUND)
"""Without privacy the number of records is used."""

RIDGE_IS_FREE = ("noisy_gradient", "exponential_sampling")
"""Mechanisms whose noise does not depend on the ridge."""


LEAST_RIDGE = 2.0**-40
"""A trace of ridge, over the square of the row norm, where none is asked for and none needed."""


@dataclass(frozen=True)
class Lasso:
    """A sum of absolute values in the objective; the intercept's own is left out.

    ``share`` is that of the absolute values in a penalty of strength ``alpha``; the rest is ridge.
    Without ``alpha`` they are as strong as the noise.
    """

    alpha: float | None
    share: float

    @property
    def ridge(self) -> float:
        """The part of the penalty that is a ridge."""
        return 0.0 if self.alpha is None else self.alpha * (1 - self.share)


@dataclass(frozen=True)
class Task:
    """Everything public about one fit."""

    loss: Loss
    labels: Labels
    budget: Budget
    unit: Unit
    features: ConvexSet
    intercept: float | None
    ridge: float | None
    raises_ridge: bool  # whether a weaker ridge than the budget allows is raised, not refused
    domain: ConvexSet | None
    max_weight: float | None
    max_rows: int
    mechanism: str | Mechanism
    assumed: tuple[str, ...]
    lasso: Lasso | None = None
    facts: tuple[Fact, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.mechanism, str):
            _checks.one_of(("auto", *MECHANISMS), mechanism=self.mechanism)
        else:
            _checks.instance(Mechanism, mechanism=self.mechanism)
        if self.ridge is not None:
            _checks.positive(ridge=self.ridge)
        if self.domain is not None:
            _checks.instance(ConvexSet, domain=self.domain)

    def fit(
        self,
        X: Any,
        y: Vector | None,
        weights: Any,
        *,
        ledger: AbstractLedger | None,
        noise: Noise,
        purpose: str,
    ) -> Release:
        """Release coefficients; the intercept's, if there is one, comes last."""
        if weights is not None and self.max_weight is None:
            raise InputError(
                "sample_weight needs a declared largest weight; pass max_weight to the estimator."
            )
        width, count = width_of(X), self._count(X, ledger)
        settled, why = self.settled(width, count)
        question = settled.question(width, count)
        rows = Rows(X, y, weights=weights, bounds=question.bounds, unit=self.unit)
        result = release(
            settled.chosen(question),
            question,
            rows,
            budget=self.budget,
            ledger=ledger,
            noise=noise,
            purpose=purpose,
            facts=self.facts if self.budget.is_private else (*self.facts, COUNTED),
        )
        problem = question.problem if isinstance(question, OneVsRest) else question
        if not (self.ridge is None or problem.ridge == self.ridge):
            why += f"; the penalty was raised to {problem.ridge:.3g}, the least for this budget"
        asked = 0.0 if settled.lasso is None else settled.lasso.ridge
        if self.lasso is not None and not settled._from_statistics and problem.ridge > asked:
            why += f"; a ridge of {problem.ridge:.3g} is needed for this budget"
        return replace(result, reason=result.reason + why) if why else result

    def _count(self, X: Any, ledger: AbstractLedger | None) -> int:
        """Return the number of rows if it is no secret, and the bound on it otherwise."""
        if self.budget.is_private and isinstance(X, StoredRows) and not X.knows_count:
            return self.max_rows  # rows would have to be read for it
        if is_told(self.budget, self.unit, ledger):
            return int(X.shape[0])
        return self.max_rows

    def settled(self, n_features: int, count: int) -> tuple[Task, str]:
        """Settle what an automatic choice leaves open, and say why; all from public facts."""
        settled, why = self, ""
        if self.mechanism == "auto" and isinstance(self.loss, Squared) and self.domain is not None:
            if not math.isfinite(self.domain.reach(n_features + (self.intercept is not None))):
                settled = replace(self, mechanism="sufficient_statistics")
            elif self.budget.is_private:
                settled, why = least_error(self, n_features, count)
        if self.lasso is not None and self.lasso.alpha is None:
            alpha = as_strong_as_noise(replace(settled, lasso=None), n_features, count)
            settled = replace(settled, lasso=replace(self.lasso, alpha=alpha))
        return settled, why

    def question(self, n_features: int, count: int) -> Problem | OneVsRest:
        """State the learning problem; ``count`` is used only if it is public."""
        classes = self.classes
        bounds = Bounds(
            features=self.features,
            n_features=n_features,
            labels=LabelSet([-1, 1]) if classes else self.labels,
            intercept=self.intercept,
            max_weight=self.max_weight,
            max_rows=self._most_rows(count),
        )
        problem = Problem(
            self.loss,
            bounds,
            self._ridge(bounds, times=classes if classes > 2 and not self.is_softmax else 1),
            penalty=self._penalty(),
            assumed=self.assumed,
        )
        return OneVsRest(problem, classes) if classes > 2 else problem

    @property
    def classes(self) -> int:
        """How many classes there are; zero if labels are numbers."""
        return len(self.labels.values) if isinstance(self.labels, LabelSet) else 0

    @property
    def is_softmax(self) -> bool:
        """Whether three or more classes are learnt at once, and not each against the rest."""
        mechanism = self.mechanism
        if isinstance(mechanism, PrivateStandardisation):
            mechanism = mechanism.second
        return (
            self.classes > 2
            and (mechanism == "noisy_gradient" or isinstance(mechanism, NoisyGradient))
            and softmax_of(self.loss) is not None
            and self.domain is None
            and self.lasso is None
        )

    def _penalty(self) -> Penalty | None:
        inside = None if self.domain is None else Indicator(self.domain)
        if self.lasso is None or self.lasso.alpha is None or self.lasso.share == 0:
            return inside
        weight = self.lasso.alpha * self.lasso.share
        values = L1(weight, spares_last=self.intercept is not None)
        return values if self.domain is None else L1Within(values, self.domain)

    def _most_rows(self, count: int) -> int:
        if self.unit.count_is_public:
            return count
        if self.budget.is_private:
            return self.max_rows
        return count  # nothing is promised, and solved as exactly as can be

    def chosen(self, question: Question) -> Mechanism:
        """Return the mechanism asked for, or the one whose predicted error is smallest.

        Objective perturbation divides its noise by the curvature of data and ridge together,
        output perturbation by the ridge alone, so the first is never worse where it has a proof.
        The squared loss has no bounded slope without a domain; its statistics say all there is. A
        loss with a kink has gradients, which need a delta; without one its coefficients, if they
        are few and in a domain, are drawn.
        """
        mechanism = self.mechanism
        if mechanism == "auto":
            has_kink = not self.loss.is_smooth
            mechanism = "noisy_gradient" if has_kink else "objective_perturbation"
            if has_kink and self.budget.delta == 0 and self.budget.is_private:
                one = question.problem if isinstance(question, OneVsRest) else question
                is_small = ExponentialSampling().accepts(one, self.unit)
                mechanism = "exponential_sampling" if is_small else mechanism
            mechanism = "sufficient_statistics" if self._from_statistics else mechanism
        if isinstance(mechanism, str):
            mechanism = MECHANISMS[mechanism]()
        if self.is_softmax or not isinstance(question, OneVsRest):
            return mechanism
        if isinstance(mechanism, PrivateStandardisation):
            return mechanism.with_second(EachAgainstTheRest(mechanism.second))
        if not isinstance(mechanism, Learner):
            raise InputError(f"{mechanism.name} is not for several classes; use mechanism='auto'.")
        return EachAgainstTheRest(mechanism)

    @property
    def _from_statistics(self) -> bool:
        """Whether the problem is learnt from X'X and X'y, which need no ridge."""
        if self.mechanism == "sufficient_statistics":
            return True
        if not isinstance(self.loss, Squared) or self.mechanism != "auto":
            return isinstance(self.loss, Squared) and self.domain is None
        return self.domain is None or self._is_exact_lasso

    @property
    def _is_exact_lasso(self) -> bool:
        return self.lasso is not None and not self.budget.is_private

    def _ridge(self, bounds: Bounds, times: int) -> float:
        if self.lasso is not None:
            return self._beside_lasso(self.lasso, bounds, times)
        if self.ridge is not None:
            return self._at_least(bounds, times)
        if self._from_statistics:
            return bounds.row_norm() ** 2  # its statistics need none
        norm, budget = bounds.row_norm(), self.budget
        if isinstance(self.mechanism, PrivateStandardisation):
            norm, budget = 1.0 + 2.0**-19, self.mechanism.left(budget)  # rows have norm one then
        elif (
            budget.is_private
            and budget.delta > 0
            and times == 1
            and self._pure_disturbs_less(bounds)
        ):
            budget = Budget(budget.epsilon)  # that law will be chosen, and needs less ridge
        return free_ridge(
            self.loss, norm, budget, self.unit, weight=bounds.largest_weight, times=times
        )

    def _beside_lasso(self, lasso: Lasso, bounds: Bounds, times: int) -> float:
        """Return the rest of the penalty, or as much ridge as the mechanism cannot do without."""
        if self._from_statistics:
            return max(lasso.ridge, LEAST_RIDGE * bounds.row_norm() ** 2)
        return replace(self, lasso=None, ridge=lasso.ridge or None)._ridge(bounds, times)

    def _pure_disturbs_less(self, bounds: Bounds) -> bool:
        """Say whether Laplace or radial noise is smaller than Gaussian, for objectives."""
        if self.budget.delta == 0 or not self.budget.is_private:
            return False
        norm = bounds.row_norm()
        pure = min(math.sqrt(2) * bounds.row_norm(1), math.sqrt(bounds.width + 1) * norm)
        sides = 1 if self.loss.is_one_signed else 2
        gaussian = norm * gaussian_multiplier(
            Budget(self.budget.epsilon, self.budget.delta / sides)
        )
        return self.budget.is_private and pure / self.budget.epsilon < gaussian

    def _at_least(self, bounds: Bounds, times: int) -> float:
        """Return the ridge asked for, or the least at which one row bends within the budget."""
        asked = self.ridge or 0.0
        if not self.raises_ridge or self._from_statistics or not self.budget.is_private:
            return asked
        if not self.loss.is_smooth or self.mechanism in RIDGE_IS_FREE:
            return asked
        bend = self.loss.smoothness(math.inf) * bounds.largest_weight * bounds.row_norm() ** 2
        return max(asked, bend / math.expm1(min(0.5 * self.budget.epsilon / times, 300.0)))


def is_told(budget: Budget, unit: Unit, ledger: AbstractLedger | None) -> bool:
    """Say whether the number of rows may be used before anything is paid.

    An infinite budget promises nothing. But a ledger refuses it, and what is said until then must
    tell nothing of the rows.
    """
    if unit.count_is_public:
        return True
    return not budget.is_private and (ledger is None or isinstance(ledger, NoLedger))


def width_of(X: Any) -> int:
    """Return the number of columns; stored rows are not counted for it."""
    return X.width if isinstance(X, StoredRows) else int(X.shape[1])


def noise_from(rehearsal: Any) -> Noise:
    """Return the operating system's noise, or repeatable noise for a rehearsal."""
    if rehearsal is None:
        return SystemNoise()
    if isinstance(rehearsal, bool) or not isinstance(rehearsal, Integral):
        raise InputTypeError(
            "rehearsal must be None (private) or a whole number (repeatable noise)."
        )
    return RehearsalNoise(int(rehearsal))

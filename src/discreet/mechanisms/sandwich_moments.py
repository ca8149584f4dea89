"""Learn, then release the second moments that standard errors are made of; ``sandwich_moments.md``.

Three stages that compose: coefficients, two matrices at the released coefficients, and how many
rows were clipped to a bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeGuard

import numpy as np

from discreet import _checks
from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.errors import CalibrationError, InputTypeError
from discreet.geometry import L2Ball
from discreet.geometry.norms import pairwise_euclidean_norms
from discreet.mechanisms.base import (
    Learner,
    Plan,
    Verdict,
    grid_tolerances,
    public_facts,
)
from discreet.mechanisms.minimising.linear_term import GaussianTerm
from discreet.mechanisms.objective_perturbation import (
    ExactMinimiser,
    ObjectivePerturbation,
    ObjectivePerturbationPlan,
)
from discreet.mechanisms.released_sandwich import NoiseLevels, ReleasedSandwich
from discreet.mechanisms.sufficient_statistics import (
    ExactRidge,
    SufficientStatistics,
    SufficientStatisticsPlan,
    plan_gaussian,
)
from discreet.mechanisms.summing.moments import Moments
from discreet.mechanisms.summing.second_moments import (
    CurvatureWeight,
    GaussianEvent,
    ResidualWeight,
    SecondMoments,
    SlopeWeight,
)
from discreet.mechanisms.summing.standard_frame import Framing, StandardFrame
from discreet.noise import Noise, distance_of_gaussian
from discreet.privacy import (
    Budget,
    Guarantee,
    NoPrivacy,
    Profile,
    Unit,
    compose,
    gaussian_multiplier,
)
from discreet.questions import Question
from discreet.questions.bounds import Bounds
from discreet.questions.problem import Problem
from discreet.record import Tolerance

COUNT_SHARE = 0.001
"""The share of mu squared that goes into the number of clipped rows."""

MOST_COLUMNS = 512
"""Matrices of this width are 130,000 numbers each; intervals would need a million rows."""

WIDE, NARROW = 6.0, 2.0
"""How much longer than typical rows may be in a frame, in standard deviations of their squares."""

ENOUGH = 200.0
"""The wide bound needs this many rows, over mu, for each column to the power of 3/2."""

GAUSSIAN_TERM = ObjectivePerturbation("gaussian")

NOT_GAUSSIAN = (
    "intervals are derived for a Gaussian linear term alone; use ObjectivePerturbation('gaussian')."
)

NOTHING = 1e-6
"""Eigenvalues of X'X this much smaller than the largest are left out of an inverse."""

AT_BOUND = 1 - 2.0**-30
"""A row this near to the bound was clipped to it, or might as well have been."""


@dataclass(frozen=True)
class ResidualEvents:
    """The Gaussian releases beside the statistics of least squares."""

    outer: GaussianEvent
    counts: GaussianEvent

    @property
    def profile(self) -> Profile:
        return compose([self.outer.profile, self.counts.profile])


@dataclass(frozen=True)
class MomentEvents(ResidualEvents):
    """The Gaussian releases beside the coefficients; ``mu`` is what the whole budget buys."""

    curvature: GaussianEvent
    mu: float

    @property
    def profile(self) -> Profile:
        return compose([self.curvature.profile, self.outer.profile, self.counts.profile])


@dataclass(frozen=True, eq=False)
class SandwichPlan(Plan):
    """Objective perturbation, then the noisy matrices at its coefficients, and the counts."""

    learner: ObjectivePerturbationPlan | ExactMinimiser
    moments: SecondMoments
    events: MomentEvents | None  # None with an infinite budget
    guarantee: Guarantee
    reason: str

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        if self.events is None:
            return self.learner.tolerances
        return (
            *self.learner.tolerances,
            *grid_tolerances(self.events.curvature.grid, "the noise on scaled curvatures"),
            *grid_tolerances(self.events.outer.grid, "the noise on scaled squares of slopes"),
            *grid_tolerances(self.events.counts.grid, "the noise on numbers of rows"),
        )

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        bounds = self.moments.problem.bounds
        return self._run(rows, noise, np.eye(bounds.width), count_shortened(rows, bounds, None))

    def run_in_frame(self, rows: OpenRows, noise: Noise, framing: Framing) -> Vector:
        framing = framing.lengthen(self._allowance(framing.frame))
        counts = count_shortened(rows, framing.declared, framing.frame)
        fold = framing.frame.fold(np.eye(self.moments.width)).T
        return self._run(framing.apply(rows), noise, fold, counts)

    def _allowance(self, frame: StandardFrame) -> float:
        """Return how much longer than typical rows may be: from public numbers."""
        width = self.moments.width
        mu = math.inf if self.events is None else self.events.mu
        deviations = WIDE if frame.count * mu >= ENOUGH * width**1.5 else NARROW
        return math.sqrt(1 + deviations * math.sqrt(2 / width))

    def _run(self, rows: OpenRows, noise: Noise, fold: Array, counts: Vector) -> Vector:
        point = self.learner.run(rows, noise)  # public from here on
        if self.events is None:
            curvature, outer = self.moments.plain_vectors(rows, point)
        else:
            curvature, outer = self.moments.vectors(rows, point)
            curvature = self.events.curvature.release(curvature, noise)
            outer = self.events.outer.release(outer, noise)
            counts = self.events.counts.release(counts, noise)
        first, second = self.moments.weights
        return ReleasedSandwich(
            coefficients=point,
            product=self.moments.problem.ridge * point,
            curvature=self.moments.matrix(curvature, first),
            outer=self.moments.matrix(outer, second),
            factors=np.diag(fold),
            anchor=fold[-1],
            shortened=float(counts[0]),
            whole=float(counts[1]),
            levels=self.levels,
        ).vector()

    @property
    def levels(self) -> NoiseLevels:
        """How large the noise of each part is."""
        longest = self.moments.problem.row_norm
        if self.events is None or isinstance(self.learner, ExactMinimiser):
            return NoiseLevels(row_norm=longest)
        first, second = self.moments.weights
        return NoiseLevels(
            row_norm=longest,
            curvature_rounding=self.moments.slack * self.moments.size(first),
            outer_rounding=self.moments.slack * self.moments.size(second),
            slope=self.learner.scale,
            curvature=self.events.curvature.grid.scale * self.moments.size(first) / math.sqrt(2),
            outer=self.events.outer.grid.scale * self.moments.size(second) / math.sqrt(2),
            mask=self.learner.mask.grid.scale,
            counts=self.events.counts.grid.scale,
        )


@dataclass(frozen=True, eq=False)
class StatisticsSandwichPlan(Plan):
    """Noisy X'X and X'y, then the noisy squared residuals of what they say, and the counts."""

    statistics: SufficientStatisticsPlan | ExactRidge
    moments: SecondMoments
    events: ResidualEvents | None  # None with an infinite budget
    guarantee: Guarantee
    reason: str = "noise on X'X, X'y and squared residuals; what is made of them costs nothing"

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        if self.events is None:
            return self.statistics.tolerances
        return (
            *self.statistics.tolerances,
            *grid_tolerances(self.events.outer.grid, "the noise on scaled squares of residuals"),
            *grid_tolerances(self.events.counts.grid, "the noise on numbers of rows"),
        )

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        statistics, width = self.statistics, self.moments.width
        if isinstance(statistics, SufficientStatisticsPlan):
            noisy = statistics.release_statistics(rows, noise)  # public from here on
            coefficients = statistics.answer(noisy)
        else:
            noisy = statistics.moments.vector(rows)
            coefficients = statistics.run(rows, noise)
        gram, product = statistics.moments.matrices(noisy)
        gram, product = (
            gram * statistics.moments.gram_size,
            product * statistics.moments.product_size,
        )
        counts = count_shortened(rows, self.moments.problem.bounds, None)
        point = least_squares(gram, product)
        if self.events is None:
            (outer,) = self.moments.plain_vectors(rows, point)
        else:
            (outer,) = self.moments.vectors(rows, point)
            outer = self.events.outer.release(outer, noise)
            counts = self.events.counts.release(counts, noise)
        return ReleasedSandwich(
            coefficients=coefficients,
            product=product,
            curvature=gram,
            outer=self.moments.matrix(outer, self.moments.weights[0]),
            factors=np.ones(width),
            anchor=np.eye(width)[-1],
            shortened=float(counts[0]),
            whole=float(counts[1]),
            levels=self.levels,
        ).vector()

    @property
    def levels(self) -> NoiseLevels:
        """How large the noise of each part is."""
        longest, statistics = self.moments.problem.row_norm, self.statistics
        if self.events is None or isinstance(statistics, ExactRidge):
            return NoiseLevels(row_norm=longest, is_quadratic=1.0)
        scale, sizes = statistics.grid.scale, statistics.moments
        size = self.moments.size(self.moments.weights[0])
        return NoiseLevels(
            row_norm=longest,
            is_quadratic=1.0,
            outer_rounding=self.moments.slack * size,
            slope=scale * sizes.product_size,
            curvature=scale * sizes.gram_size / math.sqrt(2),
            outer=self.events.outer.grid.scale * size / math.sqrt(2),
            counts=self.events.counts.grid.scale,
        )


def least_squares(gram: Array, product: Vector) -> Vector:
    """Solve noisy equations, whatever they are, but for directions that say nothing: public."""
    values, vectors = np.linalg.eigh(gram)
    is_said = np.abs(values) > NOTHING * np.abs(values).max()
    shares = np.divide(vectors.T @ product, values, out=np.zeros(values.size), where=is_said)
    return np.asarray(vectors @ shares)


@dataclass(frozen=True)
class SandwichMoments(Learner):
    """A model and the moments of its sandwich standard errors, within one budget.

    Of mu squared, a part goes into the curvatures of the losses, a part into the squares of their
    slopes, a thousandth into the number of rows that were clipped, the rest into coefficients.
    The value is a vector that ``ReleasedSandwich`` reads.

    Parameters
    ----------
    learner
        Who learns the coefficients, with Gaussian noise: objective perturbation, or sufficient
        statistics, whose X'X is the matrix of curvatures already.
    curvature_share, outer_share
        The shares of mu squared for the matrices of curvatures and of squared slopes.

    Examples
    --------
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import LabelSet
    >>> bounds = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]), max_rows=10**6)
    >>> problem = Problem(Logistic(), bounds, ridge=3.0)
    >>> plan = SandwichMoments().plan(problem, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(1e-6), 3)  # of coefficients and matrices together
    1.0
    """

    name: ClassVar[str] = "sandwich_moments"
    solves_problems: ClassVar[bool] = True

    learner: ObjectivePerturbation | SufficientStatistics = GAUSSIAN_TERM
    curvature_share: float = 0.1
    outer_share: float = 0.1

    def __post_init__(self) -> None:
        learner: object = self.learner
        if not isinstance(learner, ObjectivePerturbation | SufficientStatistics):
            raise InputTypeError(
                "learner must be ObjectivePerturbation('gaussian') or SufficientStatistics(); got "
                f"a value of type {type(learner).__name__}."
            )
        _checks.positive(curvature_share=self.curvature_share, outer_share=self.outer_share)
        if not self.curvature_share + self.outer_share < 1 - COUNT_SHARE:
            raise CalibrationError("the shares of second moments leave nothing; use smaller ones.")

    @property
    def share_beside(self) -> float:
        """The share of mu squared that matrices and counts have beside the coefficients."""
        return self.curvature_share + self.outer_share + COUNT_SHARE

    def coefficients(self, value: Any) -> Array:
        released = ReleasedSandwich.of(value)
        return np.asarray(released.fold @ released.coefficients)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem):
            return Verdict(False, "sandwich_moments is for one learning problem.")
        if question.penalty is not None or math.isfinite(question.radius):
            return Verdict(
                False,
                "a constraint or a non-smooth penalty biases coefficients in ways that a sandwich "
                "does not know; leave it out, or ask for no intervals.",
            )
        if question.bounds.width > MOST_COLUMNS:
            return Verdict(
                False,
                f"second moments of {question.bounds.width} columns would drown in their noise: "
                f"sandwich_moments takes at most {MOST_COLUMNS}. Ask for no intervals.",
            )
        return self.learner.accepts(question, unit)

    def _plan_beside(
        self, problem: Problem, budget: Budget, unit: Unit, *, beside: Profile | None, times: int
    ) -> Plan:
        if times > 1:
            raise CalibrationError("sandwich_moments is for one problem; use it once.")
        if isinstance(self.learner, ObjectivePerturbation):
            return self._plan_objective(self.learner, problem, budget, unit, beside)
        if beside is not None:
            raise CalibrationError("sufficient statistics are a first stage; use them alone.")
        return self._plan_statistics(problem, budget, unit)

    def _plan_objective(
        self,
        learner: ObjectivePerturbation,
        problem: Problem,
        budget: Budget,
        unit: Unit,
        beside: Profile | None,
    ) -> Plan:
        if learner.law not in (None, "gaussian"):
            raise CalibrationError(NOT_GAUSSIAN)
        moments = SecondMoments(problem, (CurvatureWeight(problem), SlopeWeight(problem)))
        events = None
        if budget.is_private:
            mu = _whole_mu(budget, 0.0)
            events = MomentEvents(
                outer=_plan_matrix(moments, math.sqrt(self.outer_share) * mu, unit),
                counts=_plan_counts(mu, problem.bounds, unit),
                curvature=_plan_matrix(moments, math.sqrt(self.curvature_share) * mu, unit),
                mu=mu,
            )
        spent = [] if beside is None else [beside]
        spent += [] if events is None else [events.profile]
        plan = learner.plan_beside(problem, budget, unit, beside=compose(spent) if spent else None)
        if not _is_gaussian(plan):
            raise CalibrationError(NOT_GAUSSIAN)
        reason = f"second moments for standard errors; {plan.reason}"
        return SandwichPlan(plan, moments, events, plan.guarantee, reason)

    def _plan_statistics(self, problem: Problem, budget: Budget, unit: Unit) -> Plan:
        moments = SecondMoments(problem, (ResidualWeight(problem),))
        squares = Moments(problem, unit, order=2)
        if not budget.is_private:
            guarantee = Guarantee(NoPrivacy(), unit)
            return StatisticsSandwichPlan(ExactRidge(squares, guarantee), moments, None, guarantee)
        sizes = (squares.dimension, moments.dimension, 2)
        mu = _whole_mu(budget, sum(map(distance_of_gaussian, sizes)))
        events = ResidualEvents(
            outer=_plan_matrix(moments, math.sqrt(self.outer_share) * mu, unit),
            counts=_plan_counts(mu, problem.bounds, unit),
        )
        facts = (*public_facts(problem.bounds, unit), *problem.assumed)
        rest = math.sqrt(1 - self.outer_share - COUNT_SHARE) * mu
        statistics = plan_gaussian(squares, 1 / rest, facts, budget.delta)
        profile = compose([statistics.guarantee.profile, events.profile])
        guarantee = replace(statistics.guarantee, profile=profile)
        return StatisticsSandwichPlan(statistics, moments, events, guarantee)


def _whole_mu(budget: Budget, distance: float) -> float:
    """Return the mu that a budget buys, if noise is within a distance of its law."""
    if budget.delta == 0:
        raise CalibrationError(
            "second moments get Gaussian noise, which needs delta > 0; use a small delta, or ask "
            "for no intervals."
        )
    return 1 / gaussian_multiplier(budget, distance=distance)


def _plan_matrix(moments: SecondMoments, mu: float, unit: Unit) -> GaussianEvent:
    """Plan one matrix that is mu-Gaussian private."""
    return GaussianEvent.plan(
        mu=mu,
        sensitivity=moments.sensitivity(unit),
        dimension=moments.dimension,
        bound=moments.bound,
    )


def _plan_counts(mu: float, bounds: Bounds, unit: Unit) -> GaussianEvent:
    """Plan two numbers of rows: one record is in one of them."""
    return GaussianEvent.plan(
        mu=math.sqrt(COUNT_SHARE) * mu,
        sensitivity=unit.spread(1.0, diameter=math.sqrt(2) * (1 + 1e-15)),
        dimension=2,
        bound=float(bounds.max_rows),
    )


def _is_gaussian(plan: Plan) -> TypeGuard[ObjectivePerturbationPlan | ExactMinimiser]:
    if isinstance(plan, ObjectivePerturbationPlan):
        return isinstance(plan.term, GaussianTerm)
    return isinstance(plan, ExactMinimiser)


def count_shortened(rows: OpenRows, bounds: Bounds, frame: StandardFrame | None) -> Vector:
    """Count the rows that were clipped to a bound, and the others: private, and whole.

    A row is clipped if it lies at the edge of the declared ball, or outside of the unit ball once
    it is in the frame. Each row is measured by itself, to the last bit.
    """
    declared = bounds.features
    radius = declared.radius * AT_BOUND if isinstance(declared, L2Ball) else math.inf
    columns = bounds.n_features

    def kernel(block: Block) -> Integers:
        whole = block.rows()
        is_short = pairwise_euclidean_norms(whole[:, :columns]) >= radius
        if frame is not None:
            is_short |= pairwise_euclidean_norms(frame.apply(whole)) > 1.0
        short = int(is_short.sum())
        return np.array([short, block.size - short], dtype=np.int64)

    return np.asarray(rows.sum(kernel), dtype=np.float64)

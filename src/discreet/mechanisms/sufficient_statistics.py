"""Least squares, penalised, from a noisy X'X and X'y; proof in ``sufficient_statistics.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.losses import Squared
from discreet.mechanisms.base import (
    CONSTRAINT_AS_RADIUS,
    TABLE_UNITS,
    YES,
    Mechanism,
    Plan,
    Verdict,
    grid_tolerances,
    public_facts,
)
from discreet.mechanisms.minimising.rows_objective import RowsObjective
from discreet.mechanisms.minimising.spectrum import Spectrum
from discreet.mechanisms.summing.moments import Moments
from discreet.noise import (
    Grid,
    Noise,
    distance_of_gaussian,
    gaussian_grid,
    laplace_grid,
    release_gaussian,
    release_laplace,
)
from discreet.penalties import L1, L1Within, Penalty
from discreet.privacy import (
    Budget,
    Gaussian,
    Guarantee,
    Laplace,
    NoPrivacy,
    Unit,
    gaussian_multiplier,
    within,
)
from discreet.questions import Question
from discreet.questions.problem import Problem
from discreet.record import Tolerance
from discreet.solvers import proximal_newton
from discreet.solvers.quadratic import Hessian, Quadratic

MOST_COLUMNS = 4096
"""X'X is dense: at this width it takes 134 MB, and a few times that while it is made."""

SHORTEST_ROW, LONGEST_ROW = 1e-100, 1e120
"""Rows that could be longer overflow when they are squared and summed; shorter ones underflow."""

REFINEMENTS = 2

PUBLIC_TOLERANCE = 1e-12
"""How exactly noisy equations are solved, over the size of their right-hand side."""


@dataclass(frozen=True, eq=False)
class SufficientStatisticsPlan(Plan):
    """The statistics, their noise, and how much ridge is added against it."""

    moments: Moments
    grid: Grid
    extra_ridge: float  # in the scaled equations
    guarantee: Guarantee
    reason: str = "noise on X'X and X'y; what is made of them costs nothing"

    @property
    def sensitivity(self) -> float:
        """How far, in the norm of the noise, the statistics of neighbours can be apart."""
        return _on_the_grid(self.moments, self.grid)

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return grid_tolerances(self.grid, "the noise on the scaled statistics")

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self.answer(self.release_statistics(rows, noise))

    def release_statistics(self, rows: OpenRows, noise: Noise) -> Vector:
        """Return the statistics with noise: public from here on."""
        add_noise = release_gaussian if self.moments.order == 2 else release_laplace
        return add_noise(self.moments.vector(rows), self.grid, noise)

    def answer(self, noisy: Vector) -> Vector:
        """Turn noisy statistics into coefficients: post-processing."""
        gram, product = self.moments.matrices(noisy)
        spectrum = Spectrum.of(gram)
        ridge = self.moments.ridge + self.extra_ridge
        penalty = self.moments.problem.penalty
        if penalty is not None:
            return self._minimise_penalised(spectrum, product, ridge, penalty)
        ridge += spectrum.multiplier(product, ridge, self.moments.radius)
        return self.moments.coefficients(spectrum.solve(product, ridge))

    def _minimise_penalised(
        self, spectrum: Spectrum, product: Vector, ridge: float, penalty: Penalty
    ) -> Vector:
        """Minimise the noisy quadratic plus the penalty."""
        size, width = self.moments.gram_size, self.moments.width
        hessian = Hessian(spectrum.matrix(ridge) * size)
        gradient = -product * self.moments.product_size
        model = Quadratic(np.zeros(width), gradient, hessian)
        tolerance = PUBLIC_TOLERANCE * float(np.linalg.norm(gradient))
        return model.minimise(penalty, tolerance).point

    def slope_noise(self, radius: float) -> float:
        """Predict the noise in a coordinate of the slope at coefficients of this norm."""
        gram, product = (0.5, 1.0) if self.moments.order == 2 else (2.0, 2.0)  # variances
        gram = math.sqrt(gram) * self.moments.gram_size * radius
        product = math.sqrt(product) * self.moments.product_size
        return self.grid.scale * math.hypot(gram, product)

    @property
    def ridge(self) -> float:
        """The whole ridge, with what is added against the noise."""
        return (self.moments.ridge + self.extra_ridge) * self.moments.gram_size


@dataclass(frozen=True, eq=False)
class ExactRidge(Plan):
    """The ridge regression itself, without noise: what an infinite budget buys."""

    moments: Moments
    guarantee: Guarantee

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        gram, product = self.moments.matrices(self.moments.vector(rows))
        spectrum = Spectrum.of(gram)
        ridge = self.moments.ridge
        ridge += spectrum.multiplier(product, ridge, self.moments.radius)
        size = self.moments.gram_size
        objective = RowsObjective(
            replace(self.moments.problem, ridge=ridge * size), rows, np.zeros(self.moments.width)
        )
        point = self.moments.coefficients(spectrum.solve(product, ridge))
        for _ in range(REFINEMENTS):
            point = point - spectrum.solve(objective.careful_gradient(point) / size, ridge)
        return point


@dataclass(frozen=True, eq=False)
class ExactPenalised(Plan):
    """Least squares with a penalty, without noise: what an infinite budget buys."""

    moments: Moments
    guarantee: Guarantee

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        problem, width = self.moments.problem, self.moments.width
        if problem.penalty is None:
            raise CalibrationError("least squares without a penalty need no such solver.")
        objective = RowsObjective(problem, rows, np.zeros(width))
        largest = objective.count * self.moments.product_size
        return proximal_newton(
            objective,
            problem.penalty,
            np.zeros(width),
            smoothness=objective.count * problem.row_smoothness + problem.ridge,
            tolerance=2.0**-50 * largest,
        ).point


@dataclass(frozen=True)
class SufficientStatistics(Mechanism):
    """Noise on X'X and X'y: Gaussian, or Laplace if delta is zero; the rest is post-processing.

    Examples
    --------
    >>> from discreet.data import Bounds, Interval
    >>> from discreet.geometry import L2Ball
    >>> from discreet.privacy import AddRemoveOne
    >>> bounds = Bounds(L2Ball(1.0), 10, labels=Interval(-1, 1), max_rows=10**6)
    >>> problem = Problem(Squared(label_bound=1.0), bounds, ridge=1.0)
    >>> plan = SufficientStatistics().plan(problem, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.grid.scale, 2)  # of the diagonal of X'X; beside it 0.71 of that
    5.97
    """

    name: ClassVar[str] = "sufficient_statistics"
    units = TABLE_UNITS
    solves_problems: ClassVar[bool] = True

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem):
            return Verdict(False, "sufficient_statistics solves learning problems.")
        if not isinstance(question.loss, Squared):
            return Verdict(
                False,
                f"{question.loss!r} has no finite statistics that say all; use Squared, or "
                "objective_perturbation.",
            )
        if question.penalty is not None and math.isfinite(question.radius):
            return CONSTRAINT_AS_RADIUS
        width = question.bounds.width
        if width > MOST_COLUMNS:
            return Verdict(
                False,
                f"X'X of {width} columns would not fit in memory: sufficient_statistics takes at "
                f"most {MOST_COLUMNS}. Use objective_perturbation with a PseudoHuber loss.",
            )
        if not SHORTEST_ROW <= question.row_norm <= LONGEST_ROW:
            return Verdict(False, "rows this long or short cannot be squared safely; rescale them.")
        if not question.row_norm**2 * question.bounds.unit_weight <= LONGEST_ROW**2:
            return Verdict(False, "weights this large cannot be summed safely; rescale them.")
        return YES

    def _plan(self, problem: Problem, budget: Budget, unit: Unit) -> Plan:
        if not budget.is_private:
            exact = ExactRidge if problem.penalty is None else ExactPenalised
            return exact(Moments(problem, unit, order=2), Guarantee(NoPrivacy(), unit))
        facts = (*public_facts(problem.bounds, unit), *problem.assumed)
        if budget.delta == 0:
            moments = Moments(problem, unit, order=1)
            grid = laplace_grid(
                epsilon=budget.epsilon,
                sensitivity=moments.sensitivity,
                dimension=moments.dimension,
                bound=moments.bound,
            )
            profile = Laplace(_on_the_grid(moments, grid) / grid.scale * (1 + 1e-15))
            guarantee = Guarantee(profile, unit, facts)
            return SufficientStatisticsPlan(moments, grid, _extra_ridge(moments, grid), guarantee)
        moments = Moments(problem, unit, order=2)
        distance = distance_of_gaussian(moments.dimension)
        multiplier = gaussian_multiplier(budget, distance=distance)
        return plan_gaussian(moments, multiplier, facts, budget.delta)


def plan_gaussian(
    moments: Moments, multiplier: float, facts: tuple[str, ...], quoted_delta: float
) -> SufficientStatisticsPlan:
    """Plan statistics with Gaussian noise of so many sensitivities."""
    grid = gaussian_grid(
        multiplier=multiplier,
        sensitivity=moments.sensitivity,
        dimension=moments.dimension,
        bound=moments.bound,
    )
    reached = _on_the_grid(moments, grid) / grid.scale * (1 + 1e-15)
    profile = within(Gaussian(reached), distance_of_gaussian(moments.dimension))
    guarantee = Guarantee(profile, moments.unit, facts, quoted_delta=quoted_delta)
    return SufficientStatisticsPlan(moments, grid, _extra_ridge(moments, grid), guarantee)


def _on_the_grid(moments: Moments, grid: Grid) -> float:
    """Bound how far apart the statistics of neighbours are once they are snapped."""
    if moments.order == 2:
        return moments.sensitivity + grid.spread_l2(moments.dimension)
    return moments.sensitivity + grid.spread_l1(moments.dimension)


def _extra_ridge(moments: Moments, grid: Grid) -> float:
    """Return half of the operator norm that the noise in X'X is expected to have.

    Absolute values keep coefficients small by themselves: an eighth is enough beside them.
    """
    deviation = grid.scale * (math.sqrt(0.5) if moments.order == 2 else math.sqrt(2))
    is_sparse = isinstance(moments.problem.penalty, L1 | L1Within)
    return deviation * math.sqrt(moments.width) * (0.25 if is_sparse else 1.0)

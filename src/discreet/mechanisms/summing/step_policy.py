"""Defaults of noisy gradient descent: batches, step sizes and averages, from public facts alone.

Nothing here changes privacy: whatever is chosen is accounted for, or follows from noisy gradients.
"""

from __future__ import annotations

import math

from discreet.errors import CalibrationError
from discreet.mechanisms.summing.gradient_sums import GradientProblem
from discreet.mechanisms.summing.schedule import Schedule
from discreet.privacy import Unit
from discreet.questions import Softmax, SpatialMedian
from discreet.solvers import (
    Adaptive,
    Average,
    Decreasing,
    Growing,
    LastPoint,
    PolynomialAverage,
    Preconditioned,
    StepRule,
    SuffixAverage,
)

RULES = ("preconditioned", "adaptive", "lipschitz", "strongly_convex")
AVERAGES: dict[str, Average] = {
    "last": LastPoint(),
    "suffix": SuffixAverage(0.5),
    "polynomial": PolynomialAverage(1),
    "cubic": PolynomialAverage(3),
    "uniform": PolynomialAverage(0),
}

STEPS, FREE_STEPS = 300, 1000
"""Steps if nobody says; the second where they cost no privacy."""

MOST_STEPS = 10**6

MOST_DIRECTIONS = 512
"""Columns up to which directions are told apart."""

USUAL_REACH = 3.0
"""How much farther than usual preconditioned steps look, since few directions need it."""

USUAL_MARGIN, USUAL_PREDICTION = 10.0, 2.0
"""How far margins of classes go where no domain says so, and predictions over their labels."""

FULL_ROWS = 2**21
"""Rows that are all read in every step; of more, so many are sampled."""


def expected_rows(problem: GradientProblem, unit: Unit, stated: int | None) -> int | None:
    """Return the number of rows, as far as anybody may know it: stated, or public."""
    if stated is not None:
        return stated
    return problem.bounds.max_rows if unit.rows_are_public else None


def usual_rate(rows: int | None) -> float:
    """Return the chance of a row to be in a batch, if nobody says: all rows, unless very many."""
    return 1.0 if rows is None else min(1.0, FULL_ROWS / rows)


def choose_rule(
    name: str, problem: GradientProblem, schedule: Schedule, noise: float, rows: int | None
) -> StepRule:
    """Return the step sizes that a name stands for, ``noise`` the scale of that on a sum.

    Without noise nothing keeps preconditioned steps small along directions that are flat at first.
    """
    if name == "strongly_convex":
        return Growing(problem.ridge)
    far, width = expected_distance(problem), problem.width
    has_directions = noise > 0 and problem.penalty is None and width <= MOST_DIRECTIONS
    if name == "preconditioned" and has_directions:
        return Preconditioned(USUAL_REACH * far, noise / schedule.batches.rate, schedule.steps)
    if name in ("preconditioned", "adaptive"):
        return Adaptive(far)
    if rows is None:
        raise CalibrationError(
            "the rule 'lipschitz' needs to know how many rows to expect; pass expected_rows."
        )
    batches, slope = schedule.batches, problem.row_lipschitz
    spread = slope**2 * batches.variance(rows) + width * (noise / batches.rate) ** 2
    return Decreasing(2 * far, math.sqrt((rows * slope) ** 2 + spread))


def expected_distance(problem: GradientProblem) -> float:
    """Return how far from the origin the coefficients can be, or are expected to be."""
    if isinstance(problem, SpatialMedian) or math.isfinite(problem.domain_radius):
        return problem.domain_radius
    if isinstance(problem, Softmax):  # each class as far as usual
        return math.sqrt(problem.several.classes) * USUAL_MARGIN / problem.row_norm
    if problem.loss.is_classifier or problem.bounds.labels is None:
        return USUAL_MARGIN / problem.row_norm
    return USUAL_PREDICTION * max(problem.bounds.labels.magnitude, 1e-100) / problem.row_norm

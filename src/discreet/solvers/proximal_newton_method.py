"""Newton's method for a smooth function plus a penalty.

Each step minimises the quadratic model plus the penalty exactly, which takes no pass over the data.
Its minimiser is a prox, so one gradient there gives both the next model and a certificate. Steps
are halved until the value falls enough, or stays level to rounding while the residual shrinks. A
Hessian is kept as long as it serves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._types import Vector
from discreet.penalties import Penalty
from discreet.solvers.certificate import propose
from discreet.solvers.objective import DenseObjective, Solution
from discreet.solvers.quadratic import Hessian, Quadratic

SUFFICIENT = 1e-4
"""The share of the predicted decrease that a step must achieve (Armijo)."""

GOOD_PROGRESS = 0.3
GREAT_PROGRESS = 0.01
"""A Hessian that shrinks the residual to less than this is used again."""

RESOLUTION = 2.0**-50
"""Values that differ by less, relatively, cannot be told apart."""

MOST_HALVINGS = 40


def proximal_newton(
    objective: DenseObjective,
    penalty: Penalty,
    start: Vector,
    *,
    smoothness: float,
    tolerance: float,
    most_steps: int = 100,
) -> Solution:
    """Minimise until the computed residual is at most ``tolerance``, or no longer shrinks.

    Parameters
    ----------
    objective
        The smooth function, whose Hessian can be written down.
    penalty
        What is added to it.
    start
        Where to begin.
    smoothness
        A bound on the largest curvature of the function.
    tolerance
        It ends where the computed residual is at most this.
    most_steps
        It also ends after so many steps.

    Notes
    -----
    Whoever needs a proof calls :func:`~discreet.solvers.certify` on the point, with a step of one
    over the smoothness and a gradient that is careful enough: the residual stays what it was, up to
    rounding.

    Examples
    --------
    >>> from discreet.geometry import L1Ball
    >>> from discreet.penalties import Indicator
    >>> class Distance:
    ...     dimension, strong_convexity = 2, 1.0
    ...     def value_and_gradient(self, w):
    ...         gap = w - np.array([3.0, 2.5])
    ...         return float(gap @ gap) / 2, gap
    ...     def hessian(self, w):
    ...         return np.eye(2)
    >>> inside = Indicator(L1Ball(1.0))
    >>> proximal_newton(Distance(), inside, np.zeros(2), smoothness=1.0, tolerance=1e-12).point
    array([0.75, 0.25])
    """
    here = _Place.at(objective, penalty, penalty.prox(start, 1 / smoothness))
    nearest = propose(penalty, here.point - here.gradient / smoothness, 1 / smoothness)
    residual = smoothness * float(np.linalg.norm(nearest.point - here.point))
    best = Solution(here.point, np.inf)
    hessian, is_fresh = Hessian(objective.hessian(here.point)), True
    for _ in range(most_steps):
        model = Quadratic(here.point, here.gradient, hessian)
        proposal = model.minimise(penalty, 0.1 * tolerance)
        trial = _Place.at(objective, penalty, proposal.point)
        reached = proposal.residual(trial.gradient)
        if reached < best.residual:
            best = Solution(proposal.point, reached)
        if best.is_within(tolerance):
            break
        there = _line_search(objective, penalty, here, trial, reached <= GOOD_PROGRESS * residual)
        if there is None:
            if is_fresh:
                break
            hessian, is_fresh = Hessian(objective.hessian(here.point)), True
            continue
        is_fresh = there is not trial or reached > GREAT_PROGRESS * residual
        here, residual = there, reached
        if is_fresh:
            hessian = Hessian(objective.hessian(here.point))
    if np.isinf(best.residual):
        _, gradient = objective.value_and_gradient(nearest.point)
        best = Solution(nearest.point, nearest.residual(gradient))
    return best


@dataclass(frozen=True, eq=False)
class _Place:
    """A point, with what one pass over the data tells of it."""

    point: Vector
    total: float
    gradient: Vector
    penalty: float

    @classmethod
    def at(cls, objective: DenseObjective, penalty: Penalty, point: Vector) -> _Place:
        value, gradient = objective.value_and_gradient(point)
        cost = penalty.value(point)
        return cls(point, value + cost, gradient, cost)


def _line_search(
    objective: DenseObjective, penalty: Penalty, here: _Place, trial: _Place, is_closer: bool
) -> _Place | None:
    """Return the trial, or a place on the way to it where the value falls enough, if any."""
    direction = trial.point - here.point
    predicted = float(here.gradient @ direction) + trial.penalty - here.penalty
    indistinct = RESOLUTION * abs(here.total)
    if is_closer and trial.total <= here.total + indistinct:
        return trial
    if predicted >= -indistinct:
        return None
    there, share = trial, 1.0
    for _ in range(MOST_HALVINGS):
        if there.total <= here.total + SUFFICIENT * share * predicted:
            return there
        share /= 2
        there = _Place.at(objective, penalty, here.point + share * direction)
    return None

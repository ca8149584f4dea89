r"""Minimisers with a penalty or a constraint: a public radius that holds surely.

The computed point t is the prox of a float vector z with step s = 1/S, S the largest curvature
that ``max_rows`` rows and the ridge can have. ``certify`` returns a computed residual r, and with
the letters of its notes (e the error of the prox at the size of z, G that of the gradient at t)

.. math:: \|t - \theta\| \le e + \frac1\Lambda\left((1 + (p+4)u) \, r + 4u \|z - t\|/s + G
          + 2 S e\right).

Everything is public: r is at most the tolerance; :math:`\|z - t\|/s` is at most r plus the norm of
the gradient, itself at most N L R + Lam B + |b|; z is at most B plus that gradient over S; and G is
the error of sums, of margins through the curvature, and of the linear term, as in
``_minimiser.py``. In a domain every point is within B, so none is refused; otherwise far points
are refused in public, as there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError, PrivacyError
from discreet.mechanisms._minimiser import UNIT, Minimiser
from discreet.mechanisms._objective import DENSE_WIDTH, RowsObjective
from discreet.penalties import Penalty
from discreet.problem import Problem
from discreet.solvers import (
    accelerated_proximal_gradient,
    certify,
    iterations_needed,
    proximal_newton,
)

_UP = 1 + 2.0**-20


@dataclass(frozen=True)
class PenalisedMinimiser:
    """How exactly a problem with a penalty is solved, decided from public numbers."""

    plain: Minimiser  # of the same problem; its error bounds are used

    def __post_init__(self) -> None:
        if not math.isfinite(self._prox_error):
            raise CalibrationError(
                f"{self._penalty!r} has no bound on the rounding of its projection; use a ball, a "
                "box or a simplex."
            )

    @property
    def problem(self) -> Problem:
        return self.plain.problem

    @property
    def far(self) -> float:
        """The largest norm of coefficients that can be certified."""
        return self.plain.far

    @property
    def _penalty(self) -> Penalty:
        if self.problem.penalty is None:
            raise CalibrationError("a problem without a penalty needs another solver.")
        return self.problem.penalty

    @property
    def _smoothness(self) -> float:
        problem = self.problem
        return problem.bounds.max_rows * problem.row_smoothness + problem.ridge

    @property
    def _largest_gradient(self) -> float:
        problem = self.problem
        rows = problem.bounds.max_rows * problem.row_lipschitz
        return rows + problem.ridge * self.far + self.plain.linear_bound

    @property
    def _prox_error(self) -> float:
        size = self.far + self._largest_gradient / self._smoothness
        return self._penalty.prox_error(size * _UP, self.problem.bounds.width)

    @property
    def tolerance(self) -> float:
        """The residual to be reached: as small as rounding lets anyone see."""
        return self.plain.tolerance + 2 * self._smoothness * self._prox_error

    @property
    def radius(self) -> float:
        """How far the point found can be from the ideal minimiser: public, and surely."""
        problem, plain = self.problem, self.plain
        through_margins = (
            problem.bounds.max_rows * problem.row_norm * problem.smoothness * plain.margin_error
        )
        gradient_error = plain.float_error + through_margins + plain.linear_error
        subtraction = 4 * UNIT * (self.tolerance + self._largest_gradient)
        rounded = (1 + (problem.bounds.width + 4) * UNIT) * self.tolerance
        prox = 2 * self._smoothness * self._prox_error
        total = (rounded + subtraction + gradient_error + prox) / problem.ridge
        return (total + self._prox_error) * _UP

    def solve(self, rows: OpenRows, linear: Vector, *, ridge: float | None = None) -> Vector:
        """Return a point within :attr:`radius` of the minimiser, or raise.

        With another ``ridge`` than the problem's, rows and ridge together must still curve as much.
        """
        problem = self.problem if ridge is None else replace(self.problem, ridge=ridge)
        objective = RowsObjective(problem, rows, linear)
        for attempt in (self._quickly, self._slowly):
            point = attempt(objective)
            if not np.linalg.norm(point) <= self.far * _UP:
                continue
            point, residual = certify(
                objective.careful_gradient, self._penalty, point, 1 / self._smoothness
            )
            if residual <= self.tolerance and np.linalg.norm(point) <= self.far * _UP:
                return point
        raise PrivacyError("the minimiser could not be certified; nothing is released.")

    def _quickly(self, objective: RowsObjective) -> Vector:
        if objective.dimension > DENSE_WIDTH:
            return self._slowly(objective)
        return proximal_newton(
            objective,
            self._penalty,
            np.zeros(objective.dimension),
            smoothness=self._smoothness_at_hand(objective),
            tolerance=0.3 * self.plain.tolerance,
        ).point

    def _slowly(self, objective: RowsObjective) -> Vector:
        """Use a method whose number of steps is known in advance."""
        problem = self.problem
        smoothness = self._smoothness_at_hand(objective)
        largest = objective.count * problem.row_lipschitz + self.plain.linear_bound
        tolerance = 0.3 * self.plain.tolerance
        steps = iterations_needed(smoothness, problem.ridge, largest, tolerance)
        return accelerated_proximal_gradient(
            objective,
            self._penalty,
            np.zeros(objective.dimension),
            smoothness=smoothness,
            tolerance=tolerance,
            most_steps=2 * steps,
        ).point

    def _smoothness_at_hand(self, objective: RowsObjective) -> float:
        # Of the rows at hand, not of the most there may be: only the time it takes depends on it.
        return objective.count * self.problem.row_smoothness + self.problem.ridge

    def finish(self, released: Vector) -> Vector:
        """Bring a released point back into the domain, or refuse a far one in public."""
        if math.isfinite(self.problem.domain_radius):
            return self._penalty.nearest(released)
        return self.plain.finish(released)


def minimiser_of(
    problem: Problem, linear_bound: float = 0.0, linear_error: float = 0.0
) -> Minimiser | PenalisedMinimiser:
    """Return the solver for a problem with a finite radius."""
    plain = Minimiser(problem, linear_bound, linear_error)
    return plain if problem.penalty is None else PenalisedMinimiser(plain)

r"""Minimisers of vector problems: a public radius that holds surely.

The point t is the prox of a float vector z, and ``certify`` returns a residual r. As in
``_penalised.py``, with S the largest curvature that ``max_rows`` rows and the ridge can have, p the
number of coefficients, e the error of the prox and G that of the gradient
(``_vector_objective.py``, and four roundings of everything for the last additions)

.. math:: \|t - \theta\| \le e + \frac1\Lambda
          \left((1 + (p+4)u) \, r + 4u (r + g) + G + 2 S e\right),

g the largest gradient there can be. The domain is bounded, so no point is refused for being far.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError, PrivacyError
from discreet.mechanisms._vector_objective import (
    UNIT,
    VectorObjective,
    gradient_error,
    objective_of,
)
from discreet.solvers import (
    accelerated_proximal_gradient,
    certify,
    iterations_needed,
    proximal_newton,
)
from discreet.vector_problems import VectorProblem

_UP = 1 + 2.0**-20
SMALLEST = 1e-250
STEEPEST = 1e140


@dataclass(frozen=True)
class VectorMinimiser:
    """How exactly a vector problem is solved, decided from public numbers.

    ``linear_bound`` bounds the norm of the linear term, and ``linear_error`` how far the one in
    use is from the ideal one.
    """

    problem: VectorProblem
    linear_bound: float = 0.0
    linear_error: float = 0.0

    def __post_init__(self) -> None:
        if not np.isfinite(self.radius):
            raise CalibrationError(
                f"{self.problem.penalty!r} has no bound on the rounding of its projection; use a "
                "ball, a box or a simplex."
            )
        if not self._largest_gradient <= STEEPEST:
            raise CalibrationError("rows this long have no safe gradients; rescale them.")
        if not self.tolerance >= SMALLEST:
            raise CalibrationError(
                "gradients this small cannot be told from zero; rescale to ordinary magnitudes."
            )

    @property
    def far(self) -> float:
        """The largest norm of coefficients."""
        return self.problem.domain_radius

    @property
    def _smoothness(self) -> float:
        problem = self.problem
        return problem.bounds.max_rows * problem.row_smoothness + problem.ridge

    @property
    def _largest_gradient(self) -> float:
        problem = self.problem
        rows = problem.bounds.max_rows * problem.row_lipschitz
        return rows + problem.ridge * self.far + self.linear_bound

    @property
    def _prox_error(self) -> float:
        size = self.far + self._largest_gradient / self._smoothness
        return self.problem.penalty.prox_error(size * _UP, self.problem.width)

    @property
    def _float_error(self) -> float:
        """What rounding adds to the computed gradient."""
        return (gradient_error(self.problem) + 4 * UNIT * self._largest_gradient) * _UP

    @property
    def _tolerance(self) -> float:
        """What can be reached where the prox is exact: no point of a float grid is nearer."""
        spacing = UNIT * self._smoothness * self.far
        return self._float_error + 2 * spacing

    @property
    def tolerance(self) -> float:
        """The residual to be reached: as small as rounding lets anyone see."""
        return self._tolerance + 2 * self._smoothness * self._prox_error

    @property
    def radius(self) -> float:
        """How far the point found can be from the ideal minimiser: public, and surely."""
        problem = self.problem
        rounded = (1 + (problem.width + 4) * UNIT) * self.tolerance
        subtraction = 4 * UNIT * (self.tolerance + self._largest_gradient)
        prox = 2 * self._smoothness * self._prox_error
        total = rounded + subtraction + self._float_error + self.linear_error + prox
        return (total / problem.ridge + self._prox_error) * _UP

    def solve(self, rows: OpenRows, linear: Vector) -> Vector:
        """Return a point within :attr:`radius` of the minimiser, or raise."""
        objective = objective_of(self.problem, rows, linear)
        for attempt in (self._quickly, self._slowly):
            try:
                point = attempt(objective)
                if not np.linalg.norm(point) <= self.far * _UP:
                    continue
                point, residual = certify(
                    objective.careful_gradient, self.problem.penalty, point, 1 / self._smoothness
                )
            except np.linalg.LinAlgError:  # a matrix that rounding spoilt
                continue
            if residual <= self.tolerance and np.linalg.norm(point) <= self.far * _UP:
                return point
        raise PrivacyError("the minimiser could not be certified; nothing is released.")

    def _quickly(self, objective: VectorObjective) -> Vector:
        return proximal_newton(
            objective,
            self.problem.penalty,
            np.zeros(objective.dimension),
            smoothness=self._smoothness_at_hand(objective),
            tolerance=0.3 * self._tolerance,
        ).point

    def _slowly(self, objective: VectorObjective) -> Vector:
        """Use a method whose number of steps is known in advance."""
        problem, smoothness = self.problem, self._smoothness_at_hand(objective)
        largest = objective.count * problem.row_lipschitz + self.linear_bound
        tolerance = 0.3 * self._tolerance
        return accelerated_proximal_gradient(
            objective,
            problem.penalty,
            np.zeros(objective.dimension),
            smoothness=smoothness,
            tolerance=tolerance,
            most_steps=2 * iterations_needed(smoothness, problem.ridge, largest, tolerance),
        ).point

    def _smoothness_at_hand(self, objective: VectorObjective) -> float:
        # Of the rows at hand, not of the most there may be: only the time it takes depends on it.
        return objective.count * self.problem.row_smoothness + self.problem.ridge

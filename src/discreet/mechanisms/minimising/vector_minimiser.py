r"""Minimisers of vector problems: a public radius that holds surely.

The point t is the prox of a float vector z, and ``certify`` returns a residual r. As in
``penalised.py``, with S the largest curvature that ``max_rows`` rows and the ridge can have, p the
number of coefficients, e the error of the prox and G that of the gradient
(``vector_objective.py``, and four roundings of everything for the last additions)

.. math:: \|t - \theta\| \le e + \frac1\Lambda
          \left((1 + (p+4)u) \, r + 4u (r + g) + G + 2 S e\right),

g the largest gradient there can be. The domain is bounded, so no point is refused for being far,
and some float point is always certified and found (``proximal_search.py``): none is refused at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.geometry.limits import UNIT
from discreet.mechanisms.minimising.proximal_search import ProximalSearch, reachable_residual
from discreet.mechanisms.minimising.vector_objective import (
    VectorObjective,
    gradient_error,
    objective_of,
)
from discreet.questions import VectorProblem

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

    @cached_property
    def _smoothness(self) -> float:
        problem = self.problem
        return problem.bounds.max_rows * problem.row_smoothness + problem.ridge

    @cached_property
    def _largest_gradient(self) -> float:
        problem = self.problem
        rows = problem.bounds.max_rows * problem.row_lipschitz
        return rows + problem.ridge * self.far + self.linear_bound

    @cached_property
    def _prox_error(self) -> float:
        size = self.far + self._largest_gradient / self._smoothness
        return self.problem.penalty.prox_error(size * _UP, self.problem.width)

    @cached_property
    def _float_error(self) -> float:
        """What rounding adds to the computed gradient."""
        return (gradient_error(self.problem) + 4 * UNIT * self._largest_gradient) * _UP

    @cached_property
    def tolerance(self) -> float:
        """The residual to be reached: some float point surely has it."""
        rounding = self._prox_error + UNIT * self.far
        return reachable_residual(
            self._float_error, self._smoothness, rounding, self._largest_gradient
        )

    @cached_property
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
        return self.search(objective_of(self.problem, rows, linear)).find()

    def search(self, objective: VectorObjective) -> ProximalSearch:
        """Return how a certified point is looked for."""
        problem = self.problem
        return ProximalSearch(
            objective,
            lambda reference: objective.careful_gradient,
            problem.penalty,
            tolerance=self.tolerance,
            ridge=problem.ridge,
            smoothness=self._smoothness,
            at_hand=objective.count * problem.row_smoothness + problem.ridge,
            far=self.far,
            way=np.inf,
            is_free=False,
        )

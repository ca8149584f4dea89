r"""Minimisers with a penalty or a constraint: a public radius that holds surely.

The computed point t is the prox of a float vector z with step s = 1/S, S the largest curvature
that ``max_rows`` rows and the ridge can have. ``certify`` returns a computed residual r, and with
the letters of its notes (e the error of the prox at the size of z, G that of the gradient at t)

.. math:: \|t - \theta\| \le e + \frac1\Lambda\left((1 + (p+4)u) \, r + 4u \|z - t\|/s + G
          + 2 S e\right).

Everything is public: r is at most the tolerance; :math:`\|z - t\|/s` is at most r plus the norm of
the gradient, itself at most N L R + Lam B + |b|; z is at most B plus that gradient over S; and G is
the error of sums, of margins through the curvature, and of the linear term, as in
``minimiser.py``. In a domain B is its radius, however large: every point is within B, and some
float point is always certified and found (``proximal_search.py``), so none is refused; otherwise
far points are refused in public, as there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.geometry.limits import UNIT
from discreet.losses import Loss
from discreet.mechanisms.minimising.minimiser import Minimiser
from discreet.mechanisms.minimising.proximal_search import ProximalSearch, reachable_residual
from discreet.mechanisms.minimising.rows_objective import RowsObjective
from discreet.penalties import Penalty
from discreet.questions.problem import Problem

_UP = 1 + 2.0**-20

MOST_ROOM = 2.0**12
"""A domain may reach this much farther than coefficients are expected: noise that hides rounding
grows with it."""


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

    @cached_property
    def _smoothness(self) -> float:
        problem = self.problem
        return problem.bounds.max_rows * problem.row_smoothness + problem.ridge

    @cached_property
    def _largest_gradient(self) -> float:
        problem = self.problem
        rows = problem.bounds.max_rows * problem.row_lipschitz
        return rows + problem.ridge * self.far + self.plain.linear_bound

    @cached_property
    def _prox_error(self) -> float:
        size = self.far + self._largest_gradient / self._smoothness
        return self._penalty.prox_error(size * _UP, self.problem.bounds.width)

    @property
    def _through_prox(self) -> float:
        return self._smoothness * self._prox_error

    @cached_property
    def tolerance(self) -> float:
        """The residual to be reached: some float point surely has it."""
        error = self.plain.varying_error(self._through_prox)
        rounding = self._prox_error + UNIT * self.far
        return reachable_residual(error, self._smoothness, rounding, self._largest_gradient)

    @cached_property
    def radius(self) -> float:
        """How far the point found can be from the ideal minimiser: public, and surely."""
        problem, plain = self.problem, self.plain
        gradient_error = plain.float_error + plain.through_margins + plain.linear_error
        subtraction = 4 * UNIT * (self.tolerance + self._largest_gradient)
        rounded = (1 + (problem.bounds.width + 4) * UNIT) * self.tolerance
        prox = 2 * self._through_prox
        total = (rounded + subtraction + gradient_error + prox) / problem.ridge
        return (total + self._prox_error) * _UP

    def solve_without_noise(self, rows: OpenRows, loss: Loss, ridge: float) -> Vector:
        """Return the minimiser, certified: with a penalty it is never out of reach."""
        return self.solve(rows, np.zeros(self.problem.bounds.width), ridge=ridge, loss=loss)

    def solve(
        self,
        rows: OpenRows,
        linear: Vector,
        *,
        ridge: float | None = None,
        loss: Loss | None = None,
    ) -> Vector:
        """Return a point within :attr:`radius` of the minimiser, or raise.

        With another ``ridge`` than the problem's, rows and ridge together must still curve as much;
        another ``loss`` must have the constants of the problem's.
        """
        problem = replace(
            self.problem,
            ridge=self.problem.ridge if ridge is None else ridge,
            loss=self.problem.loss if loss is None else loss,
        )
        objective = RowsObjective(problem, rows, linear)
        objective.strong_convexity = self.problem.ridge
        return self.search(objective).find()

    def search(self, objective: RowsObjective) -> ProximalSearch:
        """Return how a certified point is looked for."""
        problem = self.problem
        return ProximalSearch(
            objective,
            lambda reference: partial(objective.careful_gradient, reference=reference),
            self._penalty,
            tolerance=self.tolerance,
            ridge=problem.ridge,
            smoothness=self._smoothness,
            # Of the rows at hand, not of the most there may be: only time depends on it.
            at_hand=objective.count * problem.row_smoothness + problem.ridge,
            far=self.far,
            way=self.plain.farthest_way,
            is_free=math.isinf(problem.domain_radius),
        )

    def finish(self, released: Vector) -> Vector:
        """Bring a released point back into the domain, or refuse a far one in public."""
        if math.isfinite(self.problem.domain_radius):
            return self._penalty.nearest(released)
        return self.plain.finish(released)


def minimiser_of(
    problem: Problem, linear_bound: float = 0.0, linear_error: float = 0.0
) -> Minimiser | PenalisedMinimiser:
    """Return the solver for a problem with a finite radius, or with a domain in its place."""
    if problem.penalty is None:
        return Minimiser(problem, linear_bound, linear_error)
    if math.isfinite(problem.domain_radius):
        # A radius inside the domain would refuse points for what is private about them.
        _check_room(problem.penalty, problem)
        problem = replace(problem, radius=math.inf)
    return PenalisedMinimiser(Minimiser(problem, linear_bound, linear_error))


def _check_room(penalty: Penalty, problem: Problem) -> None:
    nearest = float(np.linalg.norm(penalty.nearest(np.zeros(problem.bounds.width))))
    if problem.domain_radius > MOST_ROOM * max(problem.radius, nearest):
        raise CalibrationError(
            f"the domain reaches {problem.domain_radius:.3g} from the origin, far beyond any "
            "coefficients to be expected; use a smaller one."
        )

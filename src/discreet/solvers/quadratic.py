r"""A quadratic plus a penalty, minimised without another look at the data.

Write :math:`w = \text{prox}(z)`. The minimiser solves the equation

.. math:: E(z) = g + H (w - c) + (z - w)/s = 0,

whose derivative is :math:`H D + (I - D)/s`, D the derivative of the prox. It is regular, because H
is positive definite and D lies between 0 and I. Newton's method on E is fast near the answer, and
exact after finitely many steps if the prox has straight pieces; where it fails to make progress,
accelerated proximal steps bring z nearer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from discreet._types import Array, Vector
from discreet.penalties import Penalty
from discreet.solvers.certificate import Proposal, propose

MOST_ROUNDS = 12
MOST_NEWTON_STEPS = 50
MOST_HALVINGS = 6
SHRINKING = 0.9
"""A Newton step must shrink the equation's error by at least this."""

FIRST_SLOW_STEPS = 40

WELCOME = 1e-6
"""An error this much smaller than the first is welcome even if the tolerance is not reached."""


@dataclass(frozen=True, eq=False)
class Quadratic:
    r"""The quadratic :math:`\langle g, w - c\rangle + \frac12 \langle w - c, H (w - c)\rangle`."""

    centre: Vector
    gradient: Vector
    hessian: Array
    strong_convexity: float
    smoothness: float

    def slope(self, point: Vector) -> Vector:
        """Return the gradient at a point."""
        return self.gradient + self.hessian @ (point - self.centre)

    def minimise(self, penalty: Penalty, tolerance: float) -> Proposal:
        """Minimise the sum with a penalty, until the residual is within the tolerance or stalls."""
        step = 1 / self.smoothness
        before = self.centre - step * self.gradient
        enough = WELCOME * self._error(propose(penalty, before, step))
        slow_steps = FIRST_SLOW_STEPS
        for _ in range(MOST_ROUNDS):
            before, error = self._quickly(penalty, before, step, tolerance)
            if error <= max(tolerance, enough):
                break
            before = self._slowly(penalty, before, step, slow_steps)
            slow_steps *= 2
        return propose(penalty, before, step)

    def _error(self, proposal: Proposal) -> float:
        return proposal.residual(self.slope(proposal.point))

    def _quickly(
        self, penalty: Penalty, before: Vector, step: float, tolerance: float
    ) -> tuple[Vector, float]:
        """Newton's method on the equation, halving steps that do not shrink its error."""
        proposal = propose(penalty, before, step)
        error = self._error(proposal)
        for _ in range(MOST_NEWTON_STEPS):
            if error <= tolerance:
                break
            derivative = penalty.prox_derivative(before, step)
            matrix = self.hessian @ derivative - derivative / step
            matrix[np.diag_indices(before.size)] += 1 / step
            residual = self.slope(proposal.point) + proposal.subgradient
            direction = -np.linalg.solve(matrix, residual)
            share = 1.0
            for _ in range(MOST_HALVINGS):
                candidate = before + share * direction
                proposal = propose(penalty, candidate, step)
                new_error = self._error(proposal)
                if new_error <= (1 - (1 - SHRINKING) * share) * error:
                    break
                share /= 2
            else:
                break
            before, error = candidate, new_error
        return before, error

    def _slowly(self, penalty: Penalty, before: Vector, step: float, steps: int) -> Vector:
        """Accelerated proximal gradient steps; return what the last prox was taken of."""
        root = math.sqrt(self.strong_convexity / self.smoothness)
        most_momentum = (1 - root) / (1 + root)
        point = ahead = penalty.prox(before, step)
        since_restart = 0
        for _ in range(steps):
            before = ahead - step * self.slope(ahead)
            moved = penalty.prox(before, step)
            is_uphill = (ahead - moved) @ (moved - point) > 0
            since_restart = 0 if is_uphill else since_restart + 1
            momentum = min(since_restart / (since_restart + 3), most_momentum)
            ahead = moved + momentum * (moved - point)
            point = moved
        return point - step * self.slope(point)


def largest_curvature(hessian: Array) -> float:
    """Return the largest eigenvalue, or slightly more."""
    last = len(hessian) - 1
    (largest,) = eigh(hessian, eigvals_only=True, subset_by_index=[last, last], check_finite=False)
    return float(largest) * (1 + 1e-9)

r"""A quadratic plus a penalty, minimised without another look at the data.

Write :math:`w = \text{prox}(z)`. The minimiser solves the equation

.. math:: E(z) = g + H (w - c) + (z - w)/s = 0,

whose derivative is :math:`H D + (I - D)/s`, D the derivative of the prox. It is regular, because H
is positive definite and D lies between 0 and I. Newton's method on E is fast near the answer, and
exact after finitely many steps if the prox has straight pieces. Farther away each Newton step
follows a proximal step and must lower a cost: that of the primal problem, where s is one over the
largest curvature, or that of the dual problem, where s is one over the smallest. The former suits
constraints, the latter small weights. Where both stall, many proximal steps bring z nearer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigvalsh

from discreet._types import Array, Vector
from discreet.geometry.limits import UNIT
from discreet.penalties import Penalty
from discreet.solvers.certificate import Proposal, propose
from discreet.solvers.objective import Inverse

MOST_NEWTON_STEPS = 60
MOST_HALVINGS = 12
GOOD_PROGRESS = 0.9

WELCOME = 1e-6
"""An error this much smaller than the first is welcome even if the tolerance is not reached."""

SLOW_STEPS = (200, 800, 3200, 12800)
FEW_ROUNDINGS = 2.0**-50
NEGLIGIBLE = 1e-13


@dataclass(frozen=True, eq=False)
class Hessian:
    """A positive definite matrix, with what is costly to know of it."""

    matrix: Array

    @cached_property
    def curvatures(self) -> tuple[float, float]:
        """The smallest and the largest eigenvalue, both above zero, the latter not understated."""
        spectrum = eigvalsh(self.matrix, check_finite=False)
        largest = float(spectrum[-1]) * (1 + 1e-9)
        return max(float(spectrum[0]), NEGLIGIBLE * largest), largest

    @property
    def is_regular(self) -> bool:
        """Whether the inverse means anything in floating-point arithmetic."""
        smallest, largest = self.curvatures
        return smallest > NEGLIGIBLE * largest

    @cached_property
    def inverse(self) -> Inverse:
        factor = cho_factor(self.matrix, check_finite=False)
        return lambda vector: np.asarray(cho_solve(factor, vector, check_finite=False))


@dataclass(frozen=True, eq=False)
class Quadratic:
    r"""The quadratic :math:`\langle g, w - c\rangle + \frac12 \langle w - c, H (w - c)\rangle`."""

    centre: Vector
    gradient: Vector
    hessian: Hessian

    @cached_property
    def rounding(self) -> float:
        """What a single rounding in the equation amounts to."""
        sizes = (
            np.linalg.norm(self.gradient),
            self.hessian.curvatures[1] * np.linalg.norm(self.centre),
        )
        return UNIT * float(sum(sizes))

    def slope(self, point: Vector) -> Vector:
        """Return the gradient at a point."""
        return self.gradient + self.hessian.matrix @ (point - self.centre)

    def error(self, proposal: Proposal) -> float:
        """Return the norm of E."""
        return proposal.residual(self.slope(proposal.point))

    def minimise(self, penalty: Penalty, tolerance: float) -> Proposal:
        """Minimise the sum with a penalty, until the residual is within the tolerance or stalls."""
        primal = _Primal(self, penalty)
        aim = max(tolerance, self.rounding)
        found = propose(penalty, self.centre - primal.step * self.gradient, primal.step)
        enough = max(aim, 64 * self.rounding, WELCOME * self.error(found))
        found = self._search(penalty, primal, found, aim)
        if self.error(found) > enough and self.hessian.is_regular:
            found = self._search(penalty, _Dual(self, penalty), found, aim)
        for steps in SLOW_STEPS:
            if self.error(found) <= enough:
                break
            near = self._descend_slowly(penalty, found.point, primal.step, steps)
            found = self._search(penalty, primal, near, aim)
        return propose(penalty, found.point + primal.step * found.subgradient, primal.step)

    def _search(self, penalty: Penalty, side: _Side, start: Proposal, aim: float) -> Proposal:
        """Alternate proximal and Newton steps, until neither lowers the cost or the error."""
        found, state = start, _State.of(self, side, start)
        for _ in range(MOST_NEWTON_STEPS):
            if state.error <= aim:
                break
            before = side.proximal_step(found)
            stepped = propose(penalty, before, side.step)
            best, reached = stepped, _State.of(self, side, stepped)
            direction = self._newton_direction(penalty, before, stepped, side.step)
            for halvings in range(MOST_HALVINGS):
                candidate = propose(penalty, before + direction / 2**halvings, side.step)
                there = _State.of(self, side, candidate)
                if there.is_better_than(reached):
                    best, reached = candidate, there
                    break
            if not reached.is_better_than(state):
                break
            found, state = best, reached
        return found

    def _newton_direction(
        self, penalty: Penalty, before: Vector, found: Proposal, step: float
    ) -> Vector:
        derivative = penalty.prox_derivative(before, step)
        matrix = self.hessian.matrix @ derivative - derivative / step
        matrix[np.diag_indices(before.size)] += 1 / step
        residual = self.slope(found.point) + found.subgradient
        return -np.asarray(np.linalg.solve(matrix, residual))

    def _descend_slowly(self, penalty: Penalty, start: Vector, step: float, steps: int) -> Proposal:
        """Take accelerated proximal gradient steps, dropping the momentum when it points uphill."""
        point = ahead = start
        since_restart = 0
        for _ in range(steps):
            moved = penalty.prox(ahead - step * self.slope(ahead), step)
            is_uphill = (ahead - moved) @ (moved - point) > 0
            since_restart = 0 if is_uphill else since_restart + 1
            momentum = since_restart / (since_restart + 3)
            ahead, point = moved + momentum * (moved - point), moved
        return propose(penalty, point - step * self.slope(point), step)


class _Side(Protocol):
    """Which of the two problems has to improve."""

    step: float

    def proximal_step(self, found: Proposal) -> Vector:
        """Return what to take the prox of, so that the cost falls."""
        ...

    def terms(self, found: Proposal) -> tuple[float, ...]:
        """Return the terms that the cost is the sum of."""
        ...


class _Primal:
    def __init__(self, model: Quadratic, penalty: Penalty) -> None:
        self._model, self._penalty = model, penalty
        self.step = 1 / model.hessian.curvatures[1]

    def proximal_step(self, found: Proposal) -> Vector:
        return found.point - self.step * self._model.slope(found.point)

    def terms(self, found: Proposal) -> tuple[float, ...]:
        model, away = self._model, found.point - self._model.centre
        bent = float(away @ model.hessian.matrix @ away) / 2
        return float(model.gradient @ away), bent, self._penalty.value(found.point)


class _Dual:
    r"""The conjugates: with v the subgradient, :math:`P^*(v) = \langle v, w\rangle - P(w)`."""

    def __init__(self, model: Quadratic, penalty: Penalty) -> None:
        self._model, self._penalty = model, penalty
        self.step = 1 / model.hessian.curvatures[0]

    def _move(self, found: Proposal) -> Vector:
        """How far the quadratic's own minimiser is from the centre, when pulled by v."""
        pull = self._model.gradient + found.subgradient
        return -self._model.hessian.inverse(pull)

    def proximal_step(self, found: Proposal) -> Vector:
        return self._model.centre + self._move(found) + self.step * found.subgradient

    def terms(self, found: Proposal) -> tuple[float, ...]:
        model, subgradient = self._model, found.subgradient
        bent = -float((model.gradient + subgradient) @ self._move(found)) / 2
        away = float(subgradient @ (found.point - model.centre))
        return bent, away, -self._penalty.value(found.point)


@dataclass(frozen=True)
class _State:
    """How good a proposal is."""

    cost: float
    fuzz: float
    error: float

    @classmethod
    def of(cls, model: Quadratic, side: _Side, proposal: Proposal) -> _State:
        terms = side.terms(proposal)
        fuzz = FEW_ROUNDINGS * sum(map(abs, terms))
        return cls(sum(terms), fuzz, model.error(proposal))

    def is_better_than(self, other: _State) -> bool:
        """Compare costs; where rounding hides the difference, compare errors."""
        is_level = self.cost <= other.cost + self.fuzz
        return self.cost < other.cost - self.fuzz or (
            is_level and self.error <= GOOD_PROGRESS * other.error
        )

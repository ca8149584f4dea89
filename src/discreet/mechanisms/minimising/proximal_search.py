r"""The search for a point with a certificate, for problems with a penalty or a constraint.

*Some float point has it, and a method whose number of steps is known finds one.* Let G bound how
differently computed gradients err from those of one convex function :math:`J_c` with curvatures
between Lambda and S (``minimiser.py``), e the error of the prox P, B the largest norm of a point,
g the largest gradient, u = 2**-53. Proximal steps :math:`z^+ = \mathrm{fl}(t - \hat g(t)/s)`,
:math:`t = \mathrm{fl}(P(z))` are, for the points :math:`w = P(z)` that are never computed, exact
steps along gradients wrong by at most

.. math:: E = G + 2 s e + 2 u (s B + g),

where s <= S is the curvature of the rows at hand: rounding before a prox only moves z, and t is
within e of w. So the sum F with the penalty obeys
:math:`F(w^+) \le F(w) + E \|w^+ - w\| - \frac s2 \|w^+ - w\|^2`. While :math:`s \|w^+ - w\|` is
above 2.5 E, F falls by a tenth of :math:`s \|w^+ - w\|^2` or more, and since a subgradient at
:math:`w^+` has norm :math:`s\|w^+ - w\| + E` at most, the gap to the minimum shrinks by
1/(1 + 9.8 s/Lambda). It cannot shrink below zero: within :math:`10.8 (s/\Lambda) \ln(s q^2/(\Lambda
E^2))` steps, q = 2 s B, some subgradient is at most 3.5 E. From there :func:`certify`, which takes
a step of 1/S, moves by at most 3.5 E/S and returns at most 3.5 E + 2 S e + 2 G + 2 u S B + 6 u g,
hence no more than

.. math:: 5.5 \, G + 9 \, (S e + u S B) + 13 \, u g,

the tolerance. Nothing in this depends on which rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from discreet._types import Vector
from discreet.errors import PrivacyError
from discreet.geometry.limits import UNIT
from discreet.mechanisms.minimising.minimiser import (
    REFINEMENTS,
    ROUNDS,
    SURELY_FAR,
    TOO_LARGE,
    UNCERTIFIED,
)
from discreet.mechanisms.minimising.rows_objective import DENSE_WIDTH
from discreet.penalties import Penalty
from discreet.solvers import (
    DenseObjective,
    accelerated_proximal_gradient,
    certify,
    descents_needed,
    iterations_needed,
    proximal_newton,
    steady_proximal_newton,
)

AIM = 0.1
"""The share of the tolerance at which Newton's method stops."""

SLOWLY = 0.4
"""The share at which slow methods stop."""

_UP = 1 + 2.0**-20

Gradient = Callable[[Vector], Vector]


def reachable_residual(
    gradient_error: float, smoothness: float, rounding: float, steepest: float
) -> float:
    """Return the residual that proximal steps surely reach.

    ``rounding`` is how far floats, and the prox in floats, can be from what they stand for.
    """
    return 5.5 * gradient_error + 9 * smoothness * rounding + 13 * UNIT * steepest


@dataclass(frozen=True, eq=False)
class ProximalSearch:
    """What is minimised, and what a certificate is.

    ``near`` gives the careful gradient for points within ``way`` of a reference, ``at_hand`` is the
    largest curvature that the rows at hand can have, ``smoothness`` that of any rows; ``is_free``
    says that points may be too far away.
    """

    objective: DenseObjective
    near: Callable[[Vector], Gradient]
    penalty: Penalty
    tolerance: float
    ridge: float
    smoothness: float
    at_hand: float
    far: float
    way: float
    is_free: bool

    def find(self) -> Vector:
        """Return a point with the certificate, or raise."""
        point = np.zeros(self.objective.dimension)
        for candidates in (self._solve_quickly, self._refine, self._solve_slowly):
            start = self._keep_within(point)
            try:
                for point, reference in candidates(start):
                    reached, residual = self._step(point, reference)
                    if residual <= self.tolerance and self._is_covered(reached, reference):
                        return reached
                    if self.is_free and self._is_far(reached, residual):
                        raise PrivacyError(TOO_LARGE)
            except np.linalg.LinAlgError:  # a matrix that rounding spoilt
                continue
        raise PrivacyError(UNCERTIFIED)

    def _step(self, point: Vector, reference: Vector) -> tuple[Vector, float]:
        """Take a step; return where it leads to, and how well it solves the problem."""
        with np.errstate(all="ignore"):  # methods that fail may come up with anything
            if not (np.isfinite(point).all() and np.isfinite(reference).all()):
                return point, np.inf
            return certify(self.near(reference), self.penalty, point, 1 / self.smoothness)

    def _is_covered(self, point: Vector, reference: Vector) -> bool:
        """Say whether what is proved of a residual holds for this point and reference."""
        is_near = bool(np.linalg.norm(point - reference) <= self.way)
        return is_near and self._is_within(point) and self._is_within(reference)

    def _is_within(self, point: Vector) -> bool:
        return bool(np.linalg.norm(point) <= self.far * _UP)

    def _keep_within(self, point: Vector) -> Vector:
        return point if self._is_within(point) else np.zeros_like(point)

    def _is_far(self, point: Vector, residual: float) -> bool:
        """Say whether the minimiser is surely so far that it would be refused in public as well.

        Rounding grows with the norm, as what it is compared with does, so no point is too far away.
        """
        beyond = float(np.linalg.norm(point)) - SURELY_FAR * self.far
        return bool(np.isfinite(beyond)) and residual <= 0.5 * self.ridge * beyond

    def _solve_quickly(self, start: Vector) -> Iterator[tuple[Vector, Vector]]:
        """Yield what Newton's method comes to, or a method without Hessians for wide rows."""
        if self.objective.dimension > DENSE_WIDTH:
            point = self._accelerate(start)
        else:
            point = proximal_newton(
                self.objective,
                self.penalty,
                start,
                smoothness=self.at_hand,
                tolerance=AIM * self.tolerance,
            ).point
        yield point, point

    def _refine(self, start: Vector) -> Iterator[tuple[Vector, Vector]]:
        """Yield what Newton's method comes by with slopes for a guide."""
        if self.objective.dimension > DENSE_WIDTH:
            return
        point = start
        for _ in range(ROUNDS):
            reference = self._keep_within(point)
            points = steady_proximal_newton(
                self.near(reference),
                self.objective.hessian,
                self.penalty,
                reference,
                smoothness=self.at_hand,
                tolerance=AIM * self.tolerance,
            )
            for point in islice(points, REFINEMENTS):
                is_near = np.linalg.norm(point - reference) <= 0.5 * self.way
                yield point, reference if is_near else point

    def _solve_slowly(self, start: Vector) -> Iterator[tuple[Vector, Vector]]:
        """Yield what comes of methods whose number of steps is known in advance."""
        point = self._accelerate(start)
        yield point, point
        yield from self._refine(self._keep_within(point))
        error, steepest = self.tolerance / 10, 2 * self.at_hand * self.far
        steps = 6 * descents_needed(self.at_hand, self.ridge, steepest, error)
        point = np.zeros_like(start)
        for follows in (True, False):
            reference = point
            for _ in range(steps):
                reference = point if follows else reference
                before = point - self.near(reference)(point) / self.at_hand
                point = self.penalty.prox(before, 1 / self.at_hand)
                yield point, reference

    def _accelerate(self, start: Vector) -> Vector:
        tolerance, steepest = SLOWLY * self.tolerance, 2 * self.at_hand * self.far
        steps = iterations_needed(self.at_hand, self.ridge, steepest, tolerance)
        return accelerated_proximal_gradient(
            self.objective,
            self.penalty,
            start,
            smoothness=self.at_hand,
            tolerance=tolerance,
            most_steps=2 * steps,
        ).point

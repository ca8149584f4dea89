r"""Minimisers that are near enough: a public radius, fixed before rows are read, that holds surely.

Let :math:`J(w) = \sum f(\langle x_i, w\rangle; y_i) + \frac\Lambda2\|w\|^2 + \langle b, w\rangle`,
:math:`\theta` be its minimiser, and w a point with :math:`\|w\| \le B` whose *computed* gradient
has norm at most tau. Write u = 2**-53, N for ``max_rows``, R for the row norm, L and beta for the
largest slope and curvature of the loss.

*Margins.* A computed margin, minus its label in a regression, errs by at most
:math:`\delta_z = u ((p + 6) R B + 2 Y)`, p the width or 1056, whichever is smaller.

*Everything else.* Rounding of slopes (16 u L each), of the sum in blocks of 256 rows, and of the
last additions, errs by at most
:math:`E = (260 + 18) u N L R + 4 u (N L R + \Lambda B + \|b\|)`, and :math:`\|b\| \le b_{max}`
except with a probability that the mechanism books as a distance.

*Plain bound.* The true residual is at most :math:`\tau + E + N R \beta \delta_z`, and the objective
is Lambda-strongly convex: :math:`\|w - \theta\|` is at most that over Lambda.

*Sharper bound, for losses with* :math:`|f'''| \le M f''`. Put d = w - theta. With :math:`a_i` and
:math:`\bar a_i` the mean curvatures between computed and true margins at w, and between the true
margins at w and at theta, monotonicity gives

.. math:: \Lambda \|d\|^2 + \sum \bar a_i \langle x_i, d\rangle^2
          \le (\tau + E) \|d\| + \delta_z \sum a_i |\langle x_i, d \rangle|
          \le (\tau + E) \|d\| + \delta_z \sqrt{\textstyle\sum a_i^2/\bar a_i}
              \sqrt{\textstyle\sum \bar a_i \langle x_i, d\rangle^2}.

If the plain bound gives :math:`M R \|d\| \le 1/2` and :math:`M \delta_z \le 1/100`, then
:math:`a_i \le e^{1/100} f''` and :math:`\bar a_i \ge f'' (1 - e^{-1/2}) / (1/2) \ge 0.78 f''`,
f'' taken at the true margin at w; so :math:`a_i^2/\bar a_i \le 1.32 \beta`. The last term is at
most :math:`\delta_z^2 1.32 \beta N/4` plus the sum on the left, hence

.. math:: \|d\| \le (\tau + E)/\Lambda + \delta_z \sqrt{1.32 \beta N / (4 \Lambda)}.

*Far away.* A minimiser beyond the radius B cannot be certified. Then nothing is released, and a
mechanism must make that a function of what it would have released: it also refuses, in public, a
masked point of norm above B/2. The mask is far smaller than B/2, so a minimiser beyond B would have
been refused anyway.

*Reachable.* Near the minimiser the gradient of neighbouring floats differs by at most
:math:`u (N \beta R^2 + \Lambda) B`, since each coordinate is rounded in proportion to itself. Tau
includes a sixteenth of it: enough unless there are nearly ``max_rows`` rows *and* coefficients
nearly as far as B, where the release is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows, margin_roundings
from discreet.errors import CalibrationError, PrivacyError
from discreet.mechanisms._objective import CAREFUL_ROWS, DENSE_WIDTH, RowsObjective
from discreet.problem import Problem
from discreet.solvers import accelerated_gradient, iterations_needed, newton

UNIT = 2.0**-53
REACH_SHARE = 1 / 16
"""Of the farthest coefficients and the most rows together; beyond, a certificate may not exist."""
SMALLEST = 2.0**-450
"""The least gradient norm that counts: squares of much smaller ones vanish."""
_UP = 1 + 2.0**-20


@dataclass(frozen=True)
class Minimiser:
    """How exactly a problem is solved, decided from public numbers.

    ``linear_bound`` bounds the norm of the linear term, and ``linear_error`` how far the one in
    use is from the ideal one.
    """

    problem: Problem  # with a finite radius
    linear_bound: float = 0.0
    linear_error: float = 0.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.far):
            raise CalibrationError(
                "a problem needs a finite radius to be solved with a certificate."
            )
        if not self.tolerance >= SMALLEST:
            raise CalibrationError(
                "gradients this small cannot be told from zero; rescale to ordinary magnitudes."
            )

    @property
    def far(self) -> float:
        """The largest norm of coefficients that can be certified."""
        return min(self.problem.radius, self.problem.domain_radius)

    @property
    def float_error(self) -> float:
        """E: what rounding adds to the computed gradient, margins aside."""
        problem, rows = self.problem, self.problem.bounds.max_rows
        everything = rows * problem.row_lipschitz
        last = everything + problem.ridge * self.far + self.linear_bound
        second_order = (rows / CAREFUL_ROWS * UNIT) ** 2 * everything
        return ((CAREFUL_ROWS + 22) * UNIT * everything + 4 * UNIT * last + second_order) * _UP

    @property
    def margin_error(self) -> float:
        """How far a computed margin can be from the true one."""
        problem = self.problem
        labels = 0.0 if problem.bounds.labels is None else problem.bounds.labels.magnitude
        terms = margin_roundings(problem.bounds.width) + 6
        return UNIT * (terms * problem.reach + 2 * labels) * _UP

    @property
    def tolerance(self) -> float:
        """The gradient norm to be reached: as small as rounding lets anyone see."""
        problem = self.problem
        stiffness = problem.bounds.max_rows * problem.row_smoothness + problem.ridge
        spacing = UNIT * stiffness * self.far
        return self.float_error + 2 * REACH_SHARE * spacing

    @property
    def radius(self) -> float:
        """How far the point found can be from the ideal minimiser: public, and surely."""
        problem, rows = self.problem, self.problem.bounds.max_rows
        residual = (self.tolerance + self.float_error) * _UP + self.linear_error
        through_margins = rows * problem.row_norm * problem.smoothness * self.margin_error
        plain = (residual + through_margins) / problem.ridge
        bend = problem.loss.self_concordance
        if bend is None or bend * problem.row_norm * plain > 0.5 or bend * self.margin_error > 0.01:
            return plain * _UP
        spread = math.sqrt(1.32 * problem.smoothness * rows / (4 * problem.ridge))
        return min(plain, residual / problem.ridge + self.margin_error * spread) * _UP

    def solve(self, rows: OpenRows, linear: Vector, *, ridge: float | None = None) -> Vector:
        """Return a point within :attr:`radius` of the minimiser, or raise.

        With another ``ridge`` than the problem's, rows and ridge together must still curve as much.
        """
        problem = self.problem if ridge is None else replace(self.problem, ridge=ridge)
        objective = RowsObjective(problem, rows, linear)
        start = np.zeros_like(linear)
        if linear.size > DENSE_WIDTH:
            # Wide rows: only what rows touch has to move from where the linear term alone leads.
            start -= linear / problem.ridge
        point = newton(objective, start, tolerance=0.5 * self.tolerance).point
        if not self._is_certified(objective, point):
            point = self._slowly(objective, point)
        if not self._is_certified(objective, point):
            raise PrivacyError("the minimiser could not be certified; nothing is released.")
        return point

    def _is_certified(self, objective: RowsObjective, point: Vector) -> bool:
        if not np.linalg.norm(point) <= self.far:
            return False
        return bool(np.linalg.norm(objective.careful_gradient(point)) <= self.tolerance)

    def _slowly(self, objective: RowsObjective, start: Vector) -> Vector:
        """Fall back to a method whose number of steps is known in advance."""
        problem = self.problem
        start = start if np.linalg.norm(start) <= self.far else np.zeros_like(start)
        # The rows at hand, not the most there may be: only the time it takes depends on it.
        smoothness = objective.count * problem.row_smoothness + problem.ridge
        largest = objective.count * problem.row_lipschitz + self.linear_bound
        largest += problem.ridge * float(np.linalg.norm(start))
        steps = iterations_needed(smoothness, problem.ridge, largest, 0.5 * self.tolerance)
        return accelerated_gradient(
            objective,
            start,
            smoothness=smoothness,
            tolerance=0.5 * self.tolerance,
            most_steps=steps,
        ).point

    def finish(self, released: Vector) -> Vector:
        """Refuse, in public, a point farther out than a certified minimiser is expected."""
        if not np.linalg.norm(released) <= 0.5 * self.far:
            raise PrivacyError("the coefficients are too large to be certified.")
        return released

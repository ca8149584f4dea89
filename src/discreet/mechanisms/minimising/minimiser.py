r"""Minimisers that are near enough: a public radius, fixed before rows are read, that holds surely.

Let :math:`J(w) = \sum f(\langle x_i, w\rangle; y_i) + \frac\Lambda2\|w\|^2 + \langle b, w\rangle`,
:math:`\theta` be its minimiser, and w a point with :math:`\|w\| \le B` whose *computed* gradient
has norm at most tau. Write u = 2**-53, N for ``max_rows``, R for the row norm, L and beta for the
largest slope and curvature of the loss.

*Margins.* A computed margin, minus its label in a regression, errs by at most
:math:`\delta_z = u ((p + 9) R B + 2 Y)`, p the width or 1056, whichever is smaller. It is computed
at a reference point, and what the way from there adds, if that is no longer than B/(p + 6), by
itself: three roundings of R B at most.

*Everything else.* Rounding of slopes (16 u L each), of the sum in blocks of 256 rows, and of the
last additions, errs by at most
:math:`E = (260 + 18) u N L R + 4 u (N L R + \Lambda B + \|b\|)`, and :math:`\|b\| \le b_{max}`
except with a probability that the mechanism counts as a distance.

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

*Reachable.* Whatever the rows are, some float point is certified, and a method whose number of
steps is known finds one. Near a reference :math:`w_0`, the margins' errors there are constants
:math:`c_i`: computed gradients are those of :math:`J_c = \sum f(\langle x_i, w\rangle + c_i) +
\dots`, convex and as smooth, up to E and what still varies,
:math:`N R \beta u (4 R B + 2 Y)`; if points cannot be kept that near (a public question, below),
up to E and all of :math:`N R \beta \delta_z`. Call that sum G, write S = N beta R**2 + Lambda, and
let ``spacing`` be u S B, what rounding a point to floats can do to its gradient. Gradient steps
:math:`w^+ = \mathrm{fl}(w - \hat g/S)` are exact steps along gradients wrong by at most
G' = G + spacing, so the descent lemma gives

.. math:: J_c(w^+) \le J_c(w) - (\|g\|^2 - G'^2)/(2S).

While :math:`\|g\| \ge 1.5 G'` the gap to the minimum shrinks by 1 - 0.55 Lambda/S, and once it is
below :math:`(1.5 G')^2/(2S)` no gradient is larger than 1.5 G'. So within
:math:`2 (S/\Lambda) \ln(S \|g_0\|^2/(\Lambda G'^2))` steps some computed gradient is at most
2.5 G', the tolerance. Points stay near: the method runs once with references that follow it, and
ends within :math:`3.5 (E + N R \beta \delta_z + spacing)/\Lambda` of the minimisers; from there no
step leads farther than 20/3.5 times that, which must be within B/(p + 6). In this it does not
matter which rows there are; a point where the method stands still, :math:`w^+ = w`, is certified
since :math:`\|\hat g\| \le` spacing. From the origin no step leads farther away from the
minimiser, so points stay within B if that is within B/2; beyond B/2 what is released is refused in
public, unless noise alone brings it back inside. Newton's method and line searches are tried first,
so that hardly anyone waits for all this.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows, margin_roundings
from discreet.errors import CalibrationError, PrivacyError
from discreet.geometry.limits import UNIT
from discreet.losses import Loss
from discreet.mechanisms.minimising.rows_objective import CAREFUL_ROWS, DENSE_WIDTH, RowsObjective
from discreet.mechanisms.minimising.swift_objective import MANY_ROWS, SwiftObjective
from discreet.questions.problem import Problem
from discreet.solvers import (
    accelerated_gradient,
    descents_needed,
    iterations_needed,
    newton,
    steady_newton,
)

REACHED = 2.5
"""What gradient steps surely reach, over what rounding does to one of them."""

ROUNDS = 3
REFINEMENTS = 20
"""Points of Newton's method with slopes for a guide, from each of a few references."""

DRIFT = 20.0
"""How far such steps can lead, over the plain distance from the minimiser that they start at."""

TOO_LARGE = "the coefficients are too large to be certified."
"""The only reason why rows are refused: in public, of what would have been released."""

UNCERTIFIED = "the minimiser could not be certified; nothing is released."
"""Not to be expected, see above; but no point goes without its certificate."""

SURELY_FAR = 0.8
"""Of the largest certified norm: released points of half of it are refused, and masks are shorter
than a quarter."""

AIM, SWIFT_AIM = 0.2, 0.5
"""The share of the tolerance at which faster methods stop."""

SMALLEST = 2.0**-450
"""The least gradient norm that counts: squares of much smaller ones vanish."""
_UP = 1 + 2.0**-20


@dataclass(frozen=True)
class Minimiser:
    """How exactly a problem is solved, decided from public numbers.

    ``linear_bound`` bounds the norm of the linear term, and ``linear_error`` how far the one in
    use is from the ideal one. With ``most_ridge`` the certificate is for every ridge from that of
    the problem up to it: the errors of gradients are those of the largest, the modulus that they
    are divided by is the smallest. If it ``is_swift``, single floats help to
    find the point among many rows.
    """

    problem: Problem  # with a finite radius
    linear_bound: float = 0.0
    linear_error: float = 0.0
    most_ridge: float | None = None
    is_swift: bool = False

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
    def _stiffest(self) -> float:
        """The largest ridge that the certificate is for."""
        return self.problem.ridge if self.most_ridge is None else self.most_ridge

    @cached_property
    def float_error(self) -> float:
        """E: what rounding adds to the computed gradient, margins aside."""
        problem, rows = self.problem, self.problem.bounds.max_rows
        everything = rows * problem.row_lipschitz
        last = everything + self._stiffest * self.far + self.linear_bound
        second_order = (rows / CAREFUL_ROWS * UNIT) ** 2 * everything
        return ((CAREFUL_ROWS + 22) * UNIT * everything + 4 * UNIT * last + second_order) * _UP

    @property
    def _way_roundings(self) -> int:
        """How often a term of a margin is rounded, scaling and intercept included."""
        return margin_roundings(self.problem.bounds.width) + 6

    @property
    def _largest_label(self) -> float:
        labels = self.problem.bounds.labels
        return 0.0 if labels is None else labels.magnitude

    @cached_property
    def margin_error(self) -> float:
        """How far a computed margin can be from the true one."""
        terms = self._way_roundings + 3
        return UNIT * (terms * self.problem.reach + 2 * self._largest_label) * _UP

    @cached_property
    def through_margins(self) -> float:
        """What the errors of margins can add to a gradient."""
        return self._gradient_error(self.margin_error)

    def _gradient_error(self, margin_error: float) -> float:
        problem = self.problem
        return problem.bounds.max_rows * problem.row_norm * problem.smoothness * margin_error

    @property
    def spacing(self) -> float:
        """What rounding a point to floats can do to its gradient."""
        problem = self.problem
        stiffness = problem.bounds.max_rows * problem.row_smoothness + self._stiffest
        return UNIT * stiffness * self.far

    @property
    def farthest_way(self) -> float:
        """The length of a way from a reference whose margins may be added to those there."""
        return self.far / self._way_roundings

    def varying_error(self, elsewhere: float = 0.0) -> float:
        """Bound how differently the computed gradient can err at points near a reference.

        ``elsewhere`` is what else a step can err by, as a gradient.
        """
        whole = self.float_error + self.through_margins
        drift = DRIFT * (whole + self.spacing + elsewhere) / self.problem.ridge
        if not drift <= self.farthest_way:
            return whole
        near = UNIT * (4 * self.problem.reach + 2 * self._largest_label) * _UP
        return self.float_error + min(self._gradient_error(near), self.through_margins)

    @cached_property
    def tolerance(self) -> float:
        """The gradient norm to be reached: some float point surely has it."""
        return REACHED * (self.varying_error() + self.spacing)

    @property
    def radius(self) -> float:
        """How far the point found can be from the ideal minimiser: public, and surely."""
        problem, rows = self.problem, self.problem.bounds.max_rows
        residual = (self.tolerance + self.float_error) * _UP + self.linear_error
        plain = (residual + self.through_margins) / problem.ridge
        bend = problem.loss.self_concordance
        if bend is None or bend * problem.row_norm * plain > 0.5 or bend * self.margin_error > 0.01:
            return plain * _UP
        spread = math.sqrt(1.32 * problem.smoothness * rows / (4 * problem.ridge))
        return min(plain, residual / problem.ridge + self.margin_error * spread) * _UP

    def check_settled(self, loss: Loss, ridge: float) -> None:
        """Raise unless loss and ridge are among those that the certificate is for."""
        planned, within = self.problem.loss, self.problem.reach
        if self.most_ridge is None or not self.problem.ridge <= ridge <= self.most_ridge:
            raise PrivacyError("the ridge is not one that was planned for.")
        is_planned = (
            loss.lipschitz(math.inf) <= planned.lipschitz(within)
            and loss.smoothness(math.inf) <= planned.smoothness(within)
            and loss.joint_smoothness == planned.joint_smoothness
            and loss.self_concordance == planned.self_concordance
            and loss.is_one_signed == planned.is_one_signed
        )
        if not is_planned:
            raise PrivacyError("the loss is not one that was planned for.")

    def solve(
        self,
        rows: OpenRows,
        linear: Vector,
        *,
        ridge: float | None = None,
        loss: Loss | None = None,
    ) -> Vector:
        """Return a point within :attr:`radius` of the minimiser, or raise.

        With a weaker ``ridge`` than the problem's, rows and ridge together must still curve as
        much; a stronger one must be at most ``most_ridge``. Another ``loss`` must have the
        constants of the problem's.
        """
        problem = self.problem
        if ridge is not None or loss is not None:
            problem = replace(
                problem,
                ridge=problem.ridge if ridge is None else ridge,
                loss=problem.loss if loss is None else loss,
            )
        objective = RowsObjective(problem, rows, linear)
        objective.strong_convexity = max(self.problem.ridge, problem.ridge)
        start = np.zeros_like(linear)
        if linear.size > DENSE_WIDTH:
            # Wide rows: only what rows touch has to move from where the linear term alone leads.
            start -= linear / problem.ridge
        swift, aim = objective, AIM  # only the time it takes depends on which
        if self.is_swift and rows.count >= MANY_ROWS:
            swift, aim = SwiftObjective(problem, rows, linear), SWIFT_AIM
        point = newton(swift, start, tolerance=aim * self.tolerance).point
        if self._is_certified(objective, point):
            return point
        for candidates in (self._refine, self._solve_slowly):
            if self._is_far(objective, point):
                raise PrivacyError(TOO_LARGE)
            begin = self._keep_within(point)
            for point, reference in candidates(objective, begin):
                if self._is_certified(objective, point, reference):
                    return point
        if self._is_far(objective, point):
            raise PrivacyError(TOO_LARGE)
        raise PrivacyError(UNCERTIFIED)

    def solve_without_noise(self, rows: OpenRows, loss: Loss, ridge: float) -> Vector:
        """Return the best point found, certified or not, for a budget that promises nothing."""
        problem = replace(self.problem, loss=loss, ridge=ridge)
        objective = RowsObjective(problem, rows, np.zeros(problem.bounds.width))
        start, smoothness = np.zeros(objective.dimension), self._smoothness_at_hand(objective)
        best = newton(objective, start, tolerance=AIM * self.tolerance).point
        least = np.linalg.norm(objective.careful_gradient(best))
        points = steady_newton(
            objective.careful_gradient, objective.full_inverse, best, smoothness=smoothness
        )
        for _ in range(REFINEMENTS):
            if least <= self.tolerance:
                break
            point = next(points)
            slope = np.linalg.norm(objective.careful_gradient(point))
            if slope < least:
                best, least = point, slope
        return best

    def _refine(
        self, objective: RowsObjective, start: Vector
    ) -> Iterator[tuple[Vector, Vector | None]]:
        """Yield what Newton's method comes by, with the references of the margins."""
        smoothness, point = self._smoothness_at_hand(objective), start
        for _ in range(ROUNDS):
            reference = point = self._keep_within(point)
            gradient = partial(objective.careful_gradient, reference=reference)
            points = steady_newton(gradient, objective.full_inverse, point, smoothness=smoothness)
            for point in islice(points, REFINEMENTS):
                is_near = np.linalg.norm(point - reference) <= self.farthest_way
                yield point, reference if is_near else None

    def _solve_slowly(
        self, objective: RowsObjective, start: Vector
    ) -> Iterator[tuple[Vector, Vector | None]]:
        """Yield what comes of methods whose number of steps is known in advance."""
        problem, smoothness = self.problem, self._smoothness_at_hand(objective)
        modulus = objective.strong_convexity
        largest = objective.count * problem.row_lipschitz + self.linear_bound
        largest += modulus * float(np.linalg.norm(start))
        steps = iterations_needed(smoothness, modulus, largest, self.tolerance)
        point = accelerated_gradient(
            objective, start, smoothness=smoothness, tolerance=self.tolerance, most_steps=steps
        ).point
        yield point, None
        if self._is_far(objective, point):
            return
        point = self._keep_within(point)
        yield from self._refine(objective, point)
        steps = descents_needed(smoothness, modulus, largest, self.tolerance / REACHED)
        point = np.zeros_like(start)
        for is_near in (False, True):
            reference = point if is_near else None
            for _ in range(steps):
                point = point - objective.careful_gradient(point, reference) / smoothness
                yield point, reference

    def _smoothness_at_hand(self, objective: RowsObjective) -> float:
        # Of the rows at hand, not of the most there may be: only the time it takes depends on it.
        return objective.count * self.problem.row_smoothness + objective.strong_convexity

    def _is_far(self, objective: RowsObjective, point: Vector) -> bool:
        """Say whether the minimiser is surely so far that it would be refused in public as well."""
        beyond = float(np.linalg.norm(point)) - SURELY_FAR * self.far
        if not 0 < beyond < math.inf:
            return False
        slope = float(np.linalg.norm(objective.careful_gradient(point)))
        return slope <= 0.5 * objective.strong_convexity * beyond

    def _keep_within(self, point: Vector) -> Vector:
        return point if np.linalg.norm(point) <= self.far else np.zeros_like(point)

    def _is_certified(
        self, objective: RowsObjective, point: Vector, reference: Vector | None = None
    ) -> bool:
        if not np.linalg.norm(point) <= self.far:
            return False
        if reference is not None and not (
            np.linalg.norm(reference) <= self.far
            and np.linalg.norm(point - reference) <= self.farthest_way
        ):
            return False
        gradient = objective.careful_gradient(point, reference)
        return bool(np.linalg.norm(gradient) <= self.tolerance)

    def finish(self, released: Vector) -> Vector:
        """Refuse, in public, a point farther out than a certified minimiser is expected."""
        if not np.linalg.norm(released) <= 0.5 * self.far:
            raise PrivacyError(TOO_LARGE)
        return released

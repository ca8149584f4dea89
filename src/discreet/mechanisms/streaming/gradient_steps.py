r"""Gradient steps of size :math:`1/(\Psi t)` for smooth losses, after a warm-up.

Online gradient descent for strongly convex losses. In terms of the sum,
:math:`S_t = \Pi(S_{t-1} - \nabla\ell_t(\theta_t))`, and from t - 1 = beta R^2/(2 Psi) on a step
brings two sums no further apart.
"""

from __future__ import annotations

import math
from functools import cached_property

from discreet._types import Vector
from discreet.errors import CalibrationError
from discreet.mechanisms.base import Verdict
from discreet.mechanisms.streaming.online_algorithm import (
    SLOPE_ERROR,
    OnlineAlgorithm,
    accepts_domain,
    subtract,
)
from discreet.questions.problem import Problem


class GradientSteps(OnlineAlgorithm):
    """Projected gradient steps; the records of the warm-up are passed over.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.questions import Bounds, LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=2, labels=LabelSet([-1, 1]))
    >>> GradientSteps(Problem(Logistic(), bounds, ridge=0.01), horizon=100).first
    14
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.first > self.horizon:
            raise CalibrationError(
                f"gradient steps are steady from record {self.first} on, beyond the horizon; use "
                "more ridge, or implicit_gradient."
            )

    @staticmethod
    def accepts(problem: Problem) -> Verdict:
        if not problem.loss.is_smooth:
            return Verdict(
                False, f"{problem.loss!r} is not smooth; smooth it, or use implicit_gradient."
            )
        return accepts_domain(problem)

    @cached_property
    def first(self) -> int:
        steady = self.problem.row_smoothness / (2 * self.problem.ridge)
        return 1 + math.ceil(steady * (1 + 1e-12))

    @cached_property
    def error(self) -> float:
        problem = self.problem
        slope = SLOPE_ERROR * problem.lipschitz + problem.smoothness * self.margin_error()
        return self.horizon * slope * problem.row_norm + self.adding_error()

    def step(self, total: Vector, seen: int, row: Vector, label: float, played: Vector) -> Vector:
        if seen < self.first:
            return total
        margin = float(total @ row) / self.stiffness(seen - 1) if seen > 1 else 0.0
        slope = self.problem.loss.slope(label, margin)  # type: ignore[arg-type]
        return self.keep_inside(subtract(total, float(slope), row), seen)

"""Linear models in an l1 ball, learnt by steps towards its corners."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import field
from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Array, Integers
from discreet.estimators.fields import with_fields
from discreet.estimators.sparse_model import SparseModel, pick_distinct
from discreet.estimators.targets import LearningTarget, require_target
from discreet.estimators.task import Asked, Shape
from discreet.mechanisms import FrankWolfe
from discreet.mechanisms.frank_wolfe import MOST_STEPS, average_of_corners, choose_steps
from discreet.privacy import Budget, Unit
from discreet.questions import L1Problem
from discreet.record import Fact, Origin


@with_fields
class CornerStepsModel(SparseModel):
    """A lasso in constrained form; rows are only summed."""

    l1_radius: float | None = None
    max_iter: int | None = None
    n_iter_: int = field(init=False)

    learns = SparseModel.learns | {"n_iter_"}

    def _check(self) -> None:
        super()._check()
        if self.max_iter is not None:
            _checks.whole(max_iter=self.max_iter, at_least=1, at_most=MOST_STEPS)
        self._radius()

    @abstractmethod
    def _usual_radius(self) -> float:
        """Return the radius of the ball if nobody declares one."""

    def _radius(self) -> float:
        if self.l1_radius is None:
            return self._usual_radius()
        return _checks.positive_number(l1_radius=self.l1_radius)

    def _ask(
        self, shape: Shape, target: LearningTarget | None, budget: Budget, unit: Unit
    ) -> Asked:
        target = require_target(target)
        constant = self._largest_entry() if self.fit_intercept else None
        problem = L1Problem(
            self.margin_loss(),
            self._bounds(shape, intercept=constant),
            self._radius(),
            assumed=target.assumed,
        )
        steps = self.max_iter
        if steps is None:
            steps = choose_steps(problem, budget, unit, self._expect_rows(shape))
        ball = Fact("coefficients", f"an l1 ball of radius {problem.radius:g}",
                    Origin.DEFAULT if self.l1_radius is None else Origin.DECLARED)  # fmt: skip
        return Asked(problem, FrankWolfe(int(steps)), (*self._facts(target), ball))

    def _sparse_coefficients(self, asked: Asked) -> tuple[Array, Array, Integers]:
        problem: Any = asked.question
        corners = np.asarray(self.release_.value)
        self.n_iter_ = int(corners.size)
        vector = average_of_corners(corners, problem.radius, problem.bounds.width)
        width, constant = problem.bounds.n_features, problem.bounds.intercept
        intercept = 0.0 if constant is None else float(vector[-1] * constant)
        places = np.abs(corners).astype(np.int64) - 1
        return vector[None, :width], np.array([intercept]), pick_distinct(places, width)

"""Linear models of few coefficients, learnt by noisy iterative hard thresholding."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import field
from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Array, Integers
from discreet.estimators.chosen_columns import check_size
from discreet.estimators.fields import with_fields
from discreet.estimators.sparse_model import SparseModel, pick_distinct
from discreet.estimators.targets import LearningTarget, require_target
from discreet.estimators.task import Asked, Shape
from discreet.mechanisms import IterativeThresholding
from discreet.mechanisms.iterative_thresholding import choose_rounds
from discreet.privacy import Budget, Unit
from discreet.questions import SparseProblem


@with_fields
class ThresholdingModel(SparseModel):
    """A model of which each step keeps the largest coefficients; rows are only summed."""

    n_features_to_select: int = 5
    radius: float | None = None
    step_size: float = 2.0
    max_iter: int | None = None
    n_iter_: int = field(init=False)

    learns = SparseModel.learns | {"n_iter_"}

    def _check(self) -> None:
        super()._check()
        _checks.whole(n_features_to_select=self.n_features_to_select, at_least=1)
        _checks.positive(step_size=self.step_size)
        if self.max_iter is not None:
            _checks.whole(max_iter=self.max_iter, at_least=1)
        self._radius()
        self.margin_loss()

    @abstractmethod
    def _usual_radius(self) -> float:
        """Return the largest norm of the coefficients if nobody declares one."""

    def _radius(self) -> float:
        if self.radius is None:
            return self._usual_radius()
        return _checks.positive_number(radius=self.radius)

    def _ask(
        self, shape: Shape, target: LearningTarget | None, budget: Budget, unit: Unit
    ) -> Asked:
        target = require_target(target)
        size = check_size(self.n_features_to_select, shape.n_features)
        constant = self._largest_entry() if self.fit_intercept else None
        problem = SparseProblem(
            self.margin_loss(),
            self._bounds(shape, intercept=constant),
            size + (constant is not None),
            self._radius(),
            assumed=target.assumed,
        )
        rows = self._expect_rows(shape)
        steps = choose_rounds(rows) if self.max_iter is None else int(self.max_iter)
        mechanism = IterativeThresholding(steps, rows, float(self.step_size))
        return Asked(problem, mechanism, self._facts(target))

    def _sparse_coefficients(self, asked: Asked) -> tuple[Array, Array, Integers]:
        problem: Any = asked.question
        mechanism: Any = asked.mechanism
        self.n_iter_ = int(mechanism.steps)
        places, values = np.asarray(self.release_.value).reshape(2, -1)
        vector = np.zeros(problem.bounds.width)
        vector[places.astype(np.int64)] = values
        width, constant = problem.bounds.n_features, problem.bounds.intercept
        intercept = 0.0 if constant is None else float(vector[-1] * constant)
        chosen = pick_distinct(places.astype(np.int64), width)
        return vector[None, :width], np.array([intercept]), chosen

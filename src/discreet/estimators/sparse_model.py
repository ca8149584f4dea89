"""Linear models of which most coefficients are zero: what they declare, and what they keep."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Array, Booleans, Integers
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.chosen_columns import check_size, code_classes
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import COLUMNS_FOUND, FeatureMap, PlainFeatures
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.linear import LinearEstimator
from discreet.geometry import ConvexSet, LinfBall
from discreet.mechanisms import FrankWolfe, IterativeThresholding
from discreet.mechanisms.frank_wolfe import MOST_STEPS, average_of_corners, choose_steps
from discreet.mechanisms.iterative_thresholding import choose_rounds
from discreet.policy.task import Asked, Shape
from discreet.questions import Bounds, L1Problem, SparseProblem
from discreet.record import Fact, Origin

USUAL_ROWS = 10_000
"""How many rows are expected if their number is private and nobody says."""


@with_fields
class SparseModel(LinearEstimator):
    """A linear model of entries that are bounded each by itself; few of its coefficients count."""

    learns = frozenset(["coef_", "intercept_", "selected_"])
    must_declare: ClassVar[Declarations] = (("columns", "entry_bound"),)

    # What linear models may have, and these have not.
    data_norm: ClassVar[None] = None  # type: ignore[misc]
    domain: ClassVar[None] = None  # type: ignore[misc]
    mechanism: ClassVar[str] = "auto"  # type: ignore[misc]
    max_weight: ClassVar[None] = None
    fit = PrivateEstimator.fit

    entry_bound: float | None = None
    expected_rows: int | None = None

    selected_: Integers = field(init=False)
    coef_: Any = field(init=False)
    intercept_: Any = field(init=False)

    def _check(self) -> None:
        if self.expected_rows is not None:
            _checks.whole(expected_rows=self.expected_rows, at_least=1)
        super()._check()

    def _ridge(self) -> float | None:
        return None

    def _largest_entry(self) -> float:
        """Return the largest entry of an encoded row."""
        if self.columns is not None:
            return 1.0
        return _checks.positive_number(entry_bound=self.entry_bound)

    def row_region(self, width: int) -> ConvexSet:
        return LinfBall(self._largest_entry())

    def feature_map(self) -> FeatureMap:
        if self.columns is not None:
            return DeclaredFeatures(self.columns, is_centred=False)
        region = LinfBall(self._largest_entry())
        facts = (COLUMNS_FOUND, Fact("features", region.words, Origin.DECLARED))
        return PlainFeatures(region, self._largest_entry(), facts=facts)

    def _facts(self, fit: Fit) -> tuple[Fact, ...]:
        facts = fit.features.facts
        if self.columns is not None:
            encoded = Fact("features", f"encoded columns: {self.row_region(1).words}",
                           Origin.CHOSEN)  # fmt: skip
            facts = tuple(encoded if fact.what == "features" else fact for fact in facts)
        return (*facts, fit.need_target().fact)

    def _bounds(self, shape: Shape, *, intercept: float | None) -> Bounds:
        """Return what is declared about the rows of one fit."""
        return Bounds(
            self.row_region(shape.n_features),
            shape.n_features,
            labels=code_classes(shape.labels),
            intercept=intercept,
            max_rows=shape.max_rows,
        )

    def _expect_rows(self, shape: Shape) -> int:
        """Return how many rows are expected: declared, or told, and never counted in secret."""
        if self.expected_rows is not None:
            return int(self.expected_rows)
        is_told = shape.max_rows != self.row_limit
        return shape.max_rows if is_told else min(USUAL_ROWS, self.row_limit)

    @abstractmethod
    def _sparse_coefficients(self, asked: Asked) -> tuple[Array, Array, Integers]:
        """Return coefficients of encoded columns, intercepts, and which columns were chosen."""

    def _coefficients(
        self, asked: Asked, features: FeatureMap, origin: float = 0.0
    ) -> tuple[Array, Array]:
        coef, intercept, self.selected_ = self._sparse_coefficients(asked)
        coef, intercept = features.fold(coef, intercept + origin)
        return np.ascontiguousarray(coef), intercept

    @property
    def n_features_selected_(self) -> int:
        """How many features were chosen; all other coefficients are zero."""
        check_is_fitted(self)
        return int(self.selected_.size)

    def get_support(self, indices: bool = False) -> Booleans | Integers:
        """Return which features were chosen: a mask, or their places in rising order.

        Parameters
        ----------
        indices
            Whether places are returned, and not a mask.
        """
        check_is_fitted(self)
        if indices:
            return np.sort(self.selected_)
        mask = np.zeros(np.atleast_2d(self.coef_).shape[1], dtype=np.bool_)
        mask[self.selected_] = True
        return mask


def pick_distinct(places: Integers, width: int) -> Integers:
    """Return each place below the width once, in the order in which it came first."""
    inside = places[places < width]
    _, first = np.unique(inside, return_index=True)
    return np.asarray(inside[np.sort(first)])


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

    def _ask(self, fit: Fit) -> Asked:
        constant = self._largest_entry() if self.fit_intercept else None
        problem = L1Problem(
            self.margin_loss(),
            self._bounds(fit.shape, intercept=constant),
            self._radius(),
            assumed=fit.need_target().assumed,
        )
        steps = self.max_iter
        if steps is None:
            steps = choose_steps(problem, fit.budget, fit.unit, self._expect_rows(fit.shape))
        ball = Fact("coefficients", f"an l1 ball of radius {problem.radius:g}",
                    Origin.DEFAULT if self.l1_radius is None else Origin.DECLARED)  # fmt: skip
        return Asked(problem, FrankWolfe(int(steps)), (*self._facts(fit), ball))

    def _sparse_coefficients(self, asked: Asked) -> tuple[Array, Array, Integers]:
        problem: Any = asked.question
        corners = np.asarray(self.release_.value)
        self.n_iter_ = int(corners.size)
        vector = average_of_corners(corners, problem.radius, problem.bounds.width)
        width, constant = problem.bounds.n_features, problem.bounds.intercept
        intercept = 0.0 if constant is None else float(vector[-1] * constant)
        places = np.abs(corners).astype(np.int64) - 1
        return vector[None, :width], np.array([intercept]), pick_distinct(places, width)


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

    def _ask(self, fit: Fit) -> Asked:
        size = check_size(self.n_features_to_select, fit.shape.n_features)
        constant = self._largest_entry() if self.fit_intercept else None
        problem = SparseProblem(
            self.margin_loss(),
            self._bounds(fit.shape, intercept=constant),
            size + (constant is not None),
            self._radius(),
            assumed=fit.need_target().assumed,
        )
        rows = self._expect_rows(fit.shape)
        steps = choose_rounds(rows) if self.max_iter is None else int(self.max_iter)
        mechanism = IterativeThresholding(steps, rows, float(self.step_size))
        return Asked(problem, mechanism, self._facts(fit))

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

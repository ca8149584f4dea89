"""A learning problem over opened rows, as solvers see it.

The penalised empirical risk: values, gradients in compensated sums, Hessians and their inverses.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from discreet._parallel import SINGLE_PRODUCTS
from discreet._types import Array, Vector
from discreet.data import Block, OpenRows, SparseVector, Terms
from discreet.mechanisms.base import labels_of, weigh
from discreet.questions.problem import Problem
from discreet.solvers import newton
from discreet.solvers.newton_method import conjugate_gradient
from discreet.solvers.objective import Inverse

DENSE_WIDTH = 1500
"""Up to this many columns the Hessian is formed and factorised; beyond, only multiplied."""

CAREFUL_ROWS = 256
"""Rows a block when rounding matters."""

ROUGH_ROWS = 8192
"""Fewer rows than this are never thinned out."""


HESSIAN_BESIDE = 256
"""Up to this many columns a Hessian is summed together with the gradient of stored rows, in the
first two passes: from the third on the last one is near enough."""

PASSES_WITH_HESSIAN = 2


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """What one pass over the rows said of one point."""

    point: Vector
    gradient: Vector  # careful
    hessian: Array | None


class RowsObjective:
    """The sum of losses, times a weight, plus the ridge and a linear term.

    Where every pass reads the rows again, a pass brings all that is known of a point: the value,
    the careful gradient, and for the first points the Hessian.
    """

    columns_a_pass: ClassVar[int] = 40
    """How many columns make a Hessian as dear as one pass more."""

    rough_progress: ClassVar[float] = 1e-4
    """How much smaller the gradient of few rows has to become before all rows are looked at."""

    loadings: ClassVar[tuple[float, ...]] = (0.0, 2.0**-48, 2.0**-40, 2.0**-30)
    """What is added to the diagonal of a Hessian, relative to its largest entry, until it has a
    factor: a direction found with it is a little short, and still leads downhill."""

    def __init__(
        self, problem: Problem, rows: OpenRows, linear: Vector, *, weight: float = 1.0
    ) -> None:
        self._problem, self._rows, self._linear, self._weight = problem, rows, linear, weight
        self.dimension = linear.size
        self.strong_convexity = problem.ridge
        # A Hessian is a product of matrices, which runs at a better rate than one with a vector.
        is_formed = self.dimension <= DENSE_WIDTH
        self.passes_per_hessian = self.dimension / self.columns_a_pass if is_formed else 0.0
        self._is_costly = rows.is_reread and self.dimension <= DENSE_WIDTH
        self._last: _Evaluation | None = None
        self._hessians = PASSES_WITH_HESSIAN if self.dimension <= HESSIAN_BESIDE else 0

    @property
    def count(self) -> int:
        """The number of rows."""
        return self._rows.count

    def value_and_gradient(self, point: Vector) -> tuple[float, Vector]:
        if self._is_costly:
            return self._evaluate(point)
        loss = self._problem.loss

        def kernel(block: Block) -> tuple[Array, Vector]:
            margins = block.margins(point)
            slopes = weigh(block, loss.slope(labels_of(block), margins))
            values = weigh(block, loss.value(labels_of(block), margins))
            return values.sum(), block.weighted_sum(slopes)

        value, gradient = self._rows.sum(kernel)
        return self._total_value(value, point), self._total_gradient(gradient, point)

    def _evaluate(self, point: Vector) -> tuple[float, Vector]:
        """Make one pass, and remember what it said."""
        loss = self._problem.loss
        is_curved = self._hessians > 0

        def kernel(block: Block) -> tuple[Any, ...]:
            labels, margins = labels_of(block), block.careful_margins(point)
            values = weigh(block, loss.value(labels, margins)).sum()
            slopes = Terms(
                block.small_sums(weigh(block, loss.slope(labels, margins)), CAREFUL_ROWS)
            )
            if not is_curved:
                return values, slopes
            return values, slopes, block.gram(weigh(block, loss.curvature(labels, margins)))

        value, gradient, *hessian = self._rows.sum(kernel)
        curved = self._add_ridge(hessian[0]) if is_curved else None
        self._hessians -= is_curved
        self._last = _Evaluation(point.copy(), self._total_gradient(gradient, point), curved)
        return self._total_value(value, point), self._last.gradient

    def _total_value(self, value: Any, point: Vector) -> float:
        total = self._weight * float(value) + self._problem.ridge / 2 * float(point @ point)
        return total + float(self._linear @ point)

    def _total_gradient(self, gradient: Vector, point: Vector) -> Vector:
        return self._weight * gradient + self._problem.ridge * point + self._linear

    def _add_ridge(self, hessian: Array) -> Array:
        hessian = self._weight * hessian
        hessian[np.diag_indices(self.dimension)] += self._problem.ridge
        return np.asarray(hessian)

    def _recall(self, point: Vector) -> _Evaluation | None:
        """Return what the last pass said, if it was about this point."""
        last = self._last
        return last if last is not None and np.array_equal(last.point, point) else None

    def careful_gradient(self, point: Vector, reference: Vector | None = None) -> Vector:
        """Return the gradient, summed in small blocks so that its rounding error is small.

        With a reference, margins are those computed there plus those of the way from there: all
        points near it then share nearly all of the rounding errors of margins.
        """
        if reference is None or np.array_equal(point, reference):
            reference = point
        away = None if reference is point else point - reference
        known = self._recall(point) if away is None else None
        if known is not None:
            return known.gradient.copy()
        loss = self._problem.loss

        # Small blocks of wide sparse rows touch few columns each.
        is_wide = self.dimension > DENSE_WIDTH

        def kernel(block: Block) -> Vector | SparseVector:
            margins = block.careful_margins(reference)
            if away is not None:
                margins = margins + block.careful_margins(away)
            slopes = weigh(block, loss.slope(labels_of(block), margins))
            return block.partial_sum(slopes) if is_wide else block.weighted_sum(slopes)

        gradient: Vector = self._rows.sum(kernel, block_rows=CAREFUL_ROWS)
        return self._total_gradient(gradient, point)

    def full_inverse(self, point: Vector) -> Inverse:
        if self.dimension > DENSE_WIDTH:
            return self._iterative_inverse(point)
        return _inverse(self.hessian(point), self.loadings)

    def hessian(self, point: Vector) -> Array:
        loss = self._problem.loss

        def kernel(block: Block) -> Array:
            curvatures = loss.curvature(labels_of(block), block.margins(point))
            return block.gram(weigh(block, curvatures))

        return self._add_ridge(self._rows.sum(kernel))

    def _iterative_inverse(self, point: Vector) -> Inverse:
        def multiply(vector: Vector) -> Vector:
            loss = self._problem.loss

            def kernel(block: Block) -> Vector:
                curvatures = loss.curvature(labels_of(block), block.margins(point))
                curvatures = weigh(block, curvatures)
                return block.weighted_sum(curvatures * block.margins(vector))

            product: Vector = self._rows.sum(kernel)
            return self._weight * product + self._problem.ridge * vector

        return lambda gradient: conjugate_gradient(multiply, gradient)

    def rough_inverse(self, point: Vector) -> Inverse:
        known = self.known_inverse(point)
        if known is not None:
            return known
        return (self._thin_objective or self).full_inverse(point)

    def known_inverse(self, point: Vector) -> Inverse | None:
        known = self._recall(point)
        return (
            None
            if known is None or known.hessian is None
            else _inverse(known.hessian, self.loadings)
        )

    def rough_start(self, point: Vector) -> Vector:
        rough = self._thin_objective
        if rough is None:
            return point
        with SINGLE_PRODUCTS if self._is_costly else nullcontext():
            _, gradient = rough.value_and_gradient(point)
            enough = self.rough_progress * float(np.linalg.norm(gradient))
            return newton(rough, point, tolerance=enough, most_steps=20).point

    @cached_property
    def _thin_objective(self) -> RowsObjective | None:
        """The objective of some of the rows, each standing for several; None if they are few."""
        count = self._rows.count
        step = count // self._fewest(count)
        if step < 2 or self._weight != 1.0:
            return None
        thin = self._rows.subsample(step)
        return type(self)(self._problem, thin, self._linear, weight=count / thin.count)

    def _fewest(self, count: int) -> int:
        """Return how few rows may stand for all."""
        return max(ROUGH_ROWS, 60 * min(self.dimension, DENSE_WIDTH), count // 10)


def _inverse(hessian: Array, loadings: Sequence[float] = RowsObjective.loadings) -> Inverse:
    """Return the inverse of a matrix that rounding may have robbed of its definiteness."""
    largest = float(np.abs(np.diagonal(hessian)).max())
    for added in loadings:
        loaded = hessian
        if added:
            loaded = hessian + added * largest * np.eye(len(hessian))
        try:
            factor = cho_factor(loaded, check_finite=False)
        except LinAlgError:
            continue
        return partial(_solve_factored, factor)
    # Not even nearly definite, or not finite: steps along the gradient are left.
    return lambda gradient: gradient / largest if largest > 0 else gradient


def _solve_factored(factor: tuple[Array, bool], gradient: Vector) -> Vector:
    return np.asarray(cho_solve(factor, gradient, check_finite=False))

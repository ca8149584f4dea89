"""A learning problem over opened rows, as solvers see it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from discreet._types import Array, Vector
from discreet.data import Block, OpenRows, SparseVector
from discreet.errors import PrivacyError
from discreet.problem import Problem
from discreet.solvers import newton
from discreet.solvers.conjugate import conjugate_gradient
from discreet.solvers.objective import Inverse

DENSE_WIDTH = 1500
"""Up to this many columns the Hessian is formed and factorised; beyond, only multiplied."""

CAREFUL_ROWS = 256
"""Rows a block when rounding matters."""

ROUGH_ROWS = 8192
"""Fewer rows than this are never thinned out."""


class RowsObjective:
    """The sum of losses, times a weight, plus the ridge and a linear term."""

    def __init__(
        self, problem: Problem, rows: OpenRows, linear: Vector, *, weight: float = 1.0
    ) -> None:
        self._problem, self._rows, self._linear, self._weight = problem, rows, linear, weight
        self.dimension = linear.size
        self.strong_convexity = problem.ridge

    @property
    def count(self) -> int:
        """The number of rows."""
        return self._rows.count

    def value_and_gradient(self, point: Vector) -> tuple[float, Vector]:
        loss = self._problem.loss

        def kernel(block: Block) -> tuple[Array, Vector]:
            margins = block.margins(point)
            slopes = _counted(block, loss.slope(_labels(block), margins))
            values = _counted(block, loss.value(_labels(block), margins))
            return values.sum(), block.weighted_sum(slopes)

        value, gradient = self._rows.sum(kernel)
        ridge = self._problem.ridge
        total = self._weight * float(value) + ridge / 2 * float(point @ point)
        return total + float(self._linear @ point), (
            self._weight * gradient + ridge * point + self._linear
        )

    def careful_gradient(self, point: Vector) -> Vector:
        """Return the gradient, summed in small blocks so that its rounding error is small."""
        loss = self._problem.loss

        # Small blocks of wide sparse rows touch few columns each.
        is_wide = self.dimension > DENSE_WIDTH

        def kernel(block: Block) -> Vector | SparseVector:
            slopes = _counted(block, loss.slope(_labels(block), block.careful_margins(point)))
            return block.partial_sum(slopes) if is_wide else block.weighted_sum(slopes)

        gradient: Vector = self._rows.sum(kernel, block_rows=CAREFUL_ROWS)
        return self._weight * gradient + self._problem.ridge * point + self._linear

    def full_inverse(self, point: Vector) -> Inverse:
        if self.dimension > DENSE_WIDTH:
            return self._iterative_inverse(point)
        factor = cho_factor(self.hessian(point), check_finite=False)
        return lambda gradient: np.asarray(cho_solve(factor, gradient, check_finite=False))

    def hessian(self, point: Vector) -> Array:
        loss = self._problem.loss

        def kernel(block: Block) -> Array:
            curvatures = loss.curvature(_labels(block), block.margins(point))
            return block.gram(_counted(block, curvatures))

        hessian = self._weight * self._rows.sum(kernel)
        hessian[np.diag_indices(self.dimension)] += self._problem.ridge
        return np.asarray(hessian)

    def _iterative_inverse(self, point: Vector) -> Inverse:
        def multiply(vector: Vector) -> Vector:
            loss = self._problem.loss

            def kernel(block: Block) -> Vector:
                curvatures = loss.curvature(_labels(block), block.margins(point))
                curvatures = _counted(block, curvatures)
                return block.weighted_sum(curvatures * block.margins(vector))

            product: Vector = self._rows.sum(kernel)
            return self._weight * product + self._problem.ridge * vector

        return lambda gradient: conjugate_gradient(multiply, gradient)

    def rough_inverse(self, point: Vector) -> Inverse:
        return self._rough.full_inverse(point)

    def rough_start(self, point: Vector) -> Vector:
        rough = self._rough
        if rough is self:
            return point
        _, gradient = rough.value_and_gradient(point)
        enough = 1e-4 * float(np.linalg.norm(gradient))
        return newton(rough, point, tolerance=enough, most_steps=20).point

    @cached_property
    def _rough(self) -> RowsObjective:
        """The objective of some of the rows, each standing for several."""
        count = self._rows.count
        wanted = max(ROUGH_ROWS, 60 * min(self.dimension, DENSE_WIDTH), count // 10)
        step = count // wanted
        if step < 2 or self._weight != 1.0:
            return self
        thin = self._rows.thin(step)
        return RowsObjective(self._problem, thin, self._linear, weight=count / thin.count)


def _labels(block: Block) -> Vector:
    if block.labels is None:
        raise PrivacyError("a learning problem was run on rows without labels.")
    return block.labels


def _counted(block: Block, values: Vector) -> Vector:
    """Count each row as often as its weight says."""
    return values if block.weights is None else values * block.weights

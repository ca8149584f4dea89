r"""Vector problems over opened rows, as solvers see them, and how exactly gradients are computed.

Write u = 2**-53, N for ``max_rows``, G for the largest gradient of a row. ``gradient_error`` bounds
how far :meth:`careful_gradient` is from the gradient of the rows as they are clipped, ridge and
linear term aside. Sums within a block are taken by halving, so that a term of 4096 is rounded 12
times; blocks are added with a running correction, for which four roundings are allowed and a term
of second order, (N u/256)**2 N G.

*Distances.* A difference of coordinates is rounded once, and the squared length errs by a relative
(p + 5) u at most, the smoothing added; so a direction errs by (p/2 + 7) u of itself, and all by

.. math:: (p/2 + 7 + 12 + 4) \, u N.

*Outputs.* A residual :math:`W'x - y` errs by :math:`u ((m + 2) R B + Y)`, m the rows of W; the
product :math:`x r'` is rounded once, and sums over 256 rows of a product of matrices at most 256
times:

.. math:: N R u ((m + 2) R B + Y) + (256 + 8) \, u N G.

Where rows have weights a term is rounded once more, and G is that of the heaviest row.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from discreet._types import Array, Vector
from discreet.data import Block, OpenRows
from discreet.errors import CalibrationError
from discreet.geometry.limits import UNIT
from discreet.mechanisms.base import weigh
from discreet.questions import SeveralOutputs, SpatialMedian, VectorProblem

PAIRWISE_ROWS = 4096
PRODUCT_ROWS = 256


class VectorObjective(Protocol):
    """The sum of losses plus the ridge and a linear term."""

    dimension: int
    strong_convexity: float

    @property
    def count(self) -> int:
        """The number of rows."""
        ...

    def value_and_gradient(self, point: Vector) -> tuple[float, Vector]: ...

    def careful_gradient(self, point: Vector) -> Vector: ...

    def hessian(self, point: Vector) -> Array: ...


class _SumOfLosses:
    """Adds the ridge and the linear term to what the rows say."""

    def __init__(self, problem: VectorProblem, rows: OpenRows, linear: Vector) -> None:
        self._rows, self._linear = rows, linear
        self.dimension = linear.size
        self.strong_convexity = problem.ridge

    @property
    def count(self) -> int:
        return self._rows.count

    def _total(self, value: float, gradient: Vector, point: Vector) -> tuple[float, Vector]:
        total = value + self.strong_convexity / 2 * float(point @ point)
        return total + float(self._linear @ point), self._total_gradient(gradient, point)

    def _total_gradient(self, gradient: Vector, point: Vector) -> Vector:
        return gradient + self.strong_convexity * point + self._linear


class DistancesObjective(_SumOfLosses):
    """Smoothed distances from the rows."""

    def __init__(self, problem: SpatialMedian, rows: OpenRows, linear: Vector) -> None:
        super().__init__(problem, rows, linear)
        self._smoothing = problem.smoothing

    def value_and_gradient(self, point: Vector) -> tuple[float, Vector]:
        def kernel(block: Block) -> tuple[Array, Vector]:
            away, lengths = self._differences(block, point)
            directions = _weigh_rows(block, away / lengths[:, None])
            return weigh(block, lengths).sum(), directions.sum(axis=0)

        value, gradient = self._rows.sum(kernel, block_rows=PAIRWISE_ROWS)
        return self._total(float(value), gradient, point)

    def careful_gradient(self, point: Vector) -> Vector:
        def kernel(block: Block) -> Vector:
            away, lengths = self._differences(block, point)
            away /= lengths[:, None]
            return _sum_pairwise(_weigh_rows(block, away))

        gradient: Vector = self._rows.sum(kernel, block_rows=PAIRWISE_ROWS)
        return self._total_gradient(gradient, point)

    def hessian(self, point: Vector) -> Array:
        def kernel(block: Block) -> tuple[Array, Array]:
            away, lengths = self._differences(block, point)
            bent = away / lengths[:, None] ** 1.5
            return weigh(block, 1 / lengths).sum(), bent.T @ _weigh_rows(block, bent)

        round_part, flat_part = self._rows.sum(kernel, block_rows=PAIRWISE_ROWS)
        diagonal = float(round_part) + self.strong_convexity
        return np.asarray(diagonal * np.eye(self.dimension) - flat_part)

    def _differences(self, block: Block, point: Vector) -> tuple[Array, Vector]:
        away = point - block.rows()
        return away, np.sqrt((away * away).sum(axis=1) + self._smoothing**2)


class OutputsObjective(_SumOfLosses):
    """Squared residuals of several targets."""

    def __init__(self, problem: SeveralOutputs, rows: OpenRows, linear: Vector) -> None:
        super().__init__(problem, rows, linear)
        self._problem = problem

    def value_and_gradient(self, point: Vector) -> tuple[float, Vector]:
        def kernel(block: Block) -> tuple[Array, Vector]:
            features, residuals = self._residuals(block, point)
            value = _weigh_rows(block, np.square(residuals)).sum() / 2
            return value, features.T @ _weigh_rows(block, residuals)

        value, gradient = self._rows.sum(kernel)
        return self._total(float(value), gradient.ravel(), point)

    def careful_gradient(self, point: Vector) -> Vector:
        def kernel(block: Block) -> Array:
            features, residuals = self._residuals(block, point)
            return features.T @ _weigh_rows(block, residuals)

        gradient: Array = self._rows.sum(kernel, block_rows=PRODUCT_ROWS)
        return self._total_gradient(gradient.ravel(), point)

    def hessian(self, point: Vector) -> Array:
        def kernel(block: Block) -> Array:
            features, _ = self._split(block)
            return features.T @ _weigh_rows(block, features)

        gram = self._rows.sum(kernel)
        gram[np.diag_indices(len(gram))] += self.strong_convexity
        return np.kron(gram, np.eye(self._problem.shape[1]))

    def _split(self, block: Block) -> tuple[Array, Array]:
        rows, outputs = block.rows(), self._problem.shape[1]
        start = self._problem.bounds.n_features - outputs
        targets = rows[:, start : start + outputs]
        return np.delete(rows, np.s_[start : start + outputs], axis=1), targets

    def _residuals(self, block: Block, point: Vector) -> tuple[Array, Array]:
        features, targets = self._split(block)
        return features, features @ point.reshape(self._problem.shape) - targets


def objective_of(problem: VectorProblem, rows: OpenRows, linear: Vector) -> VectorObjective:
    """Return what a solver minimises."""
    if isinstance(problem, SpatialMedian):
        return DistancesObjective(problem, rows, linear)
    if isinstance(problem, SeveralOutputs):
        return OutputsObjective(problem, rows, linear)
    raise CalibrationError(f"{type(problem).__name__} has no solver.")


def gradient_error(problem: VectorProblem) -> float:
    """Bound the rounding error of the careful gradient, ridge and linear term aside."""
    rows, more = problem.bounds.max_rows, int(problem.bounds.has_weights)
    everything = rows * problem.row_lipschitz
    second_order = (rows / PRODUCT_ROWS * UNIT) ** 2
    if isinstance(problem, SeveralOutputs):
        height, norm = problem.shape[0], problem.row_norm
        reach = norm * problem.domain_radius
        through = rows * norm * UNIT * ((height + 2) * reach + problem.target_norm)
        through *= problem.bounds.row_weight
        return through + ((PRODUCT_ROWS + 8 + more) * UNIT + second_order) * everything
    levels = math.ceil(math.log2(PAIRWISE_ROWS))
    return ((problem.width / 2 + 7 + levels + 4 + more) * UNIT + second_order) * everything


def _weigh_rows(block: Block, values: Array) -> Array:
    """Multiply what each row says by its weight, if rows have weights."""
    return values if block.weights is None else values * block.weights[:, None]


def _sum_pairwise(rows: Array) -> Vector:
    """Sum rows by halves, pairwise, overwriting them: few roundings a term."""
    count = len(rows)
    if count == 0:
        return np.zeros(rows.shape[1])
    while count > 1:
        half = (count + 1) // 2
        rows[: count - half] += rows[half:count]
        count = half
    return np.array(rows[0])

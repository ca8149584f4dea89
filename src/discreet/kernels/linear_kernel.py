"""The linear kernel: inner products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Vector
from discreet.geometry import limits
from discreet.geometry.norms import pairwise_sums
from discreet.kernels.base import Domain, Kernel
from discreet.kernels.exact_products import multiply_alone


@dataclass(frozen=True)
class Linear(Kernel):
    r"""Inner products of points.

    .. math:: K(x, z) = x \cdot z

    Examples
    --------
    >>> Linear().evaluate([[1.0, 2.0]], [[3.0, 1.0]])
    array([[5.]])
    """

    def _evaluate(self, rows: Array, points: Array) -> Array:
        product: Array = rows @ points.T
        return product

    def _evaluate_alone(self, rows: Array, points: Array, largest: float) -> Array:
        return multiply_alone(rows, np.ascontiguousarray(points.T), largest)

    def _diagonal(self, rows: Array) -> Vector:
        return pairwise_sums(rows * rows)

    def _error(self, bounds: Domain) -> float:
        reach = bounds.row_norm()
        return 1.01 * (bounds.n_features + 1) * limits.UNIT * reach * reach

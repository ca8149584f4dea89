"""The chi-squared kernel of histograms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array, Vector
from discreet.geometry import limits
from discreet.kernels.base import Domain, Kernel
from discreet.kernels.column_distances import relative_squared_difference, sum_over_columns
from discreet.kernels.laplacian import relative_exponent_error


@dataclass(frozen=True)
class ChiSquared(Kernel):
    r"""The chi-squared kernel, for counts and histograms.

    .. math:: K(x, z) = \exp\Big(-\gamma \sum_j \frac{(x_j - z_j)^2}{x_j + z_j}\Big)

    Negative entries count as zero, so that it is a kernel whatever the points are.

    Parameters
    ----------
    gamma
        How fast it falls; public, or tuned with budget.

    Examples
    --------
    >>> ChiSquared().evaluate([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[1.    , 0.1353]])
    """

    gamma: float = 1.0

    works_by_entries: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", limits.size(gamma=self.gamma))

    def _evaluate(self, rows: Array, points: Array) -> Array:
        counts, others = np.maximum(rows, 0.0), np.maximum(points, 0.0)
        distances = sum_over_columns(counts, others, relative_squared_difference)
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def _diagonal(self, rows: Array) -> Vector:
        return np.ones(len(rows))

    def _error(self, bounds: Domain) -> float:
        return relative_exponent_error(bounds.n_features + 8)

"""The Laplacian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._types import Array, Vector
from discreet.geometry import limits
from discreet.kernels.base import ELEMENTARY, Domain, Kernel
from discreet.kernels.column_distances import absolute_difference, sum_over_columns


@dataclass(frozen=True)
class Laplacian(Kernel):
    r"""The Laplacian kernel, of absolute differences.

    .. math:: K(x, z) = e^{-\gamma \lVert x - z \rVert_1}

    Parameters
    ----------
    gamma
        How fast it falls with the sum of absolute differences; public, or tuned with budget.

    Examples
    --------
    >>> Laplacian(gamma=0.5).evaluate([[0.0, 1.0]], [[1.0, 0.0]]).round(4)
    array([[0.3679]])
    """

    gamma: float

    works_by_entries: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", limits.size(gamma=self.gamma))

    def _evaluate(self, rows: Array, points: Array) -> Array:
        distances = sum_over_columns(rows, points, absolute_difference)
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def _diagonal(self, rows: Array) -> Vector:
        return np.ones(len(rows))

    def _error(self, bounds: Domain) -> float:
        return relative_exponent_error(bounds.n_features + 2)


def relative_exponent_error(roundings: int) -> float:
    """Bound the error of exp(-t) if t was rounded so often: t exp(-t) is at most 1/e."""
    return 0.4 * roundings * limits.UNIT + ELEMENTARY

"""Kernels of inner products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet import _checks
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


HIGHEST = 20


@dataclass(frozen=True)
class Polynomial(Kernel):
    r"""A power of the inner product.

    .. math:: K(x, z) = (s \, x \cdot z + c)^p

    Parameters
    ----------
    degree
        The power p, from 1 to 20.
    scale
        What inner products are multiplied by, s.
    offset
        What is added to them, c, not negative: with zero only products of degree p count.

    Examples
    --------
    >>> Polynomial(degree=3).evaluate([[1.0, 0.0]], [[1.0, 1.0]])
    array([[8.]])
    """

    degree: int = 3
    scale: float = 1.0
    offset: float = 1.0

    def __post_init__(self) -> None:
        _checks.whole(degree=self.degree, at_least=1, at_most=HIGHEST)
        _checks.not_negative(offset=self.offset)
        object.__setattr__(self, "degree", int(self.degree))
        object.__setattr__(self, "scale", limits.size(scale=self.scale))
        object.__setattr__(self, "offset", float(self.offset))

    def _evaluate(self, rows: Array, points: Array) -> Array:
        return self._power((self.scale * rows) @ points.T)

    def _evaluate_alone(self, rows: Array, points: Array, largest: float) -> Array:
        products = multiply_alone(rows, np.ascontiguousarray(self.scale * points.T), largest)
        return self._power(products)

    def _diagonal(self, rows: Array) -> Vector:
        return self._power(self.scale * pairwise_sums(rows * rows))

    def _power(self, products: Array) -> Array:
        products += self.offset
        power = products.copy()
        with np.errstate(over="ignore"):
            for _ in range(self.degree - 1):
                power *= products
        return power

    def _error(self, bounds: Domain) -> float:
        """The inner product errs by p + 3 roundings of its largest value, a power by its degree."""
        reach = np.float64(bounds.row_norm())
        largest = self.scale * reach * reach + self.offset
        error = 1.01 * (bounds.n_features + 4) * limits.UNIT * largest
        steepest = self.degree * (largest + error) ** (self.degree - 1)
        rounding = 1.01 * self.degree * limits.UNIT * (largest + error) ** self.degree
        return float(steepest * error + rounding)

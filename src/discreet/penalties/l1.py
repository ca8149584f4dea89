"""The lasso penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Booleans, Vector
from discreet.geometry.limits import UNIT
from discreet.penalties.base import Penalty, underflow


@dataclass(frozen=True)
class L1(Penalty):
    r"""The sum of absolute values, times a weight.

    .. math:: P(w) = a \lVert w \rVert_1

    Parameters
    ----------
    weight : float
        The weight a, zero or more.
    spares_last : bool
        Whether the last coefficient, that of an intercept, is left out of the sum.

    Notes
    -----
    The prox moves every coefficient towards zero by a step, and stops there.

    Examples
    --------
    >>> L1(weight=2.0).value(np.array([1.0, -3.0]))
    8.0
    >>> L1(weight=2.0).prox(np.array([1.0, -3.0]), step=1.0)
    array([ 0., -1.])
    >>> L1(weight=2.0, spares_last=True).prox(np.array([1.0, -3.0]), step=1.0)
    array([ 0., -3.])
    """

    strong_convexity: ClassVar[float] = 0.0

    weight: float
    spares_last: bool = False

    def __post_init__(self) -> None:
        _checks.not_negative(weight=self.weight)
        object.__setattr__(self, "weight", float(self.weight))

    @np.errstate(over="ignore")
    def value(self, w: Vector) -> float:
        counted = w[:-1] if self.spares_last else w
        return float(np.sum(self.weight * np.abs(counted)))

    def _prox(self, w: Vector, step: float) -> Vector:
        return soft_threshold(w, self.distances(w.size, step))

    def _prox_derivative(self, w: Vector, step: float) -> Array:
        return np.diag(is_kept(w, self.distances(w.size, step)).astype(np.float64))

    def distances(self, width: int, step: float) -> float | Vector:
        """Return how far the prox may move each coefficient."""
        if not self.spares_last:
            return self.weight * step
        distances = np.full(width, self.weight * step)
        distances[-1] = 0.0
        return distances

    def prox_error(self, size: float, dimension: int, step_error: float = 0.0) -> float:
        """Count roundings: one in the distance, one in the difference, and underflow.

        An entry that stays zero is exact; any other is at least as large as the distance, up to
        its error, so the distance errs by at most a relative u of the entry.

        Parameters
        ----------
        size, dimension, step_error
            As for :meth:`Penalty.prox_error`.
        """
        return (3 * UNIT + 2 * step_error) * size + underflow(dimension)


def soft_threshold(w: Vector, distance: float | Vector) -> Vector:
    """Move every entry towards zero by ``distance``, stopping at zero."""
    return np.asarray(w - np.clip(w, -distance, distance))


def is_kept(w: Vector, distance: float | Vector) -> Booleans:
    """Say which entries a soft threshold leaves different from zero."""
    kept: Booleans = np.abs(w) > distance
    return kept

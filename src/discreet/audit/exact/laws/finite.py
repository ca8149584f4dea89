"""Laws on finitely many outcomes, and those of two selections.

The two are the exponential mechanism and permute-and-flip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike
from scipy.special import softmax

from discreet import _checks
from discreet._types import Vector
from discreet.audit.exact.laws.base import ROUNDING, CellMasses, OutputLaw, kind_mismatch
from discreet.errors import InputError, InputTypeError

_TOTAL_SLACK = 1e-9


@dataclass(frozen=True, eq=False, init=False)
class FiniteLaw(OutputLaw):
    """The probability of each of finitely many outcomes.

    Parameters
    ----------
    masses
        The probabilities, none negative; they sum to one, up to 1e-9.

    Examples
    --------
    Randomised response that tells the truth with probability 3/4:

    >>> from discreet.audit.exact import true_deltas
    >>> true_deltas(FiniteLaw([0.75, 0.25]), FiniteLaw([0.25, 0.75]), [0.0, np.log(2)])
    array([0.5 , 0.25])
    """

    masses: Vector

    def __init__(self, masses: ArrayLike) -> None:
        values = vector(masses=masses)
        if (values < 0).any():
            raise InputError("masses must not be negative.")
        if abs(float(values.sum()) - 1) > _TOTAL_SLACK:
            raise InputError("masses must sum to one.")
        object.__setattr__(self, "masses", values)

    def cell_masses(self, other: OutputLaw) -> CellMasses:
        if not isinstance(other, FiniteLaw):
            raise kind_mismatch(self, other)
        if self.masses.size != other.masses.size:
            raise InputError(
                f"two finite laws need the same outcomes; got {self.masses.size} and "
                f"{other.masses.size}."
            )
        error = 4 * ROUNDING
        return CellMasses(self.masses, other.masses, error * self.masses, error * other.masses)


def exponential_selection(scores: ArrayLike, loss: float) -> FiniteLaw:
    r"""Return the law of the exponential mechanism: masses proportional to exp(loss * score).

    Examples
    --------
    >>> exponential_selection([0.0, 0.0, np.log(2)], 1.0).masses
    array([0.25, 0.25, 0.5 ])
    """
    _checks.positive(loss=loss)
    return FiniteLaw(softmax(loss * vector(scores=scores)))


def permute_and_flip(scores: ArrayLike, loss: float) -> FiniteLaw:
    r"""Return the law of permute-and-flip: the first success, in random order, is selected.

    A candidate succeeds with probability :math:`p_i = \exp(loss (q_i - \max q))`. A random order is
    that of independent uniform times, so candidate i is selected with probability

    .. math:: p_i \int_0^1 \prod_{j \ne i} (1 - p_j t) \, dt,

    a polynomial that Gauss' rule integrates exactly.

    References
    ----------
    McKenna, Sheldon (2020), Permute-and-flip: a new mechanism for differentially private selection.

    Examples
    --------
    >>> permute_and_flip([0.0, -np.log(2)], 1.0).masses
    array([0.75, 0.25])
    """
    _checks.positive(loss=loss)
    values = vector(scores=scores)
    chances = np.exp(loss * (values - values.max()))
    nodes, weights = leggauss(values.size // 2 + 1)
    fails = 1 - chances * (1 + nodes[:, None]) / 2
    others = ~np.eye(values.size, dtype=bool)
    nobody_before = np.array([np.prod(fails, axis=1, where=mask) for mask in others])
    return FiniteLaw(chances * (nobody_before @ weights) / 2)


def vector(**values: ArrayLike) -> Vector:
    """Return finite numbers along one axis, or say what is wrong with them."""
    ((name, value),) = values.items()
    try:
        numbers = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(f"{name} must be numbers.") from None
    if numbers.ndim != 1 or numbers.size == 0:
        raise InputError(f"{name} must be at least one number along one axis.")
    if not np.isfinite(numbers).all():
        raise InputError(f"{name} must be finite numbers.")
    return numbers

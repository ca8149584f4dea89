"""The interface of a law, and what two laws give to the cells of one partition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from discreet._types import Vector
from discreet.errors import InputTypeError

ROUNDING = 2.0**-53


@dataclass(frozen=True, eq=False)
class CellMasses:
    """The masses that two laws give to the cells of one partition of the outcomes.

    Telling the cell instead of the outcome is post-processing, so masses that are exact, up to the
    errors stated with them, have a privacy profile that is never above the true one.

    Parameters
    ----------
    first, second
        The mass of each cell.
    first_error, second_error
        Bounds on the rounding error of each mass.
    coarser
        The same laws on fewer cells, where a mass is a quadrature and not exact: how much the
        profile changes is the estimate of its error. None of them if masses are exact.

    Examples
    --------
    >>> from discreet.audit.exact.laws import FiniteLaw
    >>> FiniteLaw([0.5, 0.5]).cell_masses(FiniteLaw([0.2, 0.8])).second.tolist()
    [0.2, 0.8]
    """

    first: Vector
    second: Vector
    first_error: Vector
    second_error: Vector
    coarser: tuple[CellMasses, ...] = ()


class OutputLaw(ABC):
    """The law of a released value.

    The output distribution of a mechanism on one data set.

    Examples
    --------
    >>> from discreet.audit.exact.laws import FiniteLaw, MovedNoise
    >>> def finest(law: OutputLaw, other: OutputLaw) -> int:
    ...     return law.cell_masses(other).first.size
    >>> finest(FiniteLaw([0.5, 0.5]), FiniteLaw([0.2, 0.8]))
    2
    >>> finest(MovedNoise(0.0, 1.0), MovedNoise(1.0, 1.0)) > 1000
    True
    """

    @abstractmethod
    def cell_masses(self, other: OutputLaw) -> CellMasses:
        """Return the masses of this law and another one on cells that suit both."""


def kind_mismatch(first: OutputLaw, second: object) -> InputTypeError:
    """Return the refusal of two laws that have no outcomes in common."""
    return InputTypeError(
        f"laws are compared with laws of the same outcomes; got {type(first).__name__} and "
        f"{type(second).__name__}."
    )

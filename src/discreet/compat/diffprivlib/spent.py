"""An epsilon and a delta, as diffprivlib hands them out."""

from __future__ import annotations

import math
from typing import NamedTuple, Self

from discreet import _checks
from discreet.errors import InputError


class _Pair(NamedTuple):
    epsilon: float
    delta: float


class Spent(_Pair):
    """An epsilon and a delta; one is at least another only if *both* of its numbers are.

    Parameters
    ----------
    epsilon
        Zero or positive; it may be infinite.
    delta
        From zero to one.

    Examples
    --------
    >>> Spent(2.0, 0.0) >= Spent(1.0, 0.0), Spent(2.0, 0.0) >= Spent(1.0, 0.5)
    (True, False)
    >>> Spent(1.0, 0.0) == (1.0, 0.0), Spent(1.0, 0.0).epsilon
    (True, 1.0)
    """

    __slots__ = ()

    def __new__(cls, epsilon: float, delta: float) -> Self:
        """Refuse what is no epsilon or no delta; an infinite epsilon is one."""
        _checks.fraction(delta=delta)
        if epsilon != math.inf:
            _checks.not_negative(epsilon=epsilon)
        return super().__new__(cls, epsilon, delta)

    def __ge__(self, other: tuple[float, ...]) -> bool:
        epsilon, delta = _unpack(other)
        return self.epsilon >= epsilon and self.delta >= delta

    def __le__(self, other: tuple[float, ...]) -> bool:
        epsilon, delta = _unpack(other)
        return self.epsilon <= epsilon and self.delta <= delta

    def __gt__(self, other: tuple[float, ...]) -> bool:
        return self >= other and self != other

    def __lt__(self, other: tuple[float, ...]) -> bool:
        return self <= other and self != other


def _unpack(pair: tuple[float, ...]) -> tuple[float, float]:
    if len(pair) != 2:
        raise InputError("an epsilon and a delta compare with such a pair only.")
    return pair[0], pair[1]

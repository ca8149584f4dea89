"""Pure epsilon, and epsilon except with probability delta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.privacy.profile import SAFETY, Profile, orders_above_one


@dataclass(frozen=True, init=False)
class Pure(Profile):
    r"""Pure differential privacy: probabilities change by at most a factor of e**epsilon.

    Randomised response is the worst case:
    :math:`\delta(e) = (1 - e^{e - \epsilon}) / (1 + e^{-\epsilon})` below epsilon, zero above.

    Parameters
    ----------
    epsilon
        The logarithm of that factor; positive and finite.

    References
    ----------
    Kairouz, Oh, Viswanath (2015).

    Examples
    --------
    >>> Pure(1.0).delta(1.0), Pure(1.0).epsilon(0.0)
    (0.0, 1.0)
    """

    kind: ClassVar[str] = "pure"
    level: float

    def __init__(self, epsilon: float) -> None:
        object.__setattr__(self, "level", epsilon)
        self.__post_init__()

    def __post_init__(self) -> None:
        _checks.positive(epsilon=self.level)

    @property
    def pure_epsilon(self) -> float:
        return self.level

    def bound(self, epsilons: Vector) -> Vector:
        gap = np.maximum(self.level - epsilons, 0.0)
        value: Vector = -np.expm1(-gap) * _chance_of_truth(self.level)
        return value

    def rdp(self, orders: ArrayLike) -> Vector:
        r"""Return the curve of randomised response.

        .. math:: \ln\frac{\cosh((\alpha - 1/2)\epsilon)}{\cosh(\epsilon/2)} / (\alpha - 1)
        """
        above = orders_above_one(orders) - 1
        lift = above * self.level
        near = np.minimum(lift, 1.0)
        small = np.log1p(2 * np.sinh(near / 2) ** 2 + np.sinh(near) * math.tanh(self.level / 2))
        large = lift + np.log1p(np.exp(-2 * lift - self.level)) - np.log1p(math.exp(-self.level))
        return np.minimum(np.where(lift <= 1, small, large) / above * SAFETY, self.level)


@dataclass(frozen=True, init=False)
class Approximate(Profile):
    """(epsilon, delta)-differential privacy: one point of a profile, and nothing else known.

    Parameters
    ----------
    epsilon
        Zero or positive.
    delta
        The probability of the exception; with zero it is a pure guarantee.

    Examples
    --------
    >>> Approximate(1.0, 1e-6).delta(1.0), Approximate(1.0, 1e-6).epsilon(1e-6)
    (1e-06, 1.0)
    """

    kind: ClassVar[str] = "approximate"
    safety: ClassVar[float] = 1.0  # the stated point must come back as it is
    level: float
    exception: float

    def __init__(self, epsilon: float, delta: float) -> None:
        object.__setattr__(self, "level", epsilon)
        object.__setattr__(self, "exception", delta)
        self.__post_init__()

    def __post_init__(self) -> None:
        _checks.not_negative(epsilon=self.level)
        _checks.delta(delta=self.exception)

    @property
    def pure_epsilon(self) -> float:
        return self.level if self.exception == 0 else math.inf

    @property
    def failure(self) -> float:
        return self.exception

    @property
    def core(self) -> Profile:
        return Pure(max(self.level, 1e-300))

    def epsilon(self, delta: float) -> float:
        return self.level if delta == self.exception else super().epsilon(delta)

    def bound(self, epsilons: Vector) -> Vector:
        gap = np.maximum(self.level - epsilons, 0.0)
        inside = -np.expm1(-gap) * _chance_of_truth(self.level)
        value: Vector = self.exception + (1 - self.exception) * inside * SAFETY
        return value

    def rdp(self, orders: ArrayLike) -> Vector:
        if self.exception == 0:
            return self.core.rdp(orders)
        return np.full(orders_above_one(orders).shape, math.inf)


def _chance_of_truth(level: float) -> float:
    """Return how often randomised response tells the truth: the logistic function of ``level``."""
    return 1 / (1 + math.exp(-level))

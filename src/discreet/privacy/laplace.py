"""The Laplace profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.privacy.profile import Profile, orders_above_one


@dataclass(frozen=True, init=False)
class Laplace(Profile):
    r"""Laplace noise whose scale is the l1 sensitivity over ``epsilon``, in any dimension.

    .. math:: \delta(e) = 1 - \exp((e - \epsilon)/2), \quad 0 \le e \le \epsilon

    Parameters
    ----------
    epsilon
        The l1 sensitivity over the scale of the noise; positive.

    Notes
    -----
    One coordinate that takes the whole l1 sensitivity is the worst case. With
    :math:`g_a(e) = (1 - \delta_a(e)) e^{-e/2} = \exp(-\max(a, |e|)/2)`, independent coordinates of
    shifts :math:`a \ge b` have :math:`g(e) = e^{-(a+b)/2} (1 + (2b - u)/4)` for
    :math:`0 \le e \le a + b` and :math:`u = (e + b - a)_+ \le 2b`, which is at least
    :math:`g_{a+b}(e)`: their delta is at most that of one coordinate of shift a + b. Induct.

    Examples
    --------
    >>> Laplace(1.0).delta(1.0), round(Laplace(1.0).delta(0.0), 6)
    (0.0, 0.393469)
    """

    kind: ClassVar[str] = "laplace"
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
        value: Vector = -np.expm1(np.minimum(epsilons - self.level, 0.0) / 2)
        return value

    def rdp(self, orders: ArrayLike) -> Vector:
        r"""Return the curve of Mironov (2017), table II.

        .. math:: \frac{1}{\alpha - 1} \ln \frac{\alpha e^{(\alpha - 1)\epsilon} +
                  (\alpha - 1) e^{-\alpha\epsilon}}{2\alpha - 1}
        """
        orders = orders_above_one(orders)
        level = min(self.level, 1e200)
        rise, fall = (orders - 1) * level, orders * level
        near = np.minimum(rise, 1.0)
        excess = (orders * np.expm1(near) + (orders - 1) * np.expm1(-fall)) / (2 * orders - 1)
        large = rise + np.log((orders + (orders - 1) * np.exp(-rise - fall)) / (2 * orders - 1))
        moment = np.where(rise < 1, np.log1p(excess), large)
        # The two first-order terms cancel; what is lost is below 2**-50 of either.
        return np.minimum((moment + 2.0**-50 * np.minimum(rise, 1)) / (orders - 1), self.level)

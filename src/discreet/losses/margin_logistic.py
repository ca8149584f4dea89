"""The logistic loss that asks for a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, log_expit

from discreet import _checks
from discreet._types import Array
from discreet.geometry.limits import round_up
from discreet.losses.base import ProbabilisticLoss


@dataclass(frozen=True)
class MarginLogistic(ProbabilisticLoss):
    r"""Logistic loss that charges for margins below m, for labels in {-1, +1}.

    .. math:: \ell(y, z) = \log(1 + e^{m - yz})

    Parameters
    ----------
    margin : float
        The margin m, zero or more; zero is logistic regression.

    Notes
    -----
    Noise is calibrated to the largest slope, 1. Noise and penalty keep margins small, where the
    slope of the logistic loss is 1/2 and that of this one, with m = 2, is 0.88: the same noise
    hides a larger signal.

    With s the logistic function, the absolute slope is s(m - yz), largest at yz = -reach; the
    curvature s(1 - s) peaks at yz = m with value 1/4, or at yz = reach if m is out of reach.
    Shifting z changes neither inequality of the logistic loss: kappa0 = 1 and M = 1.

    Probabilities: p times the slope for +1 plus 1 - p times the slope for -1 vanishes at
    :math:`p = s(m + z) / (s(m + z) + s(m - z))`, computed as
    :math:`s(\log s(m + z) - \log s(m - z))`. It is not s(z).

    References
    ----------
    Reid, Williamson (2010), Composite binary losses.

    Examples
    --------
    >>> loss = MarginLogistic(margin=2.0)
    >>> round(float(loss.slope(1.0, 0.0)), 2)
    -0.88
    >>> loss.probability(np.array([-2.0, 0.0, 2.0])).round(2)
    array([0.34, 0.5 , 0.66])
    """

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = True
    is_one_signed: ClassVar[bool] = True
    joint_smoothness: ClassVar[float] = 1.0
    self_concordance: ClassVar[float] = 1.0

    margin: float = 2.0

    def __post_init__(self) -> None:
        _checks.not_negative(margin=self.margin)
        object.__setattr__(self, "margin", float(self.margin))

    def value(self, y: Array, z: Array) -> Array:
        values: Array = np.logaddexp(0.0, self.margin - y * z)
        return values

    def slope(self, y: Array, z: Array) -> Array:
        return -y * expit(self.margin - y * z)

    def curvature(self, y: Array, z: Array) -> Array:
        shortfall = self.margin - y * z
        return expit(shortfall) * expit(-shortfall)

    def probability(self, z: Array) -> Array:
        return expit(log_expit(self.margin + z) - log_expit(self.margin - z))

    def _lipschitz(self, reach: float) -> float:
        return min(1.0, round_up(float(expit(self.margin + reach))))

    def _smoothness(self, reach: float) -> float:
        # Rounded towards the peak, so that the curvature there is no smaller than the true one.
        shortfall = max(math.nextafter(self.margin - reach, 0.0), 0.0)
        return min(0.25, round_up(float(expit(shortfall) * expit(-shortfall))))

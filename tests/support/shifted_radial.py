r"""The exact profile of radial noise moved by a known distance.

Two copies of :math:`\exp(-\|b\|/s)` centred at foci a distance :math:`a` apart: in spheroidal
coordinates :math:`\sigma = (r_1 + r_2)/a \ge 1` and :math:`\tau = (r_1 - r_2)/a \in [-1, 1]` the
privacy loss is :math:`-\tau a/s`, and the volume element is proportional to
:math:`(\sigma^2 - \tau^2) [(\sigma^2 - 1)(1 - \tau^2)]^{(p-3)/2}`. The integral over sigma is a
Bessel function, so one over tau is left.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gamma, kve

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(400)


class ShiftedRadial:
    """Radial noise in two or more dimensions, moved by ``shift`` times its scale."""

    def __init__(self, shift, dimension):
        self.shift, self.order = shift, (dimension - 2) / 2
        self._total = self._integral(math.pi, lambda loss: np.ones_like(loss))

    def delta(self, epsilon):
        if epsilon >= self.shift:
            return 0.0
        end = math.acos(epsilon / self.shift)
        excess = self._integral(end, lambda loss: -np.expm1(epsilon - loss))
        return float(excess / self._total)

    def _integral(self, end, function):
        """Integrate over the angle whose cosine is -tau, from 0 to ``end``."""
        angles, weights = (_NODES + 1) * end / 2, _WEIGHTS * end / 2
        loss, sine = self.shift * np.cos(angles), np.sin(angles)
        half, order = self.shift / 2, self.order

        def over_sigma(power):
            return gamma(power + 0.5) * (2 / half) ** power * kve(power, half)

        density = np.exp((loss - self.shift) / 2) * sine ** (2 * order)
        density *= over_sigma(order + 1) + sine**2 * over_sigma(order)
        return weights @ (density * function(loss))

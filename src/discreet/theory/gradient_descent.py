r"""Noisy gradient descent with enough steps.

Full gradients with Gaussian noise of deviation :math:`\sqrt T aG/\mu` are mu-Gaussian private after
T steps, however many. With S the root mean square of a noisy gradient, the average of T steps is
within :math:`DS/\sqrt T`, and within :math:`2S^2/(m(T+1))` if F is m-strongly convex and late
steps count more. As soon as :math:`T \ge ((nG + \Lambda D)\mu)^2/(a^2G^2p)`, the noise is at least
half of :math:`S^2`, which gives the values here.
"""

from __future__ import annotations

import math

from discreet.theory import needs
from discreet.theory.bound import Bound
from discreet.theory.setting import Setting


def _noise_a_step(setting: Setting) -> float:
    return math.sqrt(setting.p) * setting.row_change / setting.mu


def _convex_excess(setting: Setting) -> float:
    return math.sqrt(2) * setting.diameter * _noise_a_step(setting)


def _strongly_convex_excess(setting: Setting) -> float:
    return 4 * _noise_a_step(setting) ** 2 / setting.curvature


def steps(setting: Setting) -> int:
    """Return the number of steps from which on the bounds of gradient descent hold.

    Examples
    --------
    >>> steps(Setting(n=1000, p=10, epsilon=1.0, delta=1e-6))
    1401
    """
    steepest = setting.n * setting.lipschitz
    if setting.ridge > 0:
        steepest += setting.ridge * setting.diameter
    return max(1, math.ceil((steepest / _noise_a_step(setting)) ** 2))


GRADIENT_DESCENT = (
    Bound(
        name="gradient descent",
        theorem="BST14 Theorem II.4(1)",
        kind="upper",
        privacy="approximate",
        formula="sqrt(2) a G D sqrt(p)/mu",
        evaluate=_convex_excess,
        needs=(needs.DELTA, needs.BOUNDED),
        mechanism="noisy_gradient",
    ),
    Bound(
        name="gradient descent, strongly convex",
        theorem="BST14 Theorem II.4(2)",
        kind="upper",
        privacy="approximate",
        formula="4 p (a G/mu)^2/m",
        evaluate=_strongly_convex_excess,
        needs=(needs.DELTA, needs.BOUNDED, needs.CURVED),
        mechanism="noisy_gradient",
    ),
)

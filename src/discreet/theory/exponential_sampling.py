r"""The exponential mechanism on a convex set, and localization before it.

Of a density proportional to :math:`e^{-cF}` on a convex set, F exceeds its minimum by p/c on
average at most; :math:`c = \epsilon/(aGD)` is :math:`\epsilon`-private, and the ridge, being
public, is free.

Localization spends half of epsilon on output perturbation, which finds a ball of radius
:math:`r = Q\, aG/(m\epsilon/2)` around the minimiser, Q the quantile of the norm of its noise that
fails with chance :math:`n^{-2}`; the other half on the exponential mechanism inside a set of
diameter at most 2r. A failure costs at most :math:`nGD + \Lambda D^2/2`.

The library draws up to six coefficients so, and for more of them names no mechanism here.
"""

from __future__ import annotations

from scipy.special import gammainccinv

from discreet.theory import needs
from discreet.theory.bound import Bound
from discreet.theory.setting import Setting


def _excess_on_a_set(setting: Setting) -> float:
    return setting.p * setting.row_change * setting.diameter / setting.epsilon


def _localised_excess(setting: Setting) -> float:
    half, failure = setting.epsilon / 2, float(setting.n) ** -2
    norm = float(gammainccinv(setting.p, failure))
    radius = norm * setting.row_change / (setting.public_curvature * half)
    width = min(2 * radius, setting.diameter)
    inside = setting.p * setting.row_change * width / half
    worst = setting.n * setting.lipschitz + setting.ridge * setting.diameter / 2
    return inside + failure * worst * setting.diameter


EXPONENTIAL = (
    Bound(
        name="exponential mechanism",
        theorem="BST14 Theorem III.2",
        kind="upper",
        privacy="pure",
        formula="a p G D/eps",
        evaluate=_excess_on_a_set,
        needs=(needs.BOUNDED,),
    ),
    Bound(
        name="localization",
        theorem="BST14 Theorem IV.3",
        kind="upper",
        privacy="pure",
        formula="2 a p G min(2r, D)/eps + (nG + Lam D/2) D/n^2, r = 2 a G Q/(m eps)",
        evaluate=_localised_excess,
        needs=(needs.BOUNDED, needs.KNOWN_CURVED),
    ),
)

r"""Output perturbation: noise b on the minimiser of F with a larger ridge.

With s the curvature that neighbours share, a ridge added to it included, the minimisers of
neighbours are aG/s apart, and b has size :math:`c/s` with :math:`c = aG/\epsilon` (radial noise,
:math:`E\|b\| = pc/s`, :math:`E\|b\|^2 = p(p+1)c^2/s^2`) or :math:`c = aG/\mu` (Gaussian,
:math:`E\|b\|^2 = pc^2/s^2`). An added ridge of :math:`s - s_0` costs :math:`(s - s_0)B^2/2`; the
noise costs, by what is known of F,

- on a bounded set, projected: :math:`(nG + \Lambda D) E\|b\|`, the Lipschitz constant of F;
- on the whole space, smooth: :math:`(n\beta + \Lambda) E\|b\|^2/2`, since b has mean zero;
- on the whole space, functions of margins: :math:`nG\,E|b_1| + \Lambda E\|b\|^2/2`, since the noise
  in a margin is that in one direction.

Each is u/s + v/s^2, and the ridge is chosen best.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from scipy.special import gammaln

from discreet.theory import needs
from discreet.theory.bound import Bound, Need
from discreet.theory.setting import Setting


@dataclass(frozen=True)
class NoiseMoments:
    """The mean norm, mean square norm and mean size in one direction of noise of scale one."""

    scale: float
    norm: float
    square: float
    along: float


def radial_moments(setting: Setting) -> NoiseMoments:
    """Return noise of density exp(-norm / scale)."""
    p = setting.p
    along = p * math.exp(gammaln(p / 2) - gammaln((p + 1) / 2)) / math.sqrt(math.pi)
    return NoiseMoments(setting.row_change / setting.epsilon, p, p * (p + 1.0), along)


def gaussian_moments(setting: Setting) -> NoiseMoments:
    """Return Gaussian noise."""
    p = setting.p
    return NoiseMoments(setting.row_change / setting.mu, math.sqrt(p), p, math.sqrt(2 / math.pi))


Cost = Callable[[Setting, NoiseMoments], tuple[float, float]]


def _cost_on_a_set(setting: Setting, noise: NoiseMoments) -> tuple[float, float]:
    steepest = setting.n * setting.lipschitz + setting.ridge * setting.diameter
    return steepest * noise.norm * noise.scale, 0.0


def _cost_if_smooth(setting: Setting, noise: NoiseMoments) -> tuple[float, float]:
    bend = setting.n * setting.smoothness + setting.ridge
    return 0.0, bend / 2 * noise.square * noise.scale**2


def _cost_of_margins(setting: Setting, noise: NoiseMoments) -> tuple[float, float]:
    along = setting.n * setting.lipschitz * noise.along * noise.scale
    return along, setting.ridge / 2 * noise.square * noise.scale**2


def minimise_over_ridge(u: float, v: float, start: float, reach: float) -> tuple[float, float]:
    """Minimise u/s + v/s^2 + (s - start) reach^2/2 over s >= start; return s and the value."""
    from scipy.optimize import brentq  # slow to import

    from_u, from_v = math.sqrt(2 * u) / reach, (4 * v / reach**2) ** (1 / 3)

    def slope(s: float) -> float:
        return reach**2 / 2 - u / s**2 - 2 * v / s**3

    low, high = max(from_u, from_v), from_u + from_v
    best = low if slope(low) >= 0 or slope(high) <= 0 else float(brentq(slope, low, high))
    s = max(start, best)
    return s, u / s + v / s**2 + (s - start) * reach**2 / 2


def _make_bound(
    words: str,
    theorem: str,
    law: Literal["radial", "gaussian"],
    cost: Cost,
    formula: str,
    conditions: tuple[Need, ...],
) -> Bound:
    noise_of = radial_moments if law == "radial" else gaussian_moments

    def solution(setting: Setting) -> tuple[float, float]:
        u, v = cost(setting, noise_of(setting))
        return minimise_over_ridge(u, v, setting.public_curvature, setting.reach)

    def total_ridge(setting: Setting) -> float:
        added = solution(setting)[0] - setting.public_curvature
        return setting.ridge + added

    return Bound(
        name=f"output perturbation, {law}, {words}",
        theorem=theorem,
        kind="upper",
        privacy="pure" if law == "radial" else "approximate",
        formula=f"{formula} + (s - s0) B^2/2, s >= s0 best",
        evaluate=lambda setting: solution(setting)[1],
        needs=(*((needs.DELTA,) if law == "gaussian" else ()), *conditions, needs.REACH),
        mechanism="output_perturbation",
        total_ridge=total_ridge,
    )


_SET = (needs.BOUNDED,)
_SPACE = (needs.WHOLE_SPACE, needs.SMOOTH)
_MARGINS = (needs.WHOLE_SPACE, needs.MARGINS)

OUTPUT_PERTURBATION = (
    _make_bound(
        "on a set",
        "BST14 section I-A, Localization",
        "radial",
        _cost_on_a_set,
        "(nG + Lam D) p a G/(s eps)",
        _SET,
    ),
    _make_bound(
        "on a set",
        "BST14 section I-A, Localization",
        "gaussian",
        _cost_on_a_set,
        "(nG + Lam D) sqrt(p) a G/(s mu)",
        _SET,
    ),
    _make_bound(
        "smooth",
        "CM08 Lemma 3",
        "radial",
        _cost_if_smooth,
        "(n beta + Lam)/2 p(p+1) (a G/(s eps))^2",
        _SPACE,
    ),
    _make_bound(
        "smooth",
        "CM08 Lemma 3",
        "gaussian",
        _cost_if_smooth,
        "(n beta + Lam)/2 p (a G/(s mu))^2",
        _SPACE,
    ),
    _make_bound(
        "of margins",
        "Output perturbation in docs/theory.md",
        "radial",
        _cost_of_margins,
        "nG h a G/(s eps) + Lam/2 p(p+1) (a G/(s eps))^2",
        _MARGINS,
    ),
    _make_bound(
        "of margins",
        "JT14 Theorem 1",
        "gaussian",
        _cost_of_margins,
        "nG sqrt(2/pi) a G/(s mu) + Lam/2 p (a G/(s mu))^2",
        _MARGINS,
    ),
)

r"""Noise on the minimiser, and noise in the objective.

**Output perturbation** adds noise b to the minimiser of F with a larger ridge. With s the curvature
that neighbours share, a ridge added to it included, the minimisers of neighbours are aG/s apart,
and b has size :math:`c/s` with :math:`c = aG/\epsilon` (radial noise, :math:`E\|b\| = pc/s`,
:math:`E\|b\|^2 = p(p+1)c^2/s^2`) or :math:`c = aG/\mu` (Gaussian, :math:`E\|b\|^2 = pc^2/s^2`). An
added ridge of :math:`s - s_0` costs :math:`(s - s_0)B^2/2`; the noise costs, by what is known of F,

- on a bounded set, projected: :math:`(nG + \Lambda D) E\|b\|`, the Lipschitz constant of F;
- on the whole space, smooth: :math:`(n\beta + \Lambda) E\|b\|^2/2`, since b has mean zero;
- on the whole space, functions of margins: :math:`nG\,E|b_1| + \Lambda E\|b\|^2/2`, since the noise
  in a margin is that in one direction.

Each is u/s + v/s^2, and the ridge is chosen best.

**Objective perturbation** adds a random linear term, and a ridge of s in all. For every draw b the
excess is at most :math:`\|b\|^2/(2(n\Delta + s)) + (s - \Lambda)B^2/2`. The ridge is at least so
large that the Jacobian, ln K, takes a tenth of epsilon, and the noise is calibrated to the rest:
:math:`E\|b\|^2 = p(p+1)(aG/(0.9\epsilon))^2` for radial noise, and :math:`p\sigma^2` for Gaussian
noise with the smallest sigma that the profile of the mechanism allows for losses of either sign.
Where more is known, such as joint smoothness, less noise will do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from scipy.special import gammaln

from discreet.privacy import Budget, ShiftedGaussian, calibrate
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


JACOBIAN_SHARE = 0.1
"""Of epsilon, for the volume element."""


def _radial_square(setting: Setting) -> float:
    scale = setting.row_change / ((1 - JACOBIAN_SHARE) * setting.epsilon)
    return setting.p * (setting.p + 1) * scale**2


def _gaussian_square(setting: Setting) -> float:
    multiplier = _multiplier(setting.epsilon, setting.delta, setting.rows_are_public)
    return setting.p * (multiplier * setting.lipschitz) ** 2


@lru_cache(maxsize=256)
def _multiplier(epsilon: float, delta: float, is_replace: bool) -> float:
    """Return the deviation over the largest gradient of a row."""

    def profile(noise: float) -> ShiftedGaussian:
        return ShiftedGaussian(
            mu=1 / noise,
            log_ratio=JACOBIAN_SHARE * epsilon,
            joint=None,
            is_one_signed=False,
            is_replace=is_replace,
        )

    return calibrate(profile, Budget(epsilon, delta))


def _least_ridge(setting: Setting) -> float:
    """Return the ridge from which on one row changes ln K by its share at most."""
    rank = 1 if setting.is_generalised_linear else setting.p
    share = JACOBIAN_SHARE * setting.epsilon / rank
    return setting.smoothness * math.exp(-share) / -math.expm1(-share)


def _solution(setting: Setting, square: float) -> tuple[float, float]:
    """Return the best ridge and the bound."""
    curved = setting.n * setting.strong_convexity
    wanted = math.sqrt(square) / setting.reach - curved
    s = max(setting.ridge, _least_ridge(setting), wanted)
    return s, square / (2 * (curved + s)) + (s - setting.ridge) * setting.reach**2 / 2


OBJECTIVE_PERTURBATION = (
    Bound(
        name="objective perturbation, radial",
        theorem="CM08 Lemma 4, Thesis Lemma 3.19",
        kind="upper",
        privacy="pure",
        formula="p(p+1) (a G/(0.9 eps))^2/(2(n Delta + s)) + (s - Lam) B^2/2, "
        "s >= beta/(e^(eps/(10 k)) - 1) best",
        evaluate=lambda setting: _solution(setting, _radial_square(setting))[1],
        needs=(needs.SMOOTH, needs.REACH),
        mechanism="objective_perturbation",
        total_ridge=lambda setting: _solution(setting, _radial_square(setting))[0],
    ),
    Bound(
        name="objective perturbation, gaussian",
        theorem="Thesis Theorem 3.20(2)",
        kind="upper",
        privacy="approximate",
        formula="p sigma^2/(2(n Delta + s)) + (s - Lam) B^2/2, s >= beta/(e^(eps/10) - 1) best",
        evaluate=lambda setting: _solution(setting, _gaussian_square(setting))[1],
        needs=(needs.DELTA, needs.SMOOTH, needs.MARGINS, needs.REACH),
        mechanism="objective_perturbation",
        total_ridge=lambda setting: _solution(setting, _gaussian_square(setting))[0],
    ),
)

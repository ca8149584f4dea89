r"""Objective perturbation: a random linear term, and a ridge of s in all.

For every draw b the excess is at most :math:`\|b\|^2/(2(n\Delta + s)) + (s - \Lambda)B^2/2`. The
ridge is at least so large that the Jacobian, ln K, takes a tenth of epsilon, and the noise is
calibrated to the rest: :math:`E\|b\|^2 = p(p+1)(aG/(0.9\epsilon))^2` for radial noise, and
:math:`p\sigma^2` for Gaussian noise with the smallest sigma that the profile of the mechanism
allows for losses of either sign. Where more is known, such as joint smoothness, less noise will do.
"""

from __future__ import annotations

import math
from functools import lru_cache

from discreet.privacy import Budget, ShiftedGaussian, calibrate
from discreet.theory import needs
from discreet.theory.bound import Bound
from discreet.theory.setting import Setting

JACOBIAN_SHARE = 0.1
"""Of epsilon, for the volume element."""


def _radial_square(setting: Setting) -> float:
    scale = setting.row_change / ((1 - JACOBIAN_SHARE) * setting.epsilon)
    return setting.p * (setting.p + 1) * scale**2


def _gaussian_square(setting: Setting) -> float:
    multiplier = _multiplier(setting.epsilon, setting.delta, setting.count_is_public)
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

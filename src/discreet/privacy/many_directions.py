r"""Rules for objective perturbation where one person has several rows, which point anywhere.

Rows of one person that weigh W together move the linear term by at most :math:`m = W L R/\sigma` if
the person is added or removed, and by twice that, the rows of both persons together, if one is
replaced. Each row has a direction of its own, which does not turn with the coefficients. With
:math:`s_j` the noise along it, a standard normal variable, :math:`q_j \in [0, 1]` the size of its
slope and :math:`\sum a_j \le m`, the privacy loss is in either order at most

.. math:: \sum q_j a_j s_j + \tfrac12 \bigl|\sum q_j a_j v_j\bigr|^2
    + \{\ln K_W \text{ or } \sum k_j (1 - q_j)\}, \quad \sum k_j \le k_W,

the latter for jointly smooth losses. How the :math:`s_j` depend on one another is not known. Write
e for :math:`\epsilon - \ln K_W`, d for the Gaussian profile:

=========== =============================================== ======================================
slopes      rule                                            valid when
=========== =============================================== ======================================
one-signed  mean of max(0, m t + m^2/2) over e, tilted       e >= 0
one-signed  d(e; m)                                          e >= sqrt(3) m + m^2/2
two-signed  mean of m abs(t) + m^2/2 over e, tilted          e >= 0
two-signed  2 d(e; m)                                        e >= 1.2396 m + m^2/2
=========== =============================================== ======================================

and for jointly smooth losses, with epsilon itself:

=========== =============================================== ======================================
add/remove  the means above, but at least :math:`k_W`        eps >= k_W
add/remove  d(eps; m) + d(eps - m^2/4; m/sqrt(2)), or        eps >= 2 k_W and
            2 d(eps; m) if two-signed                        eps >= 1.2396 m + m^2/2
replace     mean of max(k_W, h t + h m/2)                    eps >= k_W; if two-signed
            + max(0, h t + h m/2) over eps, h = m/2,         eps >= k_W + m^2/4
            tilted; abs(t) for t if two-signed               and eps >= m^2/2
=========== =============================================== ======================================

*Means.* Every term of the loss is an increasing convex function of one standard normal variable,
and of all couplings the mean of a convex function of their sum is largest when all of them see the
same t. Delta is the mean of :math:`(1 - e^{\epsilon - Z})_+`, and
:math:`(1 - e^{-x})_+ \le e^{-t} (x - \tau)_+` with :math:`\tau = 1 + t - e^t` for every t >= 0, the
tangent at t, which is convex in x: the mean excess over :math:`\epsilon - (e^t - 1 - t)`, times
:math:`e^{-t}`. The best tilt t is looked for; any is sound.

*Tails* rest on a theorem of Szekely and Bakirov (2003): of all positive semidefinite quadratic
forms in normal variables with mean one the square of one variable has the heaviest tail, beyond
1.5364.

The proofs are in ``mechanisms/objective_perturbation.md``, "Persons".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from discreet._types import Vector
from discreet.privacy.gaussian import BEYOND, gaussian_delta, mills_ratio
from discreet.privacy.profile import SAFETY, SMALLEST

ONE_SIGNED_TAIL = math.sqrt(3)
"""In deviations: from where the tail of several rows is that of one."""

FORMS_TAIL = math.sqrt(1.5364)
"""In deviations: from where no quadratic form has a heavier tail than one square."""

_STEPS = 7
"""Of Newton's method for the best tilt; whatever it finds is sound."""


@dataclass(frozen=True)
class PartialBound:
    """A bound on delta that holds from one epsilon on."""

    start: float
    bound: Callable[[Vector], Vector]


MeanExcess = Callable[[Vector], tuple[Vector, Vector, Vector]]
"""Of a loss over each epsilon: the mean excess, and its first two derivatives but for signs."""


def rules_of_many(
    shift: float, log_ratio: float, joint: float | None, *, is_one_signed: bool, is_replace: bool
) -> tuple[PartialBound, ...]:
    """Return every rule that holds for rows of any directions.

    The shift is that of all rows that differ together; ``log_ratio`` bounds what they do to the
    logarithm of the volume element, ``joint`` the same at slope zero for jointly smooth losses.
    """
    sides = 1 if is_one_signed else 2
    plain = partial(_excess_of_sum, shift, is_one_signed)
    tail = (ONE_SIGNED_TAIL if is_one_signed else FORMS_TAIL) * shift + shift**2 / 2
    rules = [
        PartialBound(log_ratio, lambda e: _tilt(plain, np.maximum(e - log_ratio, 0), 0.0)),
        PartialBound(
            log_ratio + tail * SAFETY,
            lambda e: sides * gaussian_delta(np.maximum(e - log_ratio, 0), shift),
        ),
    ]
    if joint is None:
        return tuple(rules)
    if is_replace:
        start = joint if is_one_signed else max(joint + shift**2 / 4, shift**2 / 2) * SAFETY
        bent = partial(_excess_of_two, shift, joint, sides)
        return (*rules, PartialBound(start, lambda e: _tilt(bent, np.maximum(e, start), start)))
    far = max(2 * joint, FORMS_TAIL * shift + shift**2 / 2) * SAFETY
    return (
        *rules,
        PartialBound(joint, lambda e: _tilt(plain, np.maximum(e, joint), joint)),
        PartialBound(far, partial(_joint_tail, shift, is_one_signed)),
    )


def _joint_tail(shift: float, is_one_signed: bool, epsilons: Vector) -> Vector:
    alone = gaussian_delta(epsilons, shift)
    if not is_one_signed:
        return 2 * alone
    return alone + gaussian_delta(np.maximum(epsilons - shift**2 / 4, 0), shift / math.sqrt(2))


def _excess_of_sum(
    shift: float, is_one_signed: bool, epsilons: Vector
) -> tuple[Vector, Vector, Vector]:
    """Of m t + m^2/2; of m abs(t) + m^2/2 if slopes take both signs."""
    x = epsilons / shift - shift / 2
    if is_one_signed:
        return shift * mean_excess(x), upper_tail(x), density(x) / shift
    near = np.maximum(x, 0.0)
    mean = 2 * shift * mean_excess(near) + shift * np.maximum(-x, 0.0)
    return mean, 2 * upper_tail(near), np.where(x >= 0, 2 * density(near) / shift, 0.0)


def _excess_of_two(
    shift: float, joint: float, sides: int, epsilons: Vector
) -> tuple[Vector, Vector, Vector]:
    """Of max(k, h t + h m/2) + max(0, h t + h m/2), h = m/2; twice if slopes take both signs."""
    half = shift / 2
    root, bend = (epsilons - joint) / half - half, np.full(1, joint / half - half)
    both, is_early = epsilons / shift - half, root < bend
    early = half * (mean_excess(root) + mean_excess(bend))
    mean = np.where(is_early, early, shift * mean_excess(both))
    chance = np.where(is_early, upper_tail(root), upper_tail(both))
    bent = np.where(is_early, density(root) / half, density(both) / shift)
    return sides * mean, sides * chance, sides * bent


def _tilt(excess: MeanExcess, epsilons: Vector, floor: float) -> Vector:
    """Return the mean excess with the best tilt for each epsilon >= floor."""
    most = _largest_tilt(np.maximum(epsilons - floor, 0.0))
    tilt = np.zeros(epsilons.shape)
    with np.errstate(all="ignore"):  # a tilt that is no number is not taken
        for _ in range(_STEPS):
            grown = np.expm1(tilt)
            mean, chance, bent = excess(epsilons - (grown - tilt))
            left = mean / chance
            away = grown - left
            turn = 1 + grown * left * bent / chance
            tilt = np.clip(tilt - away / turn, 0.0, most)
    lower = epsilons - (np.expm1(tilt) - tilt)
    is_taken = lower >= floor
    tilt, lower = np.where(is_taken, tilt, 0.0), np.where(is_taken, lower, epsilons)
    return np.maximum(np.exp(-tilt) * excess(lower)[0], SMALLEST)


def _largest_tilt(room: Vector) -> Vector:
    """Return, up to rounding, the t at which e^t - 1 - t is this much."""
    root = np.sqrt(2 * room)
    tilt = np.maximum(np.minimum(root, np.log1p(root + room)), 1e-300)
    for _ in range(_STEPS):
        tilt = np.maximum(tilt - (np.expm1(tilt) - tilt - room) / np.expm1(tilt), 1e-300)
    return tilt * (1 - 1e-12)


def density(x: Vector) -> Vector:
    """Return the standard normal density."""
    return np.exp(-0.5 * np.minimum(np.abs(x), BEYOND) ** 2) / math.sqrt(2 * math.pi)


def upper_tail(x: Vector) -> Vector:
    """Return the chance that a standard normal variable is above x."""
    from scipy.special import ndtr  # slow to import

    return np.asarray(ndtr(-x))


def mean_excess(x: Vector) -> Vector:
    """Return the mean of (t - x)_+ for a standard normal t."""
    far = np.minimum(np.abs(x), BEYOND)
    above = np.maximum(1 - far * mills_ratio(far), 0.0)
    return density(far) * above + np.maximum(-x, 0.0)

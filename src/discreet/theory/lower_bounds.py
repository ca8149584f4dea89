r"""What no private mechanism can do, with constants.

Lower bounds on excess risk: two points (Le Cam's method) and a packing. Rows are unit vectors v or
zero. A row's loss is :math:`\Delta\|w\|^2/2 - g\langle v, w\rangle` on the ball of radius D/2, with
:math:`g = G - \Delta D/2`, so that it is G-Lipschitz. With k rows equal to v and all others zero,
and m the curvature of the sum, the minimiser is tv, :math:`t = \min(gk/m, D/2)`, and

.. math:: F(w) - F(tv) \ge \frac{gk}{2t} \|w - tv\|^2 \quad\text{on the ball.}

(Inside, equality. On the boundary the slope at tv is :math:`-(gk - mt)v`, and
:math:`t - \langle v, w\rangle \ge \|w - tv\|^2/(2t)` there.)

**Two points.** For v and -v the two excesses of any w add up to at least :math:`A = t(2gk - mt)`.
The two data sets are j = k replacements apart (2k additions and removals), so the total variation
of the outputs is at most :math:`(e^{j\epsilon} - 1 + 2\delta_j)/(e^{j\epsilon} + 1)`,
:math:`\delta_j = \delta(e^{j\epsilon} - 1)/(e^\epsilon - 1)`, and one of the mean excesses is at
least :math:`A(1 - \delta_j)/(e^{j\epsilon} + 1)`. This is what privacy costs in any dimension.

**Packing.** There are :math:`M \ge e^{p\rho^2/2}` points of the cube :math:`\{\pm 1/\sqrt p\}^p` of
pairwise correlation below :math:`\rho`: each rules out a fraction :math:`e^{-p\rho^2/2}` of the
cube at most, by Hoeffding. The balls of radius :math:`t\sqrt{(1-\rho)/2}` around their tv are
disjoint, so one has a chance of 1/M at most when all rows are zero, and of
:math:`e^{k\epsilon}/M + \delta_k` when k rows are its v. Outside it the excess is at least
:math:`gkt(1-\rho)/4`.

Both hold for every k up to n, and the best is taken from a grid. On the whole space k rows are
weakened until t is within the radius.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import expit

from discreet._types import Array
from discreet.theory import needs
from discreet.theory.bound import Bound, Need
from discreet.theory.setting import Setting

_CORRELATIONS = np.linspace(0.02, 0.98, 49)


def _counts(setting: Setting, most_exponent: float) -> Array:
    """Return numbers of rows, closely spaced, whose group privacy is still informative."""
    most = max(1.0, min(float(setting.n), most_exponent / setting.epsilon))
    counts: Array = np.unique(np.floor(np.geomspace(1.0, most, 600)))
    return counts


def _pull_and_distance(setting: Setting, counts: Array) -> tuple[Array, Array]:
    """Return gk and t."""
    room = min(setting.diameter / 2, setting.reach)
    if setting.strong_convexity > 0:
        slope = setting.lipschitz - setting.strong_convexity * setting.diameter / 2
    else:
        slope = setting.lipschitz
    pull = slope * counts
    if setting.curvature == 0:
        return pull, np.full(counts.shape, room)
    distance = np.minimum(pull / setting.curvature, room)
    if math.isinf(setting.diameter):
        pull = setting.curvature * distance
    return pull, distance


def _group_delta(setting: Setting, exponents: Array) -> Array:
    if setting.is_pure:
        return np.zeros(exponents.shape)
    longer = exponents - setting.epsilon + np.log(-np.expm1(-exponents))
    logarithm = math.log(setting.delta) + longer - math.log(-math.expm1(-setting.epsilon))
    group: Array = np.exp(np.minimum(0.0, logarithm))
    return group


@lru_cache(maxsize=1024)
def _two_points(setting: Setting) -> float:
    counts = _counts(setting, 20.0)
    pull, distance = _pull_and_distance(setting, counts)
    steps = counts if setting.rows_are_public else 2 * counts
    exponents = steps * setting.epsilon
    both = distance * (2 * pull - setting.curvature * distance)
    chance = (1 - _group_delta(setting, exponents)) * expit(-exponents)
    return float(np.max(both * chance))


@lru_cache(maxsize=1024)
def _packing(setting: Setting) -> float:
    counts = _counts(setting, setting.p / 2)
    pull, distance = _pull_and_distance(setting, counts)
    exponents = counts * setting.epsilon
    rho = _CORRELATIONS[:, None]
    hit = np.exp(np.minimum(0.0, exponents - setting.p * rho**2 / 2))
    miss = 1 - hit - _group_delta(setting, exponents)
    return float(np.max(pull * distance * (1 - rho) / 4 * miss))


def _has_room(setting: Setting) -> bool:
    return setting.strong_convexity * setting.diameter < 2 * setting.lipschitz * (1 - 1e-9)


_ROOM = Need(
    "strong convexity below 2 lipschitz / diameter",
    lambda setting: setting.strong_convexity == 0 or _has_room(setting),
)
_SOMEWHERE = Need(
    "a finite diameter, or a ridge",
    lambda setting: math.isfinite(setting.diameter) or setting.ridge > 0,
)
_ENOUGH = Need(
    "p large enough for the packing at this epsilon and delta",
    lambda setting: _SOMEWHERE.holds(setting) and _ROOM.holds(setting) and _packing(setting) > 0,
)
_HIDDEN = Need(
    "epsilon and delta that hide one row",
    lambda setting: _SOMEWHERE.holds(setting) and _ROOM.holds(setting) and _two_points(setting) > 0,
)

LOWER_BOUNDS = (
    Bound(
        name="two points",
        theorem="Two points in docs/theory.md",
        kind="lower",
        privacy="approximate",
        formula="t (2gk - m t) (1 - delta_j)/(e^(j eps) + 1), k <= n best",
        evaluate=_two_points,
        needs=(needs.ANY_MARGIN, _SOMEWHERE, _ROOM, _HIDDEN),
    ),
    Bound(
        name="packing",
        theorem="Packing in docs/theory.md",
        kind="lower",
        privacy="approximate",
        formula="g k t (1 - rho)/4 (1 - e^(k eps - p rho^2/2) - delta_k), k <= n and rho best",
        evaluate=_packing,
        needs=(needs.ANY_MARGIN, _SOMEWHERE, _ROOM, _ENOUGH),
    ),
)

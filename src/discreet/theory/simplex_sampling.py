r"""Learning on a simplex: samples from the entropic minimiser, and steps towards corners.

**Sampling.** On the probability simplex the minimiser of the losses plus :math:`\lambda\sum_j w_j
\ln w_j` is a distribution; m draws from it are released as a histogram. The logarithms of the
minimisers of neighbours differ by a function of range at most :math:`\eta = (2aG/\lambda)(1 +
\xi(\kappa))`, :math:`\kappa = n\beta/\lambda`, with :math:`\xi(\kappa) = \kappa/(1+\kappa)` up to
one and :math:`\sqrt\kappa/2` from there on. So m draws are pure for :math:`\epsilon = m\eta`, and
:math:`m\eta^2/8`-zCDP. The entropy costs :math:`\lambda\ln p` at most; the draws have the right
mean, and cost :math:`n\beta/(2m)` or, by the slope, :math:`nG/\sqrt m`.

For each m the smallest lambda is found, and the best m is taken from a grid. A simplex of size B is
the unit one with rows B times longer.

**Frank-Wolfe.** Each of T steps of :math:`2/(t + 2)` goes towards a corner that the exponential
mechanism draws by the slope of the losses towards it. One row moves a score by :math:`aG` at most,
a the scale of the simplex, so draws whose log ratios have the range h miss the best slope by
:math:`b (\ln p + 1)`, :math:`b = 2aG/h`, in expectation. With losses that bend by at most
:math:`\beta` and the diameter D in the l1 norm, the excess after T steps is at most :math:`2 n
\beta D^2/(T + 2) + b (\ln p + 1)`. An l1 ball of radius a and p columns is a simplex of 2p corners.
The range h is :math:`\epsilon/T` for a pure budget, and otherwise that of :math:`T h^2/8`-zCDP.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet.theory import needs
from discreet.theory.bound import Bound, Need
from discreet.theory.setting import Setting

_DRAWS = np.unique(np.floor(np.geomspace(1, 1e9, 300)))


def slowdown(kappa: float) -> float:
    """Return xi: by how much rows that stay the same add to what one row changes.

    Examples
    --------
    >>> slowdown(1.0), slowdown(4.0)
    (0.5, 1.0)
    """
    return kappa / (1 + kappa) if kappa <= 1 else math.sqrt(kappa) / 2


def least_entropy(change: float, bend: float, most: float) -> float:
    """Return the smallest lambda with (2 change / lambda) (1 + xi(bend / lambda)) <= ``most``.

    Examples
    --------
    >>> least_entropy(2.0, 0.0, 0.1)
    40.0
    """
    from scipy.optimize import brentq  # slow to import

    low = 2 * change / most
    if bend == 0:
        return low

    def excess(logarithm: float) -> float:
        size = math.exp(logarithm)
        return math.log(low / size * (1 + slowdown(bend / size)))

    high = low * (1 + slowdown(bend / low))
    if excess(math.log(high)) >= 0:  # it bends so little that rounding decides
        return high * (1 + 1e-12)
    if excess(math.log(low)) <= 0:
        return low * (1 + 1e-12)
    root = float(brentq(excess, math.log(low), math.log(high), xtol=1e-13))
    return min(high, math.exp(root) * (1 + 1e-12))


def pure_range(setting: Setting, draws: float) -> float:
    """Return the range of the log ratios of each of some draws that share a pure epsilon."""
    return setting.epsilon / draws


def approximate_range(setting: Setting, draws: float) -> float:
    """Return the range of the log ratios of each of some draws that share a budget, as zCDP."""
    logarithm = math.log(1 / setting.delta)
    rho = (setting.epsilon / (math.sqrt(logarithm + setting.epsilon) + math.sqrt(logarithm))) ** 2
    return math.sqrt(8 * rho / draws)


def _make_evaluate(range_of: Callable[[Setting, float], float]) -> Callable[[Setting], float]:
    def evaluate(setting: Setting) -> float:
        size = setting.diameter / 2
        change, bend = setting.row_change * size, setting.n * setting.smoothness * size**2
        slope = setting.n * setting.lipschitz * size
        best = math.inf
        for draws in _DRAWS:
            sampling = min(bend / (2 * draws), slope / math.sqrt(draws))
            entropy = least_entropy(change, bend, range_of(setting, float(draws)))
            best = min(best, entropy * math.log(setting.p) + sampling)
        return best

    return evaluate


_SEVERAL = Need("p of at least 2", lambda setting: setting.p > 1)

SIMPLEX = (
    Bound(
        name="simplex, any point",
        theorem="BST14 Table I (caption)",
        kind="upper",
        privacy="pure",
        formula="n G D",
        evaluate=lambda setting: setting.n * setting.lipschitz * setting.diameter,
        geometry="simplex",
    ),
    Bound(
        name="simplex, sampling, pure",
        theorem="JT14 Theorem 4",
        kind="upper",
        privacy="pure",
        formula="lam ln p + n min(beta B^2/(2 draws), G B/sqrt(draws)), eta = eps/draws, best",
        evaluate=_make_evaluate(pure_range),
        needs=(needs.SMOOTH, _SEVERAL),
        geometry="simplex",
        mechanism="simplex_sampling",
    ),
    Bound(
        name="simplex, sampling, approximate",
        theorem="JT14 Theorem 4",
        kind="upper",
        privacy="approximate",
        formula="lam ln p + n min(beta B^2/(2 draws), G B/sqrt(draws)), eta = sqrt(8 rho/draws), "
        "best",
        evaluate=_make_evaluate(approximate_range),
        needs=(needs.DELTA, needs.SMOOTH, _SEVERAL),
        geometry="simplex",
        mechanism="simplex_sampling",
    ),
)


_STEPS = (*range(1, 65), *(round(1.2**k) for k in range(24, 76)))


def _evaluate_steps(range_of: Callable[[Setting, float], float]) -> Callable[[Setting], float]:
    def evaluate(setting: Setting) -> float:
        bend = 2.0 * setting.n * setting.smoothness * setting.diameter**2
        missed = setting.row_change * setting.diameter * (math.log(setting.p) + 1)
        return min(
            float(bend / (steps + 2) + missed / range_of(setting, float(steps))) for steps in _STEPS
        )

    return evaluate


_STEPS_FORMULA = "2 n b D^2/(T + 2) + D dG (ln p + 1)/h, least over T; h = {}"
_STEPS_THEOREM = "TTZ15, with exact draws; frank_wolfe.md"
_STEPS_NEEDS = (needs.BOUNDED, needs.SMOOTH)

FRANK_WOLFE = (
    Bound(
        "Frank-Wolfe, pure", _STEPS_THEOREM, "upper", "pure", _STEPS_FORMULA.format("eps/T"),
        _evaluate_steps(pure_range), (*_STEPS_NEEDS, needs.PURE), mechanism="frank_wolfe",
        geometry="simplex",
    ),
    Bound(
        "Frank-Wolfe", _STEPS_THEOREM, "upper", "approximate",
        _STEPS_FORMULA.format("sqrt(8 rho(eps, delta)/T)"),
        _evaluate_steps(approximate_range), (*_STEPS_NEEDS, needs.DELTA), mechanism="frank_wolfe",
        geometry="simplex",
    ),
)  # fmt: skip

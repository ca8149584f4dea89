r"""Learning on a simplex by steps towards corners that are drawn privately.

Each of T steps of :math:`2/(t + 2)` goes towards a corner that the exponential mechanism draws by
the slope of the losses towards it. One row moves a score by :math:`aG` at most, a the scale of the
simplex, so draws whose log ratios have the range h miss the best slope by
:math:`b (\ln p + 1)`, :math:`b = 2aG/h`, in expectation. With losses that bend by at most
:math:`\beta` and the diameter D in the l1 norm, the excess after T steps is at most
:math:`2 n \beta D^2/(T + 2) + b (\ln p + 1)`. An l1 ball of radius a and p columns is a simplex of
2p corners. The range h is :math:`\epsilon/T` for a pure budget, and otherwise that of
:math:`T h^2/8`-zCDP.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from discreet.theory import needs
from discreet.theory.bound import Bound
from discreet.theory.setting import Setting
from discreet.theory.simplex_sampling import approximate_range, pure_range

_STEPS = (*range(1, 65), *(round(1.2**k) for k in range(24, 76)))


def _make_evaluate(range_of: Callable[[Setting, float], float]) -> Callable[[Setting], float]:
    def evaluate(setting: Setting) -> float:
        bend = 2.0 * setting.n * setting.smoothness * setting.diameter**2
        missed = setting.row_change * setting.diameter * (math.log(setting.p) + 1)
        return min(
            float(bend / (steps + 2) + missed / range_of(setting, float(steps))) for steps in _STEPS
        )

    return evaluate


_FORMULA = "2 n b D^2/(T + 2) + D dG (ln p + 1)/h, least over T; h = {}"
_THEOREM = "TTZ15, with exact draws; frank_wolfe.md"
_NEEDS = (needs.BOUNDED, needs.SMOOTH)

FRANK_WOLFE = (
    Bound(
        "Frank-Wolfe, pure", _THEOREM, "upper", "pure", _FORMULA.format("eps/T"),
        _make_evaluate(pure_range), (*_NEEDS, needs.PURE), mechanism="frank_wolfe",
        geometry="simplex",
    ),
    Bound(
        "Frank-Wolfe", _THEOREM, "upper", "approximate",
        _FORMULA.format("sqrt(8 rho(eps, delta)/T)"),
        _make_evaluate(approximate_range), (*_NEEDS, needs.DELTA), mechanism="frank_wolfe",
        geometry="simplex",
    ),
)  # fmt: skip

r"""What a random linear term of exponential density costs in pure epsilon.

The density is proportional to :math:`\exp(-\|b\|/s)` in some norm; with :math:`R_*` the largest
row in that norm and L the largest slope, write :math:`a = L R_*/s`. One row of relative slope
q = |f'|/L changes the log density by at most :math:`a q`, and the volume element by at most

.. math:: \ln(1 + \min(\beta, \kappa_0 (1 - q)) R^2/\Lambda),

the second bound for jointly smooth losses only. So with :math:`\psi(a)` the maximum over q of the
sum, adding or removing a row costs :math:`\psi(a)`, and replacing one costs :math:`a + \psi(a)`:
the second record adds its slope, and the determinants of the two records pull in opposite
directions. ``log_ratio`` is :math:`\ln(1 + \beta R^2/\Lambda)` and ``joint`` is
:math:`\kappa_0 R^2/\Lambda`.
"""

from __future__ import annotations

import math

from discreet.errors import CalibrationError
from discreet.privacy import Unit
from discreet.privacy.guarantee import in_three_digits as up
from discreet.questions.problem import Problem

_DOWN = 1 - 2.0**-40


def pure_cost(problem: Problem, unit: Unit, shift: float) -> float:
    """Return the epsilon of a linear term whose density falls by at most ``shift`` a row.

    Examples
    --------
    >>> from discreet.questions.bounds import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> bounds = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]))
    >>> pure_cost(Problem(Logistic(), bounds, ridge=1.1), AddRemoveOne(), shift=1.0)
    1.0
    """
    alone = _cost_with_curvature(problem, shift)
    return shift + alone if unit.count_is_public else alone


def largest_shift(problem: Problem, unit: Unit, epsilon: float) -> float:
    """Return the largest shift that costs at most ``epsilon``, rounded down."""
    low, high = 0.0, epsilon
    if pure_cost(problem, unit, low) >= epsilon:
        enough = problem.row_smoothness / math.expm1(0.5 * epsilon)
        raise CalibrationError(
            f"a ridge of {problem.ridge:.3g} is too weak for epsilon = {up(epsilon)}: one row "
            f"has more curvature than the budget allows. Use at least {enough:.3g}, "
            f"C at most {1 / enough:.3g}."
        )
    if pure_cost(problem, unit, high * _DOWN) <= epsilon:
        return high * _DOWN
    while high - low > 1e-13 * epsilon:
        middle = (low + high) / 2
        low, high = (middle, high) if pure_cost(problem, unit, middle) <= epsilon else (low, middle)
    return low * _DOWN


def _cost_with_curvature(problem: Problem, shift: float) -> float:
    """Maximise shift * q + ln(1 + curvature) over the relative slope q."""
    joint = problem.joint
    if joint is None:
        return shift + problem.log_ratio
    # Where the first bound holds the sum grows with q; where the second does, it is concave in q.
    widest = min(1.0, math.expm1(problem.log_ratio) / joint)
    short = widest if shift == 0 else min(max(1 / shift - 1 / joint, 0.0), widest)
    return shift * (1 - short) + math.log1p(joint * short)

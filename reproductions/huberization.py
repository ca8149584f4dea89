r"""What it costs to round off a kink: Bassily, Smith and Thakurta (2014), section I-A.

One column that is one in every row, and k more labels +1 than labels -1. The sum of hinge losses is
least at w = 1 exactly, where the loss of the majority has its kink; left of it the sum falls with
slope k, right of it it rises. Objective perturbation needs a bounded curvature, so it takes a hinge
that is rounded over a width of h to either side, and two things go wrong:

* the rounded sum is least elsewhere: at 1 + h/3 for k = n/2, where the hinges sum to n h/12 more;
* the ridge must be of the order :math:`1/(h\epsilon)`, and where k is less than that it wins: the
  minimiser is near zero, and the excess about k.

So for a given h the excess grows like n, and for the best h, chosen anew for every n, like the
square root of :math:`n/\epsilon`: the hardest k is found anew as well. Mechanisms that need no
curvature have an excess of the order :math:`1/\epsilon` for any number of rows.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.data import Bounds, LabelSet, OpenRows, Rows
from discreet.geometry import L2Ball
from discreet.ledger import NoLedger
from discreet.losses import Hinge, HuberHinge, Loss
from discreet.mechanisms import Learner, ObjectivePerturbation
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import Budget, Guarantee, NoPrivacy, ReplaceOne
from discreet.questions.problem import Problem

FURTHEST = 2.0
"""Coefficients are between -2 and 2."""

CURVED_SHARE = 0.1
"""The share of epsilon that the ridge of a rounded hinge leaves to its curvature."""

WIDTHS = tuple(np.geomspace(0.003, 0.9, 9))

LITTLE = 0.01
"""A ridge that changes nothing."""

LEAST_PULL, PULLS = 8.0, 6
"""How many more labels are +1: six numbers from this to half of all rows."""


def rounded_ridge(width: float, epsilon: float) -> float:
    """Return the ridge with which curvature costs its share of epsilon."""
    return 1 / (2 * width * math.expm1(CURVED_SHARE * epsilon))


def excess(
    mechanism: Learner, loss: Loss, ridge: float, *, n: int, budget: Budget, seeds: range
) -> float:
    """Return the mean excess of the sum of hinges on the hardest of a few instances.

    It is that of the hinges, whichever loss the mechanism is given.
    """
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=n)
    problem = Problem(loss, bounds, ridge=ridge, penalty=Indicator(L2Ball(FURTHEST)))
    plan = mechanism.plan(problem, budget, ReplaceOne())
    found = []
    for few in sorted({round((n - k) / 2) for k in np.geomspace(LEAST_PULL, n / 2, PULLS)}):
        opened = _rows(few, n, bounds)
        points = [float(plan.run(opened, RehearsalNoise(seed))[0]) for seed in seeds]
        least = _hinges(1.0, few, n)
        found.append(float(np.mean([_hinges(w, few, n) - least for w in points])))
    return max(found)


def rounded(width: float, *, n: int, budget: Budget, seeds: range) -> float:
    """Return the mean excess of objective perturbation with a hinge rounded over a width."""
    ridge = rounded_ridge(width, budget.epsilon)
    mechanism = ObjectivePerturbation("gaussian" if budget.delta else "radial")
    return excess(mechanism, HuberHinge(width), ridge, n=n, budget=budget, seeds=seeds)


def best_rounded(*, n: int, budget: Budget, seeds: range) -> float:
    """Return the smallest of these over many widths; nobody could know which it is."""
    return min(rounded(width, n=n, budget=budget, seeds=seeds) for width in WIDTHS)


def kinked(mechanism: Learner, *, n: int, budget: Budget, seeds: range) -> float:
    """Return the mean excess of a mechanism that takes the hinge as it is."""
    return excess(mechanism, Hinge(), LITTLE, n=n, budget=budget, seeds=seeds)


def _rows(few: int, n: int, bounds: Bounds) -> OpenRows:
    y = np.where(np.arange(n) < few, -1.0, 1.0)
    rows = Rows(np.ones((n, 1)), y, bounds=bounds, unit=ReplaceOne())
    return rows.open(NoLedger().charge(Guarantee(NoPrivacy(), ReplaceOne())))


def _hinges(w: float, few: int, n: int) -> float:
    return few * max(1 + w, 0.0) + (n - few) * max(1 - w, 0.0)

"""Least squares: from their statistics, and in a ball.

Noise on X'X and X'y together: the worst records differ in both. The ball is small beside the
labels, so that a slope of nearly R B + Y is met at its centre; with few rows no eigenvalue is large
enough for a ridge to give way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.data import Bounds, Interval
from discreet.geometry import L2Ball
from discreet.losses import Squared
from discreet.mechanisms import (
    AdaptiveRidge,
    ObjectivePerturbation,
    OutputPerturbation,
    SufficientStatistics,
)
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import Problem
from support.cases.additive import AdditiveCase, ObjectiveNoiseCase, OutputNoiseCase
from support.cases.base import Data, hostile_row, l1, l2
from support.silent import SilentNoise

NUMBERS = hostile_row(3, [-60, 0, 60])
NOTHING, UP = [[0.0, 0.0, 0.0]], [[5.0, 0.0, 0.0]]
ADDED = (Data(NOTHING, [0.0]), Data(NOTHING + UP, [0.0, 60.0]))


@dataclass(frozen=True)
class StatisticsCase(AdditiveCase):
    """X'X and X'y with noise, and what follows from them."""

    has_densities = True

    def silent_total(self, plan, data, **options):
        units = plan.grid.snap(plan.moments.vector(data.open(self, **options)))
        return plan.grid.step * units.astype(np.float64)

    def silent_answer(self, plan, data):
        return replace(plan, extra_ridge=0.0).run(data.open(self), SilentNoise())

    def watch(self, plan):
        return lambda rows, noise, draws: [
            plan.release_statistics(rows, noise) for _ in range(draws)
        ]

    def solver_error(self, plan, data):
        """Entries agree to a step; (S + rho)^-1 v then moves by |dv| + |dS| |w|, over rho."""
        moments = plan.moments
        ridge, off = moments.ridge + plan.extra_ridge, plan.grid.spread_l2(moments.dimension)
        most = math.sqrt(moments.width) * 20 * plan.grid.scale  # |v|: twenty rows and some noise
        return moments.coefficients(off * (1 + most / ridge) / ridge)


@dataclass(frozen=True)
class AdaptiveCase(ObjectiveNoiseCase):
    """The second release: what is known of the eigenvalue is not what the worst pair differs in."""

    def noise_norm(self, plan):
        return super().noise_norm(plan.second)

    def shift(self, plan, apart):
        return self.noise_norm(plan)(apart) * self.question.ridge / plan.second.scale


def _statistics():
    add, swap = AddRemoveOne(), ReplaceOne()
    plain = Bounds(L2Ball(2.0), 3, labels=Interval(-60, 60), max_rows=2**20)
    constant = replace(plain, intercept=0.5)
    approximate, pure = Budget(1.0, 1e-6), Budget(1.0)
    # At 60 degrees and with opposite labels: X'X and X'y together change most.
    slanted = [[2.5, 5.0 * math.sqrt(0.75), 0.0]]

    def case(label, bounds, unit, budget, first, second, distance):
        problem = Problem(Squared(label_bound=60.0), bounds, ridge=7.0)
        pair = (Data(*first), Data(*second))
        return StatisticsCase(f"sufficient statistics, {label}", SufficientStatistics(), problem,
                              unit, budget, pair, NUMBERS, distance)  # fmt: skip

    one = (NOTHING, [0.0])
    yield case("add_remove", plain, add, approximate, one, (NOTHING + UP, [0.0, 60.0]), l2)
    yield case("replace", plain, swap, approximate,
               (NOTHING + UP, [0.0, 60.0]), (NOTHING + slanted, [0.0, -60.0]), l2)  # fmt: skip
    yield case("intercept, add_remove", constant, add, approximate,
               (UP, [60.0]), (UP + UP, [60.0, 60.0]), l2)  # fmt: skip
    yield case("pure, add_remove", plain, add, pure,
               one, ([*NOTHING, [5.0, 5.0, 5.0]], [0.0, 60.0]), l1)  # fmt: skip


def _in_a_ball():
    bounds = Bounds(L2Ball(1.0), 3, labels=Interval(-60, 60), max_rows=2**10)
    problem = Problem(Squared(60.0), bounds, ridge=4000.0, penalty=Indicator(L2Ball(0.03)))
    replaced = (Data(NOTHING + UP, [0.0, 60.0]), Data(NOTHING + UP, [0.0, -60.0]))
    for kind, mechanism, unit, pair in (
        (AdaptiveCase, AdaptiveRidge(), AddRemoveOne(), ADDED),
        (AdaptiveCase, AdaptiveRidge(), ReplaceOne(), replaced),
        (ObjectiveNoiseCase, ObjectivePerturbation("gaussian"), ReplaceOne(), replaced),
        (OutputNoiseCase, OutputPerturbation("gaussian"), AddRemoveOne(), ADDED),
    ):
        label = f"{mechanism.name.replace('_', ' ')} in a ball, {unit.name}"
        yield kind(label, mechanism, problem, unit, Budget(1.0, 1e-6), pair, NUMBERS, l2)


CASES = (*_statistics(), *_in_a_ball())

"""Least squares: from their statistics, and in a ball.

Noise on X'X and X'y together: the worst records differ in both. The ball is small beside the
labels, so that a slope of nearly R B + Y is met at its centre; with few rows no eigenvalue is large
enough for a ridge to give way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from support.cases.additive import AdditiveCase, ObjectiveNoiseCase
from support.silent import SilentNoise


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


KINDS = {
    "sufficient_statistics": StatisticsCase,
    "adaptive_ridge": AdaptiveCase,
}

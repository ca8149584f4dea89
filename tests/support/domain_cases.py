"""Least squares in a small ball, for the universal checks.

The ball is small beside the labels, so that a slope of nearly R B + Y is met at its centre; with
few rows no eigenvalue is large enough for a ridge to give way.
"""

from __future__ import annotations

from discreet.data import Bounds, Interval
from discreet.geometry import L2Ball
from discreet.losses import Squared
from discreet.mechanisms import AdaptiveRidge, ObjectivePerturbation, OutputPerturbation
from discreet.mechanisms.adaptive_ridge import AdaptiveRidgePlan
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions.problem import Problem


def domain_cases(case, data, distance, row):
    """Yield cases: ``case`` and ``data`` are the classes, ``row`` draws hostile rows."""

    class SecondRelease(case):
        """What is known of the eigenvalue is not what the worst pair differs in."""

        def shift(self, plan, apart):
            if isinstance(plan, AdaptiveRidgePlan):
                plan = plan.second
            return super().shift(plan, apart)

    bounds = Bounds(L2Ball(1.0), 3, labels=Interval(-60, 60), max_rows=2**10)
    problem = Problem(Squared(60.0), bounds, ridge=4000.0, penalty=Indicator(L2Ball(0.03)))
    nothing, up = [[0.0, 0.0, 0.0]], [[5.0, 0.0, 0.0]]
    added = (data(nothing, [0.0]), data(nothing + up, [0.0, 60.0]))
    replaced = (data(nothing + up, [0.0, 60.0]), data(nothing + up, [0.0, -60.0]))
    for mechanism, unit, pair in (
        (AdaptiveRidge(), ReplaceOne(), replaced),
        (ObjectivePerturbation("gaussian"), ReplaceOne(), replaced),
        (OutputPerturbation("gaussian"), AddRemoveOne(), added),
    ):
        label = f"{mechanism.name.replace('_', ' ')} in a ball, {unit.name}"
        yield SecondRelease(label, mechanism, problem, unit, Budget(1.0, 1e-6), pair, distance, row)

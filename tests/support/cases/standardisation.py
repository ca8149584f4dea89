"""Private standardisation: noisy sums of columns, then a minimiser in the frame that they give.

And, if they are asked for, counts of the scores that released coefficients give to rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from discreet.data import Bounds, LabelSet
from discreet.geometry import Box, L1Ball, L1L2Ball, L2Ball
from discreet.losses import MarginLogistic
from discreet.mechanisms import ObjectivePerturbation, PrivateStandardisation
from discreet.mechanisms.objective_perturbation import MOST_RIDGES, ExactMinimiser
from discreet.mechanisms.signal_rules import SignalRules, WideRules
from discreet.mechanisms.summing.row_count import RowTotal
from discreet.mechanisms.summing.score_counts import ScoreCounts
from discreet.mechanisms.summing.standard_frame import StandardFrame
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import Problem
from support.cases.base import Data, hostile_row, l1, l2
from support.cases.staged import Part, StagedCase, minimiser_part
from support.silent import SilentNoise


@dataclass(frozen=True)
class StandardisationCase(StagedCase):
    """All stages, later ones as they are once frame and coefficients are public; any will do."""

    frame: StandardFrame = field(repr=False)

    def parts(self, plan):
        second, bounds = plan.replan.plan_within(self.frame.region, plan.second)
        if plan.rules is not None:  # as if noise dominated
            problem = plan.replan.problem
            second = second.settle(problem.loss, MOST_RIDGES * problem.ridge)
        counted = () if plan.sums is None else (first_stage(plan),)
        both = (
            *counted,
            minimiser_part(
                second, lambda rows: rows.transform(self.frame.apply, bounds), self.unit
            ),
        )
        return both if plan.counts is None else (*both, last_stage(plan))

    def silent_answer(self, plan, data):
        # Noise widens the floor of the spreads; without it, exact sums.
        counts = None if plan.counts is None else ScoreCounts(None, None, False)
        second = plan.second
        if plan.rules is not None:  # without noise they settle another objective
            second = ExactMinimiser(second.minimiser, second.guarantee)
        exact = replace(plan, sums=None, counts=counts, second=second)
        return exact.run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        """Minimisers agree to twice their certified radius and a step, before they are folded."""
        frame = plan._frame(data.open(self), RehearsalNoise(3))
        second, _ = plan.replan.plan_within(frame.region, plan.second)
        off = 2 * second.minimiser.radius + second.mask.grid.step
        return off * np.abs(frame.fold(np.eye(frame.mean.size + 1))).sum(axis=0).max()


def first_stage(plan):
    """The noisy sums of a private standardisation."""
    sums, moments = plan.sums, plan.moments
    reached = sums.profile.ideal

    def run(rows, noise):
        found = sums.release(rows, noise)
        if isinstance(moments, RowTotal):
            return found.entries / sums.grid.scale
        squares = found.squares[np.array(moments.squared)]
        return np.concatenate([found.entries, squares]) / sums.grid.scale

    return Part(run, reached.pure_epsilon if sums.is_pure else reached.mu)


def last_stage(plan):
    """The noisy counts of scores, of coefficients that tell rows apart by their sum."""
    counts, reached = plan.counts, plan.counts.profile.ideal
    coefficients = np.ones(plan.moments.bounds.width)

    def run(rows, noise):
        return counts.release(rows, coefficients, noise) / counts.grid.scale

    return Part(run, reached.pure_epsilon if counts.is_pure else reached.mu)


def long_frame(bounds, region, size):
    """A frame that makes features long and the intercept short."""
    p = bounds.n_features
    return StandardFrame(np.zeros(p), np.full(p, size), 1.0, 1.0, region, bounds.intercept)


def _cases():
    add, swap = AddRemoveOne(), ReplaceOne()
    approximate, pure = Budget(1.0, 1e-6), Budget(1.0)
    laplace = PrivateStandardisation(ObjectivePerturbation("laplace"))
    counted, counted_pure = (replace(one, counts_scores=True)
                             for one in (PrivateStandardisation(), laplace))  # fmt: skip
    # A margin so large that losses are straight is kept; the ridge and the length are settled.
    settled = PrivateStandardisation(
        ObjectivePerturbation(settles_later=True), rules=SignalRules(settles_margin=False)
    )
    wide = replace(settled, rules=WideRules(settles_margin=False), scales=False)
    p, labels = 5, LabelSet([-1, 1])
    cube = Bounds(Box([-1] * p, [1] * p), p, labels=labels, intercept=0.1, max_rows=2**20)
    diamond = replace(cube, features=L1Ball(2.0))
    nothing, corner = [0.0] * p, [9.0] * p
    axis, other = [9.0, *[0.0] * (p - 1)], [0.0, -9.0, *[0.0] * (p - 2)]

    def case(label, mechanism, bounds, unit, budget, first, second, region):
        problem = Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0)
        y = np.ones(2)
        pair = (Data(np.array(first), y[: len(first)]), Data(np.array(second), y[: len(second)]))
        return StandardisationCase(f"private standardisation, {label}", mechanism, problem, unit,
                                   budget, pair, hostile_row(p, [-1, 1]),
                                   l1 if budget is pure else l2,
                                   frame=long_frame(bounds, region, 1e3))  # fmt: skip

    yield case("cube, add_remove", PrivateStandardisation(), cube, add, approximate,
               [nothing], [nothing, corner], L2Ball(1.0))  # fmt: skip
    # With every entry below half a row, opposite corners are as far apart as two records can be.
    yield case("cube, replace", PrivateStandardisation(), cube, swap, approximate,
               [nothing, corner], [nothing, [-x for x in corner]], L2Ball(1.0))  # fmt: skip
    yield case("pure, cube, add_remove", laplace, cube, add, pure,
               [nothing], [nothing, corner], L1L2Ball(2.0, 1.0))  # fmt: skip
    yield case("pure, diamond, replace", laplace, diamond, swap, pure,
               [nothing, axis], [nothing, other], L1L2Ball(1.0, 1.0))  # fmt: skip
    yield case("counted, add_remove", counted, cube, add, approximate,
               [nothing], [nothing, corner], L2Ball(1.0))  # fmt: skip
    yield case("counted, replace", counted, cube, swap, approximate,
               [nothing, corner], [nothing, [-x for x in corner]], L2Ball(1.0))  # fmt: skip
    yield case("settled, add_remove", settled, cube, add, approximate,
               [nothing], [nothing, corner], L2Ball(1.0))  # fmt: skip
    yield case("settled, replace", settled, cube, swap, approximate,
               [nothing, corner], [nothing, [-x for x in corner]], L2Ball(1.0))  # fmt: skip
    yield case("rows counted, add_remove", wide, cube, add, approximate,
               [nothing], [nothing, corner], L2Ball(1.0))  # fmt: skip
    yield case("rows counted, replace", wide, cube, swap, approximate,
               [nothing, corner], [nothing, [-x for x in corner]], L2Ball(1.0))  # fmt: skip
    yield case("counted, pure, add_remove", counted_pure, cube, add, pure,
               [nothing], [nothing, corner], L1L2Ball(2.0, 1.0))  # fmt: skip
    yield case("counted, pure, replace", counted_pure, diamond, swap, pure,
               [nothing, axis], [nothing, other], L1L2Ball(1.0, 1.0))  # fmt: skip


CASES = tuple(_cases())

"""Mechanisms that release more than once: every release in units of its own noise, side by side.

Given what was released before, each release is a mechanism of its own, whose noise moves from one
total to another. Side by side, and each divided by the scale of its noise, the releases are one
vector with standard noise, so sensitivities, true profiles and scores are read off as for one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import norm

from discreet.data import Bounds, LabelSet
from discreet.geometry import Box, L1Ball, L1L2Ball, L2Ball
from discreet.losses import Hinge, Logistic, MarginLogistic
from discreet.mechanisms import (
    EachAgainstTheRest,
    NoisyGradient,
    ObjectivePerturbation,
    OutputPerturbation,
    PrivateStandardisation,
)
from discreet.mechanisms.minimising.linear_term import LaplaceTerm
from discreet.mechanisms.output_perturbation import OutputPerturbationPlan
from discreet.mechanisms.summing.standard_frame import StandardFrame
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, Gaussian, ReplaceOne
from discreet.questions import SpatialMedian
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest
from support.cases import Case, Data, _hostile_row, _l1, _l2
from support.checks import rates
from support.silent import SilentNoise


@dataclass(frozen=True)
class Part:
    """One of several releases, in units of its noise."""

    run: Callable[[Any, Any], Any]  # of rows and noise
    sensitivity: float


@dataclass(frozen=True)
class StagedCase(Case):
    """A mechanism of several releases; ``distance`` is the norm of all of them side by side."""

    frame: StandardFrame | None = field(default=None, repr=False)  # any public one will do

    @property
    def is_pure(self):
        return self.budget.delta == 0

    def parts(self, plan):
        """Return the releases of a plan; later ones as they are once the frame is public."""
        if self.frame is None:
            return self._against_the_rest(plan)
        second, bounds = plan.replan.plan_within(self.frame.region, plan.second)
        return (
            first_stage(plan),
            _learner(second, lambda rows: rows.mapped(self.frame.apply, bounds), self.unit),
        )

    def _against_the_rest(self, plan):
        def relabelled(number):
            return lambda rows: rows.relabelled(lambda y: np.where(y == number, 1.0, -1.0))

        return tuple(
            _learner(plan.one, relabelled(number), self.unit) for number in range(plan.classes)
        )

    def apart(self, plan, pair):
        """How far apart the releases of two data sets are without noise."""
        first, second = self.centres(plan, pair)
        return self.distance(second - first)

    def centres(self, plan, pair):
        """Return what the releases of two data sets would be without noise."""
        parts = self.parts(plan)
        return tuple(side_by_side(parts, data.open(self), SilentNoise()) for data in pair)

    def sensitivity(self, plan):
        """What the plan declares about that distance."""
        return self.distance(np.array([part.sensitivity for part in self.parts(plan)]))

    def silent_answer(self, plan, data):
        if self.frame is not None:  # noise widens the floor of the spreads; without it, exact sums
            plan = replace(plan, sums=None)
        return plan.run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        """Minimisers agree to twice their certified radius and a step, before they are folded."""
        if self.frame is None:
            grid = plan.one.grid if hasattr(plan.one, "grid") else plan.one.mask.grid
            return 2 * plan.one.minimiser.radius + grid.step
        frame = plan._frame(data.open(self), RehearsalNoise(3))
        second, _ = plan.replan.plan_within(frame.region, plan.second)
        off = 2 * second.minimiser.radius + second.mask.grid.step
        return off * np.abs(frame.fold(np.eye(frame.mean.size + 1))).sum(axis=0).max()


@dataclass(frozen=True)
class GradientCase(StagedCase):
    """Noisy sums of gradients; any public coefficients will do, and the origin is one of them."""

    point: tuple[float, ...] | None = None

    def parts(self, plan):
        point = np.zeros(plan.problem.width) if self.point is None else np.array(self.point)

        def run(rows, noise):
            drawn = noise.gaussian(point.size, plan.grid.bits)
            (batch,) = plan.batches.draw(plan.sums.prepare(rows), noise, 1)
            total = plan.noisy_sum(batch, point, drawn)
            return total / plan.grid.scale

        return (Part(run, plan.sensitivity / plan.grid.scale),) * plan.steps

    def silent_answer(self, plan, data):
        exact = self.plan(Budget(math.inf))  # whose steps are its own: they depend on the noise
        plan = replace(plan, steps=exact.steps, rule=exact.rule)
        return plan.run(data.open(self), SilentNoise())

    def solver_error(self, plan, data):
        """Sums are exact, but sparse and dense rows are clipped by different roundings."""
        cut = 20 * plan.problem.row_lipschitz * 2.0**-19 * math.sqrt(plan.problem.bounds.width)
        return (cut + 2 * plan.grid.step) / plan.problem.ridge


def side_by_side(parts, rows, noise):
    """Return every release, one after the other, in units of its noise."""
    return np.concatenate([part.run(rows, noise) for part in parts])


def first_stage(plan):
    """The noisy sums of a private standardisation."""
    sums, moments = plan.sums, plan.moments
    reached = sums.profile.ideal

    def run(rows, noise):
        found = sums.release(rows, noise)
        squares = found.squares[np.array(moments.squared)]
        return np.concatenate([found.entries, squares]) / sums.grid.scale

    return Part(run, reached.pure_epsilon if sums.is_pure else reached.mu)


def _learner(plan, prepare, unit):
    """A minimiser: its linear term, or its output noise, is what it is divided by."""
    if isinstance(plan, OutputPerturbationPlan):
        return Part(
            lambda rows, noise: plan.run(prepare(rows), noise) / plan.grid.scale,
            plan.sensitivity / plan.grid.scale,
        )
    problem, in_noise = plan.minimiser.problem, plan.minimiser.problem.ridge / plan.scale
    order = 1 if isinstance(plan.term, LaplaceTerm) else 2
    # Where losses are straight, minimisers are as far apart as the slopes of rows.
    slopes = unit.spread(problem.lipschitz * problem.bounds.row_norm(order)) / plan.scale
    width = problem.bounds.width
    off = 2 * plan.minimiser.radius + plan.mask.grid.spread_l2(width)
    return Part(
        lambda rows, noise: plan.run(prepare(rows), noise) * in_noise,
        slopes + off * in_noise * (math.sqrt(width) if order == 1 else 1.0),
    )


def check_joint_sensitivity(case, plan, pairs):
    """Without noise, the releases of neighbours are no further apart than the plan declares."""
    for pair in pairs:
        assert case.apart(plan, pair) <= case.sensitivity(plan)


def check_joint_audit(case, plan):
    """The worst pair's true profile stays below the declared one.

    Gaussian noise in all parts is one Gaussian. Of pure parts only the epsilons are compared.
    """
    shift, profile = case.apart(plan, case.worst_pair), plan.guarantee.profile
    if case.is_pure:
        assert shift <= profile.pure_epsilon
        return
    true = Gaussian(shift)
    for epsilon in np.linspace(0, 3, 31):
        assert true.delta(epsilon) <= profile.delta(epsilon) * (1 + 1e-6)


def joint_scores(case, plan, noise, trials):
    """The logarithm of the ratio of densities, at releases of either data set of the worst pair."""
    parts, centres = case.parts(plan), case.centres(plan, case.worst_pair)

    def score(value):
        if case.is_pure:
            return _l1(value - centres[0]) - _l1(value - centres[1])
        return value @ (centres[1] - centres[0])

    def sample(data):
        opened = data.open(case)
        return np.array([score(side_by_side(parts, opened, noise)) for _ in range(trials)])

    return sample(case.worst_pair[0]), sample(case.worst_pair[1])


def certified_mu(first, second):
    """A lower bound on the shift of Gaussian noise; false once in a thousand."""
    low, high = rates(first, second)
    return float(np.max(norm.ppf(low) - norm.ppf(high)))


def certified_epsilon(first, second, delta):
    """A lower bound on epsilon at a delta, from two samples of scores; false once in a thousand."""
    low, high = rates(first, second)
    return float(np.log(np.maximum(low - delta, 1e-300) / high).max())


def _frame_of(bounds, region, size):
    """A frame that makes features long and the intercept short."""
    p = bounds.n_features
    return StandardFrame(np.zeros(p), np.full(p, size), 1.0, 1.0, region, bounds.intercept)


def _standardisations():
    add, swap = AddRemoveOne(), ReplaceOne()
    approximate, pure = Budget(1.0, 1e-6), Budget(1.0)
    laplace = PrivateStandardisation(ObjectivePerturbation("laplace"))
    p, labels = 5, LabelSet([-1, 1])
    cube = Bounds(Box([-1] * p, [1] * p), p, labels=labels, intercept=0.1, max_rows=2**20)
    diamond = replace(cube, features=L1Ball(2.0))
    nothing, corner = [0.0] * p, [9.0] * p
    axis, other = [9.0, *[0.0] * (p - 1)], [0.0, -9.0, *[0.0] * (p - 2)]
    hostile = _hostile_row(p, [-1, 1])

    def case(label, mechanism, bounds, unit, budget, first, second, region):
        problem = Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0)
        y = np.ones(2)
        pair = (Data(np.array(first), y[: len(first)]), Data(np.array(second), y[: len(second)]))
        return StagedCase(f"private standardisation, {label}", mechanism, problem, unit, budget,
                          pair, _l1 if budget is pure else _l2, hostile,
                          frame=_frame_of(bounds, region, 1e3))  # fmt: skip

    yield case("cube, add_remove", PrivateStandardisation(), cube, add, approximate,
               [nothing], [nothing, corner], L2Ball(1.0))  # fmt: skip
    # With every entry below half a row, opposite corners are as far apart as two records can be.
    yield case("cube, replace", PrivateStandardisation(), cube, swap, approximate,
               [nothing, corner], [nothing, [-x for x in corner]], L2Ball(1.0))  # fmt: skip
    yield case("pure, cube, add_remove", laplace, cube, add, pure,
               [nothing], [nothing, corner], L1L2Ball(2.0, 1.0))  # fmt: skip
    yield case("pure, diamond, replace", laplace, diamond, swap, pure,
               [nothing, axis], [nothing, other], L1L2Ball(1.0, 1.0))  # fmt: skip


def _one_vs_rest():
    add, swap = AddRemoveOne(), ReplaceOne()
    approximate, pure = Budget(1.0, 1e-6), Budget(1.0)
    bounds = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]), max_rows=2**20)
    question = OneVsRest(Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0), classes=3)
    gaussian = EachAgainstTheRest(OutputPerturbation("gaussian"))
    laplace = EachAgainstTheRest(ObjectivePerturbation("laplace"))
    nothing, up, diagonal = [0.0] * 3, [5.0, 0.0, 0.0], [5.0] * 3

    def case(label, mechanism, unit, budget, first, second):
        y = np.array([0.0, 1.0])
        pair = (Data(np.array(first), y[: len(first)]), Data(np.array(second), y[: len(second)]))
        return StagedCase(f"one vs rest, {label}", mechanism, question, unit, budget, pair,
                          _l1 if budget is pure else _l2, _hostile_row(3, [0, 1, 2]))  # fmt: skip

    yield case("gaussian, add_remove", gaussian, add, approximate, [nothing], [nothing, up])
    # Turned about, a record pulls the other way in all three problems; relabelled, in two.
    yield case("gaussian, replace", gaussian, swap, approximate,
               [nothing, up], [nothing, [-x for x in up]])  # fmt: skip
    yield case("pure, add_remove", laplace, add, pure, [nothing], [nothing, diagonal])


def _gradients():
    add, swap = AddRemoveOne(), ReplaceOne()
    bounds = Bounds(L2Ball(2.0), 3, labels=LabelSet([-1, 1]), max_rows=2**20)
    problem = Problem(Hinge(), bounds, ridge=4000.0)
    nothing, up = [0.0] * 3, [5.0, 0.0, 0.0]
    for unit, first, second in (
        (add, [nothing], [nothing, up]),
        (swap, [nothing, up], [nothing, [-x for x in up]]),
    ):
        pair = tuple(Data(np.array(rows), np.ones(len(rows))) for rows in (first, second))
        yield GradientCase(f"noisy gradient, {unit.name}", NoisyGradient(steps=4), problem, unit,
                           Budget(1.0, 1e-6), pair, _l2, _hostile_row(3, [-1, 1]))  # fmt: skip


def _directions():
    bounds = Bounds(L2Ball(1e6), 3, max_rows=2**20)
    # At a row the direction jumps, however near: what half a cell moves is one over the ridge.
    problem = SpatialMedian(bounds, 20_000.0, Indicator(L2Ball(2.0)))
    nothing, up, down = [0.0] * 3, [5.0, 0.0, 0.0], [-3.0, 0.0, 0.0]
    for unit, first, second in (
        (AddRemoveOne(), [nothing], [nothing, up]),
        (ReplaceOne(), [nothing, up], [nothing, down]),
    ):
        pair = (Data(np.array(first)), Data(np.array(second)))
        yield GradientCase(f"noisy directions, {unit.name}", NoisyGradient(steps=4), problem, unit,
                           Budget(1.0, 1e-6), pair, _l2, _hostile_row(3))  # fmt: skip


def _softmax():
    bounds = Bounds(L2Ball(2.0), 3, labels=LabelSet([-1, 1]), max_rows=2**20)
    question = OneVsRest(Problem(Logistic(), bounds, ridge=4000.0), classes=3)
    nothing, up, down = [0.0] * 3, [5.0, 0.0, 0.2], [-5.0, 0.0, 0.2]
    # Both rows are taken for the first class, by what they have in common, and are of the second.
    point = (0.0, 0.0, 1000.0, *[0.0] * 6)
    for unit, first, second in (
        (AddRemoveOne(), [nothing], [nothing, up]),
        (ReplaceOne(), [nothing, up], [nothing, down]),
    ):
        pair = tuple(Data(np.array(rows), np.ones(len(rows))) for rows in (first, second))
        yield GradientCase(f"noisy softmax, {unit.name}", NoisyGradient(steps=4), question, unit,
                           Budget(1.0, 1e-6), pair, _l2, _hostile_row(3, [0, 1, 2]), point=point
                           )  # fmt: skip


STAGED = (*_standardisations(), *_one_vs_rest(), *_gradients(), *_directions(), *_softmax())

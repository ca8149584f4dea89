"""What noisy sums settle: each rule by hand, what it may depend on, and what covers it."""

from __future__ import annotations

import math
from dataclasses import astuple, replace

import numpy as np
import pytest
from scipy import sparse

from discreet.data import Bounds, LabelSet
from discreet.errors import CalibrationError, InputError, NotAccepted, PrivacyError
from discreet.geometry import Box, L2Ball
from discreet.losses import HuberHinge, Logistic, MarginLogistic
from discreet.mechanisms import (
    EachAgainstTheRest,
    NoisyGradient,
    ObjectivePerturbation,
    PrivateStandardisation,
)
from discreet.mechanisms.minimising.minimiser import Minimiser
from discreet.mechanisms.signal_rules import (
    NAMES,
    Settings,
    SignalRules,
    WideRules,
    clip_of,
    find_settings,
    margin_of,
    ridge_of,
    wide_ridge_of,
)
from discreet.mechanisms.summing.score_counts import CELLS
from discreet.mechanisms.summing.standard_frame import ColumnTotals, StandardFrame
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest
from discreet.solvers import Solution
from support.opened import open_rows

ADD, SWAP = AddRemoveOne(), ReplaceOne()
BUDGET = Budget(1.0, 1e-6)
LATER = ObjectivePerturbation(settles_later=True)
SETTLED = PrivateStandardisation(LATER, share=0.06, rules=SignalRules())


def bounds_of(p=3, max_rows=2**20, **more):
    return Bounds(
        L2Ball(2.0), p, labels=LabelSet([-1, 1]), intercept=1.0, max_rows=max_rows, **more
    )


def problem_of(margin=2.0, ridge=3.0, **more):
    return Problem(MarginLogistic(margin), bounds_of(**more), ridge=ridge)


def plan_of(mechanism=SETTLED, unit=ADD, **more):
    return mechanism.plan(problem_of(**more), BUDGET, unit)


# The rules, by hand.


@pytest.mark.parametrize(
    ("signal", "margin"),
    [(0.01, 3.0), (1.0, 3.0), (10.0, 2.1), (100.0, 1.2), (1000.0, 0.3), (10_000.0, 0.0)],
)
def test_the_margin_falls_by_nine_tenths_a_decade(signal, margin):
    assert margin_of(1 / signal) == pytest.approx(margin, abs=1e-12)


def test_the_ridge_is_between_one_and_two_times_the_planned_one():
    # 2 sigma / q with sigma = 6: at q = 2, 5 and 100 that is 6, 2.4 and 0.12.
    assert ridge_of(1 / 2, 6.0, 1.4) == pytest.approx(2.8)
    assert ridge_of(1 / 5, 6.0, 1.4) == pytest.approx(2.4)
    assert ridge_of(1 / 100, 6.0, 1.4) == 1.4


def test_rows_are_clipped_less_where_there_is_much_signal():
    assert clip_of(1 / 20) == clip_of(1 / 1000) == 1.0
    assert clip_of(1 / 4000) == pytest.approx(2.0)


def frame_of(moments, length=2.0, count=3000.0):
    frame = StandardFrame(np.zeros(3), np.full(3, 2.0), 1.0, length, L2Ball(1.0), 1.0)
    return replace(frame, count=count)


def test_settings_by_hand():
    moments = SETTLED._moments(bounds_of(), is_pure=False)
    # q = 3000 / (10 * 3) = 100: margin 1.2; 2 * 10 / 100 = 0.2 is below the planned ridge.
    found = SignalRules().settle(frame_of(moments), moments, MarginLogistic(2.0), 1.4, 10.0)
    assert astuple(found) == pytest.approx((3000.0, 0.01, 2.0, 1.2, 1.4))
    # q = 100 000: no margin, and ten times the typical length, but no row is longer than
    # sqrt((2 * 2)^2 + 1) in the frame.
    found = SignalRules().settle(frame_of(moments), moments, MarginLogistic(2.0), 1.4, 0.01)
    assert astuple(found) == pytest.approx((3000.0, 1e-5, math.sqrt(17), 0.0, 1.4), rel=1e-5)


def test_without_noise_there_is_no_margin_a_vanishing_ridge_and_no_clip():
    moments = SETTLED._moments(bounds_of(), is_pure=False)
    found = SignalRules().settle(frame_of(moments), moments, MarginLogistic(2.0), 1.4, 0.0)
    ridge = 1e-9 * 3000 * 4 / 17
    assert astuple(found) == pytest.approx((3000.0, 0.0, math.sqrt(17), 0.0, ridge), rel=1e-5)


def test_what_somebody_states_does_not_wait():
    moments = SETTLED._moments(bounds_of(), is_pure=False)
    for noise in (100.0, 0.0):
        own = SignalRules(settles_margin=False, settles_ridge=False)
        found = own.settle(frame_of(moments), moments, MarginLogistic(0.7), 1.4, noise)
        assert (found.margin, found.ridge) == (0.7, 1.4)
        assert own.loss(found, MarginLogistic(0.7)) == MarginLogistic(0.7)
    assert "margin" not in own.sentence
    assert SignalRules().loss(found, Logistic()) == Logistic()


@pytest.mark.parametrize("centred", [True, False])
def test_no_declared_row_is_longer_in_the_frame_than_is_said(centred):
    bounds = replace(bounds_of(), features=Box([-1.0] * 3, [1.0] * 3))
    moments = PrivateStandardisation(entry_bound=1.0)._moments(bounds, is_pure=False)
    totals = ColumnTotals(np.array([50.0, -20, 3, 80]), np.array([30.0, 9, 0.1, 0]), noise=2.0)
    frame = StandardFrame.of_gaussian(totals, moments, centred=centred)
    corners = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T.astype(float)
    framed = frame.apply(np.column_stack([corners, np.ones(8)])) * frame.length
    longest = np.linalg.norm(framed, axis=1).max()
    assert longest <= frame.longest(moments) <= 1.01 * longest


# Wide rows: columns as they are, and a number of rows.

WIDE = PrivateStandardisation(LATER, share=0.001, rules=WideRules(), scales=False)


def test_the_ridge_of_wide_rows_is_between_one_and_two_times_the_planned_one():
    # Noise of 1/100, 3/100 and 1/10 of what all slopes can add up to.
    assert [wide_ridge_of(noise, 1.2) for noise in (0.01, 0.03, 0.1)] == pytest.approx(
        [1.2, 1.8, 2.4]
    )


def test_settings_of_wide_rows_by_hand():
    moments = WIDE._moments(bounds_of(p=400), is_pure=False)
    frame = replace(frame_of(moments, length=1.0), count=10_000.0)
    # q = 10000 / (15 * 400) = 5/3; the noise is 15 * 20 / 10000 = 3/100 of all slopes.
    found = WideRules().settle(frame, moments, MarginLogistic(2.0), 1.2, 15.0)
    margin = 3 - 0.9 * math.log10(5 / 3)
    assert astuple(found) == pytest.approx((10_000.0, 0.6, 1.0, margin, 1.8))
    own = WideRules(settles_margin=False, settles_ridge=False)
    found = own.settle(frame, moments, MarginLogistic(0.7), 1.2, 15.0)
    assert (found.margin, found.ridge) == (0.7, 1.2)


@pytest.mark.parametrize("columns", [600, 100_000])
def test_more_noise_never_gives_wide_rows_a_smaller_margin_or_ridge(columns):
    moments = WIDE._moments(bounds_of(p=columns), is_pure=False)
    frame = replace(frame_of(moments, length=1.0), count=10_000.0)
    settled = [
        WideRules().settle(frame, moments, MarginLogistic(2.0), 1.2, noise)
        for noise in (0.0, 1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3)
    ]
    for values in ([one.margin for one in settled], [one.ridge for one in settled]):
        assert values == sorted(values)
    assert (settled[0].margin, settled[0].ridge) == (settled[1].margin, settled[1].ridge)
    assert (settled[0].margin, settled[0].ridge) == (0.0, 1.2)  # where rows are many for the noise
    assert (settled[-1].margin, settled[-1].ridge) == (3.0, 2.4)


@pytest.mark.parametrize(("rules", "scales"), [(SignalRules(), False), (WideRules(), True)])
def test_rules_go_with_what_is_known_of_columns(rules, scales):
    with pytest.raises(InputError, match="rules are WideRules where"):
        PrivateStandardisation(LATER, rules=rules, scales=scales)


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
def test_settings_of_wide_rows_are_functions_of_their_noisy_number(unit):
    plan, generator = plan_of(WIDE, unit), np.random.default_rng(0)
    assert (plan.sums is None) == unit.rows_are_public
    found = []
    for size in (2.0, 0.1):
        X = size * generator.uniform(-1, 1, (300, 3))
        y = np.where(generator.random(300) < 0.3, 1.0, -1.0)
        opened = open_rows(X, y, bounds=plan.moments.bounds)
        found.append(find_settings(plan.run(opened, RehearsalNoise(1)), 4))
    assert found[0] == found[1]
    scale = 0.0 if plan.sums is None else plan.sums.grid.scale
    # The noise is fixed; four deviations.
    assert abs(found[0].rows - 300) <= 4 * scale
    assert (found[0].rows == 300) == unit.rows_are_public
    assert plan.guarantee.delta(BUDGET.epsilon) <= BUDGET.delta


@pytest.mark.parametrize("engine", [np.asarray, sparse.csr_array])
def test_coefficients_of_wide_rows_are_those_of_rows_as_they_are(engine):
    # But for noise it is the minimiser of the settled objective; ridge and noise are in the frame.
    problem = problem_of(ridge=3.0)
    plan = WIDE.plan(problem, Budget(100.0, 1e-6), ADD)
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, (4000, 3))
    y = np.where(X @ [3.0, -2.0, 0.0] + generator.logistic(size=4000) > 0, 1.0, -1.0)
    value = plan.run(open_rows(engine(X), y, bounds=problem.bounds), RehearsalNoise(1))
    settings, norm = find_settings(value, 4), problem.bounds.row_norm()
    full = np.column_stack([X, np.ones(4000)])
    loss = MarginLogistic(settings.margin)
    slope = full.T @ loss.slope(y, full @ value[:4]) + settings.ridge * norm**2 * value[:4]
    noise = 2 * norm * plan.second.scale  # of four coordinates; the draw is fixed
    assert 0.3 * noise < np.linalg.norm(slope) < 2 * noise < 2.0


# What settings travel in.


def test_settings_stand_behind_coefficients_and_counts():
    settings = Settings(100.0, 0.5, 2.0, 1.0, 3.0)
    for value in (np.ones(4), np.ones(4 + CELLS), np.ones((3, 4))):
        behind = settings.append_to(value)
        assert behind.shape == (*value.shape[:-1], value.shape[-1] + len(NAMES))
        assert find_settings(behind, 4) == settings
        assert find_settings(value, 4) is None


# What they depend on.


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
def test_noise_mask_and_guarantee_know_neither_margin_nor_rules(unit):
    plans = [plan_of(unit=unit, margin=margin) for margin in (0.0, 2.0, 3.0)]
    plans.append(plan_of(PrivateStandardisation(LATER, share=0.06), unit))
    for plan in plans[1:]:
        assert plan.second.scale == plans[0].second.scale
        assert plan.second.mask.grid == plans[0].second.mask.grid
        assert plan.second.minimiser.radius == plans[0].second.minimiser.radius
        assert plan.guarantee == plans[0].guarantee


@pytest.mark.parametrize("counted", [False, True])
def test_settings_are_functions_of_the_noisy_sums(counted):
    mechanism = replace(SETTLED, counts_scores=counted)
    plan, generator = plan_of(mechanism), np.random.default_rng(0)

    class Fixed(type(plan.sums)):
        def release(self, rows, noise):
            return ColumnTotals(np.array([30.0, 60, 90, 400]), np.full(4, 40.0), self.grid.scale)

    fixed, found = replace(plan, sums=Fixed(**vars(plan.sums))), []
    for rows, size in ((10, 2.0), (300, 0.1)):
        X = size * generator.uniform(-1, 1, (rows, 3))
        y = np.where(generator.random(rows) < 0.3, 1.0, -1.0)
        opened = open_rows(X, y, bounds=plan.moments.bounds)
        found.append(find_settings(fixed.run(opened, RehearsalNoise(1)), 4))
    assert found[0] == found[1]
    assert found[0].noise_to_signal == plan.second.scale * 3 / found[0].rows


def test_one_against_the_rest_has_the_noise_of_one_problem():
    question = OneVsRest(problem_of(ridge=6.0), classes=3)
    mechanism = SETTLED.with_second(EachAgainstTheRest(LATER))
    plan = mechanism.plan(question, BUDGET, ADD)
    assert plan.second.objective_noise == plan.second.one.scale
    generator = np.random.default_rng(0)
    X, y = generator.uniform(-1, 1, (200, 3)), generator.integers(0, 3, 200).astype(float)
    bounds = question.bounds
    value = plan.run(open_rows(X, y, bounds=bounds), RehearsalNoise(0))
    assert value.shape == (3, 4 + len(NAMES))
    assert find_settings(value, 4).noise_to_signal == pytest.approx(
        plan.second.one.scale * 3 / find_settings(value, 4).rows
    )


def test_weights_are_in_the_noise_and_so_in_the_signal():
    plain, weighted = plan_of(), plan_of(max_weight=5.0, ridge=15.0)
    assert weighted.second.objective_noise == pytest.approx(5 * plain.second.objective_noise)


# What covers them.


def settled_radius(planned, margin, ridge):
    """How far a point that meets the planned tolerance can be, at a margin and a ridge."""
    problem = replace(planned.problem, loss=MarginLogistic(margin), ridge=ridge)
    actual = Minimiser(problem, planned.linear_bound, planned.linear_error)
    assert actual.far == planned.far
    assert actual.tolerance <= planned.tolerance  # some float point surely meets it
    residual = planned.tolerance + actual.float_error + actual.linear_error
    plain = (residual + actual.through_margins) / ridge
    spread = math.sqrt(1.32 * problem.smoothness * problem.bounds.max_rows / (4 * ridge))
    return min(plain, residual / ridge + actual.margin_error * spread)


@pytest.mark.parametrize("max_rows", [1, 300, 2**23])
@pytest.mark.parametrize("epsilon", [0.1, 3.0])
@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
def test_the_planned_radius_covers_every_margin_and_ridge(unit, epsilon, max_rows):
    factor = 2.8 if unit.rows_are_public else 1.4
    problem = problem_of(ridge=factor / epsilon, max_rows=max_rows)
    planned = SETTLED.plan(problem, Budget(epsilon, 1e-9), unit).second.minimiser
    ratios = [
        settled_radius(planned, margin, ridge * problem.ridge) / planned.radius
        for margin in (0.0, 1.0, 2.0, 3.0)
        for ridge in (1.0, 1.3, 2.0)
    ]
    assert max(ratios) <= 1
    assert max(ratios) > 0.85  # nor is it much too large, even where the ridge is all there is


@pytest.mark.parametrize("ridge", [1.0, 2.0])
@pytest.mark.parametrize("margin", [0.0, 3.0])
def test_the_slow_method_knows_the_ridge_in_use(ridge, margin, monkeypatch):
    # Few rows: most of the stiffness is the ridge, and steps are as long as that allows.
    plan = plan_of(max_rows=20, ridge=14.0)
    minimiser, generator = plan.second.minimiser, np.random.default_rng(1)
    X, y = generator.uniform(-0.5, 0.5, (20, 4)), np.where(generator.random(20) < 0.5, 1.0, -1.0)
    rows = open_rows(X, y, bounds=minimiser.problem.bounds)
    linear, loss = np.array([9.0, -20.0, 4.0, 1.0]), MarginLogistic(margin)
    options = {"loss": loss, "ridge": ridge * 14.0}
    found = minimiser.solve(rows, linear, **options)
    monkeypatch.setattr(Minimiser, "_refine", lambda *_: iter(()))
    told = []

    def broken(objective, start, smoothness=None, **_):
        told.append(smoothness)
        return Solution(start, 0.0)  # and claims to be done

    for name in ("newton", "accelerated_gradient"):
        monkeypatch.setattr(f"discreet.mechanisms.minimising.minimiser.{name}", broken)
    slowly = minimiser.solve(rows, linear, **options)
    assert told[-1] == pytest.approx(20 / 4 + ridge * 14.0, rel=1e-5)
    assert np.linalg.norm(found - slowly) <= 2 * minimiser.radius
    gradient = X.T @ loss.slope(y, X @ slowly) + ridge * 14.0 * slowly + linear
    assert np.linalg.norm(gradient) < 1e-9


# What is refused.


@pytest.mark.parametrize(
    ("loss", "ridge"),
    [
        (MarginLogistic(1.0), 2.999),
        (MarginLogistic(1.0), 6.001),
        (HuberHinge(0.5), 3.0),
        (HuberHinge(9.0), 3.0),
    ],
)
def test_an_objective_that_was_not_planned_for_is_refused(loss, ridge):
    with pytest.raises(PrivacyError, match="not one that was planned for"):
        plan_of().second.settle(loss, ridge)


def test_a_plan_for_one_objective_is_not_settled():
    plan = plan_of(PrivateStandardisation())
    with pytest.raises(PrivacyError):
        plan.second.settle(MarginLogistic(1.0), 3.0)
    softmax = PrivateStandardisation(NoisyGradient()).plan(
        OneVsRest(problem_of(), classes=3), BUDGET, ADD
    )
    with pytest.raises(CalibrationError, match="fixed when it is planned"):
        softmax.second.settle(MarginLogistic(1.0), 3.0)


def test_rules_need_who_can_follow_them():
    with pytest.raises(NotAccepted, match="settles_later"):
        plan_of(PrivateStandardisation(rules=SignalRules()))
    with pytest.raises(CalibrationError, match="delta > 0"):
        SETTLED.plan(problem_of(), Budget(1.0), ADD)
    with pytest.raises(InputError, match="Gaussian noise alone"):
        ObjectivePerturbation("radial", settles_later=True)
    with pytest.raises(NotAccepted, match="Logistic, MarginLogistic or PseudoHuber"):
        LATER.plan(Problem(HuberHinge(0.5), bounds_of(), ridge=3.0), BUDGET, ADD)
    for share in (0.0, -0.1, 1.5, math.nan):
        with pytest.raises(InputError, match="share"):
            PrivateStandardisation(share=share)

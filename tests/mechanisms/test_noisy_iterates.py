"""Private online convex programming: sums that stay near, exact laws of short streams, sessions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import CalibrationError, InputError, NotAccepted
from discreet.geometry import L2Ball, LinfBall
from discreet.losses import Hinge, Huber, Logistic, MarginLogistic, Pinball, SmoothedHinge, Squared
from discreet.mechanisms import (
    GradientAscent,
    ImplicitGradient,
    OnlineToBatch,
    PrivateOCP,
)
from discreet.mechanisms.online_to_batch import harmonic
from discreet.mechanisms.private_ocp import LinearisedLeader
from discreet.mechanisms.streaming.gradient_steps import GradientSteps
from discreet.mechanisms.streaming.noise_schedule import NoiseSchedule
from discreet.mechanisms.streaming.proximal_steps import ProximalSteps
from discreet.noise import RehearsalNoise, distance_of_gaussian
from discreet.penalties import L1, Indicator
from discreet.privacy import Budget, Gaussian, ReplaceOne, ZeroOutOne
from discreet.questions import Problem, Stream
from support.joint_law import joint_delta, means, scales, transcript
from support.silent import SilentNoise

SWAP, ZERO = ReplaceOne(), ZeroOutOne()
BUDGET = Budget(1.0, 1e-6)
EPSILONS = [0.0, 0.25, 1.0, 2.0]


def a_problem(loss, width=1, ridge=0.5, radius=None):
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-1, 1)
    penalty = None if radius is None else Indicator(L2Ball(radius))
    return Problem(loss, Bounds(L2Ball(1.0), width, labels=labels), ridge, penalty=penalty)


# Sums of slopes stay near one another.


STEADY = [
    (steps, a_problem(loss, 3, ridge, radius))
    for steps in (LinearisedLeader, ProximalSteps, GradientSteps)
    for loss, ridge, radius in (
        (Logistic(), 0.02, None),
        (Logistic(), 0.02, 0.5),
        (SmoothedHinge(0.1), 0.3, 0.2),
        (Squared(1.0), 0.05, 1.5),
        (Huber(0.2), 0.02, None),
        (Hinge(), 0.02, None),
        (Hinge(), 0.02, 0.5),
        (Pinball(0.9), 0.1, None),
    )
    if loss.is_smooth or steps is not GradientSteps
]


def records(generator, problem, count):
    X = generator.standard_normal((count, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * generator.choice(
        [1.0, 1.0, 4.0, 1e3], (count, 1)
    )
    if generator.random() < 0.5:
        X[:] = X[0]  # in one direction, where steps meet kinks
    y = np.sign(X[:, 0]) if generator.random() < 0.5 else generator.choice([-1.0, 1.0], count)
    return X, np.where(y == 0, 1.0, y)


@pytest.mark.parametrize(("steps", "problem"), STEADY, ids=lambda value: repr(value)[:60])
@pytest.mark.parametrize("unit", [SWAP, ZERO], ids=lambda unit: unit.name)
def test_one_record_moves_the_sum_by_no_more_than_is_declared(steps, problem, unit):
    generator, horizon = np.random.default_rng(7), 60
    algorithm = steps(problem, horizon)
    most = 0.0
    for _ in range(12):
        X, y = records(generator, problem, horizon)
        other_X, other_y = X.copy(), y.copy()
        place = int(generator.integers(horizon))
        other_X[place], other_y[place] = -X[place], y[place]
        if unit == ZERO:
            other_X[place] = 0.0
        one, other = np.zeros(3), np.zeros(3)
        public = generator.standard_normal((horizon, 3)) * 0.3
        if problem.penalty is not None:
            public = np.array([problem.penalty.nearest(point) for point in public])
        for t in range(horizon):
            one = algorithm.step(one, t + 1, X[t], y[t], public[t])
            other = algorithm.step(other, t + 1, other_X[t], other_y[t], public[t])
            apart = float(np.linalg.norm(one - other))
            assert apart <= algorithm.sensitivity(unit)
            most = max(most, apart)
    assert most > 0


class Hasty(GradientSteps):
    """Gradient steps without a warm-up."""

    first = 1


def test_gradient_steps_without_their_warm_up_do_not_stay_near():
    # Two sums, apart along the first axis, lie on either side of the bend of a later loss, whose
    # row is nearly at right angles: its slopes drive them apart along the second axis too.
    problem = a_problem(Huber(0.1), 2, ridge=0.01)
    slant = np.array([0.03, math.sqrt(1 - 0.03**2)])
    for steps, stays in ((Hasty, False), (GradientSteps, True)):
        algorithm, sums = steps(problem, 4000), [np.zeros(2), np.zeros(2)]
        begin = algorithm.first
        for side, label in enumerate((1.0, -1.0)):
            sums[side] = algorithm.step(sums[side], begin, np.eye(2)[0], label, sums[side])
            sums[side] = algorithm.step(sums[side], begin + 1, slant, 0.0, sums[side])
        apart = np.linalg.norm(sums[0] - sums[1])
        assert (apart <= algorithm.sensitivity(SWAP)) == stays
    assert GradientSteps(problem, 4000).first == 1 + math.ceil(problem.row_smoothness / 0.02)


# The law of all answers, exactly.


def plan_of(mechanism, problem, horizon, unit=SWAP, budget=BUDGET):
    return mechanism.plan(Stream(problem, horizon), budget, unit)


def adversary(first):
    """Who begins with one record, and then pushes whatever was answered further up."""

    def record_after(past):
        if not past:
            return first
        return 0.75 + 0.25 * math.tanh(past[-1]), 1.0 if past[-1] >= 0 else -1.0

    return record_after


MECHANISMS = [PrivateOCP(), PrivateOCP("even"), ImplicitGradient(), GradientAscent()]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: f"{one.name}, {one.schedule}")
@pytest.mark.parametrize("horizon", [2, 3])
@pytest.mark.parametrize("unit", [SWAP, ZERO], ids=lambda unit: unit.name)
def test_the_joint_law_of_few_answers_keeps_the_promise_against_an_adversary(
    mechanism, horizon, unit
):
    problem = a_problem(Logistic(), ridge=10.0)  # one gradient step is enough of a warm-up
    plan = plan_of(mechanism, problem, horizon, unit, Budget(1.0, 1e-3))
    start = plan.algorithm.first
    other = (1.0, -1.0) if unit == SWAP else (0.0, 1.0)

    def stream(first):
        def record_after(past):
            return (1.0, 1.0) if len(past) < start - 1 else adversary(first)(past[start - 1 :])

        return record_after

    laws = [means(plan, stream(first)) for first in ((1.0, 1.0), other)]
    for one, two in (laws, laws[::-1]):
        true = joint_delta(one, two, scales(plan), EPSILONS)
        declared = [plan.guarantee.delta(epsilon) for epsilon in EPSILONS]
        assert (true <= np.array(declared) * (1 + 1e-9)).all()
        assert true[0] > 0.2 * declared[0]  # the pair is not a dull one


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: f"{one.name}, {one.schedule}")
def test_the_joint_law_of_the_worst_pair_is_the_declared_profile(mechanism):
    problem = a_problem(MarginLogistic(margin=40.0), ridge=4000.0)
    plan = plan_of(mechanism, problem, 3)
    start = plan.algorithm.first

    def stream(label):
        return lambda past: (1.0, label) if len(past) == start - 1 else (0.0, 1.0)

    true = joint_delta(means(plan, stream(1.0)), means(plan, stream(-1.0)), scales(plan), EPSILONS)
    declared = [plan.guarantee.delta(epsilon) for epsilon in EPSILONS]
    assert (true <= np.array(declared) * (1 + 1e-9)).all()
    np.testing.assert_allclose(true, declared, rtol=0.02, atol=1e-12)


def test_the_mean_of_an_answer_is_what_the_quadrature_takes_it_for():
    plan = plan_of(PrivateOCP(), a_problem(Logistic(), ridge=2.0), 3)
    X, y = np.array([[1.0], [-0.5], [0.25]]), np.array([1.0, 1.0, -1.0])
    answers = transcript(plan, X, y, SilentNoise())[:, 0]
    mean = means(plan, lambda past: (X[len(past), 0], y[len(past)]))
    expected = [mean(tuple(answers[:t])) for t in range(3)]
    np.testing.assert_allclose(answers, expected, rtol=0, atol=plan.schedule.grid(1).step)


# How noise is dealt out.


def a_schedule(kind="regret", last=1000, **changes):
    given = {"mu": 0.3, "moved": 2.0, "offset": 1, "first": 1, "every": 1, "width": 4, "bound": 1.0}
    return NoiseSchedule(kind, last=last, **{**given, **changes})


@pytest.mark.parametrize("kind", ["regret", "even"])
@pytest.mark.parametrize("changes", [{}, {"first": 7, "every": 12}, {"offset": 0, "width": 1000}])
def test_costs_add_up_to_what_all_answers_may_cost(kind, changes):
    schedule = a_schedule(kind, **changes)
    releases = range(schedule.first, schedule.last + 1)
    grids = [schedule.grid(j) for j in releases]
    reached = [
        (schedule.sensitivity(j) + grid.spread_l2(schedule.width)) / grid.scale
        for j, grid in zip(releases, grids, strict=True)
    ]
    assert math.hypot(*reached) <= schedule.total
    assert math.hypot(*reached) >= 0.999999 * schedule.mu
    assert sum(grid.scale for grid in grids) == pytest.approx(schedule.deviations, rel=1e-5)


@pytest.mark.parametrize(("last", "gain"), [(99, 1.3), (9_999, 2.0), (999_999, 2.8)])
def test_the_schedule_for_regret_needs_less_noise_as_the_horizon_grows(last, gain):
    # The gains that the note states, which are those of exact sums for one answer less than rounds.
    even, regret = (a_schedule(kind, last, offset=0).deviations for kind in ("even", "regret"))
    assert even / regret == pytest.approx(gain, abs=0.05)


def test_sums_over_very_many_answers_are_bounded_from_above():
    # Two million answers: the second million by an integral.
    schedule = a_schedule(last=2**21 + 2**19)
    exact = ((np.arange(1, schedule.last + 1) + 1.0) ** (-2 / 3)).sum()
    assert exact <= schedule._shares <= exact * (1 + 1e-5)
    assert a_schedule("even", last=2**21).deviations == pytest.approx(
        2 / 0.3 * math.sqrt(2**21) * (harmonic(2**21 + 1) - 1), rel=1e-6
    )


def test_moving_noise_from_one_answer_to_another_makes_the_sum_larger():
    schedule = a_schedule(last=50)
    costs = np.array([schedule.cost(j) for j in range(1, 51)])
    moved = np.array([schedule.sensitivity(j) for j in range(1, 51)])
    generator, least = np.random.default_rng(1), (moved / costs).sum()
    for _ in range(50):
        others = costs * np.exp(0.1 * generator.standard_normal(50))
        others *= np.linalg.norm(costs) / np.linalg.norm(others)
        assert (moved / others).sum() > least


# Constants, as the theory states them.


@pytest.mark.parametrize(
    ("mechanism", "offset"), [(PrivateOCP(), 0), (ImplicitGradient(), 1), (GradientAscent(), 0)]
)
@pytest.mark.parametrize(("unit", "factor"), [(SWAP, 2), (ZERO, 1)])
def test_a_record_moves_an_iterate_by_its_slope_over_ridge_and_rounds(
    mechanism, offset, unit, factor
):
    plan = plan_of(mechanism, a_problem(Logistic(), ridge=0.1), 1000, unit)
    for answer in (10, 500):
        expected = factor / (0.1 * (answer + offset))
        assert plan.schedule.sensitivity(answer) == pytest.approx(expected, rel=6e-4)
        assert plan.schedule.sensitivity(answer) > expected  # rounding is in it


@pytest.mark.parametrize(("unit", "factor"), [(SWAP, 2), (ZERO, 1)])
def test_a_record_moves_the_mean_by_a_harmonic_sum_over_the_ridge(unit, factor):
    plan = plan_of(OnlineToBatch(), a_problem(Hinge(), ridge=0.05), 100, unit)
    sharp = factor * (sum(1 / t for t in range(1, 101)) - 1) / (0.05 * 100)
    assert sharp < plan.sensitivity < sharp * (1 + 6e-4)


def test_an_even_schedule_is_that_of_one_gaussian_of_all_answers():
    plan = plan_of(ImplicitGradient("even"), a_problem(Logistic(), ridge=0.1), 400)
    mu = Gaussian(plan.schedule.mu)
    assert plan.schedule.grid(399).scale == pytest.approx(2 / (0.1 * 400) * 20 / mu.mu, rel=3e-4)


def test_fewer_answers_need_less_noise():
    problem = a_problem(Logistic(), ridge=0.1)
    each, few = (
        ImplicitGradient("even").plan(Stream(problem, 1000, batch), BUDGET, SWAP)
        for batch in (1, 100)
    )
    assert few.schedule.grid(10).scale == pytest.approx(
        each.schedule.grid(1000).scale / 10, rel=1e-3
    )


# Means over a pass.


def test_missing_rounds_of_a_mean_are_empty_ones():
    problem = a_problem(Logistic(), 3, ridge=0.1, radius=4.0)
    plan = plan_of(OnlineToBatch(), problem, 30, budget=Budget(math.inf))
    X, y = records(np.random.default_rng(3), problem, 12)
    padded = np.vstack([X, np.zeros((18, 3))]), np.append(y, np.ones(18))
    short = transcript(plan, X, y, SilentNoise())
    np.testing.assert_allclose(short, transcript(plan, *padded, SilentNoise()), rtol=1e-12)


def test_the_last_record_of_a_mean_is_not_used():
    problem = a_problem(Logistic(), 3, ridge=0.1)
    plan = plan_of(OnlineToBatch(), problem, 12, budget=Budget(math.inf))
    X, y = records(np.random.default_rng(3), problem, 12)
    other = X.copy()
    other[-1] = -X[-1]
    one, two = (transcript(plan, table, y, SilentNoise()) for table in (X, other))
    np.testing.assert_array_equal(one, two)


# Sessions.


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: f"{one.name}, {one.schedule}")
def test_a_stream_may_be_cut_anywhere_and_goes_on_where_it_was_packed(mechanism):
    problem = a_problem(Logistic(), 3, ridge=0.05, radius=0.5)
    plan = mechanism.plan(Stream(problem, 200, batch=7), Budget(math.inf), SWAP)
    X, y = records(np.random.default_rng(5), problem, 200)
    whole = plan.start(RehearsalNoise(1))
    whole.learn(X, y)
    generator, part, start = np.random.default_rng(3), plan.start(RehearsalNoise(1)), 0
    while start < 200:
        stop = min(200, start + int(generator.integers(1, 40)))
        part.learn(X[start:stop], y[start:stop])
        part, start = plan.unpack(part.pack(), RehearsalNoise(2)), stop
    np.testing.assert_array_equal(part.answer(), whole.answer())
    assert np.linalg.norm(whole.answer()) <= 0.5 * (1 + 1e-9)


def test_the_account_of_draws_covers_a_stream_that_is_handed_over_after_every_record(monkeypatch):
    problem = a_problem(Logistic(), 3, ridge=0.05)
    plan = plan_of(ImplicitGradient(), problem, 40)
    X, y = records(np.random.default_rng(5), problem, 40)
    asked, gaussian = [], RehearsalNoise.gaussian
    monkeypatch.setattr(
        RehearsalNoise,
        "gaussian",
        lambda self, count, bits: asked.append(count) or gaussian(self, count, bits),
    )
    part = plan.start(RehearsalNoise(1))
    for place in range(40):
        part.learn(X[place : place + 1], y[place : place + 1])
        part = plan.unpack(part.pack(), RehearsalNoise(place))
    assert len(asked) == 40  # and one for a stream that is not handed over
    distance = plan.guarantee.profile.distance
    assert sum(map(distance_of_gaussian, asked)) <= distance * (1 + 1e-12)


def test_noise_does_not_depend_on_how_a_stream_is_cut():
    problem = a_problem(Logistic(), 3, ridge=0.05)
    plan = plan_of(ImplicitGradient(), problem, 3000)  # more than is drawn at once
    X, y = records(np.random.default_rng(5), problem, 3000)
    one, two = (plan.start(RehearsalNoise(4)) for _ in range(2))
    one.learn(X, y)
    for start in range(0, 3000, 777):
        two.learn(X[start : start + 777], y[start : start + 777])
    np.testing.assert_array_equal(one.answer(), two.answer())


def test_no_two_answers_share_their_noise():
    problem = a_problem(Logistic(), 2, ridge=0.05)
    plan = plan_of(PrivateOCP("even"), problem, 2500)
    session, silent = plan.start(RehearsalNoise(4)), plan.start(SilentNoise())
    seen = set()
    for t in range(2500):
        for each in (session, silent):
            each.learn(np.zeros((1, 2)), np.ones(1))
        seen.update(
            ((session.answer() - silent.answer()) / plan.schedule.grid(t + 1).step).tolist()
        )
    assert len(seen) == 5000


def test_before_the_warm_up_is_over_the_origin_is_played():
    problem = a_problem(Logistic(), 2, ridge=0.01)
    plan = plan_of(GradientAscent(), problem, 60)
    X, y = records(np.random.default_rng(1), a_problem(Logistic(), 3), 60)
    answers = transcript(plan, X[:, :2], y, RehearsalNoise(1))
    start = plan.algorithm.first - 1
    assert start == 13
    assert not answers[:start].any()
    assert answers[start:].all()


# Refusals.


@pytest.mark.parametrize(
    ("mechanism", "change", "message"),
    [
        (GradientAscent(), {"loss": Hinge()}, "not smooth; smooth it, or use implicit_gradient"),
        (ImplicitGradient(), {"penalty": L1(1.0)}, "use Indicator\\(L2Ball"),
        (PrivateOCP(), {"penalty": Indicator(LinfBall(1.0))}, "use Indicator\\(L2Ball"),
        (PrivateOCP(), {"radius": 3.0}, "state a constraint as penalty"),
        (OnlineToBatch(), {"penalty": L1(1.0)}, "use Indicator\\(L2Ball"),
    ],
)
def test_what_the_proof_does_not_cover_is_refused(mechanism, change, message):
    problem = replace(a_problem(Logistic(), 2), **change)
    with pytest.raises(NotAccepted, match=message):
        plan_of(mechanism, problem, 100)
    with pytest.raises(NotAccepted, match="learns from a Stream"):
        mechanism.plan(problem, BUDGET, SWAP)


def test_a_squared_loss_needs_a_domain():
    with pytest.raises(NotAccepted, match="declare one"):
        plan_of(ImplicitGradient(), a_problem(Squared(1.0)), 100)


@pytest.mark.parametrize(
    ("mechanism", "problem", "horizon", "message"),
    [
        (GradientAscent(), a_problem(Logistic(), ridge=1e-3), 100, "use more ridge, or implicit"),
        (ImplicitGradient(), a_problem(Logistic()), 10**9, "declare a shorter one"),
        (ImplicitGradient(), a_problem(Logistic(), ridge=1e-120), 100, "declare ordinary magni"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(mechanism, problem, horizon, message):
    with pytest.raises(CalibrationError, match=message):
        plan_of(mechanism, problem, horizon)


def test_a_stream_that_is_over_before_a_record_counts_is_refused():
    problem = a_problem(Logistic(), ridge=0.01)
    with pytest.raises(CalibrationError, match="over before a record counts"):
        GradientAscent().plan(Stream(problem, 15, batch=10), BUDGET, SWAP)


@pytest.mark.parametrize("mechanism", [*MECHANISMS, OnlineToBatch()], ids=lambda one: one.name)
def test_gaussian_noise_needs_a_delta(mechanism):
    with pytest.raises(CalibrationError, match="allow a small delta"):
        plan_of(mechanism, a_problem(Logistic(), ridge=10.0), 20, budget=Budget(1.0))


def test_a_mean_of_one_iterate_is_refused():
    with pytest.raises(NotAccepted, match="declare a longer horizon"):
        plan_of(OnlineToBatch(), a_problem(Logistic()), 1)


def test_algorithms_and_schedules_are_checked():
    with pytest.raises(InputError, match="algorithm must be one of"):
        PrivateOCP(algorithm="implicit")
    with pytest.raises(InputError, match="schedule must be one of"):
        ImplicitGradient("printed")
    plan = plan_of(PrivateOCP(algorithm="proximal"), a_problem(Logistic()), 100)
    assert plan.schedule == plan_of(ImplicitGradient(), a_problem(Logistic()), 100).schedule

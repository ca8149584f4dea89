"""Exact sums of gradients, their noise and their accounting, and what is learnt from them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from discreet.data import Bounds, Interval, LabelSet, Rows
from discreet.errors import CalibrationError, InputError, NotAccepted
from discreet.gate import release
from discreet.geometry import L1Ball, L2Ball, Simplex
from discreet.linear_model import QuantileRegressor
from discreet.losses import (
    Hinge,
    Huber,
    HuberHinge,
    LogCosh,
    Logistic,
    MarginLogistic,
    Pinball,
    PseudoHuber,
    SmoothedHinge,
    SmoothedPinball,
    Squared,
)
from discreet.mechanisms import NoisyGradient, noisy_gradient
from discreet.mechanisms.summing.batches import AllRows, FixedBatches, PoissonBatches
from discreet.mechanisms.summing.exact_gradient import ExactGradient
from discreet.mechanisms.summing.schedule import Schedule
from discreet.noise import ALL_ROWS, RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import (
    AddRemoveOne,
    Budget,
    FixedBatchGaussian,
    Gaussian,
    ReplaceOne,
    SampledGaussian,
)
from discreet.privacy import tilted_fft as tilted
from discreet.questions.problem import Problem
from support.cases import cases_of
from support.cases.gradients import GradientCase
from support.checks import check_joint_audit
from support.confidence import lower_bound, upper_bound
from support.opened import open_rows
from support.silent import SilentNoise

ADD, SWAP = AddRemoveOne(), ReplaceOne()
ROOT = math.sqrt(2 * math.pi)
BUDGET = Budget(1.0, 1e-6)
CLASSES = Bounds(L2Ball(3.0), 4, labels=LabelSet([-1, 1]), intercept=0.7, max_rows=2**20)
NUMBERS = Bounds(L2Ball(3.0), 4, labels=Interval(-2, 2), intercept=0.7, max_rows=2**20)
LOSSES = [
    (Hinge(), CLASSES),
    (SmoothedHinge(), CLASSES),
    (HuberHinge(), CLASSES),
    (Logistic(), CLASSES),
    (MarginLogistic(), CLASSES),
    (Pinball(0.3), NUMBERS),
    (SmoothedPinball(0.3, 0.1), NUMBERS),
    (Huber(1.0), NUMBERS),
    (PseudoHuber(1.0), NUMBERS),
    (LogCosh(1.0), NUMBERS),
]
every_loss = pytest.mark.parametrize(
    ("loss", "bounds"), LOSSES, ids=[type(loss).__name__ for loss, _ in LOSSES]
)


def table(count, bounds, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((count, bounds.n_features))
    y = np.where(X[:, 0] + 0.3 * generator.standard_normal(count) > 0, 1.0, -1.0)
    return X, y


def gradient(problem, X, y, point, **options):
    sums = ExactGradient(problem)
    prepared = sums.prepare(open_rows(X, y, bounds=problem.bounds, **options))
    return sums.units(prepared, point), sums.unit


@every_loss
def test_the_sum_is_the_gradient(loss, bounds):
    problem = Problem(loss, bounds, ridge=1.0)
    X, y = table(500, bounds)
    point = np.array([0.4, -0.3, 0.2, 0.9, -0.5])
    units, unit = gradient(problem, X, y, point)
    shrunk = X * np.minimum(1, 3 / np.linalg.norm(X, axis=1))[:, None]
    rows = np.column_stack([shrunk, np.full(500, 0.7)])
    np.testing.assert_allclose(units * unit, rows.T @ loss.slope(y, rows @ point), atol=1e-2)


@every_loss
def test_every_row_adds_the_same_whatever_the_other_rows_are(loss, bounds):
    # Bit by bit: the sum over all rows is the sum of the sums over each row alone.
    problem = Problem(loss, bounds, ridge=1.0)
    X, y = table(150, bounds, seed=3)
    point = np.random.default_rng(5).standard_normal(5) * 3
    whole, _ = gradient(problem, X, y, point)
    alone = [gradient(problem, X[i : i + 1], y[i : i + 1], point)[0] for i in range(150)]
    np.testing.assert_array_equal(whole, np.sum(alone, axis=0))
    for order in (np.arange(150)[::-1], np.random.default_rng(1).permutation(150)):
        for option in ({}, {"block_rows": 7}, {"threads": 2, "block_rows": 11}):
            again, _ = gradient(problem, X[order], y[order], point, **option)
            np.testing.assert_array_equal(whole, again)
    as_sparse, _ = gradient(problem, sparse.csr_array(X), y, point)
    assert np.abs(as_sparse - whole).max() <= 150 * 2**21  # clipped by other roundings, no more


def test_rows_on_a_kink_do_not_flip_with_their_company():
    # Margins of one up to rounding: products of BLAS with these rows differ by position.
    generator = np.random.default_rng(0)
    width = 37
    point = generator.standard_normal(width)
    X = generator.standard_normal((400, width))
    X /= (X @ point)[:, None]
    X, y = X[np.linalg.norm(X, axis=1) < 50], None
    y = np.ones(len(X))
    bounds = Bounds(L2Ball(50.0), width, labels=LabelSet([-1, 1]), max_rows=2**20)
    problem = Problem(Hinge(), bounds, ridge=1.0)
    whole, _ = gradient(problem, X, y, point)
    parts = [gradient(problem, X[s], y[s], point)[0] for s in (slice(0, 13), slice(13, None))]
    np.testing.assert_array_equal(whole, sum(parts))


@pytest.mark.parametrize("size", [1e-90, 1e-3, 1.0, 7.0, 1e90])
def test_no_row_adds_more_than_the_largest_slope_times_the_largest_norm(size):
    bounds = Bounds(L2Ball(size), 4, labels=Interval(-size, size), max_weight=2.5, max_rows=2**27)
    problem = Problem(Pinball(0.3), bounds, ridge=1.0)
    sums = ExactGradient(problem)
    generator = np.random.default_rng(2)
    largest = 0.0
    for _ in range(60):
        X = generator.standard_normal((1, 4)) * 10 * size
        y, weights = generator.uniform(-size, size, 1), generator.uniform(0, 3, 1)
        opened = open_rows(X, y, weights=weights, bounds=bounds)
        point = generator.standard_normal(4) * 10.0 ** generator.integers(-5, 5)
        units = sums.units(sums.prepare(opened), point)
        length = np.linalg.norm(units.astype(float)) * sums.unit
        assert length <= problem.row_lipschitz
        largest = max(largest, length)
    assert largest >= 0.9 * problem.row_lipschitz


def test_more_rows_than_integers_hold_are_refused():
    with pytest.raises(CalibrationError, match="smaller max_rows"):
        ExactGradient(Problem(Hinge(), replace(CLASSES, max_rows=2**40), ridge=1.0))


def mixture_delta(first, second, epsilon):
    """The hockey-stick divergence of two mixtures of normals, by quadrature."""
    x = np.linspace(-12, 12, 24_001)

    def density(parts):
        return sum(weight * np.exp(-((x - at) ** 2) / 2) for weight, at in parts) / ROOT

    excess = np.maximum(density(first) - math.exp(epsilon) * density(second), 0)
    return float(np.trapezoid(excess, x))


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("mu", [0.5, 2.0])
@pytest.mark.parametrize("unit", [ADD, SWAP], ids=["add", "swap"])
def test_the_profile_of_one_batch_is_that_of_its_dominating_pair(rate, mu, unit):
    profile = Schedule(1, PoissonBatches(int(rate * 2**64))).profile(mu, unit)
    with_row, against = [(1 - rate, 0.0), (rate, mu)], [(1 - rate, 0.0), (rate, -mu)]
    pairs = (
        [(with_row, against)]
        if unit is SWAP
        else [(with_row, [(1.0, 0.0)]), ([(1.0, 0.0)], with_row)]
    )
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0):
        true = max(mixture_delta(*pair, epsilon) for pair in pairs)
        assert true * (1 - 1e-5) <= profile.delta(epsilon) <= true * 1.01 + 1e-6


def test_no_other_pair_of_replaced_rows_is_told_apart_better():
    # On a line: the row moves the sum by b in one data set and by c in the other.
    rate, mu = 0.2, 1.5
    profile = Schedule(1, PoissonBatches(int(rate * 2**64))).profile(mu, SWAP)
    for b in np.linspace(-mu, mu, 5):
        for c in np.linspace(-mu, mu, 5):
            pair = [(1 - rate, 0.0), (rate, b)], [(1 - rate, 0.0), (rate, c)]
            for epsilon in (0.0, 0.2, 0.7, 1.5):
                assert mixture_delta(*pair, epsilon) <= profile.delta(epsilon) + 1e-7


@pytest.mark.parametrize(("size", "mu"), [(1, 0.4), (3, 1.5)])
def test_a_fixed_batch_is_as_private_as_its_worst_pair_and_no_more(size, mu):
    # Without the row another is drawn, anywhere within one length; all three move freely.
    rate = size / 8
    profile = Schedule(1, FixedBatches(size, 8)).profile(2 * mu, SWAP)
    worst = 0.0
    for epsilon in (0.0, 0.3, 1.0):
        known = profile.delta(epsilon)
        for b in (-mu, 0.3 * mu, mu):
            for c in (-mu, 0.0, mu):
                for other in (-mu, 0.2 * mu, mu):
                    first = [(1 - rate, other), (rate, b)]
                    second = [(1 - rate, other), (rate, c)]
                    told = mixture_delta(first, second, epsilon)
                    assert told <= known + 1e-7
                    worst = max(worst, told / known)
    assert worst > 1 - 1e-5
    by_chance = Schedule(1, PoissonBatches(int(rate * 2**64))).profile(mu, SWAP)
    assert by_chance.delta(1.0) < profile.delta(1.0) * 0.9  # the wrong account
    moved_once = Schedule(1, FixedBatches(size, 8)).profile(mu, SWAP)
    assert moved_once.delta(1.0) < profile.delta(1.0) * 0.7  # another


def test_a_fixed_batch_is_planned_for_the_noise_it_gets():
    problem = Problem(Hinge(), replace(CLASSES, max_rows=500), ridge=1.0)
    plan = NoisyGradient(steps=50, batch=20).plan(problem, BUDGET, SWAP)
    profile, spread = plan.guarantee.profile.ideal, plan.grid.spread_l2(5)
    assert isinstance(profile, FixedBatchGaussian)
    assert (profile.size, profile.population, profile.steps) == (20, 500, 50)
    assert profile.mu >= (2 * problem.row_lipschitz + spread) / 2 / plan.grid.scale
    assert plan.guarantee.delta(1.0) <= 1e-6 < plan.guarantee.delta(0.998)
    assert plan.reason == "50 steps over batches of 20 rows out of 500"


def test_fixed_batches_have_their_size_unless_places_are_empty():
    batches = FixedBatches(5, 20)
    X, y = np.ones((20, 4)), np.ones(20)
    full = open_rows(X, y, bounds=CLASSES, unit=SWAP)
    half = open_rows(X[:10], y[:10], bounds=CLASSES, unit=SWAP)
    assert {batch.count for batch in batches.draw(full, RehearsalNoise(1), 50)} == {5}
    sizes = [batch.count for batch in batches.draw(half, RehearsalNoise(1), 400)]
    assert len(set(sizes)) > 3
    assert abs(np.mean(sizes) - 2.5) < 0.25  # the chance stays a quarter; 5 standard errors


def test_fixed_batches_under_a_private_count_are_refused_with_the_alternative():
    with pytest.raises(CalibrationError, match=r"rate=.*'replace'"):
        NoisyGradient(batch=10).plan(problem_of(Hinge()), BUDGET, ADD)
    few = Problem(Hinge(), replace(CLASSES, max_rows=5), ridge=1.0)
    with pytest.raises(CalibrationError, match="max_rows"):
        NoisyGradient(batch=10).plan(few, BUDGET, SWAP)


def test_a_plan_of_ten_thousand_steps_is_a_few_convolutions(monkeypatch):
    convolutions, exact = [], tilted._convolve

    def convolved(parts, tilt):
        found = exact(parts, tilt)
        convolutions.append(found.masses.size)
        return found

    monkeypatch.setattr(tilted, "_convolve", convolved)
    mechanism = NoisyGradient(steps=10_000, rate=0.01)
    for unit, most in ((ADD, 24), (SWAP, 12)):
        convolutions.clear()
        mechanism.plan(problem_of(Hinge(), ridge=2.5), BUDGET, unit)
        assert 0 < len(convolutions) <= most
        assert max(convolutions) <= 2**20
        convolutions.clear()
        mechanism.plan(problem_of(Hinge(), ridge=2.5), BUDGET, unit)
        assert len(convolutions) <= 4  # the noise is remembered; the guarantee is looked at again


def test_a_batch_of_everything_is_no_batch():
    whole = Schedule(5, AllRows()).profile(0.3, ADD)
    assert isinstance(whole, Gaussian)
    assert math.sqrt(5) * 0.3 <= whole.mu <= math.sqrt(5) * 0.3 * (1 + 1e-14)
    plan = NoisyGradient(steps=5, rate=1.0).plan(problem_of(Hinge()), BUDGET, ADD)
    assert plan.batches == AllRows()


def problem_of(loss, **options):
    bounds = CLASSES if loss.is_classifier else NUMBERS
    return Problem(loss, bounds, **{"ridge": 1.0, **options})


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=["add", "swap"])
@pytest.mark.parametrize("rate", [1.0, 0.02])
def test_the_guarantee_is_that_of_the_code(rate, unit):
    plan = NoisyGradient(steps=40, rate=rate).plan(problem_of(Hinge()), BUDGET, unit)
    profile = plan.guarantee.profile.ideal
    spread = plan.grid.spread_l2(5)
    assert plan.guarantee.delta(1.0) <= 1e-6
    assert plan.guarantee.delta(0.998) > 1e-6
    if rate == 1.0:
        moved = unit.spread(plan.problem.row_lipschitz) + spread
        assert profile.mu >= math.sqrt(40) * moved / plan.grid.scale
        return
    assert isinstance(profile, SampledGaussian)
    assert profile.rate * 2**64 == plan.batches.threshold
    assert profile.steps == 40
    assert profile.is_replace == (unit is SWAP)
    assert profile.mu >= (plan.problem.row_lipschitz + spread) / plan.grid.scale


def test_replacing_needs_more_noise_than_adding():
    for rate in (1.0,):
        scales = [
            NoisyGradient(steps=20, rate=rate).plan(problem_of(Hinge()), BUDGET, unit).grid.scale
            for unit in (ADD, SWAP)
        ]
        assert scales[1] > 1.5 * scales[0]


def test_batches_differ_from_step_to_step_and_may_be_empty():
    plan = NoisyGradient(steps=3, rate=0.4).plan(problem_of(Hinge()), BUDGET, ADD)
    X, y = np.array([[3.0, 0.0, 0.0, 0.0]]), np.ones(1)
    prepared = plan.sums.prepare(open_rows(X, y, bounds=CLASSES))
    noise, none = RehearsalNoise(8), np.zeros(5, dtype=np.int64)
    batches = plan.batches.draw(prepared, noise, 400)
    sums = [plan.noisy_sum(batch, np.zeros(5), none)[0] for batch in batches]
    kept = sum(value < -1 for value in sums)
    low, high = lower_bound(kept, 400, 1e-6), upper_bound(kept, 400, 1e-6)
    assert low < 0.4 < high
    assert set(np.round(sums, 3)) == {-3.0, 0.0}


def test_one_sum_over_a_batch_is_audited(monkeypatch):
    monkeypatch.setattr(noisy_gradient, "least_multiplier", lambda share, schedule: 0.5)
    # The share of sums above a threshold, under either data set, at a confidence of 1 - 2e-6.
    problem = Problem(Hinge(), Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1])), ridge=1.0)
    for unit, other in ((ADD, 0.0), (SWAP, 1.0)):
        plan = NoisyGradient(steps=1, rate=0.5).plan(problem, Budget(4.0, 1e-3), unit)
        trials, hits = 1500, []
        for seed, x in enumerate((-1.0, other)):
            rows = plan.sums.prepare(open_rows([[x]], [1.0], bounds=problem.bounds, unit=unit))
            noise = RehearsalNoise(seed)
            drawn = noise.gaussian(trials, plan.grid.bits)
            cut = 0.8 * plan.grid.scale
            batches = plan.batches.draw(rows, noise, trials)
            sums = [
                plan.noisy_sum(batch, np.zeros(1), drawn[i : i + 1])
                for i, batch in enumerate(batches)
            ]
            hits.append(int((np.ravel(sums) > cut).sum()))
        low, high = lower_bound(hits[0], trials, 1e-6), upper_bound(hits[1], trials, 1e-6)
        excess = [low - math.exp(e) * high - plan.guarantee.delta(e) for e in (0.0, 0.5, 1.0, 2.0)]
        assert max(excess) <= 0
        assert max(low - math.exp(e) * high for e in (0.0, 0.5)) > 0  # it tells them apart at all


def fit(mechanism, problem, X, y, *, budget=BUDGET, unit=ADD, seed=1):
    plan = mechanism.plan(problem, budget, unit)
    return plan.run(open_rows(X, y, bounds=problem.bounds, unit=unit), RehearsalNoise(seed))


def mean_loss(problem, X, y, point):
    shrunk = X * np.minimum(1, 3 / np.linalg.norm(X, axis=1))[:, None]
    margins = shrunk @ point[:-1] + 0.7 * point[-1]
    return float(problem.loss.value(y, margins).mean())


@pytest.mark.parametrize(
    ("loss", "target"), [(Hinge(), 0.25), (Pinball(0.5), 0.28), (Logistic(), 0.25)]
)
@pytest.mark.parametrize("mechanism", [NoisyGradient(), NoisyGradient(rate=0.2, steps=200)])
def test_it_learns(loss, target, mechanism):
    X, y = table(20_000, CLASSES)
    problem = problem_of(loss)
    assert mean_loss(problem, X, y, fit(mechanism, problem, X, y)) < target


@pytest.mark.parametrize("rule", noisy_gradient.RULES)
@pytest.mark.parametrize("average", ["last", "suffix", "polynomial", "uniform"])
def test_every_rule_and_average_beats_the_start(rule, average):
    X, y = table(5000, CLASSES)
    problem = problem_of(Hinge(), ridge=300.0, penalty=Indicator(L2Ball(4.0)))
    mechanism = NoisyGradient(steps=100, rule=rule, average=average, expected_rows=5000)
    assert mean_loss(problem, X, y, fit(mechanism, problem, X, y)) < 0.55


@pytest.mark.parametrize("region", [L2Ball(0.5), L1Ball(0.7), Simplex(1.0)])
def test_what_is_released_lies_in_the_domain(region):
    X, y = table(2000, CLASSES)
    problem = problem_of(Hinge(), penalty=Indicator(region))
    assert region.contains(fit(NoisyGradient(steps=30), problem, X, y))


def test_a_domain_bounds_the_slope_of_a_squared_loss():
    bounds = Bounds(L2Ball(1.0), 2, labels=Interval(-1, 1), max_rows=2**20)
    with pytest.raises(NotAccepted, match="declare one"):
        NoisyGradient().plan(Problem(Squared(1.0), bounds, ridge=1.0), BUDGET, ADD)
    problem = Problem(Squared(1.0), bounds, ridge=1.0, penalty=Indicator(L2Ball(1.0)))
    X = np.random.default_rng(0).uniform(-0.7, 0.7, (5000, 2))
    found = fit(NoisyGradient(), problem, X, X @ [0.6, -0.3])
    np.testing.assert_allclose(found, [0.6, -0.3], atol=0.1)


def test_without_noise_it_finds_the_minimiser():
    X, y = table(300, CLASSES, seed=4)
    problem = problem_of(Hinge(), ridge=20.0)
    found = fit(NoisyGradient(), problem, X, y, budget=Budget(math.inf))
    best = min(
        mean_loss(problem, X, y, found + step) + 10.0 / 300 * float((found + step) @ (found + step))
        for step in 0.02 * np.random.default_rng(0).standard_normal((300, 5))
    )
    here = mean_loss(problem, X, y, found) + 10.0 / 300 * float(found @ found)
    assert here <= best + 1e-3


def test_without_noise_directions_that_are_flat_at_first_do_not_run_away():
    """Of fifteen features only one tells the class, so most sums of gradients are nearly nought."""
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, (500, 15))
    y = np.where(X[:, 0] + 0.3 * generator.standard_normal(500) > 0, 1, -1)
    problem = Problem(Logistic(), Bounds(L2Ball(4.0), 15, labels=LabelSet([-1, 1])), ridge=1e-3)
    found = fit(NoisyGradient(), problem, X, y, budget=Budget(math.inf))
    assert np.linalg.norm(found) < 50
    assert np.mean(np.sign(X @ found) == y) > 0.85


def test_noise_is_drawn_for_many_steps_at_once_and_never_twice():
    problem = problem_of(Hinge())
    plan = NoisyGradient(steps=300).plan(problem, BUDGET, ADD)

    class Counting(RehearsalNoise):
        calls = 0

        def gaussian(self, count, bits):
            self.calls += 1
            return super().gaussian(count, bits)

    noise = Counting(3)
    drawn = np.array(list(plan._noises(noise, plan.steps)))
    assert noise.calls == 1
    assert drawn.shape == (300, 5)
    assert len(np.unique(drawn)) > 1490


def test_silent_noise_and_no_noise_walk_the_same_path():
    X, y = table(200, CLASSES)
    problem = problem_of(Hinge())
    rows = open_rows(X, y, bounds=CLASSES)
    mechanism = NoisyGradient(steps=50, rule="adaptive")  # the default counts on the noise
    silent = mechanism.plan(problem, BUDGET, ADD).run(rows, SilentNoise())
    exact = mechanism.plan(problem, Budget(math.inf), ADD).run(rows, SilentNoise())
    np.testing.assert_allclose(silent, exact, atol=1e-4)


@pytest.mark.parametrize(
    "wrong",
    [{"steps": 0}, {"rate": 0.0}, {"rate": 1.5}, {"rule": "newton"}, {"average": "median"},
     {"expected_rows": 0}, {"batch": 0}, {"batch": 3, "rate": 0.1}],
)  # fmt: skip
def test_a_wrong_setting_is_refused(wrong):
    with pytest.raises(InputError):
        NoisyGradient(**wrong)


def test_what_cannot_be_planned_is_refused_with_the_reason():
    problem = problem_of(Hinge())
    with pytest.raises(CalibrationError, match="delta > 0"):
        NoisyGradient().plan(problem, Budget(1.0), ADD)
    with pytest.raises(CalibrationError, match="expected_rows"):
        NoisyGradient(rule="lipschitz").plan(problem, BUDGET, ADD)
    with pytest.raises(NotAccepted, match="Indicator"):
        NoisyGradient().plan(problem_of(Hinge(), radius=3.0), BUDGET, ADD)
    with pytest.raises(CalibrationError, match="rate"):
        NoisyGradient(rate=1e-30).plan(problem, BUDGET, ADD)


def test_long_tables_of_public_length_are_read_in_batches():
    long = replace(CLASSES, max_rows=2**24)
    problem = Problem(Hinge(), long, ridge=1.0)
    assert NoisyGradient().plan(problem, BUDGET, SWAP).batches == PoissonBatches(ALL_ROWS // 8)
    assert NoisyGradient().plan(problem, BUDGET, ADD).batches == AllRows()


def test_a_fit_goes_through_the_gate():
    X, y = table(2000, CLASSES)
    rows = Rows(X, y, bounds=CLASSES)
    result = release(NoisyGradient(steps=20), problem_of(Hinge()), rows, budget=BUDGET)
    assert result.is_private
    assert result.mechanism == "noisy_gradient"
    assert result.reason == "20 steps over all rows"


def test_quantiles_can_be_learnt_without_smoothing():
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, size=(8000, 3)) / np.sqrt(3)
    y = X[:, 0] + generator.uniform(-0.2, 0.2, size=8000)
    model = QuantileRegressor(
        delta=1e-6, quantile=0.8, smoothing=0, data_norm=1.0, target_range=(-1.0, 1.0)
    ).fit(X, y)
    assert model.release_.mechanism == "noisy_gradient"
    assert 0.7 < (y < model.predict(X)).mean() < 0.9


MUTANTS = {
    "more steps than paid for": lambda plan: replace(plan, steps=2 * plan.steps),
    "less noise than paid for": lambda plan: replace(
        plan, grid=replace(plan.grid, scale=plan.grid.scale / 1.1)
    ),
    "slopes that are not clipped": lambda plan: replace(
        plan, sums=replace(plan.sums, problem=replace(plan.problem, loss=Steep()))
    ),
}


class Steep(Hinge):
    """Claims a slope of one, and has one of two."""

    def slope(self, y, z):
        return 2 * super().slope(y, z)

    def _lipschitz(self, reach):
        return 2.0


@pytest.mark.parametrize(
    ("case", "mutant"),
    [
        pytest.param(case, mutant, id=f"{case.label}-{mutant}")
        for case in cases_of(GradientCase)
        for mutant in MUTANTS
        if not case.says_less
        # Directions have no slope: what their mutant breaks is in audits/mutants/gradient.py, and
        # those of softmax are in test_softmax.py.
        if isinstance(case.question, Problem) or mutant != "slopes that are not clipped"
    ],
)
def test_a_mutant_is_caught(case, mutant):
    plan = case.plan()
    check_joint_audit(case, plan)
    with pytest.raises(AssertionError):
        check_joint_audit(case, MUTANTS[mutant](plan))


def test_a_slope_beyond_what_a_loss_claims_is_clipped():
    class Understated(Steep):
        def _lipschitz(self, reach):
            return 1.0

    X, y = np.array([[3.0, 0.0, 0.0, 0.0]]), np.ones(1)
    (honest, unit), (clipped, _) = (
        gradient(problem_of(loss), X, y, np.zeros(5)) for loss in (Hinge(), Understated())
    )
    np.testing.assert_array_equal(honest, clipped)
    assert unit > 0


@pytest.mark.parametrize("size", [0.0, 1e-320, 1e-200, 1e-100, 1e100, 1e200, math.inf, math.nan])
def test_no_coefficients_break_a_sum(size):
    X, y = table(50, CLASSES)
    problem = problem_of(Hinge())
    point = np.full(5, size)
    whole, unit = gradient(problem, X, y, point)
    parts = [gradient(problem, X[s], y[s], point)[0] for s in (slice(0, 20), slice(20, 50))]
    np.testing.assert_array_equal(whole, sum(parts))
    assert np.linalg.norm(whole.astype(float)) * unit <= 50 * problem.row_lipschitz

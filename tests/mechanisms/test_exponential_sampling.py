"""Quantiles by the exponential mechanism: the law is the one that the proof speaks of."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.audit import exact_audit
from discreet.audit.cases import cases
from discreet.data import Bounds, Interval
from discreet.errors import InputError, NotAccepted
from discreet.geometry import Box, L2Ball
from discreet.mechanisms import ExponentialSampling, GaussianSum
from discreet.mechanisms.exponential_sampling import Runs, level_of, rank_range
from discreet.noise import RehearsalNoise, selection
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import ColumnQuantiles, VectorSum
from support.cases import Data, case_labelled, cases_of
from support.cases.quantiles import QuantileCase, frequencies, law_of, laws_of, rank_scores

MEDIAN = case_labelled("exponential sampling, median, add_remove")
ONE_COLUMN = [case for case in cases_of(QuantileCase) if case.question.bounds.n_features == 1]
every_case = pytest.mark.parametrize("case", ONE_COLUMN, ids=lambda case: case.label)
UNITS = [AddRemoveOne(), ReplaceOne()]


def unit_interval(**options):
    return Bounds(Box([0.0], [1.0]), 1, **options)


def small_plan(unit, *, q=0.5, steps=4, epsilon=1.0):
    question = ColumnQuantiles(unit_interval(), q, steps)
    return ExponentialSampling().plan(question, Budget(epsilon), unit)


@pytest.mark.parametrize("q", [0.5, 0.25, 0.9, 1 / 3])
def test_scores_of_runs_are_those_counted_point_by_point(q):
    generator = np.random.default_rng(4)
    for size in (1, 2, 7, 40):
        places = generator.integers(0, 13, size)
        runs = Runs.of(places, 12, level_of(q))
        points = np.repeat(runs.scores, runs.counts)
        np.testing.assert_array_equal(
            np.concatenate(
                [s + np.arange(m) for s, m in zip(runs.starts, runs.counts, strict=True)]
            ),
            np.arange(13),
        )
        np.testing.assert_allclose(
            points / level_of(q).denominator, rank_scores(places, 12, q), rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
@pytest.mark.parametrize("q", [0.5, 0.25, 0.9])
def test_the_claimed_range_holds_for_all_small_neighbours_and_is_attained(unit, q):
    steps, level = 4, level_of(q)

    def scores(places):
        runs = Runs.of(np.array(places), steps, level)
        return np.repeat(runs.scores, runs.counts)

    widest, limit = 0, rank_range(level, unit) * level.denominator
    for size in (1, 2, 3, 4, 5):
        for rest in itertools.combinations_with_replacement(range(steps + 1), size):
            if unit.rows_are_public:
                pairs = [
                    ((*rest, x), (*rest, y)) for x in range(steps) for y in range(x, steps + 1)
                ]
            else:
                pairs = [(rest, (*rest, x)) for x in range(steps + 1)]
            for first, second in pairs:
                widest = max(widest, int(np.ptp(scores(first) - scores(second))))
    assert widest <= limit
    if q != 0.9:  # a high quantile needs more records than these
        assert widest == limit


@every_case
def test_the_exact_law_is_within_the_claim_and_reaches_most_of_it(case):
    plan = case.plan()
    found = exact_audit(*laws_of(case, plan), plan.guarantee)
    assert not found.violated
    reached = case.attained if case.says_less else 0.7
    assert reached * case.budget.epsilon <= found.largest_loss <= case.budget.epsilon


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
@pytest.mark.parametrize("q", [0.5, 0.25, 0.9])
def test_no_pair_of_random_neighbours_refutes_the_claim(unit, q):
    generator = np.random.default_rng(8)
    plan = small_plan(unit, q=q, steps=20, epsilon=2.0)
    for _ in range(25):
        places = generator.integers(0, 21, generator.integers(2, 12))
        other = places[1:]
        if unit.rows_are_public:
            other = np.append(other, generator.integers(0, 21))
        rate = float(plan.rate)
        laws = (law_of(one, 20, q, rate) for one in (places, other))
        assert not exact_audit(*laws, plan.guarantee).violated


@every_case
def test_draws_have_the_law_that_was_audited(case):
    plan, draws = case.plan(), 200_000
    for data, law in zip(case.worst_pair, laws_of(case, plan), strict=True):
        values = plan.run_many(data.open(case), RehearsalNoise(9), draws)[:, 0]
        seen = frequencies(values, plan)
        assert stats.chisquare(seen, draws * law.masses).pvalue > 1e-4


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_an_audit_by_counting_refutes_nothing_and_certifies_most(unit):
    case, _ = cases("exponential_sampling", unit, 3.0)
    found = case.audit(trials=40_000, seed=2)
    assert not found.violated
    assert found.lower_bound >= 0.7 * 3.0


def test_answers_are_grid_points_within_the_bounds_and_single_draws_agree():
    bounds = Bounds(Box([-3.0, 10.0], [5.0, 11.0]), 2)
    case = replace(MEDIAN, question=ColumnQuantiles(bounds, 0.3, 7))
    data = Data(np.random.default_rng(0).normal(0, 50, (30, 2)))
    plan = case.plan(Budget(0.1))
    values = plan.run_many(data.open(case), RehearsalNoise(1), 500)
    places = (values - [-3.0, 10.0]) / [8.0, 1.0] * 7
    np.testing.assert_allclose(places, np.rint(places), atol=1e-12)
    assert values.min(axis=0).tolist() == [-3.0, 10.0]
    assert values.max(axis=0).tolist() == [5.0, 11.0]
    assert plan.run(data.open(case), RehearsalNoise(1)).shape == (2,)


def test_a_place_shared_by_many_records_has_no_rivals():
    ages = np.repeat([30.0, 47.0, 80.0], [30, 40, 30])[:, None]
    question = ColumnQuantiles(Bounds(Box([0.0], [120.0]), 1), steps=120)
    case = replace(MEDIAN, question=question)
    values = case.plan().run_many(Data(ages).open(case), RehearsalNoise(1), 2000)
    assert (values == 47.0).all()


def test_high_budgets_give_the_quantile():
    generator = np.random.default_rng(3)
    X = generator.uniform(size=(201, 1))
    for q in (0.1, 0.5, 0.77):
        case = replace(MEDIAN, question=ColumnQuantiles(unit_interval(), q, 2**20))
        for budget in (Budget(1000.0), Budget(math.inf)):
            value = case.plan(budget).run(Data(X).open(case), RehearsalNoise(1))
            assert abs(value[0] - np.quantile(X, q, method="inverted_cdf")) < 2.0**-19


def test_values_that_are_not_numbers_count_as_a_fixed_one():
    case = MEDIAN
    plan = case.plan()
    fixed = case.question.bounds.features.fixed_point(1)
    for bad in (np.nan, np.inf, -np.inf):
        broken, sound = (Data([[0.4], [value], [0.9]]) for value in (bad, float(fixed[0])))
        one, other = (plan.run_many(d.open(case), RehearsalNoise(1), 200) for d in (broken, sound))
        np.testing.assert_array_equal(one, other)


def test_many_columns_use_delta_if_it_buys_anything():
    def span(columns, delta):
        bounds = Bounds(Box([0.0] * columns, [1.0] * columns), columns)
        plan = ExponentialSampling().plan(
            ColumnQuantiles(bounds), Budget(1.0, delta), AddRemoveOne()
        )
        assert plan.guarantee.delta(1.0) <= delta
        return float(plan.rate)

    assert span(1, 0.0) == span(1, 1e-3) == 1.0
    assert 0.4999 < span(2, 0.0) <= 0.5
    assert span(5, 1e-9) == span(5, 0.0)
    assert span(60, 1e-6) > 2 * span(60, 0.0)


@pytest.mark.parametrize("q", [0.0, 1.0, -0.5, math.nan, 50])
def test_a_quantile_outside_of_zero_and_one_is_refused(q):
    with pytest.raises(InputError, match="q must"):
        ColumnQuantiles(unit_interval(), q)


@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(L2Ball(1.0), 1),
        Bounds(Box([0.0, 1.0], [1.0, 1.0]), 2),
        unit_interval(intercept=1.0),
        unit_interval(max_weight=2.0),
    ],
    ids=["ball", "empty", "intercept", "weights"],
)
def test_bounds_without_an_interval_for_each_column_are_refused(bounds):
    with pytest.raises(InputError, match="quantiles"):
        ColumnQuantiles(bounds)


def test_other_questions_and_too_many_rows_are_refused():
    with pytest.raises(NotAccepted, match="answers quantiles"):
        ExponentialSampling().plan(VectorSum(unit_interval()), Budget(1.0), AddRemoveOne())
    with pytest.raises(NotAccepted, match="64 bits"):
        ExponentialSampling().plan(
            ColumnQuantiles(unit_interval(max_rows=2**30)), Budget(1.0), AddRemoveOne()
        )
    with pytest.raises(NotAccepted):
        GaussianSum().plan(ColumnQuantiles(unit_interval()), Budget(1.0, 1e-6), AddRemoveOne())


def test_scores_of_the_most_rows_fit():
    level = level_of(1 - 2.0**-32)
    runs = Runs.of(np.zeros(4, np.int64), 1, level)
    assert level.denominator == 2**32
    assert int(runs.scores.max()) * (2**29 // 4) < 2**62


def test_a_quantile_is_the_fraction_that_was_meant():
    assert [level_of(q) for q in (0.05, 0.5, 1 / 3)] == [
        Fraction(1, 20),
        Fraction(1, 2),
        Fraction(1, 3),
    ]
    assert 0 < level_of(1e-300) < level_of(1 - 2.0**-53) < 1
    assert abs(float(level_of(math.sqrt(0.5))) - math.sqrt(0.5)) < 2.0**-50
    assert ColumnQuantiles(unit_interval(labels=Interval(0, 1))).q == 0.5


# Mutants: each step that the proof rests on, broken.


@every_case
def test_half_the_range_is_caught(case):
    plan = case.plan()
    mutant = replace(plan, rate=plan.rate * 2)
    assert exact_audit(*laws_of(case, mutant), plan.guarantee).violated


def test_the_range_of_a_median_used_for_a_quartile_is_caught():
    (case,) = (case for case in ONE_COLUMN if "quartile, add" in case.label)
    plan = case.plan()
    mutant = replace(plan, rate=Fraction(1))
    assert exact_audit(*laws_of(case, mutant), plan.guarantee).violated


def test_the_range_of_add_remove_used_for_replacement_is_caught():
    case = case_labelled("exponential sampling, median, replace")
    plan = case.plan()
    mutant = replace(plan, rate=Fraction(1))
    assert exact_audit(*laws_of(case, mutant), plan.guarantee).violated


def test_values_between_records_made_in_floats_are_caught():
    # v[i] + u (v[i+1] - v[i]): answers that one data set cannot give at all.
    def interpolated(values, seed):
        edges = np.concatenate([[0.0], np.sort(values), [1.0]])
        uniform = RehearsalNoise(seed).below(2**53, 2000) * 2.0**-53
        return set(edges[1] + uniform * (edges[2] - edges[1]))

    first, second = np.array([1 / 3, 0.9]), np.array([1 / 3 + 2.0**-40, 0.9])
    assert not interpolated(first, 1) & interpolated(second, 1)
    case = MEDIAN
    plan = case.plan(Budget(4.0))
    ours = [
        set(plan.run_many(Data(v[:, None]).open(case), RehearsalNoise(1), 2000)[:, 0])
        for v in (first, second)
    ]
    assert ours[0] == ours[1]


def test_gumbel_noise_in_floats_is_caught():
    # With 53 bits Gumbel noise lies between -3.7 and 36.8: what is 41 behind is never drawn, and
    # a record that moves it within reach is seen with certainty, sooner or later.
    uniforms = np.array([2.0**-53, 1 - 2.0**-53])
    gumbel = -np.log(-np.log(uniforms))
    scores = np.array([0, 42])
    assert gumbel[0] > -scores[1] + gumbel[1]
    groups = selection._Groups.of(np.array([1, 1]), scores, Fraction(1))
    assert groups._keeps_exactly(_Zeros(), 1, 0)


class _Zeros:
    def take(self, count):
        return np.zeros(count, dtype=np.uint64)

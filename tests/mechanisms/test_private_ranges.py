"""Private ranges: the law of each draw, missing numbers, rows within ranges, and what it costs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from discreet import Budget
from discreet.data import Bounds, LabelSet
from discreet.errors import CalibrationError, InputError
from discreet.geometry import L2Ball
from discreet.losses import MarginLogistic
from discreet.mechanisms import ObjectivePerturbation, PrivateRanges
from discreet.mechanisms.sampling import range_draws
from discreet.mechanisms.sampling.range_draws import (
    LEVELS,
    STEPS,
    RangeDraws,
    narrow_rows,
    widen,
)
from discreet.mechanisms.sampling.ranks import rank_range
from discreet.mechanisms.sampling.whole_weights import EACH_ONCE
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, BoundedRange, ReplaceOne, compose
from discreet.questions import OneVsRest, Problem
from support.cases import every
from support.cases.ranges import RangesCase, laws_of, rank_scores
from support.opened import open_rows

UNITS = (AddRemoveOne(), ReplaceOne())
each_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
every_case = every(RangesCase)

BOUNDS = Bounds(L2Ball(2.0), 2, labels=LabelSet([-1, 1]), intercept=1.0, max_rows=2**20)
PROBLEM = Problem(MarginLogistic(), BOUNDS, ridge=9.0)


def span_of(plan):
    """The range of the log ratios of one draw, as the plan declares it."""
    (part,) = {*plan.draws.profile.ideal.parts}
    return part.span


def log_ratios(case, plan):
    first, second = laws_of(case, plan, 0, LEVELS[0])
    return np.log(second.masses) - np.log(first.masses)


@every_case
def test_the_worst_pair_moves_log_ratios_by_the_whole_declared_range_and_no_more(case):
    plan = case.plan()
    ratios, span = log_ratios(case, plan), span_of(plan)
    assert np.ptp(ratios) <= span * (1 + 1e-9)
    assert np.abs(ratios).max() >= (case.attained if case.says_less else 0.99) * span


@each_unit
@pytest.mark.parametrize("level", LEVELS)
def test_no_record_moves_scores_by_more_than_their_range_be_it_missing_or_not(unit, level):
    steps, missing = 3, None
    q = float(level)

    def scores(places):
        known = np.array([k for k in places if k is not missing], dtype=int)
        return rank_scores(np.bincount(known, minlength=steps + 1), q)

    largest = 0.0
    records = [*range(steps + 1), missing]
    # Crowds that put the quantile at an end, and in between.
    for crowd, at in itertools.product((0, 1, 49, 50, 60), range(steps + 1)):
        common = [at] * crowd
        for one, other in itertools.product(records, repeat=2):
            before = [*common, one] if unit.rows_are_public else common
            moved = scores([*common, other]) - scores(before)
            largest = max(largest, np.ptp(moved))
    assert largest <= float(rank_range(level, unit)) * (1 + 1e-12)
    assert largest >= 0.98 * float(rank_range(level, unit))


def test_draws_follow_their_exact_law(monkeypatch):
    # Fixed rehearsal noise. A coarse grid, so that every point is seen often.
    monkeypatch.setattr(range_draws, "STEPS", 8)
    draws = RangeDraws.within_budget((0,), BOUNDS, 0.5, Budget(8.0), UNITS[0])
    tally = np.array([0, 3, 0, 9, 1, 0, 0, 2, 0])
    noise = RehearsalNoise(5)
    for level in LEVELS:
        found = [round((draws._draw(tally, level, noise) + 1) * 4) for _ in range(1500)]
        scores = rank_scores(tally, float(level))
        weights = np.exp(-float(draws.rate) * scores)
        expected = weights / weights.sum() * 1500
        counts = np.bincount(found, minlength=9)
        seen = expected > 5
        square = ((counts - expected) ** 2 / expected)[seen].sum()
        assert square < seen.sum() + 6 * math.sqrt(2 * seen.sum())


@each_unit
@pytest.mark.parametrize("budget", [Budget(1.0, 1e-9), Budget(0.3)])
def test_the_guarantee_is_that_of_all_draws_and_of_the_second_mechanism(unit, budget):
    learner = ObjectivePerturbation("gaussian" if budget.delta else "laplace")
    plan = PrivateRanges(learner, columns=(0, 1)).plan(PROBLEM, budget, unit)
    assert 0.999 * budget.epsilon <= plan.guarantee.epsilon(budget.delta) <= budget.epsilon
    draws = compose([BoundedRange(span_of(plan))] * 4)
    assert plan.guarantee.profile.ideal.parts[:4] == draws.ideal.parts
    alone = learner.plan(PROBLEM, budget, unit)
    assert plan.second.scale > alone.scale * 1.02


def test_in_the_pure_case_the_draws_take_their_share_of_epsilon():
    draws = RangeDraws.within_budget((0, 1, 4), BOUNDS, 0.06, Budget(2.0), UNITS[0])
    assert draws.profile.pure_epsilon == pytest.approx(0.12)


def test_counts_tell_what_is_missing_from_the_rest_and_engines_agree():
    rows = np.array([[-0.5, 0.1], [0.5, 1.0], [1.0, 0.25], [0.0, -0.5], [np.nan, 0.0]])
    draws = RangeDraws((0, 1), None, None, EACH_ONCE)
    counts = draws.count(open_rows(rows, np.ones(5), bounds=BOUNDS))
    assert counts.shape == (2, STEPS + 1)
    # The row that is no number is a fixed one, in the middle.
    assert counts[0][[0, STEPS // 2, STEPS]].tolist() == [1, 2, 1]
    assert counts[1].sum() == 4
    again = draws.count(open_rows(rows, np.ones(5), bounds=BOUNDS, block_rows=1))
    assert (again == counts).all()


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-9), Budget(1.0), Budget(math.inf)])
@pytest.mark.parametrize("entries", [[0.25], [1.0], [np.nan], [-0.5, 0.5], [0.1] * 80])
def test_whatever_the_rows_are_there_is_a_range_within_the_bounds(budget, entries):
    rows = np.column_stack([entries, np.zeros(len(entries))])
    draws = RangeDraws.within_budget((0, 1), BOUNDS, 0.06, budget, UNITS[0])
    opened = open_rows(rows, np.ones(len(rows)), bounds=BOUNDS)
    ranges = draws.release(opened, RehearsalNoise(1))
    assert ranges.shape == (2, 2)
    assert (ranges[:, 0] < ranges[:, 1]).all()
    assert (np.abs(ranges) <= 1).all()


def test_without_noise_a_constant_column_has_the_narrowest_range_about_its_value():
    rows = np.full((40, 2), 0.25)
    opened = open_rows(rows, np.ones(40), bounds=BOUNDS)
    low, high = RangeDraws((0,), None, None, EACH_ONCE).release(opened, RehearsalNoise(0))[0]
    assert (low + high) / 2 == pytest.approx(0.5)
    assert high - low == pytest.approx(2 * range_draws.LEAST_HALF)


@each_unit
def test_without_a_share_ranges_are_the_public_bounds_and_cost_nothing(unit):
    budget, learner = Budget(1.0, 1e-9), ObjectivePerturbation("gaussian")
    plan = PrivateRanges(learner, columns=(0,), share=0.0).plan(PROBLEM, budget, unit)
    assert plan.second.scale == learner.plan(PROBLEM, budget, unit).scale
    opened = open_rows(np.zeros((3, 2)), np.ones(3), bounds=BOUNDS)
    assert plan.run(opened, RehearsalNoise(1))[-2:].tolist() == [-1.0, 1.0]


def test_ranges_are_stretched_and_stay_within_the_bounds():
    assert widen(np.array([[0.0, 0.5]])) == pytest.approx(np.array([[-0.05, 0.55]]))
    assert (widen(np.array([[-1.0, 1.0], [-1.0, -1.0], [0.9, 1.0]])) <= 1).all()


def test_rows_within_ranges_depend_on_their_own_numbers_and_missing_ones_are_the_middle():
    rows = np.array([[-0.5, 0.3], [0.25, 0.3], [1.0, 0.3], [0.125, 7.0]])
    found = narrow_rows(rows.copy(), (0,), np.array([[0.0, 0.5]]))
    assert found[:, 0].tolist() == [-1.0, 1.0, 0.0, 0.0]
    assert (found[:, 1] == rows[:, 1]).all()
    alone = np.vstack([narrow_rows(row[None].copy(), (0,), np.array([[0.0, 0.5]])) for row in rows])
    assert (alone == found).all()


def test_several_classes_and_ranges_are_told_apart_in_one_vector():
    mechanism = PrivateRanges(columns=(0, 2), vectors=3)
    value = np.arange(3 * 5 + 4.0)
    assert mechanism.coefficients(value).tolist() == np.arange(15.0).reshape(3, 5).tolist()
    assert mechanism.ranges(value).tolist() == [[15.0, 16.0], [17.0, 18.0]]


def test_what_makes_no_sense_is_refused_before_rows_are_read():
    budget, unit = Budget(1.0, 1e-9), UNITS[0]
    with pytest.raises(InputError, match="column must be"):
        PrivateRanges(columns=(2,)).plan(PROBLEM, budget, unit)
    with pytest.raises(InputError, match="comes twice"):
        PrivateRanges(columns=(1, 1)).plan(PROBLEM, budget, unit)
    other = Bounds(L2Ball(2.0), 2, labels=BOUNDS.labels, intercept=1.0, max_rows=7)
    with pytest.raises(InputError, match="same columns, number and weights"):
        PrivateRanges(columns=(1,), inside=other).plan(PROBLEM, budget, unit)
    with pytest.raises(InputError, match="share"):
        PrivateRanges(columns=(1,), share=-0.1)
    with pytest.raises(CalibrationError, match="first stage"):
        PrivateRanges(columns=(1,)).plan_beside(PROBLEM, budget, unit, times=2)
    with pytest.raises(CalibrationError, match="no pure epsilon"):
        PrivateRanges(columns=(1,), share=1.0).plan(PROBLEM, Budget(1.0), unit)
    assert not PrivateRanges().accepts(OneVsRest(PROBLEM, 3), unit)

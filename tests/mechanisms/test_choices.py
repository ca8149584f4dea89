"""Thresholds and columns drawn by the exponential mechanism: the law is that of the proof."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from discreet.audit.exact.laws import exponential_selection
from discreet.data import Bounds, LabelSet
from discreet.errors import CalibrationError, InputError
from discreet.geometry import Box, L2Ball
from discreet.losses import Huber
from discreet.mechanisms import ExponentialSampling
from discreet.mechanisms.sampling.choice import LOSS_STEPS, cuts, score_range
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import BestThreshold, LeastLoss
from discreet.questions.choices import ColumnLocations
from support.cases.choices import errors_of
from support.opened import open_rows

UNITS = pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=lambda u: u.name)
MARKED = Bounds(Box([0.0], [1.0]), 1, labels=LabelSet([-1, 1]), max_rows=1000)


def test_errors_of_runs_are_those_counted_candidate_by_candidate():
    generator = np.random.default_rng(1)
    for size in (1, 2, 9, 40):
        X, y = generator.random((size, 1)), generator.choice([-1.0, 1.0], size)
        starts, sizes, errors = cuts(np.rint(X[:, 0] * 12).astype(int), y, 12)
        np.testing.assert_array_equal(np.repeat(errors, sizes), errors_of(X, y, 12)[0, 0])
        np.testing.assert_array_equal(np.cumsum(sizes)[:-1] - 1, starts[1:])


@UNITS
def test_the_claimed_range_holds_for_all_small_neighbours_and_is_attained(unit):
    records = [(x, y) for x in (0.0, 0.5, 1.0) for y in (-1.0, 1.0)]

    def scores(data):
        return errors_of(np.array(data)[:, :1], np.array(data)[:, 1], 2).ravel()

    widest = 0
    for rest in itertools.combinations_with_replacement(records, 3):
        for one, other in itertools.product(records, records):
            first = (*rest, one)
            second = (*rest, other) if unit.rows_are_public else rest
            widest = max(widest, int(np.ptp(scores(first) - scores(second))))
    assert widest == score_range(1, unit)


@UNITS
def test_draws_have_the_law_that_was_audited(unit):
    """A chi-square test at a level of one in a million, with a fixed key."""
    generator = np.random.default_rng(2)
    X, y = generator.random((9, 1)), generator.choice([-1.0, 1.0], 9)
    plan = ExponentialSampling().plan(BestThreshold(MARKED, steps=8), Budget(1.0), unit)
    drawn = plan.run_many(open_rows(X, y, bounds=MARKED, unit=unit), RehearsalNoise(4), 40_000)
    np.testing.assert_allclose(plan.steps * drawn[:, 1] % 1, 0.5)
    cut = np.rint(plan.steps * drawn[:, 1] + 0.5).astype(int)
    seen = np.bincount(cut + 10 * (drawn[:, 2] < 0), minlength=20)
    law = exponential_selection(-errors_of(X, y, 8).ravel().astype(float), float(plan.rate))
    assert stats.chisquare(seen, 40_000 * law.masses).pvalue > 1e-6


@UNITS
def test_the_best_of_public_candidates_is_drawn_with_the_chance_of_its_sum(unit):
    bounds = Bounds(Box([0.0] * 3, [2.0] * 3), 3, max_rows=1000)
    plan = ExponentialSampling().plan(LeastLoss(bounds), Budget(1.0), unit)
    assert plan.rate * score_range(LOSS_STEPS, unit) == 1
    losses = np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 50.0]])  # a loss beyond the limit counts as 2
    drawn = plan.run_many(open_rows(losses, bounds=bounds, unit=unit), RehearsalNoise(0), 30_000)
    seen = np.bincount(drawn.astype(int), minlength=3)
    law = exponential_selection([-1.0, -2.0, -4.0], 1 / (2 * score_range(1, unit)))
    assert stats.chisquare(seen, 30_000 * law.masses).pvalue > 1e-6


def test_questions_without_a_meaning_are_refused():
    box = Box([0.0], [1.0])
    for make, says in (
        (lambda: BestThreshold(Bounds(box, 1)), "labels -1 and 1"),
        (lambda: BestThreshold(Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]))), "Box"),
        (lambda: BestThreshold(MARKED, steps=2**33), "steps"),
        (lambda: LeastLoss(MARKED), "no labels"),
        (lambda: LeastLoss(Bounds(box, 1, intercept=1.0)), "intercept"),
        (lambda: ColumnLocations(MARKED, Huber(1.0)), "no labels"),
        (lambda: ColumnLocations(Bounds(Box([0.0], [0.0]), 1), Huber(1.0)), "lower limit"),
    ):
        with pytest.raises(InputError, match=says):
            make()
    with pytest.raises(CalibrationError, match="one of its own"):
        ExponentialSampling().plan_beside(
            BestThreshold(MARKED), Budget(1.0), AddRemoveOne(), times=2
        )

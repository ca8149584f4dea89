"""Probabilities of scores: a curve that rises, keeps the classes, and is near the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from discreet.errors import InputError
from discreet.estimators.probability_curve import LEAST_SLOPE, ProbabilityCurve
from discreet.mechanisms.summing.score_counts import BINS, CELLS, EDGES, NODES

SCORES = np.linspace(-40, 40, 4001)


def counts_of(log_odds, rows, seed=0, noise=0.0, spread=2.0, middle=0.0):
    """Counts of rows whose scores are normal and whose log-odds are a function of the score."""
    generator = np.random.default_rng(seed)
    scores = middle + spread * generator.standard_normal(rows)
    is_second = generator.random(rows) < expit(log_odds(scores))
    cells = np.searchsorted(EDGES, scores) + BINS * is_second
    counts = np.bincount(cells, minlength=CELLS).astype(float)
    return counts + noise * generator.standard_normal(CELLS)


def hostile_counts():
    generator = np.random.default_rng(3)
    yield from (np.zeros(CELLS), np.full(CELLS, -50.0), np.full(CELLS, 1e7))
    one = np.zeros(CELLS)
    one[30] = 8e6
    yield one
    wrong = np.zeros(CELLS)
    wrong[BINS : BINS + 8], wrong[16:BINS] = 1000, 1000  # every class on the side of the other
    yield wrong
    for _ in range(60):
        size = 10.0 ** generator.integers(0, 7)
        yield size * generator.standard_normal(CELLS)


@pytest.mark.parametrize("margin", [0.0, 2.0, 9.0])
@pytest.mark.parametrize("variance", [0.0, 30.0**2, 250.0**2])
def test_whatever_the_counts_the_curve_rises_and_keeps_the_classes(margin, variance):
    for counts in hostile_counts():
        odds = ProbabilityCurve.of_counts(counts, variance, margin).log_odds(SCORES)
        assert np.isfinite(odds).all()
        assert (np.diff(odds) >= 0.99 * LEAST_SLOPE * np.diff(SCORES)).all()
        np.testing.assert_array_equal(np.sign(odds), np.sign(SCORES))


def test_no_counts_and_much_noise_leave_the_usual_line():
    usual = ProbabilityCurve.usual(2.0)
    inside = NODES  # beyond the last node the curve bends
    np.testing.assert_allclose(usual.log_odds(SCORES), SCORES / 2, rtol=1e-14)
    for counts, variance in ((np.zeros(CELLS), 0.0), (np.full(CELLS, 20.0), 1e12)):
        curve = ProbabilityCurve.of_counts(counts, variance, 2.0)
        np.testing.assert_allclose(curve.log_odds(inside), inside / 2, atol=1e-3)


@pytest.mark.parametrize(
    "truth", [lambda u: 0.3 * u, lambda u: u, lambda u: 0.4 * u + 0.02 * u**3],
    ids=["flat", "steep", "bent"],
)  # fmt: skip
def test_many_rows_tell_the_truth(truth):
    curve = ProbabilityCurve.of_counts(counts_of(truth, 400_000), 0.0, 2.0)
    near = np.linspace(-4, 4, 81)
    assert np.abs(curve.probability(near) - expit(truth(near))).max() < 0.02


def test_noise_is_not_taken_for_rows():
    # Log loss over the law of scores: with noise of thirty rows a cell no worse than the line, by
    # more than a thousandth; fixed seeds.
    def truth(scores):
        return scores / 2

    drawn = 2 * np.random.default_rng(9).standard_normal(20_000)
    chance = expit(truth(drawn))
    for seed in range(5):
        counts = counts_of(truth, 20_000, seed=seed, noise=30.0)
        found = ProbabilityCurve.of_counts(counts, 900.0, 2.0).probability(drawn)
        loss = -np.mean(
            chance * np.log(found / chance) + (1 - chance) * np.log((1 - found) / (1 - chance))
        )
        assert loss < 1e-3


def test_rare_classes_are_put_right():
    # Of one class a few in a hundred: a line through zero says far too much.
    def truth(scores):
        return -2.5 + 0.2 * (scores + 3)

    counts = counts_of(truth, 100_000, middle=-3.0, spread=1.0)
    curve = ProbabilityCurve.of_counts(counts, 0.0, 2.0)
    near = np.linspace(-4.5, -1.5, 31)
    line = ProbabilityCurve.usual(2.0).probability(near)
    assert np.abs(line - expit(truth(near))).max() > 0.15
    assert np.abs(curve.probability(near) - expit(truth(near))).max() < 0.03


def test_a_curve_is_what_its_points_say():
    points = np.array([[-2.0, 0.0, 1.0, 3.0], [-1.0, 0.0, 2.0, 3.0]])
    curve = ProbabilityCurve(points)
    found = curve.log_odds(np.array([-4.0, -2.0, -1.0, 0.0, 0.5, 2.0, 3.0, 5.0]))
    np.testing.assert_allclose(found, [-2.0, -1.0, -0.5, 0.0, 1.0, 2.5, 3.0, 4.0])
    assert curve.outer_slopes == (0.5, 0.5)
    again = ProbabilityCurve(curve.points)
    np.testing.assert_array_equal(again.log_odds(SCORES), curve.log_odds(SCORES))


@pytest.mark.parametrize(
    "points",
    [
        [[-1.0, 0.0, 1.0]],
        [[-1.0, 1.0], [-1.0, 1.0]],
        [[-1.0, 0.0, 1.0], [-1.0, 0.1, 1.0]],
        [[-1.0, 0.0, 1.0], [-1.0, 0.0, 0.0]],
        [[1.0, 0.0, -1.0], [-1.0, 0.0, 1.0]],
        [[-1.0, 0.0, math.inf], [-1.0, 0.0, 1.0]],
        [[-1.0, 0.0, 1.0], [math.nan, 0.0, 1.0]],
    ],
)
def test_points_that_are_no_curve_are_refused(points):
    with pytest.raises(InputError, match="curve"):
        ProbabilityCurve(np.array(points))

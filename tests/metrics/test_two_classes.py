"""Scores of two classes against scikit-learn's, and their intervals against exact coverage."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom
from sklearn import metrics as plain

from discreet.errors import InputError
from discreet.mechanisms.summing.projected_counts import project_counts
from discreet.mechanisms.summing.score_cells import place_rows
from discreet.metrics.count_noise import CountNoise
from discreet.metrics.inversion import PairMean, Ratio
from discreet.metrics.proportions import limits_of_proportion
from discreet.metrics.score_bins import ScoreBins
from discreet.metrics.two_classes import BINARY_METRICS, CONFUSION_METRICS, BinaryScores
from discreet.privacy import AddRemoveOne, Guarantee, Pure
from discreet.record import Release

NOTHING = CountNoise("none", 0.0)


def _scores(cells, noise, bins, **options):
    made = Release(np.concatenate([[0.0], cells]), Guarantee(Pure(1.0), AddRemoveOne()),
                   "noisy_histogram", 0, "0.1")  # fmt: skip
    has_halves = len(cells) == 4 * bins.total
    return BinaryScores(made, noise, bins, BINARY_METRICS, has_halves=has_halves, **options)


def _count(y, z, bins, seed=1):
    """Return the cells of rows, in halves."""
    coins = np.random.default_rng(seed).uniform(size=z.size)
    cells = place_rows(bins.edges, np.column_stack([y + 1, z, coins]), has_halves=True)
    return np.bincount(cells - 1, minlength=4 * bins.total).astype(float)


def _drawn(count, seed, mean=-0.5, spread=1.8):
    draw = np.random.default_rng(seed)
    z = mean + spread * draw.normal(size=count)
    return (draw.uniform(size=count) < expit(0.8 * z)).astype(int), z


@pytest.mark.parametrize(("count", "threshold"), [(8, 0.5), (16, 0.5), (8, 0.2), (64, 0.999)])
def test_without_noise_intervals_hold_the_scores_of_the_rows(count, threshold):
    # Fixed rows and coins: nothing here can flake. Of these rows only bins and coins are in doubt.
    bins = ScoreBins.of_count(count, threshold)
    y, z = _drawn(5000, count, spread=3.0)
    scores, most = _scores(_count(y, z, bins), NOTHING, bins), bins.ends[1][-1]
    chances, said = expit(np.clip(z, -most, most)), (z > bins.boundary).astype(int)
    expected = {
        "accuracy": plain.accuracy_score(y, said),
        "balanced_accuracy": plain.balanced_accuracy_score(y, said),
        "precision": plain.precision_score(y, said),
        "recall": plain.recall_score(y, said),
        "specificity": plain.recall_score(1 - y, 1 - said),
        "f1": plain.f1_score(y, said),
        "prevalence": y.mean(),
        "roc_auc": plain.roc_auc_score(y, z),
        "log_loss": plain.log_loss(y, chances),
        "brier": plain.brier_score_loss(y, chances),
        "calibration_in_the_large": (y - chances).mean(),
    }
    assert set(expected) == set(BINARY_METRICS) == set(scores)
    for name, value in expected.items():
        if name in CONFUSION_METRICS:
            assert scores[name].value == pytest.approx(value, abs=1e-9), name
            assert scores[name].interval(0.95, of="sample") == pytest.approx((value, value))
        low, high = scores[name].interval(0.95, of="sample")
        assert low - 1e-9 <= value <= high + 1e-9, name
        assert low <= scores[name].value <= high
        low, high = scores[name].interval(0.95)
        assert low <= value <= high
    np.testing.assert_allclose(scores.confusion_matrix, plain.confusion_matrix(y, said))


def test_every_score_stands_in_the_table_of_the_page():
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text()
    named = {
        name.strip()
        for row in page.splitlines()
        if row.startswith("|")
        for name in row.split("|")[1].split(",")
    }
    assert set(BINARY_METRICS) - named == set()


def test_wider_levels_and_noise_give_wider_intervals():
    bins = ScoreBins.of_count(8)
    cells = np.random.default_rng(1).poisson(60, 32).astype(float)
    quiet, loud = (_scores(cells, CountNoise("laplace", scale), bins) for scale in (1.0, 10.0))
    for name in BINARY_METRICS:
        ends = [one[name].interval(level) for one in (quiet, loud) for level in (0.8, 0.95)]
        widths = [high - low for low, high in ends]
        assert widths[0] < widths[1] < widths[3]
        assert widths[0] < widths[2] < widths[3]


def test_too_few_rows_give_the_whole_range_and_say_so():
    cells = np.repeat([1.0, -2.0, 0.0, 3.0], 2)
    scores = _scores(cells, CountNoise("laplace", 5.0), ScoreBins.of_count(2))
    for name in ("roc_auc", "balanced_accuracy", "log_loss", "brier"):
        assert "too few rows" in scores[name].reason()
    assert scores["roc_auc"].interval() == (0.0, 1.0)
    assert "too few rows" in repr(scores)


def test_values_are_in_range_whatever_the_counts():
    draw = np.random.default_rng(9)
    for _ in range(20):
        cells = np.rint(draw.laplace(size=32) * 10)
        scores = _scores(cells, CountNoise("laplace", 10.0), ScoreBins.of_count(8))
        for name in BINARY_METRICS:
            score = scores[name]
            low, high = score.interval()
            assert math.isfinite(score.value)
            assert low <= score.value <= high


def test_projected_counts_keep_the_total_and_are_nearest():
    draw = np.random.default_rng(2)
    for _ in range(50):
        counts = draw.normal(3, 8, 12)
        nearest = project_counts(counts)
        assert nearest.min() >= 0
        assert nearest.sum() == pytest.approx(max(counts.sum(), 1.0))
        for _ in range(20):
            other = draw.dirichlet(np.ones(12)) * nearest.sum()
            assert np.linalg.norm(nearest - counts) <= np.linalg.norm(other - counts) + 1e-9


def test_bands_hold_more_than_each_point_alone():
    bins = ScoreBins.of_count(8)
    cells = np.random.default_rng(5).poisson(40, 32).astype(float)
    scores = _scores(cells, CountNoise("laplace", 1.0), bins)
    roc, pr = scores.roc_curve(), scores.precision_recall_curve()
    calibration = scores.calibration_curve()
    for curve in (roc, pr):
        assert curve.x.size == bins.edges.size
        assert (curve.x_limits[:, 0] <= curve.x).all()
        assert (curve.y <= curve.y_limits[:, 1]).all()
    assert (np.diff(roc.x) <= 1e-12).all()
    recall = scores["recall"].interval()
    band = roc.y_limits[bins.edges.size // 2]
    assert band[0] < recall[0] < recall[1] < band[1]
    assert calibration.y.size == bins.total
    assert (calibration.x_limits[1:, 0] == calibration.x_limits[:-1, 1]).all()


def test_what_holds_too_few_rows_is_not_drawn():
    y, z = _drawn(3000, 6, mean=-2.0, spread=0.3)
    bins = ScoreBins.of_count(16)
    curve = _scores(_count(y, z, bins), CountNoise("laplace", 1.0), bins).calibration_curve()
    is_drawn = np.isfinite(curve.y)
    assert is_drawn.sum() >= 2
    assert not is_drawn[curve.x_limits[:, 0] >= 0.5].any()
    assert (curve.y[is_drawn] < 0.4).all()


def test_curves_of_many_bins_have_few_points():
    bins = ScoreBins.of_count(200)
    scores = _scores(np.full(800, 30.0), CountNoise("laplace", 1.0), bins)
    assert bins.boundary == 0
    assert 16 <= scores.roc_curve().x.size <= 33
    assert scores.calibration_curve().x.size == 16


def test_rows_of_the_fit_are_told_of_as_a_sample_only():
    cells, bins = np.full(32, 50.0), ScoreBins.of_count(8)
    scores = _scores(cells, CountNoise("laplace", 1.0), bins, on_training_rows=True)
    others = _scores(cells, CountNoise("laplace", 1.0), bins)
    assert scores["brier"].interval() == others["brier"].interval(of="sample")
    with pytest.raises(InputError, match="score other rows"):
        scores["brier"].interval(of="population")
    with pytest.raises(InputError):
        others["brier"].interval(of="everybody")


def test_a_score_of_probabilities_needs_halves():
    scores = _scores(np.full(4, 9.0), NOTHING, ScoreBins.of_count(2))
    with pytest.raises(KeyError, match="log_loss"):
        scores["log_loss"]
    assert "roc_auc" in scores.available


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("cells", [1, 4, 16])
def test_tables_of_noise_have_the_moments_of_the_law(law, cells):
    noise = CountNoise(law, 3.0)
    table = noise.sum_of(cells)
    assert table.chances.sum() == pytest.approx(1.0, abs=1e-9)
    assert table.chances @ table.places**2 == pytest.approx(cells * noise.variance, rel=1e-6)
    if law == "laplace":
        fourth = table.chances @ table.places.astype(float) ** 4
        cumulant = fourth - 3 * (cells * noise.variance) ** 2
        assert cumulant == pytest.approx(cells * noise.cumulant, rel=1e-4)


@pytest.mark.parametrize(("rows", "share"), [(40, 0.93), (20, 0.6)])
def test_guaranteed_intervals_cover_by_exact_summation(rows, share):
    # The chance of every outcome is summed up: nothing is drawn.
    noise = CountNoise("laplace", 0.7)
    table = noise.sum_of(1)
    right, seen = np.arange(rows + 1), np.arange(-9, rows + 10)
    chance_of = dict(zip(table.places.tolist(), table.chances.tolist(), strict=True))
    moved = np.array([[chance_of.get(one - count, 0.0) for count in right] for one in seen])
    chances = (moved * binom.pmf(right, rows, share)) @ moved[:, ::-1].T
    missed = 1 - chances.sum()
    for (one, other), chance in np.ndenumerate(chances):
        if chance < 1e-5:
            missed += chance  # at worst
            continue
        low, high, _ = limits_of_proportion(seen[one], seen[other], (1, 1), noise, 0.9)
        missed += chance * (not low <= share <= high)
    assert missed <= 0.1


def test_a_ratio_without_noise_is_wilsons_or_wider():
    counts = np.array([700.0, 300.0])
    low, high, _ = Ratio(np.array([1.0, 0.0]), np.ones(2), 0.0, 1.0).limits(counts, NOTHING, 0.95)
    half = 1.96 * math.sqrt(0.7 * 0.3 / 1000)
    assert low == pytest.approx(0.7 - half, abs=0.003)
    assert high == pytest.approx(0.7 + half, abs=0.003)


def test_pairs_are_worth_what_ranks_are():
    draw = np.random.default_rng(8)
    positives, negatives = draw.poisson(9, 5), draw.poisson(9, 5)
    ranks = np.concatenate([np.repeat(np.arange(5), times) for times in (negatives, positives)])
    y = np.repeat([0, 1], [negatives.sum(), positives.sum()])
    found = PairMean(np.arange(5)).of(positives, negatives)
    assert found == pytest.approx(plain.roc_auc_score(y, ranks))


def test_no_order_within_bins_leaves_the_bracket_of_the_area():
    draw = np.random.default_rng(4)
    positives, negatives = draw.poisson(6, 7), draw.poisson(6, 7)
    least, most = (PairMean(np.arange(7), tie).of(positives, negatives) for tie in (0.0, 1.0))
    y = np.repeat([0, 1], [negatives.sum(), positives.sum()])
    bins = np.concatenate([np.repeat(np.arange(7), times) for times in (negatives, positives)])
    for within in (y, -y, *(draw.uniform(size=y.size) for _ in range(20))):
        area = plain.roc_auc_score(y, bins + 0.4 * within)
        assert least - 1e-12 <= area <= most + 1e-12
    assert plain.roc_auc_score(y, bins + 0.4 * y) == pytest.approx(most)


def test_cells_put_together_give_the_interval_of_each_alone():
    # The same weights twice: a ratio sees sums, and the noise of two.
    counts, noise = np.array([40.0, 50.0, 7.0, 3.0]), CountNoise("laplace", 2.0)
    apart = Ratio(np.array([1.0, 1 + 1e-12, 0.0, 1e-12]), np.ones(4), 0.0, 1.0)
    alike = Ratio(np.array([1.0, 1.0, 0.0, 0.0]), np.ones(4), 0.0, 1.0)
    for is_sample in (False, True):
        found = [one.limits(counts, noise, 0.95, is_sample=is_sample)[:2] for one in (apart, alike)]
        assert found[0] == pytest.approx(found[1], abs=1e-6)

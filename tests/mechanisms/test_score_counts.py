"""Counts of scores: one cell a row, each by itself; what they cost beside a model, and mutants."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import ndtr, ndtri

from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import NotAccepted
from discreet.geometry import L2Ball
from discreet.losses import MarginLogistic, PseudoHuber
from discreet.mechanisms import EachAgainstTheRest, PrivateStandardisation
from discreet.mechanisms.summing import score_counts
from discreet.mechanisms.summing.score_counts import (
    BINS,
    CELLS,
    COUNTED_SHARE,
    EDGES,
    NODES,
    ScoreCounts,
)
from discreet.mechanisms.summing.totals import RowSums
from discreet.noise import Grid, RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, Gaussian, ReplaceOne, gaussian_multiplier
from discreet.questions import OneVsRest, Problem
from discreet.questions.bounds import CLIPPING_SLACK
from support.cases import Data, case_labelled
from support.checks import check_joint_audit, check_joint_sensitivity
from support.opened import open_rows

ADD, SWAP = AddRemoveOne(), ReplaceOne()
both_units = pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
COUNTED = [
    case_labelled(f"private standardisation, counted, {label}")
    for label in ("add_remove", "replace", "pure, add_remove", "pure, replace")
]
every_counted = pytest.mark.parametrize("case", COUNTED, ids=lambda case: case.label)


def bounds_of(p=3, features=None, **more):
    labels = LabelSet([-1, 1])
    return Bounds(features or L2Ball(99.0), p, labels=labels, intercept=0.5, max_rows=2**20, **more)


def data(rows, p=3, seed=0):
    generator = np.random.default_rng(seed)
    return 3 * generator.standard_normal((rows, p)), generator.choice([-1.0, 1.0], size=rows)


def count_scores(rows, coefficients):
    """Count each row once."""
    return score_counts.count_scores(rows, coefficients, RowSums(bounds_of()))


# What is counted.


def test_every_row_is_counted_once_by_its_class_and_score():
    X, y = data(500)
    coefficients = np.array([1.0, -2.0, 0.5, 3.0])
    scores = X @ coefficients[:-1] + 0.5 * 3.0
    expected = np.zeros(CELLS, dtype=np.int64)
    for score, label in zip(scores, y, strict=True):
        expected[(score > EDGES).sum() + (BINS if label > 0 else 0)] += 1
    for engine in (X, np.asfortranarray(X), sparse.csr_array(X)):
        opened = open_rows(engine, y, bounds=bounds_of())
        np.testing.assert_array_equal(count_scores(opened, coefficients), expected)
    assert expected.sum() == 500


def test_weights_do_not_count_and_spoilt_rows_are_fixed_ones():
    X, y = data(20)
    coefficients = np.ones(4)
    weighted = open_rows(X, y, bounds=bounds_of(max_weight=9.0), weights=np.linspace(0, 9, 20))
    plain = count_scores(open_rows(X, y, bounds=bounds_of()), coefficients)
    np.testing.assert_array_equal(count_scores(weighted, coefficients), plain)
    X[3], y[5] = np.nan, 17.0
    assert count_scores(open_rows(X, y, bounds=bounds_of()), coefficients).sum() == 20


def test_bins_meet_at_the_boundary_of_classes_and_nodes_lie_within_them():
    assert EDGES[BINS // 2 - 1] == 0
    assert (np.searchsorted(EDGES, NODES) == np.arange(BINS)).all()
    np.testing.assert_array_equal(EDGES, -EDGES[::-1])
    np.testing.assert_array_equal(NODES, -NODES[::-1])


@pytest.mark.parametrize("p", [5, 16, 109])
def test_the_cell_of_a_row_ignores_layout_position_and_other_rows(p):
    # Scores at an edge, so that the last bit decides: products of whole matrices are not good
    # enough, because BLAS treats the last rows of a block in another way.
    generator = np.random.default_rng(p)
    X, y = generator.standard_normal((67, p)), np.ones(67)
    coefficients = np.append(generator.standard_normal(p), 0.0)
    X *= (EDGES[14] / (X @ coefficients[:-1]))[:, None]
    bounds = bounds_of(p, L2Ball(1e9))

    def cells(kept, engine):
        return [
            count_scores(open_rows(engine(X[[row]]), y[:1], bounds=bounds), coefficients).argmax()
            for row in kept
        ]

    alone = np.array(cells(range(67), np.asarray))
    assert len(set(alone.tolist())) == 2  # on either side of the edge
    for engine in (np.ascontiguousarray, np.asfortranarray, sparse.csr_array):
        for kept in (np.arange(67), np.arange(66), np.arange(1, 67), np.arange(0, 67, 3)):
            opened = open_rows(engine(X[kept]), y[kept], bounds=bounds)
            expected = np.bincount(alone[kept], minlength=CELLS)
            np.testing.assert_array_equal(count_scores(opened, coefficients), expected)


@pytest.mark.parametrize("entries", [3, 300, 700])
def test_the_cell_of_a_wide_sparse_row_ignores_position_and_other_rows(entries):
    # Scores at an edge, so that the last bit decides; rows of more entries than one segment too.
    generator, p = np.random.default_rng(entries), 2000
    counts = np.minimum(entries + 40 * np.arange(31) % 97, p)
    places = [np.sort(generator.permutation(p)[:count]) for count in counts]
    flat = generator.standard_normal(counts.sum())
    starts = np.concatenate([[0], np.cumsum(counts)])
    X = sparse.csr_array((flat, np.concatenate(places), starts), shape=(31, p))
    coefficients = np.append(generator.standard_normal(p), 0.0)
    X = sparse.csr_array(sparse.diags_array(EDGES[14] / (X @ coefficients[:-1])) @ X)
    y, bounds = np.ones(31), bounds_of(p, L2Ball(1e9))

    def cells(kept):
        return count_scores(open_rows(X[kept], y[kept], bounds=bounds), coefficients)

    alone = np.array([cells([row]).argmax() for row in range(31)])
    assert len(set(alone.tolist())) == 2  # on either side of the edge
    for kept in (np.arange(31), np.arange(30), np.arange(1, 31), np.arange(0, 31, 3)):
        np.testing.assert_array_equal(cells(kept), np.bincount(alone[kept], minlength=CELLS))


def test_what_is_scored_is_what_is_released():
    problem = Problem(MarginLogistic(), bounds_of(), ridge=3.0)
    plan = PrivateStandardisation(counts_scores=True).plan(problem, Budget(1.0, 1e-6), ADD)
    X, y = data(300)
    opened = open_rows(X, y, bounds=problem.bounds)
    value = plan.run(opened, RehearsalNoise(1))
    coefficients, counts = value[:4], value[4:]
    assert counts.shape == (CELLS,)
    exact = count_scores(opened, coefficients)
    # The largest of 48 normal deviations; the noise is fixed.
    assert np.abs(counts - exact).max() < 4 * plan.counts.grid.scale
    without = replace(plan, counts=None).run(opened, RehearsalNoise(1))
    np.testing.assert_array_equal(without, coefficients)


def test_the_coefficients_that_score_are_those_released_to_the_last_bit(monkeypatch):
    seen, count = [], score_counts.count_scores
    monkeypatch.setattr(
        score_counts,
        "count_scores",
        lambda rows, used, *how: seen.append(used.copy()) or count(rows, used, *how),
    )
    problem = Problem(MarginLogistic(), bounds_of(), ridge=3.0)
    plan = PrivateStandardisation(counts_scores=True).plan(problem, Budget(1.0, 1e-6), ADD)
    X, y = data(300)
    value = plan.run(open_rows(X, y, bounds=problem.bounds), RehearsalNoise(1))
    (used,) = seen
    np.testing.assert_array_equal(used, value[:4])


@both_units
@pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-6)], ids=["pure", "gaussian"])
def test_every_count_has_noise_of_its_own_as_large_as_accounted_for(unit, budget):
    """Empty cells too. The noise is fixed; limits are five standard errors of 2,000 draws."""
    counts = ScoreCounts.within_budget(budget, unit, bounds_of())
    X, y = data(5)
    opened, coefficients = open_rows(X, y, bounds=bounds_of()), np.array([1.0, -2.0, 0.5, 3.0])
    exact = count_scores(opened, coefficients)
    noise = RehearsalNoise(7)
    drawn = np.array([counts.release(opened, coefficients, noise) for _ in range(2000)]) - exact
    assert (exact == 0).sum() > CELLS // 2
    kurtosis = 6 if counts.is_pure else 3
    spread = math.sqrt((kurtosis - 1) / len(drawn))
    assert np.abs(drawn.var(axis=0) / counts.variance - 1).max() < 5 * spread
    assert np.abs(np.corrcoef(drawn.T) - np.eye(CELLS)).max() < 5 / math.sqrt(len(drawn))


def test_scores_beyond_all_numbers_still_have_a_cell():
    X, y = data(50)
    opened = open_rows(X, y, bounds=bounds_of())
    for coefficients in ([1e308, -1e308, 1e308, 1.0], [0.0, 0.0, 0.0, 0.0]):
        assert count_scores(opened, np.array(coefficients)).sum() == 50


def test_an_infinite_budget_counts_exactly():
    counts = ScoreCounts.within_budget(Budget(math.inf), ADD, bounds_of())
    assert (counts.grid, counts.profile, counts.variance) == (None, None, 0.0)


# What they cost.


@both_units
@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(1.0)], ids=["gaussian", "pure"])
def test_no_pair_of_records_moves_the_counts_further_than_declared(unit, budget):
    planned = ScoreCounts.within_budget(budget, unit, bounds_of())
    order, coefficients = (1 if planned.is_pure else 2), np.array([1.0, 0.3, -1.0, 0.2])
    apart = []
    for seed in range(30):
        X, y = data(12, seed=seed)
        first = count_scores(open_rows(X, y, bounds=bounds_of()), coefficients)
        if unit.rows_are_public:
            fresh = data(1, seed=1000 + seed)
            X[7], y[7] = fresh[0][0], fresh[1][0]
            other = open_rows(X, y, bounds=bounds_of())
        else:
            other = open_rows(X[1:], y[1:], bounds=bounds_of())
        apart.append(np.linalg.norm(first - count_scores(other, coefficients), order))
    reached = planned.profile.ideal
    level = reached.pure_epsilon if planned.is_pure else reached.mu
    assert max(apart) <= level * planned.grid.scale
    assert max(apart) >= level * planned.grid.scale * (1 - 1e-4)


@both_units
def test_the_counts_take_the_share_that_they_say(unit):
    whole = 1 / gaussian_multiplier(Budget(1.0, 1e-6))
    gaussian = ScoreCounts.within_budget(Budget(1.0, 1e-6), unit, bounds_of())
    assert gaussian.profile.ideal.mu**2 == pytest.approx(COUNTED_SHARE * whole**2, rel=1e-6)
    moved = 2 if unit.rows_are_public else 1
    assert gaussian.variance == pytest.approx(moved / (COUNTED_SHARE * whole**2), rel=1e-4)
    pure = ScoreCounts.within_budget(Budget(1.0), unit, bounds_of())
    assert pure.profile.pure_epsilon == pytest.approx(COUNTED_SHARE, rel=1e-6)
    assert pure.variance == pytest.approx(2 * (moved / COUNTED_SHARE) ** 2, rel=1e-4)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-9), (1.0, 1e-6)])
def test_the_noise_is_that_of_the_closed_form(epsilon, delta):
    """Theory notes, 3.1 with the counts among the Gaussian events; add/remove."""
    mu = 1 / gaussian_multiplier(Budget(epsilon, 0.99 * delta))
    shares = 0.03 * mu**2, 0.03 * mu**2, 0.0004 * mu**2  # sums, counts, mask
    nu = math.sqrt(sum(shares))
    k = epsilon - nu * (ndtri(1 - 0.01 * delta) + nu / 2)
    problem = Problem(MarginLogistic(), bounds_of(), ridge=CLIPPING_SLACK**2 / k)
    plan = PrivateStandardisation(counts_scores=True).plan(problem, Budget(epsilon, delta), ADD)
    assert plan.guarantee.delta(epsilon) <= delta
    assert plan.second.scale == pytest.approx(1 / math.sqrt(mu**2 - nu**2), rel=0.01)
    # The closed form agrees about what was planned.
    second = CLIPPING_SLACK / plan.second.scale
    known = math.hypot(plan.sums.profile.ideal.mu, plan.counts.profile.ideal.mu, 0.02 * second)
    bound = Gaussian(math.hypot(known, second)).delta(epsilon)
    assert bound + ndtr(known / 2 - (epsilon - k) / known) <= 1.05 * delta


@both_units
def test_a_pure_epsilon_is_split_into_three(unit):
    problem = Problem(MarginLogistic(), bounds_of(), ridge=3.0)
    plan = PrivateStandardisation(counts_scores=True).plan(problem, Budget(1.0), unit)
    parts = [part.pure_epsilon for part in plan.guarantee.profile.ideal.parts]
    np.testing.assert_allclose(parts, [0.1, 0.03, 0.87], rtol=1e-6)
    assert plan.guarantee.profile.pure_epsilon <= 1.0


def test_what_the_counts_are_not_for_is_refused():
    mechanism, budget = PrivateStandardisation(counts_scores=True), Budget(1.0, 1e-6)
    numbers = replace(bounds_of(), labels=Interval(-1, 1))
    two = Problem(MarginLogistic(), bounds_of(), ridge=3.0)
    several = replace(mechanism, second=EachAgainstTheRest(mechanism.second))
    for refusing, question in [
        (mechanism, Problem(PseudoHuber(1.0), numbers, ridge=3.0)),
        (several, OneVsRest(two, 3)),
    ]:
        with pytest.raises(NotAccepted, match="two classes"):
            refusing.plan(question, budget, ADD)


# Mutants.


@every_counted
def test_counts_left_out_of_the_account_are_caught(case):
    plan = case.plan()
    check_joint_audit(case, plan)
    alone = replace(case.mechanism, counts_scores=False).plan(case.question, case.budget, case.unit)
    with pytest.raises(AssertionError):
        check_joint_audit(case, replace(alone, counts=plan.counts))


@pytest.mark.parametrize("case", [COUNTED[1], COUNTED[3]], ids=lambda case: case.label)
def test_forgetting_that_a_replaced_record_changes_two_cells_is_caught(case):
    plan = case.plan()
    one = ScoreCounts.within_budget(case.budget, ADD, case.question.bounds)
    with pytest.raises(AssertionError):
        check_joint_sensitivity(case, replace(plan, counts=one), [case.worst_pair])


@every_counted
def test_a_row_in_two_cells_is_caught(case, monkeypatch):
    honest = score_counts._cells

    def twice(block, coefficients):
        cells = honest(block, coefficients)
        return np.concatenate([cells, (cells + 1) % CELLS])

    plan = case.plan()
    check_joint_sensitivity(case, plan, [case.worst_pair])
    monkeypatch.setattr(score_counts, "_cells", twice)
    with pytest.raises(AssertionError):
        check_joint_sensitivity(case, plan, [case.worst_pair])


@pytest.mark.parametrize("case", [COUNTED[0], COUNTED[2]], ids=lambda case: case.label)
def test_edges_taken_from_the_rows_are_caught(case, monkeypatch):
    # A record far out moves every quantile, and the other rows change their cells with it.
    def by_quantiles(rows, coefficients, entering, one):
        X, y = rows.gather()
        scores = X @ coefficients
        edges = np.quantile(scores, np.linspace(0, 1, BINS + 1)[1:-1])
        cells = np.searchsorted(edges, scores) + BINS * (y > 0)
        return np.bincount(cells, minlength=CELLS) * one

    X, y = np.linspace(-1, 1, 12)[:, None] * np.ones((12, 5)), np.ones(13)
    pair = Data(X, y[:12]), Data(np.vstack([X, 9 * np.ones(5)]), y)
    plan = case.plan()
    check_joint_sensitivity(case, plan, [pair])
    monkeypatch.setattr(score_counts, "count_scores", by_quantiles)
    with pytest.raises(AssertionError):
        check_joint_sensitivity(case, plan, [pair])


@every_counted
def test_too_little_noise_on_the_counts_is_caught(case):
    plan = case.plan()
    grid = plan.counts.grid
    weak = replace(plan.counts, grid=Grid(grid.scale / 2, grid.bits - 2, grid.bound))
    with pytest.raises(AssertionError):
        check_joint_sensitivity(case, replace(plan, counts=weak), [case.worst_pair])

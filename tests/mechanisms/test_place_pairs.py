"""Products of the places of two columns: looked up row by row, and planned for before noise is."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.data import Interval, LabelSet
from discreet.errors import PrivacyError
from discreet.geometry import L2Ball
from discreet.mechanisms import AdditiveModel
from discreet.mechanisms.additive_model import bounds_within
from discreet.mechanisms.summing.additive_tables import make_frame, widest_frame
from discreet.mechanisms.summing.score_counts import BINS, EDGES
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import AdditiveProblem, Marginals
from support.opened import open_rows

ADD, BUDGET = AddRemoveOne(), Budget(1.0, 1e-8)
LEVELS = (None, 3, None)


def problem(labels=(-1, 1), **parameters):
    kind = Interval(-9, 9) if labels is None else LabelSet(labels)
    stated = {"ridge": 1.8, "interactions": True} | parameters
    return AdditiveProblem(Marginals(LEVELS, kind, max_rows=10**6), **stated)


QUESTION = problem()


def crossed_rows(count, seed=0):
    """Rows whose class depends on two columns together, and on neither alone."""
    generator = np.random.default_rng(seed)
    cells = np.column_stack([generator.integers(high, size=count) for high in (256, 3, 256)])
    score = 4 * (cells[:, 0] / 128 - 1) * (cells[:, 2] / 128 - 1)
    labels = np.where(generator.random(count) < 1 / (1 + np.exp(-score)), 1.0, -1.0)
    return cells.astype(float), labels


def planned(question=QUESTION, budget=BUDGET, unit=ADD, count=20_000):
    plan = AdditiveModel().plan(question, budget, unit)
    return plan, open_rows(*crossed_rows(count), bounds=question.bounds, unit=unit)


def pairs_of(question=QUESTION, count=20_000):
    plan, rows = planned(question, count=count)
    numbers = plan.noise.hide(plan.noise.layout.count(rows), RehearsalNoise(1))[0]
    return plan.settle_from(numbers)[0].pairs


def crossed_weight(plan, rows):
    read = plan.read(plan.run(rows, RehearsalNoise(1)))
    return read.pair_weights()


@pytest.mark.parametrize(
    "budget", [BUDGET, Budget(1.0), Budget(math.inf)], ids=["noise", "pure", "none"]
)
@pytest.mark.parametrize("unit", [ADD, ReplaceOne()], ids=lambda unit: unit.name)
def test_what_two_columns_do_together_is_learnt(budget, unit):
    plan, rows = planned(problem(ridge=5.0), budget, unit)
    # The score is 4/3 for two places a deviation above; the penalty takes a part.
    assert 0.9 < float(crossed_weight(plan, rows)[0, 0]) < 2.2


def test_several_classes_have_a_weight_each():
    question = problem((0, 1, 2))
    plan = AdditiveModel().plan(question, BUDGET, ADD)
    cells, labels = crossed_rows(20_000)
    rows = open_rows(cells, np.where(labels > 0, 1.0, 0.0), bounds=question.bounds, unit=ADD)
    low, high, _ = crossed_weight(plan, rows)[:, 0]
    assert low < -0.4 < 0.4 < high


def test_the_weight_of_a_number_is_in_its_units():
    question = problem(None)
    plan = AdditiveModel().plan(question, BUDGET, ADD)
    cells, _ = crossed_rows(20_000)
    targets = 6 * (cells[:, 0] / 128 - 1) * (cells[:, 2] / 128 - 1)
    rows = open_rows(cells, targets, bounds=question.bounds, unit=ADD)
    assert crossed_weight(plan, rows)[0, 0] == pytest.approx(2.0, abs=0.15)  # deviations: 1/sqrt(3)


def test_too_little_signal_leaves_single_columns():
    assert len(pairs_of()) == 1
    assert pairs_of(count=500) == ()
    assert pairs_of(replace(QUESTION, interactions=False)) == ()


def test_more_pairs_than_functions_are_neither_made_nor_planned_for():
    generator = np.random.default_rng(1)
    for columns, is_paired in ((16, True), (30, False)):  # 120 and 435, of 128 and 240 functions
        numbers = Marginals((None,) * columns, LabelSet([-1, 1]), max_rows=10**6)
        question = AdditiveProblem(numbers, ridge=1.8, interactions=True)
        plan = AdditiveModel().plan(question, Budget(math.inf), ADD)
        cells = generator.integers(256, size=(2000, columns)).astype(float)
        rows = open_rows(cells, np.ones(2000), bounds=question.bounds, unit=ADD)
        frame, _ = plan.settle_from(plan.noise.layout.count(rows).astype(float))
        pairs = columns * (columns - 1) // 2 if is_paired else 0
        assert len(frame.pairs) == pairs
        assert plan.widest == widest_frame((None,) * columns) + pairs


def test_a_column_of_one_value_is_in_no_pair():
    question = replace(QUESTION, marginals=replace(QUESTION.marginals, levels=(None,) * 3))
    plan = AdditiveModel().plan(question, Budget(math.inf), ADD)
    cells, labels = crossed_rows(500)
    cells[:, 1] = 7.0
    rows = open_rows(cells, labels, bounds=question.bounds, unit=ADD)
    frame, _ = plan.settle_from(plan.noise.layout.count(rows).astype(float))
    assert [pair.columns for pair in frame.pairs] == [(0, 2)]


@pytest.mark.parametrize("labels", [(-1, 1), (0, 1, 2), None], ids=["two", "three", "number"])
@pytest.mark.parametrize("unit", [ADD, ReplaceOne()], ids=lambda unit: unit.name)
def test_noise_is_planned_for_the_width_with_pairs_whatever_is_released(labels, unit):
    question = problem(labels)
    plan = AdditiveModel().plan(question, BUDGET, unit)
    assert plan.widest == widest_frame(LEVELS) + 1 == 9 + 4 + 9 + 1 + 1
    generator, paired = np.random.default_rng(1), set()
    for scale in (0.0, 1e2, 1e6, 1e12):
        released = scale * generator.standard_normal(plan.noise.layout.kinds.size)
        frame, settings = plan.settle_from(released)
        bounds = bounds_within(question, L2Ball(1.0), frame.width + 1, plan.objective.labels)
        plan.objective.settle_second(plan.second, settings, bounds)
        assert frame.width + 1 <= plan.widest
        paired.add(len(frame.pairs))
    assert paired == {0, 1}
    beyond = bounds_within(question, L2Ball(1.0), plan.widest + 1, plan.objective.labels)
    with pytest.raises(PrivacyError, match="wider"):
        plan.objective.settle_second(plan.second, settings, beyond)


@pytest.mark.parametrize("unit", [ADD, ReplaceOne()], ids=lambda unit: unit.name)
def test_pairs_change_neither_noise_nor_what_is_spent(unit):
    plain = AdditiveModel().plan(replace(QUESTION, interactions=False), BUDGET, unit)
    plan = AdditiveModel().plan(QUESTION, BUDGET, unit)
    assert plan.second.objective_noise == pytest.approx(plain.second.objective_noise, rel=1e-6)
    assert plan.guarantee.epsilon(1e-8) <= 1 + 1e-12


def skew_frame(seed):
    """A frame of columns that bend to their ends, with functions that are cut off there."""
    plan, generator = AdditiveModel().plan(QUESTION, BUDGET, ADD), np.random.default_rng(seed)
    cells = np.floor(generator.beta(0.2, 0.5 + seed, size=(500, 3)) * [256, 3, 256])
    rows = open_rows(cells, np.ones(500), bounds=QUESTION.bounds, unit=ADD)
    released = plan.noise.layout.count(rows) + generator.normal(
        0, seed, plan.noise.layout.kinds.size
    )
    return make_frame(QUESTION.marginals, plan.marginals(released), 4, 10.0, with_pairs=True)


@pytest.mark.parametrize("seed", range(5))
def test_products_do_not_depend_on_other_rows_and_no_row_is_longer_than_said(seed):
    frame = skew_frame(seed)
    assert len(frame.pairs) == 1
    highs, generator = QUESTION.marginals.cells, np.random.default_rng(seed)
    rows = np.column_stack([generator.integers(high, size=2003) for high in highs]).astype(float)
    together = frame.apply(rows)
    kept = generator.random(len(rows)) < 0.5
    np.testing.assert_array_equal(frame.apply(rows[kept]), together[kept])
    for at in range(0, 2003, 97):
        np.testing.assert_array_equal(frame.apply(rows[at : at + 1])[0], together[at])
    every = np.stack(np.meshgrid(*map(np.arange, highs)), axis=-1).reshape(-1, 3).astype(float)
    norms = np.linalg.norm(frame.apply(every), axis=1) * frame.length
    assert norms.max() <= frame.longest
    assert norms.max() > replace(frame, pairs=()).longest  # it would not do to leave pairs out


def test_scores_are_counted_with_what_pairs_add():
    plan = AdditiveModel(counts_scores=True).plan(QUESTION, Budget(math.inf), ADD)
    cells, labels = crossed_rows(3000)
    rows = open_rows(cells, labels, bounds=QUESTION.bounds, unit=ADD)
    read = plan.read(plan.run(rows, RehearsalNoise(1)))
    (shapes, constant), places = read.shapes(), cells.astype(int)
    scores = constant + sum(shape[places[:, j]] for j, shape in enumerate(shapes))
    first, second = read.frame.pairs[0].places
    scores += read.pair_weights()[0, 0] * first[places[:, 0]] * second[places[:, 2]]
    bins = np.searchsorted(EDGES, scores)
    for offset, label in ((0, -1.0), (BINS, 1.0)):
        expected = np.bincount(bins[labels == label], minlength=BINS)
        assert np.abs(read.counts[offset : offset + BINS] - expected).sum() <= 2  # at an edge

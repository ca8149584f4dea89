"""Marginals by noisy splits: how far a record moves them, exactly, and how they are read."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from discreet.data import Interval, LabelSet
from discreet.errors import CalibrationError, InputError, NotAccepted
from discreet.mechanisms import MarginalSplits
from discreet.mechanisms.marginal_splits import SplitNoise
from discreet.mechanisms.summing.dyadic_splits import (
    SplitLayout,
    even_edges,
    place_numbers,
    shares_of_levels,
    split_counts,
)
from discreet.mechanisms.summing.released_marginals import join_splits, read_marginals
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, Gaussian, ReplaceOne
from discreet.questions import CellCounts, Marginals
from support.opened import open_rows

ADD, SWAP = AddRemoveOne(), ReplaceOne()
CLASSES, TARGET = LabelSet([-1, 1]), Interval(0, 1)
SMALL = [
    Marginals((None,), depth=3),
    Marginals((None, 2), CLASSES, depth=2),
    Marginals((2, 1), CLASSES),
    Marginals((None,), TARGET, depth=1),
    Marginals((None, 2), CLASSES, depth=3, whole=[(0, 3)]),
    Marginals((None, 2, 1), depth=2, by=1),
]


def numbers_of(question, rows, labels=None):
    opened = open_rows(np.array(rows, dtype=float), labels, bounds=question.bounds, unit=ADD)
    return SplitLayout(question).count(opened)


def every_record(question):
    """The numbers that each possible record contributes."""
    labels = {None: [None], CLASSES: [-1.0, 1.0], TARGET: [(cell + 0.5) / 16 for cell in range(16)]}
    for cells in itertools.product(*map(range, question.cells)):
        for label in labels[question.labels]:
            yield numbers_of(question, [cells], None if label is None else np.array([label]))


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("question", SMALL, ids=repr)
def test_the_reach_is_the_largest_over_all_records_and_pairs_and_is_attained(question, power):
    layout = SplitLayout(question)
    sizes = [7, 5, 4, 3, 3, 2, 2, 1][: 1 + sum(layout.depths)]
    scale = np.array(sizes)[layout.kinds]
    records = np.array(list(every_record(question))) * scale
    alone = (np.abs(records) ** power).sum(axis=1)
    assert alone.max() == layout.reach(sizes, ADD, power)
    apart = (np.abs(records[:, None] - records[None]) ** power).sum(axis=2)
    assert apart.max() == layout.reach(sizes, SWAP, power)


def test_the_reach_holds_for_shares_that_do_not_fall():
    question = Marginals((None,), depth=3)
    layout, sizes = SplitLayout(question), [3, 1, 5, 2]
    records = np.array(list(every_record(question))) * np.array(sizes)[layout.kinds]
    apart = ((records[:, None] - records[None]) ** 2).sum(axis=2)
    assert apart.max() == layout.reach(sizes, SWAP, 2)


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
@pytest.mark.parametrize("labels", [None, CLASSES, TARGET], ids=["none", "classes", "target"])
def test_what_is_planned_is_what_the_theorem_says(unit, labels):
    question = Marginals((None, None, 4, None, 6), labels, max_rows=10**6)
    noise = SplitNoise.gaussian(SplitLayout(question), unit, 3.0)
    numeric, categories, first = 3, 2, shares_of_levels(8, 0.5)[0]
    if unit is ADD:
        squared = numeric + categories + 1 + (labels is TARGET)
    else:
        of_label = {None: 0, CLASSES: 2, TARGET: 2 + 2 * shares_of_levels(4, 0.5)[0]}[labels]
        squared = (2 + 2 * first) * numeric + 2 * categories + of_label
    one = noise.deviations[0]  # s: the noise of a count, in rows
    assert noise.sensitivity == pytest.approx(math.sqrt(squared) / one, rel=1e-6)
    assert noise.sensitivity <= 1 / 3.0
    assert noise.deviations[1] == pytest.approx(one / math.sqrt(first), rel=1e-6)
    pure = SplitNoise.laplace(SplitLayout(question), unit, 1.0)
    rate, columns = pure.rates[0] / 2**40, numeric + categories + (labels is TARGET)
    most = columns + 1 if unit is ADD else 2 * (columns + (labels is CLASSES))
    assert most * rate == pytest.approx(1.0, rel=1e-9)
    assert pure.sensitivity <= 1.0


def test_a_guarantee_is_gaussian_with_a_delta_and_pure_without():
    question = Marginals([None] * 12, CLASSES, max_rows=10**6)
    plan = MarginalSplits().plan(question, Budget(1.0, 1e-6), ADD)
    assert isinstance(plan.guarantee.profile.ideal, Gaussian)
    pure = MarginalSplits().plan(question, Budget(1.0), ADD)
    assert 0.999 < pure.guarantee.profile.pure_epsilon <= 1
    with pytest.raises(CalibrationError, match="law='laplace'"):
        MarginalSplits("gaussian").plan(question, Budget(1.0), ADD)
    with pytest.raises(CalibrationError, match="use a larger one"):
        MarginalSplits().plan(question, Budget(1e-11), ADD)
    with pytest.raises(NotAccepted, match="noisy_histogram"):
        MarginalSplits().plan(CellCounts(3), Budget(1.0), ADD)


def test_gaussian_noise_is_planned_where_no_laplace_noise_can_be():
    question = Marginals((None, 3), CLASSES, max_rows=10**6)
    budget = Budget(1e-12, 1e-12)
    with pytest.raises(CalibrationError, match="use a larger one"):
        MarginalSplits("laplace").plan(question, budget, ADD)
    assert "Gaussian" in MarginalSplits().plan(question, budget, ADD).reason


def test_splits_say_left_minus_right_and_joining_them_gives_the_counts_back():
    counts = np.random.default_rng(1).integers(0, 50, size=256)
    splits = split_counts(counts)
    assert splits.size == 255
    assert splits[0] == counts[:128].sum() - counts[128:].sum()
    assert splits[2] == counts[128:192].sum() - counts[192:].sum()
    joined = join_splits(splits.astype(float), float(counts.sum()), np.zeros(8))
    np.testing.assert_allclose(joined, counts, atol=1e-9)


def test_a_missing_value_is_in_no_split_and_a_known_one_in_one_of_each_level():
    question = Marginals((None,), depth=3)
    missing, known = numbers_of(question, [[8]]), numbers_of(question, [[5]])
    assert missing.tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert known.tolist() == [0, -1, 0, 1, 0, 0, -1, 0, 1]


@pytest.mark.parametrize("values", [np.linspace(-1, 2, 1001), np.arange(256.0), np.zeros(3)])
def test_the_cell_of_a_value_is_a_function_of_it_alone(values):
    cells = place_numbers(values, 0.0, 1.0, 8)
    assert cells.min() >= 0
    assert cells.max() <= 255
    for at in range(0, values.size, 37):
        assert place_numbers(values[at : at + 1], 0.0, 1.0, 8)[0] == cells[at]


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 1.0), (18.0, 100.0), (1 / 3, 1e9), (1e15, 1e15 + 1), (0.0, 1e-100), (-1e100, 1e100)],
)
@pytest.mark.parametrize("depth", [1, 8, 16])
def test_the_cell_of_a_number_is_where_it_stands_among_the_edges(low, high, depth):
    edges = even_edges(low, high, depth)
    beside = [
        np.nextafter(edges, -np.inf),
        np.nextafter(edges, np.inf),
        [low, high, -np.inf, 5e-324],
    ]
    values = np.concatenate([np.random.default_rng(0).uniform(low, high, 1000), edges, *beside])
    expected = np.searchsorted(edges, np.clip(values, low, high), side="right")
    np.testing.assert_array_equal(place_numbers(values, low, high, depth), expected)


@pytest.mark.parametrize("count", [2, 3, 5, 11, 100, 255, 256])
def test_whole_numbers_have_leaves_of_their_own_and_their_counts_come_back(count):
    question = Marginals((None, None), whole=[(1, count)], max_rows=10**6)
    layout = SplitLayout(question)
    assert np.unique(layout.leaves[1]).size == count
    assert layout.leaves[0].tolist() == list(range(256))
    counts = np.random.default_rng(0).integers(0, 50, size=count)
    total, others = counts.sum(), np.zeros(257, dtype=np.int64)
    others[3] = total
    exact = layout.split(np.concatenate([others, counts, [0], [total]])).astype(float)
    read = read_marginals(layout, exact, np.zeros(9)).columns[1]
    np.testing.assert_allclose(read.known, counts / total, atol=1e-9)


def test_where_noise_dominates_all_whole_numbers_have_the_same_share():
    question = Marginals((None,), whole=[(0, 5)], max_rows=10**6)
    layout = SplitLayout(question)
    released = np.zeros(layout.kinds.size)
    released[-1] = 1000.0
    shares = read_marginals(layout, released, np.full(9, 1e9)).columns[0].known
    np.testing.assert_allclose(shares, 1 / 5, rtol=1e-6)


@pytest.mark.parametrize(
    "whole", [[(0, 1)], [(0, 9)], [(1, 3)], [(2, 3)], [(0, 3), (0, 3)], [(-2, 3)]], ids=str
)
def test_whole_numbers_that_do_not_fit_are_refused(whole):
    with pytest.raises(InputError):
        Marginals((None, 2), depth=3, whole=whole)


def test_integers_of_a_range_below_256_have_cells_of_their_own():
    values = np.arange(0.0, 201.0)
    assert np.unique(place_numbers(values, 0.0, 200.0, 8)).size == 201


def test_shares_agree_with_one_another_whatever_was_released():
    question = Marginals((None, 5, None), CLASSES, max_rows=10**4)
    plan = MarginalSplits().plan(question, Budget(0.1, 1e-6), ADD)
    generator = np.random.default_rng(3)
    size = plan.noise.layout.kinds.size
    for scale in (0.0, 1.0, 1e3, 1e9):
        read = plan.read(scale * generator.standard_normal(size))
        assert read.rows >= 50
        for column in read.columns:
            assert column.shares.min() >= 0
            assert column.shares.sum() == pytest.approx(1.0)
            assert column.known.sum() == pytest.approx(1.0)
        assert read.label.min() >= 0
        assert read.label.sum() == pytest.approx(1.0)


def test_with_many_rows_the_shares_are_those_of_the_rows():
    generator = np.random.default_rng(5)
    count = 40_000
    numbers = np.minimum(generator.gamma(2.0, 20.0, count), 255).astype(np.int64)
    numbers[generator.random(count) < 0.1] = 256
    levels = generator.choice(4, size=count, p=[0.5, 0.3, 0.19, 0.01])
    labels = np.where(generator.random(count) < 0.2, 1.0, -1.0)
    question = Marginals((None, 3), CLASSES, max_rows=10**6)
    plan = MarginalSplits().plan(question, Budget(1.0, 1e-6), ADD)
    rows = open_rows(np.column_stack([numbers, levels]).astype(float), labels,
                     bounds=question.bounds, unit=ADD)  # fmt: skip
    read = plan.read(plan.run(rows, RehearsalNoise(2)))
    assert read.rows == pytest.approx(count, rel=0.01)
    true = np.bincount(numbers, minlength=257) / count
    assert np.abs(np.cumsum(read.columns[0].shares) - np.cumsum(true)).max() < 0.01
    assert read.columns[0].shows_last
    assert read.columns[1].shares[:3] == pytest.approx([0.5, 0.3, 0.19], abs=0.01)
    assert read.label[1] == pytest.approx(0.2, abs=0.01)


def test_without_noise_shares_are_exact():
    question = Marginals((None, 2), TARGET, depth=2)
    rows, target = [[0, 1], [3, 0], [3, 0], [4, 2]], np.array([0.0, 0.1, 0.5, 1.0])
    plan = MarginalSplits().plan(question, Budget(math.inf), ADD)
    opened = open_rows(np.array(rows, dtype=float), target, bounds=question.bounds, unit=ADD)
    read = plan.read(plan.run(opened, RehearsalNoise(1)))
    assert read.rows == 4
    assert read.columns[0].shares.tolist() == [0.25, 0, 0, 0.5, 0.25]
    assert read.columns[1].shares.tolist() == [0.5, 0.25, 0.25]
    assert np.flatnonzero(read.label).tolist() == [0, 1, 8, 15]


def test_columns_are_refused_that_nobody_can_count():
    for levels in ((), 3):
        with pytest.raises(InputError):
            Marginals(levels)
    with pytest.raises(InputError, match="levels"):
        Marginals((0,))
    with pytest.raises(InputError, match="depth"):
        Marginals((None,), depth=17)
    with pytest.raises(InputError, match="cells together"):
        Marginals((None,) * 300, depth=16)

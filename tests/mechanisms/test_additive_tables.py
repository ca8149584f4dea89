"""Tables of an additive model: made of released numbers, and looked up row by row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.data import LabelSet
from discreet.mechanisms import MarginalSplits
from discreet.mechanisms.additive_objectives import (
    CLASS_POWER,
    CLASS_TERMS,
    TARGET_POWER,
    TARGET_TERMS,
    count_terms,
)
from discreet.mechanisms.summing.additive_tables import (
    AdditiveFrame,
    make_frame,
    table_of_levels,
    tables_of_numbers,
    widest_frame,
)
from discreet.mechanisms.summing.rare_classes import size_constant, temper_signal
from discreet.mechanisms.summing.released_marginals import ColumnShares
from discreet.privacy import AddRemoveOne, Budget
from discreet.questions import Marginals

QUESTION = Marginals((None, 4, None), LabelSet([-1, 1]), max_rows=10**6)


def noisy_frame(seed, terms=4, rows=1000.0, constant=1.0):
    """A frame of numbers that nobody would want: rules must hold whatever is released."""
    plan = MarginalSplits().plan(QUESTION, Budget(1.0, 1e-6), AddRemoveOne())
    generator = np.random.default_rng(seed)
    released = generator.normal(0, rows, size=plan.noise.layout.kinds.size)
    marginals, noise = plan.read(released), plan.noise.deviations[0]
    return make_frame(QUESTION, marginals, terms, noise, constant=constant)


def cells(count, seed=0):
    generator = np.random.default_rng(seed)
    return np.column_stack([generator.integers(high, size=count) for high in QUESTION.cells])


@pytest.mark.parametrize("terms", range(1, 9))
def test_functions_are_centred_and_orthonormal_under_the_marginal(terms):
    shares = np.random.default_rng(terms).gamma(0.5, size=257)
    shares[-1] = 0
    found = ColumnShares(shares / shares.sum(), False)
    (table,) = tables_of_numbers([found], terms, 256)
    unit = table.entries[:-1] / np.sqrt(table.variances)
    assert unit.shape[1] <= terms
    inside = np.abs(unit).max(axis=0) < 6  # those that were cut off are not orthonormal
    gram = (unit * found.known[:, None]).T @ unit
    np.testing.assert_allclose(gram[np.ix_(inside, inside)], np.eye(inside.sum()), atol=1e-9)
    np.testing.assert_allclose((found.known @ unit)[inside], 0, atol=1e-9)
    assert not table.entries[-1].any()


@pytest.mark.parametrize("values", [1, 2, 3, 5])
def test_few_values_have_as_many_functions_less_one(values):
    shares = np.zeros(257)
    shares[np.linspace(0, 255, values).astype(int)] = 1 / values
    (table,) = tables_of_numbers([ColumnShares(shares, False)], 8, 256)
    assert table.entries.shape[1] == values - 1


def test_missing_values_have_a_feature_if_they_stand_out():
    shares = np.full(257, 0.8 / 256)
    shares[-1] = 0.2
    (table,) = tables_of_numbers([ColumnShares(shares, True)], 2, 256)
    assert table.entries[-1].tolist() == [0, 0, pytest.approx(0.8)]
    assert table.entries[3, -1] == pytest.approx(-0.2)


def test_a_level_of_no_share_keeps_its_feature_and_anything_else_only_if_it_shows():
    shares = np.array([0.7, 0.3, 0.0, 0.0])
    assert table_of_levels(ColumnShares(shares, False)).entries.shape == (4, 3)
    assert table_of_levels(ColumnShares(shares, True)).entries.shape == (4, 4)
    assert not table_of_levels(ColumnShares(shares, False)).entries[-1].any()


@pytest.mark.parametrize("seed", range(5))
def test_the_features_of_a_row_do_not_depend_on_other_rows(seed):
    frame, rows = noisy_frame(seed), cells(2003, seed).astype(float)
    together = frame.apply(rows)
    kept = np.random.default_rng(seed).random(len(rows)) < 0.5
    np.testing.assert_array_equal(frame.apply(rows[kept]), together[kept])
    for at in range(0, 2003, 97):
        np.testing.assert_array_equal(frame.apply(rows[at : at + 1])[0], together[at])


@pytest.mark.parametrize("seed", range(5))
def test_no_frame_is_wider_or_longer_than_is_declared(seed):
    for terms, constant in ((1, 1.0), (8, 1.0), (1, 5.0)):
        frame = noisy_frame(seed, terms, rows=10.0 ** (seed + 1), constant=constant)
        assert frame.width + 1 <= widest_frame(QUESTION.levels)
        norms = np.linalg.norm(frame.apply(cells(500).astype(float)), axis=1) * frame.length
        assert norms.max() <= frame.longest


@pytest.mark.parametrize("constant", [1.0, 2.5])
def test_rows_that_are_too_long_are_shortened_but_for_the_constant(constant):
    frame, rows = noisy_frame(1, constant=constant), cells(2003).astype(float)
    np.testing.assert_array_equal(frame.apply_within(rows), frame.apply(rows))  # unless it is kept
    typical = float(np.median(np.linalg.norm(frame.apply(rows), axis=1))) * frame.length
    frame = replace(frame, length=typical, keeps_constant=True)
    whole, within = frame.apply(rows), frame.apply_within(rows)
    lengths = np.linalg.norm(whole, axis=1)
    assert 0.1 < np.mean(lengths > 1) < 0.9  # the test is about both kinds of rows
    assert (within[:, -1] == constant / frame.length).all()
    np.testing.assert_array_equal(within[lengths < 0.999], whole[lengths < 0.999])
    np.testing.assert_allclose(np.linalg.norm(within[lengths > 1], axis=1), 1)
    kept = np.random.default_rng(0).random(len(rows)) < 0.5
    np.testing.assert_array_equal(frame.apply_within(rows[kept]), within[kept])
    for at in range(0, 2003, 97):
        np.testing.assert_array_equal(frame.apply_within(rows[at : at + 1])[0], within[at])


def test_a_frame_without_functions_keeps_its_constant():
    rows, frame = np.zeros((3, 2)), AdditiveFrame((np.zeros((5, 0)), np.zeros((5, 0))), 1.1, 50.0)
    frame = replace(frame, keeps_constant=True)
    np.testing.assert_array_equal(frame.apply_within(rows), np.full((3, 1), 1 / 1.1))


@pytest.mark.parametrize("constant", [1.0, 2.5])
def test_shapes_are_the_score(constant):
    frame, rows = noisy_frame(1, constant=constant), cells(50)
    coefficients = np.random.default_rng(2).normal(size=frame.width + 1)
    shapes, constant = frame.shapes(coefficients)
    summed = constant + sum(shape[rows[:, j]] for j, shape in enumerate(shapes))
    np.testing.assert_allclose(frame.apply(rows.astype(float)) @ coefficients, summed)


def terms_of_classes(signal, rarer):
    return count_terms(
        CLASS_TERMS, temper_signal(signal, np.array([rarer, 1 - rarer]), 0.0), CLASS_POWER
    )


def test_terms_grow_with_the_signal_and_fall_with_a_rare_class():
    signals = (1, 3.2, 16, 51, 124, 256, 475, 810, 1e9)
    assert [terms_of_classes(q, 0.5) for q in signals] == [1, 2, 3, 4, 5, 6, 7, 8, 8]
    assert terms_of_classes(100.0, 0.01) == 1
    assert terms_of_classes(100.0, 0.2) == terms_of_classes(64.0, 0.5)


def test_the_constant_is_half_the_log_odds_of_a_rare_class_and_otherwise_one():
    def size(rarer, noise_share=0.0):
        return size_constant(np.array([1 - rarer, rarer]), noise_share)

    assert [size(rarer) for rarer in (0.5, 0.3, 0.12)] == [1, 1, 1]
    for rarer in (0.01, 0.99):
        assert size(rarer) == pytest.approx(np.log(99) / 2)
    # Odds that noise alone may have made say no more than the noise does.
    assert size(0.0, 0.04) == pytest.approx(size(0.01))
    assert size(0.0, 2.5) == size(0.0) == 1


def test_the_typical_row_is_as_much_longer_as_its_constant():
    usual, larger = noisy_frame(3), noisy_frame(3, constant=2.5)
    assert larger.length**2 - usual.length**2 == pytest.approx(2.5**2 - 1)


def test_terms_of_a_target_grow_with_the_signal():
    signals = (1, 10.9, 11, 36, 38, 88, 703, 1e9, np.inf)
    found = [count_terms(TARGET_TERMS, signal, TARGET_POWER) for signal in signals]
    assert found == [1, 1, 2, 2, 3, 4, 8, 8, 8]

"""Made-up worlds: the shape that is declared, the strength that is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.planning import PublicFacts
from discreet.planning.synthetic_world import World
from discreet.preprocessing import Category, Numeric

COLUMNS = {"age": Numeric(18, 100), "ward": Category(["a", "b", "c"]), "sodium": Numeric(120, 150)}


def facts(**more):
    return PublicFacts(COLUMNS, **({"classes": ["no", "yes"]} | more))


def test_rows_lie_within_the_declared_ranges_and_use_them():
    table = World(facts(), seed=0).table(4000)
    for place, low, high in ((0, 18, 100), (2, 120, 150)):
        cells = table.X[:, place]
        assert low <= cells.min() < low + 0.05 * (high - low)
        assert high - 0.05 * (high - low) < cells.max() <= high
        assert cells.mean() == pytest.approx((low + high) / 2, abs=0.02 * (high - low))
    levels, counts = np.unique(table.X[:, 1], return_counts=True)
    assert levels.tolist() == [0, 1, 2]
    assert counts.min() > 1200


@pytest.mark.parametrize("signal", [0.6, 0.85, 0.97])
@pytest.mark.parametrize("classes", [["a", "b"], ["a", "b", "c", "d"]])
def test_the_best_answer_is_right_as_often_as_asked(signal, classes):
    table = World(facts(classes=classes, signal=signal), seed=1).table(20_000)
    assert table.chances.max(axis=1).mean() == pytest.approx(signal, abs=0.02)
    assert (table.chances.argmax(axis=1) == table.y).mean() == pytest.approx(signal, abs=0.02)
    np.testing.assert_allclose(table.chances.sum(axis=1), 1.0)


@pytest.mark.parametrize("majority", [0.5, 0.76, 0.9])
def test_the_first_class_is_as_frequent_as_asked(majority):
    table = World(facts(signal=0.95, majority=majority), seed=2).table(20_000)
    assert (table.y == 0).mean() == pytest.approx(majority, abs=0.02)
    assert table.chances.max(axis=1).mean() == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("signal", [0.2, 0.6, 0.9])
def test_columns_explain_as_much_of_a_number_as_asked(signal):
    declared = PublicFacts(COLUMNS, target_range=(-50, 250), signal=signal)
    table = World(declared, seed=3).table(20_000)
    assert table.chances is None
    assert -50 <= table.y.min() < table.y.max() <= 250
    levels = np.eye(3)[table.X[:, 1].astype(int)]
    design = np.column_stack([np.ones(len(levels)), table.X[:, [0, 2]], levels[:, 1:]])
    left = table.y - design @ np.linalg.lstsq(design, table.y, rcond=None)[0]
    assert 1 - left.var() / table.y.var() == pytest.approx(signal, abs=0.03)


def test_the_same_seed_makes_the_same_world_and_another_another():
    one, same, other = (World(facts(), seed).table(50) for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.y, same.y)
    assert not np.array_equal(one.X, other.X)


NUMBERS = PublicFacts([Numeric(0, 1)] * 8, classes=["no", "yes"], signal=0.8)


def test_numeric_columns_are_as_correlated_as_asked_and_keep_their_ranges():
    table = World(NUMBERS, seed=6, correlation=0.9).table(20_000)
    between = np.corrcoef(table.X.T)[np.triu_indices(8, 1)]
    assert between == pytest.approx(0.9, abs=0.03)  # cutting off the ends takes a little
    assert 0 <= table.X.min() < 0.05
    assert 0.95 < table.X.max() <= 1
    assert table.chances.max(axis=1).mean() == pytest.approx(0.8, abs=0.02)


def test_every_direction_of_correlated_columns_pulls_alike():
    shares = []
    for seed in range(25):
        world = World(NUMBERS, seed, correlation=0.9)
        rows = world.table(4000).X
        _, directions = np.linalg.eigh(np.cov(rows.T))
        pull = np.corrcoef(world._pulls(rows)[:, 0], (rows @ directions[:, -1]))[0, 1]
        shares.append(pull**2)
    # Seeds are fixed; the mean has a deviation of about .03. Effects dealt to columns have .9.
    assert np.mean(shares) == pytest.approx(1 / 8, abs=0.1)


@pytest.mark.parametrize("wrong", ["both", "neither"])
def test_a_target_is_classes_or_a_range(wrong):
    given = {"classes": [0, 1], "target_range": (0, 1)} if wrong == "both" else {}
    with pytest.raises(ValueError, match="either classes or target_range"):
        PublicFacts(COLUMNS, **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"signal": 0.4}, "signal must lie above 0.5"),
        ({"signal": 1.0}, "and below 1"),
        ({"signal": 0.8, "majority": 0.85}, "signal must lie above 0.85"),
        ({"majority": 0.3}, "majority must be at least 1/2"),
        ({"classes": ["a"]}, "at least two"),
        ({"classes": ["a", "a"]}, "all different"),
        ({"delta": 1.0}, "delta must be"),
        ({"unit": "person"}, "unit must be"),
        ({"classes": None, "target_range": (1, 0)}, "low must be below high"),
        ({"classes": None, "target_range": 3}, "two numbers"),
        ({"classes": None, "target_range": (0, 1), "majority": 0.6}, "majority is for classes"),
    ],
    ids=str,
)
def test_facts_that_no_table_has_are_refused(given, said):
    with pytest.raises(ValueError, match=said):
        facts(**given)


def test_a_signal_that_nobody_gave_is_above_what_a_constant_reaches():
    assert facts(majority=0.9).signal == pytest.approx(0.95)
    assert facts().signal == 0.85
    assert PublicFacts(COLUMNS, target_range=(0, 1)).signal == 0.6

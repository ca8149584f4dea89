"""Selectors of columns: what they find, what they say if nothing is stable, what they refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    f_regression,
)
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.pipeline import make_pipeline

from discreet import Budget, MemoryLedger
from discreet.errors import CalibrationError, InputError, InputTypeError
from discreet.estimators.block_estimator import procedure_of
from discreet.feature_selection import BlockVoteSupport, LassoStability, PeelingSupport
from discreet.feature_selection.block_vote_support import MatchingPursuit
from discreet.linear_model import LinearRegressor
from discreet.model_selection import StableSelector
from discreet.preprocessing import Category, Numeric
from support.estimators import rehearsal

GENERATOR = np.random.default_rng(11)
X = GENERATOR.uniform(-1, 1, (6000, 40))
SIGNAL = 1.5 * X[:, 3] - X[:, 17] + 0.3 * GENERATOR.standard_normal(6000)
NUMBERS = {"target_range": (-3.0, 3.0), "rehearsal": 1}
UNITS = pytest.mark.parametrize("unit", ["add_remove", "replace"])


@rehearsal
@UNITS
@pytest.mark.parametrize(
    "selector",
    [
        PeelingSupport(2, entry_bound=1.0, **NUMBERS),
        BlockVoteSupport(2, **NUMBERS),
        BlockVoteSupport(2, vote="columns", **NUMBERS),
        BlockVoteSupport(2, selector=SelectKBest(f_regression, k=2), **NUMBERS),
        StableSelector(SelectFromModel(Lasso(0.15)), **NUMBERS),
        LassoStability(2, entry_bound=1.0, expected_rows=6000, **NUMBERS),
    ],
    ids=lambda selector: f"{type(selector).__name__}",
)
def test_columns_that_matter_are_found(selector, unit):
    selector.set_params(unit=unit).fit(X, SIGNAL)
    assert selector.is_stable_
    assert sorted(selector.selected_) == [3, 17]
    assert selector.get_support(indices=True).tolist() == [3, 17]
    assert selector.transform(X[:4]).tolist() == X[:4, [3, 17]].tolist()
    assert selector.get_feature_names_out().tolist() == ["x3", "x17"]


@rehearsal
def test_classes_of_unequal_size_do_not_pick_columns_of_ones():
    y = np.where(X[:, 5] > 0.6, "rare", "usual")
    table = np.column_stack([X, np.ones(len(X))])
    for selector in (PeelingSupport(1, entry_bound=1.0), BlockVoteSupport(1)):
        assert selector.set_params(rehearsal=2).fit(table, y).selected_.tolist() == [5]
    without = PeelingSupport(1, entry_bound=1.0, center=False, rehearsal=2)
    assert without.fit(table, y).selected_.tolist() == [40]


@rehearsal
def test_sparse_columns_three_classes_and_a_range_from_zero():
    words = sparse.csr_array((GENERATOR.random((4000, 200)) < 0.05).astype(float))
    y = np.digitize(words[:, [9]].toarray()[:, 0] - words[:, [70]].toarray()[:, 0], [-0.5, 0.5])
    selector = PeelingSupport(2, epsilon=3.0, data_range=(0, 1), classes=[0, 1, 2], rehearsal=3)
    assert sorted(selector.fit(words, y).selected_) == [9, 70]
    assert selector.transform(words).shape == (4000, 2)
    voted = BlockVoteSupport(2, epsilon=3.0, vote="columns", blocks=40, rehearsal=3)
    assert sorted(voted.fit(words, y).selected_) == [9, 70]


@rehearsal
def test_declared_columns_are_chosen_as_they_were_declared():
    frame = pd.DataFrame(
        {
            "age": GENERATOR.uniform(20, 80, 3000),
            "ward": GENERATOR.choice(["a", "b", "c"], 3000),
            "height": GENERATOR.uniform(150, 190, 3000),
        }
    )
    y = (frame["ward"] == "b").to_numpy()
    columns = {
        "age": Numeric(20, 80),
        "ward": Category(["a", "b", "c"]),
        "height": Numeric(150, 190),
    }
    for selector in (
        PeelingSupport(1, columns=columns, classes=[False, True], rehearsal=4),
        BlockVoteSupport(1, columns=columns, classes=[False, True], rehearsal=4),
    ):
        selector.fit(frame, y)
        assert selector.get_feature_names_out().tolist() == ["ward"]
        assert selector.set_output(transform="pandas").transform(frame).columns.tolist() == ["ward"]


@rehearsal
def test_few_rows_have_no_stable_answer_and_cost_the_same():
    ledger = MemoryLedger(Budget(3.0, 1e-6))
    few = BlockVoteSupport(2, target_range=(-3, 3), ledger=ledger).fit(X[:60], SIGNAL[:60])
    many = BlockVoteSupport(2, target_range=(-3, 3), ledger=ledger).fit(X, SIGNAL)
    assert not few.is_stable_
    assert few.selected_.size == 0
    assert not few.get_support().any()
    assert few.privacy_.epsilon(1e-9) == many.privacy_.epsilon(1e-9)
    assert "no stable one, costs the same" in few.release_.reason


@rehearsal
def test_a_selector_stands_in_a_pipeline_before_a_model_that_pays_for_itself():
    model = make_pipeline(
        PeelingSupport(2, entry_bound=1.0, **NUMBERS),
        LinearRegressor(data_norm=1.5, target_range=(-3, 3), rehearsal=1),
    )
    assert model.fit(X, SIGNAL).score(X, SIGNAL) > 0.5


def test_the_number_of_blocks_does_not_depend_on_the_number_of_rows():
    asked = []
    for count in (100, 6000):
        selector = BlockVoteSupport(2, target_range=(-3, 3), max_rows=10_000).fit(
            X[:count], SIGNAL[:count]
        )
        asked.append(selector.release_.certificate)
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        (PeelingSupport(0, entry_bound=1.0), "n_features_to_select"),
        (PeelingSupport(41, entry_bound=1.0), "n_features=40"),
        (PeelingSupport(2), "must be told columns"),
        (PeelingSupport(2, data_range=(1, 2), center=False), "zero has to be in data_range"),
        (LassoStability(0, entry_bound=1.0, expected_rows=6000), "n_features_to_select"),
        (LassoStability(41, entry_bound=1.0, expected_rows=6000), "n_features=40"),
        (LassoStability(2, entry_bound=1.0), "expected_rows"),
        (LassoStability(2, entry_bound=1.0, expected_rows=0), "expected_rows"),
        (LassoStability(2, entry_bound=1.0, expected_rows=6000, penalty=0.0), "penalty"),
        (LassoStability(2, entry_bound=1.0, expected_rows=6000, curvature=-1.0), "curvature"),
        (LassoStability(2, entry_bound=1.0, expected_rows=6000, huber=0.0), "huber"),
        (
            LassoStability(2, entry_bound=1.0, expected_rows=60, curvature=90.0, ceiling=80.0),
            "below",
        ),
        (LassoStability(2, entry_bound=1.0, expected_rows=6000, delta=0.0), "positive delta"),
        (
            LassoStability(1, columns={"w": Category(["a", "b"])}, expected_rows=6000),
            "among numbers",
        ),
        (LassoStability(2, entry_bound=1.0, expected_rows=10**9, max_rows=2**38), "max_rows"),
        (BlockVoteSupport(41), "n_features=40"),
        (BlockVoteSupport(2, blocks=2**24), "blocks must be at most"),
        (BlockVoteSupport(2, blocks=6001, unit="replace"), "blocks must be at most"),
        (BlockVoteSupport(2, vote="loud"), "vote must be one of"),
        (BlockVoteSupport(2, backend="ants"), "kind must be one of"),
        (BlockVoteSupport(2, selector=LinearRegression()), "SelectFromModel"),
        (BlockVoteSupport(2, selector=SelectKBest), "a scikit-learn selector or a function"),
        (StableSelector(), "must be told procedure"),
        (StableSelector(SelectKBest(), delta=0.0), "positive delta"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_cannot_work_is_refused_before_the_charge(selector, says):
    ledger = MemoryLedger(Budget(9.0, 1e-3))
    selector.set_params(ledger=ledger, target_range=(-3, 3))
    with pytest.raises((InputError, InputTypeError, CalibrationError), match=says):
        selector.fit(X, SIGNAL)
    assert ledger.history() == ()


@rehearsal
def test_a_lasso_tells_classes_sparse_columns_and_declared_ones_apart():
    y = np.where(X[:, 5] - X[:, 8] > 0, "high", "low")
    flags = sparse.csr_array((GENERATOR.random((6000, 60)) < 0.5).astype(float))
    frame = pd.DataFrame(X[:, [3, 20, 17]] * 30 + 50, columns=["age", "height", "weight"])
    numbers = {name: Numeric(20, 80) for name in frame}
    for selector, table, target, expected in (
        (LassoStability(2, entry_bound=1.0, huber=0.7), X, y, [5, 8]),
        (LassoStability(1, entry_bound=1.0, huber=0.6), flags, flags[:, [9]].toarray()[:, 0], [9]),
        (LassoStability(2, columns=numbers, target_range=(-3, 3)), frame, SIGNAL, [0, 2]),
    ):
        selector.set_params(expected_rows=6000, epsilon=3.0, rehearsal=1).fit(table, target)
        assert selector.is_stable_
        assert selector.selected_.tolist() == expected


@rehearsal
def test_a_lasso_without_a_stable_answer_says_so_at_the_same_cost():
    settings = {"entry_bound": 1.0, "target_range": (-3, 3), "expected_rows": 6000, "rehearsal": 1}
    many = LassoStability(2, **settings).fit(X, SIGNAL)
    few = LassoStability(2, **settings).fit(X[:1500], SIGNAL[:1500])
    twins = LassoStability(2, **settings).fit(np.column_stack([X, X[:, 3]]), SIGNAL)
    assert many.is_stable_
    for other in (few, twins):
        assert not other.is_stable_
        assert other.selected_.size == 0
        assert other.release_.certificate == many.release_.certificate


def test_a_seed_that_was_left_open_is_the_same_on_every_block():
    forest = SelectFromModel(RandomForestRegressor(3, max_depth=2), max_features=1)
    procedure = procedure_of(forest)
    assert procedure.selector.estimator.random_state == 0
    assert forest.estimator.random_state is None
    first, again = (procedure(X[:80], SIGNAL[:80]) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_matching_pursuit_stops_where_only_noise_is_left():
    noise = np.random.default_rng(5).uniform(-1, 1, (400, 30))
    y = noise[:, 2] - noise[:, 9] + 0.1 * noise[:, 29]
    assert sorted(MatchingPursuit(5)(noise, np.asarray(y))[:2]) == [2, 9]
    assert MatchingPursuit(5)(noise, np.ones(400)) == []
    assert MatchingPursuit(5)(np.ones((400, 3)), np.asarray(y)) == []
    assert MatchingPursuit(1)(sparse.csr_array(noise), noise[:, 4]) == [4]

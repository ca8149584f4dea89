"""Searches over additive models: candidates are compared by lookups in shapes that are released."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from discreet import AdditiveClassifier, AdditiveRegressor, LinearClassifier, MemoryLedger
from discreet.artifact import load, save
from discreet.errors import DiscreetError
from discreet.model_selection import PrivateRandomizedSearch, PrivateSearchCV
from discreet.policy.search_method import METHODS
from discreet.preprocessing import BoundedScaler
from discreet.privacy import Budget
from discreet.questions import AdditiveProblem, LabelSet, Marginals
from discreet.report import card
from support.opened import open_rows

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")

GENERATOR = np.random.default_rng(5)
COUNT = 3000
FRAME = pd.DataFrame(
    {
        "age": GENERATOR.uniform(20, 80, COUNT),
        "ward": GENERATOR.choice(["east", "west"], COUNT),
        "dose": GENERATOR.exponential(10, COUNT),
    }
)
FRAME.loc[::9, "dose"] = np.nan
SIGNAL = (FRAME.age - 50) / 15 + 0.8 * (FRAME.ward == "west") + GENERATOR.normal(0, 0.3, COUNT)
TWO = np.where(SIGNAL > 0.4, "yes", "no")
THREE = np.digitize(SIGNAL, [-0.5, 1.0])
COLUMNS = {"age": (18, 100), "ward": ["east", "west"], "dose": (0, 200)}
FAR = COLUMNS | {"age": (1000, 2000)}
"""A range that no age is in."""

UP, DOWN = {"age": "increasing"}, {"age": "decreasing"}
MODELS = {
    "two": (AdditiveClassifier(columns=COLUMNS, classes=["no", "yes"]), TWO),
    "three": (AdditiveClassifier(columns=COLUMNS, classes=[0, 1, 2]), THREE),
    "number": (AdditiveRegressor(columns=COLUMNS, target_range=(-3, 4)), SIGNAL.to_numpy()),
}
GRIDS = {name: {"monotone": [DOWN, UP]} for name in MODELS} | {"three": {"columns": [FAR, COLUMNS]}}
every_model = pytest.mark.parametrize("name", MODELS)
every_way = pytest.mark.parametrize(
    ("method", "unit"), [*((method, "add_remove") for method in METHODS), ("split", "replace")]
)


def search(name="two", grid=None, **options):
    grid = GRIDS[name] if grid is None else grid
    given = {"epsilon": 6.0, "delta": 1e-6, "expected_rows": COUNT, "rehearsal": 2} | options
    return PrivateSearchCV(MODELS[name][0], grid, **given)


@cache
def fitted(name, method, unit="add_remove"):
    return search(name, method=method, unit=unit).fit(FRAME, MODELS[name][1])


@every_model
@every_way
def test_the_better_candidate_is_chosen_and_its_shapes_are_kept(name, method, unit):
    found = fitted(name, method, unit)  # the other one is wrong at least twice as often
    assert found.best_index_ == 1
    steps = np.diff(found.best_estimator_.shapes_["age"].values)
    assert (steps >= 0).all() or name == "three"
    assert steps.max() > 0
    assert found.score(FRAME, MODELS[name][1]) > 0.75


def planned(found):
    """Return the question of a search, and how its chosen model was planned.

    Planning is public arithmetic, and gives the same plan again.
    """
    width = len(found.feature_map().names([*COLUMNS]))
    fit = found.fit_of(width, COUNT if found.unit == "replace" else found.row_limit)
    asked = found._ask(fit)
    plan = asked.mechanism.plan(asked.question, fit.budget, fit.unit)
    chosen = plan.models[found.best_index_]
    return asked.question, replace(chosen, plan=chosen.final)


def count_errors(found, name, keep):
    """Count the errors of the chosen model as the search does, on some of the rows."""
    labels = MODELS[name][1][keep]
    told = np.where(labels == "yes", 1.0, -1.0) if name == "two" else labels.astype(float)
    cells = [
        features._read(BoundedScaler(features.declared), FRAME.iloc[keep])
        for features in found.feature_map().different
    ]
    question, model = planned(found)
    rows = open_rows(np.hstack(cells), told, bounds=question.bounds, unit=found.unit)
    return model.count_errors(rows, found.best_estimator_.release_.value)


@every_model
@every_way
def test_the_errors_that_decide_are_those_of_the_predictions(name, method, unit):
    found, some = fitted(name, method, unit), np.arange(300)
    labels, predicted = MODELS[name][1][some], found.predict(FRAME.iloc[some])
    expected = (predicted != labels).sum()
    if name == "number":
        expected = np.rint(np.abs(predicted - np.clip(labels, -3, 4)) / 7 * 2**20).sum()
    assert count_errors(found, name, some) == expected > 0


@every_model
def test_errors_add_up_row_by_row(name):
    found, some = fitted(name, "split"), np.arange(30)
    alone = [count_errors(found, name, some[[row]]) for row in some]
    assert count_errors(found, name, some) == sum(alone) > 0
    assert all(0 <= one <= (2**20 if name == "number" else 1) for one in alone)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("method", METHODS)
def test_the_promise_is_that_of_everything_together_and_is_charged_once(method, delta):
    ledger = MemoryLedger(Budget(10.0, 1e-3), "add_remove")
    grid = {"margin": [0.0, 2.0]}
    found = search(grid=grid, epsilon=2.0, delta=delta, method=method, ledger=ledger,
                   rehearsal=None).fit(FRAME, TWO)  # fmt: skip
    assert 0.99 * 2.0 <= found.privacy_.epsilon(delta) <= 2.0
    assert found.best_estimator_.privacy_ == found.privacy_
    (entry,) = ledger.history()
    assert found.release_.receipt_number == entry.number


@every_way
@every_model
def test_few_rows_leave_parts_empty_and_nothing_fails(name, method, unit):
    found = search(name, method=method, unit=unit, rehearsal=None)
    for count in (1, 4):
        assert found.fit(FRAME.head(count), MODELS[name][1][:count]).best_index_ in (0, 1)


def test_odd_cells_decide_nothing():
    odd, labels = FRAME.astype(object), TWO.astype(object)
    odd.iloc[0], odd.iloc[1, 0], odd.iloc[2, 1], labels[3] = np.nan, np.inf, b"?", "never heard of"
    found = search(rehearsal=None).fit(odd, labels)
    assert found.best_index_ in (0, 1)


def test_without_privacy_the_best_candidate_is_chosen():
    assert search(epsilon=math.inf, rehearsal=None).fit(FRAME, TWO).best_index_ == 1


def test_a_curve_and_a_line_are_candidates_of_one_search():
    bent = np.where(abs(FRAME.age - 50) > 15, "yes", "no")
    curve, _ = MODELS["two"]
    line = LinearClassifier(columns=COLUMNS, classes=["no", "yes"])
    found = search(grid={"estimator": [line, curve]}, method="compose").fit(FRAME, bent)
    assert type(found.best_estimator_) is AdditiveClassifier  # no line is right half of the time
    assert found.score(FRAME, bent) > 0.85


def test_a_random_search_takes_them():
    found = PrivateRandomizedSearch(
        MODELS["two"][0], {"margin": [0.0, 1.0, 2.0], "monotone": [None, UP]}, 3, epsilon=6.0,
        delta=1e-6, random_state=0, rehearsal=1, expected_rows=COUNT,
    ).fit(FRAME, TWO)  # fmt: skip
    assert len(found.candidates_) == 3
    assert set(found.best_estimator_.shapes_) == {*COLUMNS}


def test_a_chosen_model_is_stored_and_its_card_draws_the_shapes(tmp_path):
    model = fitted("two", "compose").best_estimator_
    again = load(save(model, tmp_path / "model"))
    np.testing.assert_array_equal(again.decision_function(FRAME), model.decision_function(FRAME))
    np.testing.assert_array_equal(again.shapes_["age"].values, model.shapes_["age"].values)
    assert again.settings_ == model.settings_
    told = card(again.release_, shapes=again.shapes_)
    assert "chosen among 2" in told.text
    assert "age" in told.text


def test_bands_are_tuned_and_kept():
    found = search(grid={"bands": [True], "margin": [0.0, 3.0]}, method="compose")
    assert (found.fit(FRAME, TWO).best_estimator_.shapes_["age"].band > 0).any()


LISTED, THIN = [(0, 1), (0, 2), (0, 3)], sparse.csr_array(np.ones((COUNT, 3)))
WEIGHED = clone(MODELS["two"][0]).set_params(max_weight=2.0)


@pytest.mark.parametrize(
    ("given", "rows", "words"),
    [
        ({"grid": {"monotone": [None, {"height": "increasing"}]}}, FRAME, "columns are"),
        ({"grid": {"monotone": [None, {"ward": "increasing"}]}}, FRAME, "no order"),
        ({"grid": {"bands": [True, False]}, "delta": 0.0}, FRAME, "bands need delta"),
        ({"grid": {"C": [0.1, 1.0]}}, FRAME, "no parameter"),
        ({"grid": {"columns": [LISTED, LISTED[::-1]]}}, THIN, "sparse"),
    ],
    ids=["unknown", "category", "bands", "C", "sparse"],
)
def test_what_is_wrong_is_refused_before_the_charge(given, rows, words):
    ledger = MemoryLedger(Budget(10.0, 1e-3), "add_remove")
    with pytest.raises(DiscreetError, match=words):
        search(**{"rehearsal": None, "ledger": ledger} | given).fit(rows, TWO)
    assert ledger.history() == ()


def test_weights_are_refused_with_a_reason():
    with pytest.raises(DiscreetError, match="every row once"):
        PrivateSearchCV(WEIGHED, {"margin": [0.0, 1.0]}).fit(FRAME, TWO)


def test_a_question_of_monotone_functions_names_columns_of_numbers():
    marginals = Marginals([None, 3], LabelSet([-1, 1]))
    with pytest.raises(DiscreetError, match="columns of numbers"):
        AdditiveProblem(marginals, ridge=2.0, monotone=((1, True),))

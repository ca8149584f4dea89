"""diffprivlib's models under this library's guarantees."""

from __future__ import annotations

import inspect
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import discreet.compat.diffprivlib as dp
from discreet.compat.diffprivlib import (
    BudgetAccountant,
    BudgetError,
    DiffprivlibCompatibilityWarning,
    LinearRegression,
    LogisticRegression,
)
from discreet.compat.diffprivlib.models import linear_regression, logistic_regression
from discreet.errors import InputError, InputTypeError, RehearsalRefused
from discreet.estimators import base
from discreet.ledger import MemoryLedger
from discreet.noise import RehearsalNoise
from discreet.privacy import Budget
from support.estimators import watched_cells
from support.rules import compares_fits, every_rule, keep_or_contradict

rehearsal = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")

GENERATOR = np.random.default_rng(3)
X = GENERATOR.uniform(-1, 1, size=(4000, 3)) / np.sqrt(3)
CLASSES = np.where(X @ [2.0, -1.0, 0.5] > 0.1, "yes", "no")
NUMBERS = X @ [2.0, -1.0, 0.5] + 0.1

FULLY_DECLARED = (
    LogisticRegression(data_norm=1.0),
    LinearRegression(bounds_X=(-1, 1), bounds_y=(-1, 1)),
)


@pytest.fixture(autouse=True)
def _no_default_accountant():
    BudgetAccountant.pop_default()
    yield
    BudgetAccountant.pop_default()


@rehearsal
@pytest.mark.filterwarnings("ignore:random_state is not used")  # the checks set one
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@every_rule(FULLY_DECLARED)
def test_it_keeps_every_rule_of_scikit_learn_but_those_that_contradict_privacy(
    estimator, check, monkeypatch
):
    if compares_fits(check):
        repeat_noise(monkeypatch)
    keep_or_contradict(estimator, check)


def repeat_noise(monkeypatch):
    """Let fits have the same noise, and nobody pay: the shim itself offers no such thing."""
    monkeypatch.setattr(base, "noise_from", lambda _: RehearsalNoise(2))
    for module in (linear_regression, logistic_regression):
        monkeypatch.setattr(module, "books_for", lambda *_: None)


# The parameters and defaults of diffprivlib 0.6.6, as its documentation lists them.
LOGISTIC = {
    "epsilon": 1.0,
    "data_norm": None,
    "tol": 1e-4,
    "C": 1.0,
    "fit_intercept": True,
    "max_iter": 100,
    "verbose": 0,
    "warm_start": False,
    "n_jobs": None,
    "random_state": None,
    "accountant": None,
}
LINEAR = {
    "epsilon": 1.0,
    "bounds_X": None,
    "bounds_y": None,
    "fit_intercept": True,
    "copy_X": True,
    "random_state": None,
    "accountant": None,
}


@pytest.mark.parametrize(
    ("model", "theirs"), [(LogisticRegression, LOGISTIC), (LinearRegression, LINEAR)]
)
def test_parameters_come_in_their_order_with_their_defaults(model, theirs):
    ours = inspect.signature(model).parameters
    assert {name: ours[name].default for name in list(ours)[: len(theirs)]} == theirs
    assert all(ours[name].kind is inspect.Parameter.KEYWORD_ONLY for name in theirs)


def test_three_kinds_of_iris_with_the_import_changed_and_nothing_else():
    flowers, kinds = load_iris(return_X_y=True)
    model = dp.models.LogisticRegression(data_norm=12, epsilon=200).fit(flowers, kinds)
    assert model.predict(flowers[:2]).shape == (2,)
    assert model.predict_proba(flowers[:2]).shape == (2, 3)
    assert model.score(flowers, kinds) > 0.5
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.shape == model.n_iter_.shape == (3,)
    assert model.classes_.tolist() == [0, 1, 2]


def test_a_pipeline_with_a_grid_search_is_paid_fit_by_fit():
    accountant = BudgetAccountant(epsilon=10, delta=0)
    model = LogisticRegression(data_norm=1.0, epsilon=1.0, accountant=accountant)
    pipe = make_pipeline(FunctionTransformer(), model)
    search = GridSearchCV(pipe, {"logisticregression__C": [0.1, 1.0]}, cv=2)
    search.fit(X, CLASSES)
    assert accountant.total() == pytest.approx((5.0, 0.0), rel=1e-9)  # 2 x 2, and the best again


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("unit", ["replace", "add_remove"])
def test_what_is_promised_is_pure_and_within_epsilon(epsilon, unit):
    for model in (
        LogisticRegression(epsilon=epsilon, data_norm=1.0, unit=unit, accountant=_books(unit)),
        LinearRegression(
            epsilon=epsilon, bounds_X=(-1, 1), bounds_y=(-3, 3), unit=unit, accountant=_books(unit)
        ),
    ):
        y = CLASSES if isinstance(model, LogisticRegression) else NUMBERS
        promised = model.fit(X, y).privacy_
        assert 0 < promised.epsilon(0.0) <= epsilon
        assert promised.unit.name == unit
        assert model.release_.is_private


def test_without_an_accountant_either_unit_is_counted():
    for unit in ("replace", "add_remove"):
        for model, y in zip(FULLY_DECLARED, (CLASSES, NUMBERS), strict=True):
            fitted = clone(model).set_params(unit=unit).fit(X, y)
            assert fitted.privacy_.unit.name == unit


def _books(unit):
    return BudgetAccountant(10, 0, unit=unit)


def test_a_weak_penalty_is_raised_and_the_release_says_so():
    model = LogisticRegression(epsilon=0.5, data_norm=10.0, C=100.0).fit(X, CLASSES)
    assert "the penalty was raised" in model.release_.reason


def test_a_delta_allows_gaussian_noise():
    model = LogisticRegression(epsilon=1.0, data_norm=1.0, delta=1e-6).fit(X, CLASSES)
    assert model.privacy_.epsilon(1e-6) <= 1.0


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (LogisticRegression(), "data_norm must be declared"),
        (LinearRegression(bounds_y=(0, 1)), "bounds_X must be declared"),
        (LinearRegression(bounds_X=(0, 1)), "bounds_y must be declared"),
        (LinearRegression(bounds_X=([0, 0], [1, 1]), bounds_y=(0, 1)), "each of 3"),
        (LinearRegression(bounds_X=(1, 0), bounds_y=(0, 1)), "low at most high"),
        (LinearRegression(bounds_X=(0, np.nan), bounds_y=(0, 1)), "within 1e"),
        (LinearRegression(bounds_X=(0, 1e200), bounds_y=(0, 1)), "within 1e"),
        (LinearRegression(bounds_X=5, bounds_y=(0, 1)), "two numbers"),
        (LinearRegression(bounds_X=(0, 1), bounds_y=(1, 1)), "must not be empty"),
        (LogisticRegression(data_norm=-1.0), "data_norm must be a positive number"),
        (LogisticRegression(data_norm=1.0, C=0.0), "C must be a positive number"),
        (LogisticRegression(data_norm=1.0, max_iter=0), "max_iter must be at least 1"),
        (LogisticRegression(data_norm=1.0, epsilon=0.0), "epsilon must be positive"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_declared_is_refused_and_nothing_is_charged(model, said):
    accountant = BudgetAccountant(epsilon=1, delta=0)
    model.set_params(accountant=accountant)
    with pytest.raises(InputError, match=said):
        model.fit(X, NUMBERS if isinstance(model, LinearRegression) else CLASSES)
    assert len(accountant) == 0


def test_no_bound_is_ever_measured():
    for factor in (1.0, 1000.0):
        model = LinearRegression(bounds_X=(-1, 1), bounds_y=(-1, 1)).fit(factor * X, NUMBERS)
        assert model.bounds_X == (-1, 1)


@rehearsal
def test_rows_beyond_their_bounds_count_as_if_they_lay_on_them(monkeypatch):
    repeat_noise(monkeypatch)
    fits = [
        LinearRegression(bounds_X=(-0.3, 0.3), bounds_y=(-1, 1), fit_intercept=False).fit(
            rows, NUMBERS
        )
        for rows in (X, np.clip(X, -0.3, 0.3))
    ]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


def test_bounds_of_each_column_and_an_intercept_come_back_in_the_users_units():
    rows = X * [1.0, 10.0, 100.0] + [0.0, 50.0, -200.0]
    low, high = np.array([-1.0, 40.0, -300.0]), np.array([1.0, 60.0, -100.0])
    model = LinearRegression(epsilon=np.inf, bounds_X=(low, high), bounds_y=(-3, 3))
    model.fit(rows, NUMBERS)
    np.testing.assert_allclose(model.coef_, [2.0, -0.1, 0.005], rtol=1e-6)
    assert model.intercept_ == pytest.approx(0.1 + 5.0 + 1.0, rel=1e-6)
    model = LinearRegression(epsilon=1e6, bounds_X=(low, high), bounds_y=(-3, 3))
    model.fit(rows, NUMBERS)
    np.testing.assert_allclose(model.coef_, [2.0, -0.1, 0.005], rtol=0.02)
    assert model.intercept_ == pytest.approx(0.1 + 5.0 + 1.0, abs=0.1)
    assert model.predict(rows[:5]).shape == (5,)


def test_without_an_intercept_nothing_is_shifted():
    model = LinearRegression(epsilon=1e6, bounds_X=(0, 2), bounds_y=(0, 8), fit_intercept=False)
    rows = np.abs(X)
    model.fit(rows, rows @ [1.0, 2.0, 3.0])
    np.testing.assert_allclose(model.coef_, [1.0, 2.0, 3.0], rtol=0.1)
    assert model.intercept_ == 0.0


def test_a_column_whose_bounds_are_equal_counts_for_nothing():
    model = LinearRegression(bounds_X=([-1, -1, 0], [1, 1, 0]), bounds_y=(-3, 3)).fit(X, NUMBERS)
    assert np.isfinite(model.coef_).all()


def test_several_targets_and_weights_are_refused():
    with pytest.raises(ValueError, match="1d array"):
        LinearRegression(bounds_X=(-1, 1), bounds_y=(-3, 3)).fit(X, np.c_[NUMBERS, NUMBERS])
    with pytest.raises(InputError, match="sample_weight must be None"):
        LogisticRegression(data_norm=1.0).fit(X, CLASSES, sample_weight=np.ones(len(X)))
    with pytest.raises(InputTypeError, match="X and y only"):
        LogisticRegression(data_norm=1.0).fit(X, CLASSES, weights=np.ones(len(X)))


@pytest.mark.parametrize("seed", [0, np.random.RandomState(1)], ids=["number", "generator"])
@pytest.mark.parametrize("model", FULLY_DECLARED, ids=lambda model: type(model).__name__)
def test_a_seed_is_warned_about_and_never_used(model, seed):
    accountant = BudgetAccountant(epsilon=5, delta=0)
    y = NUMBERS if isinstance(model, LinearRegression) else CLASSES
    seeded = clone(model).set_params(random_state=seed, accountant=accountant)
    fits = []
    for _ in range(2):
        with pytest.warns(DiffprivlibCompatibilityWarning, match="not used") as caught:
            fits.append(clone(seeded).fit(X, y))
        assert [warning.category for warning in caught] == [DiffprivlibCompatibilityWarning]
        assert caught[0].filename == __file__
    assert all(fit.release_.is_private and fit.privacy_.is_private for fit in fits)
    assert (fits[0].coef_ != fits[1].coef_).all()  # the noise is new each time
    assert len(accountant) == 2


@pytest.mark.parametrize("model", FULLY_DECLARED, ids=lambda model: type(model).__name__)
def test_an_infinite_epsilon_is_fitted_without_noise_and_booked_as_infinite(model):
    y = NUMBERS if isinstance(model, LinearRegression) else CLASSES
    accountant = BudgetAccountant()
    exact = clone(model).set_params(epsilon=math.inf, accountant=accountant)
    fits = [clone(exact).fit(X, y) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert not fits[0].privacy_.is_private
    assert accountant.total() == (math.inf, 0.0)
    limited = BudgetAccountant(epsilon=100, delta=1e-3, slack=1e-4)
    with pytest.raises(BudgetError, match=r"\(epsilon = 100, .* cannot pay for \(epsilon = inf"):
        exact.set_params(accountant=limited).fit(X, y)
    assert len(limited) == 0
    with pytest.raises(RehearsalRefused):  # a ledger of this library holds promises only
        exact.set_params(accountant=MemoryLedger(Budget(1.0), "replace")).fit(X, y)


@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 2, 3.3, 100])
@pytest.mark.parametrize("model", FULLY_DECLARED, ids=lambda model: type(model).__name__)
def test_what_is_booked_is_what_was_asked_to_the_last_digit(model, epsilon):
    three = float(3 * Decimal(repr(epsilon)))  # as decimals add up
    accountant = BudgetAccountant(three, 0)
    y = NUMBERS if isinstance(model, LinearRegression) else CLASSES
    fits = [
        clone(model).set_params(epsilon=epsilon, accountant=accountant).fit(X, y) for _ in range(3)
    ]
    assert accountant.spent_budget == [(epsilon, 0.0)] * 3
    assert accountant.total() == (three, 0.0)
    assert all(fit.privacy_.epsilon(0.0) <= epsilon for fit in fits)
    assert accountant.remaining().epsilon < 1e-8 * epsilon


def test_what_costs_far_less_than_asked_is_booked_at_its_cost():
    accountant = BudgetAccountant()
    model = LogisticRegression(epsilon=100, delta=1e-6, data_norm=1.0, accountant=accountant)
    model.fit(X, CLASSES)
    assert accountant.total() == (pytest.approx(model.privacy_.epsilon(), rel=1e-9), 1e-6)
    assert model.privacy_.delta(accountant.total().epsilon) <= 1e-6
    assert accountant.total().epsilon < 50


def test_a_fit_beyond_the_ceiling_is_refused_before_anything_is_learnt():
    accountant = BudgetAccountant(epsilon=1.5, delta=0)
    model = LogisticRegression(data_norm=1.0, accountant=accountant).fit(X, CLASSES)
    for other, y in (
        (LogisticRegression(data_norm=1.0), CLASSES),
        (LinearRegression(bounds_X=(-1, 1), bounds_y=(-3, 3)), NUMBERS),
    ):
        with pytest.raises(BudgetError, match=r"cannot pay .* Nothing was learnt from the rows\."):
            other.set_params(accountant=accountant).fit(X, y)
        assert not hasattr(other, "release_")
    assert accountant.total() == pytest.approx((model.privacy_.epsilon(0.0), 0.0))


def test_a_ledger_of_this_library_pays_as_well():
    ledger = MemoryLedger(Budget(1.0), "replace")
    LogisticRegression(data_norm=1.0, accountant=ledger).fit(X, CLASSES)
    assert ledger.remaining(0.0) < 1e-6


def test_data_frames_keep_the_names_of_their_columns():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for model, y in (
        (LogisticRegression(data_norm=1.0), CLASSES),
        (LinearRegression(bounds_X=(-1, 1), bounds_y=(-3, 3)), NUMBERS),
    ):
        assert model.fit(frame, y).feature_names_in_.tolist() == ["a", "b", "c"]
        assert len(model.predict(frame)) == len(frame)


@pytest.mark.parametrize(
    ("kind", "declared", "labels"),
    [
        (LinearRegression, {"bounds_X": (-1, 1), "bounds_y": (-1, 1)}, NUMBERS),
        (LogisticRegression, {"data_norm": 1.0, "classes": ["no", "yes"]}, CLASSES),
    ],
)
def test_no_cell_is_read_before_the_accountant_is_charged(kind, declared, labels):
    read = []
    model = kind(epsilon=1.0, accountant=BudgetAccountant(0.5, 0.0), **declared)
    with pytest.raises(BudgetError):
        model.fit(watched_cells(X[:60], read), labels[:60])
    assert read == []

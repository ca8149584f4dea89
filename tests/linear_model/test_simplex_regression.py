"""Private weights on a simplex: what the estimator adds to the mechanism."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from discreet import Budget, MemoryLedger
from discreet.data import Bounds, Interval
from discreet.errors import CalibrationError, InputError
from discreet.geometry import LinfBall
from discreet.ledger import State
from discreet.linear_model import SimplexRegression
from discreet.losses import Huber, Squared
from discreet.questions.mixture import Mixture
from support.cases.mixtures import best_shares
from support.estimators import declare, rehearsal

GENERATOR = np.random.default_rng(12)
TRUTH = GENERATOR.uniform(0, 1, 4000)
MODELS = np.clip(TRUTH[:, None] + GENERATOR.normal(size=(4000, 4)) * [0.1, 0.1, 0.4, 0.4], 0, 1)
PROBABILITIES = {"data_range": (0, 1), "target_range": (0, 1)}


def mixture(X, y, loss, radius=1.0):
    """The best weights, by another solver, on rows as they are."""
    size, far = np.abs(X).max(), np.abs(y).max()
    bounds = Bounds(LinfBall(float(size)), X.shape[1], labels=Interval(-far, far))
    return best_shares(Mixture(loss, bounds, total=radius), X, y)


@pytest.mark.parametrize("radius", [1.0, 0.5, 3.0])
def test_without_privacy_it_is_least_squares_on_the_simplex(radius):
    y = np.clip(radius * MODELS @ [0.6, 0.4, 0.0, 0.0], 0, 3)
    model = SimplexRegression(
        epsilon=math.inf, data_range=(0, 1), target_range=(0, 3), radius=radius
    ).fit(MODELS, y + 0.05)
    expected = mixture(MODELS, np.clip(y + 0.05, 0, 3), Squared(4.0), radius)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-4)
    assert model.intercept_ == 0.0
    np.testing.assert_allclose(model.predict(MODELS), MODELS @ model.coef_)


def test_without_privacy_a_threshold_makes_it_robust():
    y = TRUTH.copy()
    y[:200] = 0.0
    model = SimplexRegression(epsilon=math.inf, threshold=0.05, **PROBABILITIES).fit(MODELS, y)
    np.testing.assert_allclose(model.coef_, mixture(MODELS, y, Huber(0.05)), atol=1e-4)


def test_an_entropy_without_privacy_gives_the_entropic_minimiser():
    model = SimplexRegression(epsilon=math.inf, entropy=30.0, **PROBABILITIES).fit(MODELS, TRUTH)
    balance = 30 * np.log(model.coef_) + MODELS.T @ (MODELS @ model.coef_ - TRUTH)
    assert np.ptp(balance) < 1e-3


@pytest.mark.parametrize("radius", [1.0, 2.5])
def test_weights_are_not_negative_and_sum_to_the_radius(radius):
    model = SimplexRegression(delta=1e-6, radius=radius, **PROBABILITIES).fit(MODELS, TRUTH)
    assert (model.coef_ >= 0).all()
    assert model.coef_.sum() == pytest.approx(radius, rel=1e-12)
    assert model.privacy_.epsilon(1e-6) <= 1.0
    assert model.privacy_.quoted_delta in (0.0, 1e-6)


@rehearsal
def test_good_models_get_most_of_the_weight():
    good = [
        SimplexRegression(
            epsilon=1.0, delta=1e-6, threshold=0.1, max_rows=5000, rehearsal=seed,
            **PROBABILITIES
        ).fit(MODELS, TRUTH).coef_[:2].sum()
        for seed in range(20)
    ]  # fmt: skip
    assert np.mean(good) > 0.75


def test_a_declared_range_is_as_good_as_moving_both_by_hand():
    moved = SimplexRegression(epsilon=2.0, entry_bound=0.5, target_range=(-0.5, 0.5))
    ranged = SimplexRegression(epsilon=2.0, **PROBABILITIES)
    moved.fit(MODELS - 0.5, TRUTH - 0.5)
    ranged.fit(MODELS, TRUTH)
    assert moved.privacy_ == ranged.privacy_
    assert moved.release_.reason == ranged.release_.reason


def test_fewer_possible_rows_and_smaller_thresholds_leave_more_draws():
    def draws(**options):
        model = SimplexRegression(delta=1e-6, **PROBABILITIES, **options).fit(MODELS, TRUTH)
        return int(model.release_.reason.split()[0].replace(",", ""))

    usual = draws(max_rows=10_000)
    assert draws(max_rows=10_000, threshold=0.1) > 2 * usual
    assert draws(max_rows=10_000, unit="add_remove") > draws(unit="replace")


def test_weights_of_rows_count_up_to_the_declared_largest():
    y = np.where(np.arange(4000) < 2000, MODELS[:, 2], MODELS[:, 0])
    heavy = np.where(np.arange(4000) < 2000, 100.0, 0.0)
    model = SimplexRegression(epsilon=math.inf, max_weight=3.0, **PROBABILITIES)
    model.fit(MODELS, y, sample_weight=heavy)
    np.testing.assert_allclose(model.coef_, [0, 0, 1, 0], atol=1e-4)
    with pytest.raises(InputError, match="pass max_weight"):
        SimplexRegression(**PROBABILITIES).fit(MODELS, y, sample_weight=heavy)


@rehearsal
def test_sparse_and_dense_tables_agree():
    X = np.where(MODELS > 0.6, MODELS, 0.0)
    one, two = (
        SimplexRegression(epsilon=5.0, rehearsal=3, entry_bound=1.0, target_range=(-1.0, 1.0))
        .fit(table, TRUTH)
        .coef_
        for table in (X, sparse.csr_array(X))
    )
    np.testing.assert_allclose(one, two)


BAD = [
    ({"entry_bound": 0.0}, "entry_bound must be a positive number"),
    ({"data_range": (1, 1)}, "data_range must not be empty"),
    ({"data_range": 3}, "data_range must be two numbers"),
    ({"target_range": (2, 1)}, "low must not exceed high"),
    ({"radius": -1.0}, "radius must be a positive number"),
    ({"threshold": 0.0}, "threshold must be a positive number"),
    ({"entropy": 0.0}, "entropy must be a positive number"),
    ({"max_rows": 0}, "max_rows must be at least 1"),
    ({"expected_rows": 0}, "expected_rows must be at least 1"),
    ({"mechanism": "objective_perturbation"}, "mechanism must be one of"),
    ({"epsilon": -1.0}, "epsilon must be positive"),
    ({"unit": "swap"}, "unit must be one of"),
    ({"verbose": -1}, "verbose must be at least 0"),
]


@pytest.mark.parametrize(("parameters", "says"), BAD, ids=str)
def test_bad_parameters_are_refused_before_any_charge(parameters, says):
    ledger = MemoryLedger(Budget(10.0, 1e-3))
    with pytest.raises(InputError, match=says):
        declare(SimplexRegression, ledger=ledger, **parameters).fit(MODELS, TRUTH)
    assert ledger.history() == ()


def test_what_cannot_be_met_is_refused_before_any_charge():
    ledger = MemoryLedger(Budget(10.0, 1e-3))
    with pytest.raises(CalibrationError, match="raise the entropy"):
        SimplexRegression(
            ledger=ledger, entropy=0.01, entry_bound=1.0, target_range=(-1.0, 1.0)
        ).fit(MODELS, TRUTH)
    with pytest.raises(InputError, match="would fill a sparse table"):
        SimplexRegression(ledger=ledger, **PROBABILITIES).fit(sparse.csr_array(MODELS), TRUTH)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        SimplexRegression(ledger=ledger, entry_bound=1.0, target_range=(-1.0, 1.0)).fit(
            MODELS, TRUTH, groups=TRUTH
        )
    assert ledger.history() == ()


def test_hostile_rows_are_learnt_from_in_silence():
    X, y = MODELS.copy(), TRUTH.copy()
    X[0], X[1, 0], X[2, 1], y[3] = math.nan, math.inf, -1e308, 1e308
    for name in ("add_remove", "replace"):
        ledger = MemoryLedger(Budget(1.0, 1e-6), unit=name)
        model = SimplexRegression(
            delta=1e-6,
            unit=name,
            ledger=ledger,
            **PROBABILITIES,
        ).fit(X, y)
        assert np.isfinite(model.coef_).all()
        assert [entry.state for entry in ledger.history()] == [State.RELEASED]


def test_released_weights_are_multiples_of_one_draw():
    model = SimplexRegression(epsilon=1.0, delta=0.0, **PROBABILITIES).fit(MODELS, TRUTH)
    draws = int(model.release_.reason.split()[0])
    assert all(
        Fraction(w * draws).limit_denominator(1000).denominator == 1 for w in model.coef_.tolist()
    )

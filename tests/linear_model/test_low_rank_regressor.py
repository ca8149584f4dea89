"""Several targets within a nuclear ball."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge as PlainRidge

from discreet import MemoryLedger
from discreet.errors import InputError, InputTypeError, NotAccepted
from discreet.linear_model import LowRankRegressor
from discreet.privacy import Budget
from support.estimators import declare

rehearsal = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
_GENERATOR = np.random.default_rng(3)
X = _GENERATOR.standard_normal((400, 3))
X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
Y = 0.5 * X @ np.outer([1.0, -0.5, 0.3], [0.6, 0.8]) + 0.02 * _GENERATOR.standard_normal((400, 2))
EXACT = {"epsilon": math.inf, "max_rows": 400}


def test_every_parameter_is_documented():
    words = inspect.getdoc(LowRankRegressor)
    assert [n for n in inspect.signature(LowRankRegressor).parameters if n not in words] == []


def test_in_a_large_ball_without_noise_it_is_ridge_regression():
    plain = PlainRidge(alpha=0.5, fit_intercept=False, solver="cholesky").fit(X, Y)
    model = LowRankRegressor(
        alpha=0.5, nuclear_radius=50.0, fit_intercept=False, **EXACT, data_norm=1.0, target_norm=1.0
    )
    np.testing.assert_allclose(model.fit(X, Y).coef_, plain.coef_, rtol=0, atol=1e-9)


def test_the_intercept_is_a_penalised_constant_column():
    column = np.column_stack([X, np.full(len(X), 0.5)])
    shifted = Y + np.array([0.3, -0.2])
    plain = PlainRidge(alpha=0.5, fit_intercept=False, solver="cholesky").fit(column, shifted)
    model = LowRankRegressor(
        alpha=0.5, nuclear_radius=50.0, target_norm=5.0, **EXACT, data_norm=1.0
    )
    model.fit(X, shifted)
    np.testing.assert_allclose(model.coef_, plain.coef_[:, :-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, plain.coef_[:, -1] / 2, rtol=0, atol=1e-9)


def test_a_small_ball_leaves_few_singular_values():
    full = LowRankRegressor(
        alpha=1e-3, nuclear_radius=50.0, **EXACT, data_norm=1.0, target_norm=1.0
    ).fit(X, Y)
    low = LowRankRegressor(
        alpha=1e-3, nuclear_radius=0.3, **EXACT, data_norm=1.0, target_norm=1.0
    ).fit(X, Y)
    assert np.linalg.svd(full.coef_, compute_uv=False)[1] > 1e-4
    values = np.linalg.svd(np.column_stack([low.coef_, low.intercept_ * 2]), compute_uv=False)
    np.testing.assert_allclose(values, [0.3, 0.0], rtol=0, atol=1e-9)


def test_targets_are_shortened_to_their_bound():
    far, near = Y.copy(), Y.copy()
    far[:5] *= 1e6
    near[:5] /= np.linalg.norm(near[:5], axis=1)[:, None]
    one, other = (
        LowRankRegressor(**EXACT, data_norm=1.0, target_norm=1.0).fit(X, targets).coef_
        for targets in (far, near)
    )
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)


@pytest.mark.parametrize("unit", ["add_remove", "replace"])
@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_a_fit_costs_the_epsilon_asked_and_no_more(unit, delta):
    fit = LowRankRegressor(2.0, delta, unit=unit, data_norm=1.0, target_norm=1.0).fit(X, Y)
    assert 1.99 <= fit.privacy_.epsilon(delta) <= 2.0
    assert fit.privacy_.unit.name == unit
    assert fit.coef_.shape == (2, 3)
    assert fit.predict(X).shape == (400, 2)


def test_it_learns():
    rows = np.tile(X, (100, 1))
    targets = np.tile(Y, (100, 1))
    assert (
        LowRankRegressor(1.0, 0.0, data_norm=1.0, target_norm=1.0)
        .fit(rows, targets)
        .score(rows, targets)
        > 0.9
    )


@rehearsal
def test_sparse_rows_give_the_same_model():
    model = LowRankRegressor(4.0, 0.0, rehearsal=1, data_norm=1.0, target_norm=1.0)
    dense = model.fit(X, Y).coef_
    np.testing.assert_allclose(model.fit(sparse.csr_array(X), Y).coef_, dense, atol=1e-3)


def test_a_weak_penalty_is_raised_and_said_to_be():
    fit = LowRankRegressor(1.0, 0.0, alpha=1e-9, data_norm=1.0, target_norm=1.0).fit(X, Y)
    assert "raised to" in fit.release_.reason
    assert (
        "raised"
        not in LowRankRegressor(1.0, 0.0, alpha=1e9, data_norm=1.0, target_norm=1.0)
        .fit(X, Y)
        .release_.reason
    )


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"nuclear_radius": 0.0}, InputError, "nuclear_radius"),
        ({"target_norm": -1.0}, InputError, "target_norm"),
        ({"data_norm": math.nan}, InputError, "data_norm"),
        ({"alpha": "1"}, InputTypeError, "alpha"),
        ({"mechanism": "noisy_gradient"}, InputError, "mechanism must be one of"),
        ({"max_rows": 0}, InputError, "max_rows"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_refused_before_anything_is_charged(wrong, error, says):
    ledger = MemoryLedger(Budget(10.0, 1e-3))
    with pytest.raises(error, match=says):
        declare(LowRankRegressor, ledger=ledger, **wrong).fit(X, Y)
    assert ledger.history() == ()


def test_too_many_coefficients_are_refused_before_anything_is_charged():
    ledger = MemoryLedger(Budget(10.0, 1e-3))
    with pytest.raises(NotAccepted, match="too many for vector_perturbation"):
        LowRankRegressor(ledger=ledger, data_norm=1.0, target_norm=1.0).fit(
            np.zeros((3, 200)), np.zeros((3, 10))
        )
    assert ledger.history() == ()

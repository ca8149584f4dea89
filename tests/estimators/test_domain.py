"""Every linear model takes a domain, and its coefficients stay in it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet import Budget, MemoryLedger
from discreet.errors import CalibrationError, InputError, InputTypeError, NotAccepted
from discreet.geometry import Box, L1Ball, L1L2Ball, L2Ball, Simplex, WholeSpace
from discreet.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
)
from discreet.svm import LinearSVC
from support.estimators import SIGNAL, X, declare, every_estimator, penalty, rehearsal, target

DOMAINS = [L2Ball(0.5), Box([-1.0] * 4, [0.05] * 4), Simplex(0.5), L1Ball(0.4)]
every_domain = pytest.mark.parametrize("domain", DOMAINS, ids=lambda region: type(region).__name__)


def assert_inside(fit, domain):
    value = fit.release_.value
    np.testing.assert_allclose(domain.project(value), value, rtol=0, atol=1e-6)


@every_estimator
@every_domain
@pytest.mark.parametrize("mechanism", ["auto", "objective_perturbation", "noisy_gradient"])
def test_a_domain_holds_the_coefficients(model, domain, mechanism):
    delta = 1e-6 if mechanism == "noisy_gradient" else 0.0
    fit = declare(model, 20.0, delta, domain=domain, mechanism=mechanism).fit(X, target(model))
    assert_inside(fit, domain)
    assert fit.privacy_.epsilon(delta) <= 20.0
    assert fit.release_.is_private


@every_estimator
@every_domain
def test_a_domain_holds_the_coefficients_without_noise(model, domain):
    fit = declare(model, math.inf, domain=domain, max_rows=1000, **penalty(model, 1.0))
    assert_inside(fit.fit(X, target(model)), domain)


@pytest.mark.parametrize("model", [LinearSVC, QuantileRegressor])
@every_domain
def test_losses_with_a_kink_take_domains(model, domain):
    kink = {"loss": "hinge"} if model is LinearSVC else {"smoothing": 0}
    fit = declare(model, 20.0, 1e-6, domain=domain, **kink).fit(X, target(model))
    assert fit.release_.mechanism == "noisy_gradient"
    assert_inside(fit, domain)


@every_estimator
@pytest.mark.parametrize(
    ("domain", "error", "says"),
    [
        (Box([-1.0] * 3, [1.0] * 3), InputError, "dimension must be 3, as in the set; got 4"),
        ("ball", InputTypeError, "domain"),
        (1.0, InputTypeError, "domain"),
    ],
    ids=["another dimension", "text", "a number"],
)
def test_a_domain_that_does_not_fit_is_refused_before_a_charge(model, domain, error, says):
    ledger = MemoryLedger(Budget(100.0, 1e-3))
    with pytest.raises(error, match=says):
        declare(model, 1.0, 1e-6, domain=domain, ledger=ledger).fit(X, target(model))
    assert ledger.history() == ()


@pytest.mark.parametrize(
    ("model", "settings", "error", "says"),
    [
        (HuberRegressor, {"domain": L1L2Ball(0.5, 0.4)}, CalibrationError, "no bound on the round"),
        (HuberRegressor, {"domain": L2Ball(1e9)}, CalibrationError, "use a smaller one"),
        (Ridge, {"domain": WholeSpace(), "mechanism": "objective_perturbation"}, NotAccepted,
         "no bounded slope without a domain"),
        (Lasso, {"mechanism": "objective_perturbation"}, NotAccepted,
         "no bounded slope without a domain"),
        (ElasticNet, {"mechanism": "noisy_gradient"}, NotAccepted,
         "no bounded slope without a domain"),
    ],
    ids=str,
)  # fmt: skip
def test_a_domain_without_a_proof_is_refused_before_a_charge(model, settings, error, says):
    ledger = MemoryLedger(Budget(100.0, 1e-3))
    with pytest.raises(error, match=says):
        declare(model, 1.0, 1e-6, ledger=ledger, **settings).fit(X, target(model))
    assert ledger.history() == ()


@pytest.mark.parametrize("model", [Ridge, Lasso, ElasticNet])
def test_statistics_take_every_domain_because_it_comes_after_the_noise(model):
    for domain in (WholeSpace(), L1L2Ball(0.5, 0.4)):
        fit = declare(model, 20.0, 1e-6, domain=domain).fit(X, SIGNAL)
        assert fit.release_.mechanism == "sufficient_statistics"
        assert_inside(fit, domain)


def test_least_squares_say_what_was_compared():
    wide = np.hstack([X, np.zeros((200, 40))])
    gaussian = Lasso(1.0, 1e-6, domain=L2Ball(2.0), data_norm=1.0, target_range=(-1.0, 1.0)).fit(
        wide, SIGNAL
    )
    assert gaussian.release_.mechanism == "sufficient_statistics"
    assert "of objective_perturbation" in gaussian.release_.reason
    # Of pure epsilon, the entries of X'X are many and those of a slope are few.
    pure = Lasso(1.0, 0.0, domain=L2Ball(2.0), data_norm=1.0, target_range=(-1.0, 1.0)).fit(
        wide, SIGNAL
    )
    assert pure.release_.mechanism == "objective_perturbation"
    assert "of sufficient_statistics" in pure.release_.reason


@rehearsal
@pytest.mark.parametrize("model", [Lasso, ElasticNet])
def test_coefficients_without_a_signal_are_mostly_zero(model):
    generator = np.random.default_rng(4)
    rows = generator.standard_normal((20_000, 20)) / math.sqrt(20)
    y = np.clip(rows[:, 0] - rows[:, 1] + 0.1 * generator.standard_normal(20_000), -1, 1)
    fit = declare(model, 1.0, 1e-6, rehearsal=0).fit(rows, y)
    assert np.abs(fit.coef_[:2]).min() > 0.3
    assert np.sum(fit.coef_[2:] == 0) >= 9
    assert fit.score(rows, y) > 0.8


def test_noise_on_the_objective_says_what_ridge_it_needs():
    settings = {"domain": L2Ball(1.0), "mechanism": "objective_perturbation"}
    assert (
        "is needed for this budget"
        in Lasso(1.0, 0.0, **settings, data_norm=1.0, target_range=(-1.0, 1.0))
        .fit(X, SIGNAL)
        .release_.reason
    )
    strong = ElasticNet(
        1.0, 0.0, alpha=1e4, **settings, data_norm=1.0, target_range=(-1.0, 1.0)
    ).fit(X, SIGNAL)
    assert "is needed" not in strong.release_.reason


def test_an_l1_ratio_outside_zero_and_one_is_refused():
    for ratio in (-0.1, 1.1, math.nan):
        with pytest.raises(InputError, match="l1_ratio"):
            ElasticNet(l1_ratio=ratio, data_norm=1.0, target_range=(-1.0, 1.0)).fit(X, SIGNAL)


def test_a_domain_of_classes_holds_each_of_them():
    labels = np.array(["a", "b", "c"])[np.digitize(SIGNAL, [-0.3, 0.3])]
    fit = LogisticRegression(20.0, 1e-6, domain=L2Ball(0.5), data_norm=1.0).fit(X, labels)
    for value in fit.release_.value:
        assert np.linalg.norm(value) <= 0.5 * (1 + 1e-9)

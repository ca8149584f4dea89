"""Estimators of few coefficients without a delta: drawn, or refused before anything is paid."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import NotAccepted, RehearsalWarning
from discreet.geometry import L2Ball
from discreet.ledger import MemoryLedger
from discreet.linear_model import LogisticRegression, QuantileRegressor, Ridge
from discreet.privacy import AddRemoveOne, Budget
from discreet.svm import LinearSVC
from support.estimators import declare

pytestmark = pytest.mark.filterwarnings(f"ignore::{RehearsalWarning.__module__}.RehearsalWarning")

GENERATOR = np.random.default_rng(0)
X = GENERATOR.uniform(-1, 1, size=(3000, 2)) / np.sqrt(2)
SIDES = np.where(X[:, 0] + 0.1 * GENERATOR.normal(size=3000) > 0, 1, 0)
NUMBERS = np.clip(X[:, 0] + 0.1 * GENERATOR.normal(size=3000), -1, 1)


@pytest.mark.parametrize("mechanism", ["exponential_sampling", "localization"])
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_two_features_are_learnt_at_pure_epsilon(mechanism, unit):
    options = {"epsilon": 2.0, "delta": 0.0, "mechanism": mechanism, "unit": unit}
    options["rehearsal"] = 1
    for classifier in (LogisticRegression, LinearSVC):
        assert (
            classifier(domain=L2Ball(10.0), data_norm=1.0, **options).fit(X, SIDES).score(X, SIDES)
            > 0.9
        )
    for regressor in (Ridge, QuantileRegressor):
        model = declare(regressor, domain=L2Ball(2.0), **options).fit(X, NUMBERS)
        assert np.abs(model.coef_ - [1, 0]).max() < 0.4


def test_auto_draws_what_has_kinks_when_there_is_no_delta():
    model = QuantileRegressor(
        1.0,
        0.0,
        domain=L2Ball(2.0),
        smoothing=0,
        rehearsal=0,
        data_norm=1.0,
        target_range=(-1.0, 1.0),
    )
    assert model.fit(X, NUMBERS).release_.mechanism == "exponential_sampling"


def test_too_many_coefficients_are_refused_before_anything_is_paid():
    ledger = MemoryLedger(Budget(1.0), AddRemoveOne())
    model = LogisticRegression(1.0, 0.0, domain=L2Ball(2.0), mechanism="exponential_sampling",
                               ledger=ledger, data_norm=1.0)  # fmt: skip
    with pytest.raises(NotAccepted, match="use objective_perturbation"):
        model.fit(np.tile(X, 4), SIDES)
    assert ledger.history() == ()

"""Coefficients stay in the declared domain."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.geometry import Box, L2Ball
from discreet.linear_model import HuberRegressor, LogisticRegression, Ridge
from linear_model.estimators import X, penalty, target

DOMAINS = [L2Ball(0.5), Box([-1.0] * 4, [0.05] * 4)]


@pytest.mark.parametrize("model", [LogisticRegression, HuberRegressor, Ridge])
@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("epsilon", [20.0, math.inf])
def test_a_domain_that_binds_holds_the_coefficients(model, domain, epsilon):
    parameters = {"epsilon": epsilon, "delta": 0.0, **penalty(model, 1.0)}
    value = model(domain=domain, **parameters).fit(X, target(model)).release_.value
    np.testing.assert_allclose(domain.project(value), value, rtol=0, atol=1e-6)

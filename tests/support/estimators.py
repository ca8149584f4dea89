"""Every estimator with a table it can learn from, and fits that several tests share."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from discreet import LinearClassifier, LinearRegressor
from discreet.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    SimplexRegression,
)
from discreet.svm import LinearSVC

CLASSIFIERS = (LogisticRegression, LinearClassifier, LinearSVC)
MIXERS = (SimplexRegression,)
REGRESSORS = (
    Ridge,
    HuberRegressor,
    QuantileRegressor,
    PoissonRegressor,
    LinearRegressor,
    Lasso,
    ElasticNet,
)
EVERY = (*CLASSIFIERS, *REGRESSORS)
WITH_COLUMNS = (LinearClassifier, LinearRegressor)

_GENERATOR = np.random.default_rng(8)
X = _GENERATOR.standard_normal((200, 3))
X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
SIGNAL = X @ [0.9, -0.6, 0.2] + 0.1 * _GENERATOR.standard_normal(200)
TWO = np.where(SIGNAL > 0.05, "yes", "no")
THREE = np.array(["high", "low", "mid"])[np.digitize(SIGNAL, [-0.3, 0.3])]
COUNTS = _GENERATOR.poisson(np.exp(SIGNAL))
WEIGHTS = _GENERATOR.integers(1, 3, size=200).astype(float)

rehearsal = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
every_estimator = pytest.mark.parametrize("model", EVERY)
every_model = pytest.mark.parametrize("model", [*EVERY, *MIXERS])
every_classifier = pytest.mark.parametrize("model", CLASSIFIERS)
every_regressor = pytest.mark.parametrize("model", REGRESSORS)


def target(model):
    """Return labels of the kind that a model is for."""
    if model in CLASSIFIERS:
        return TWO
    return COUNTS if model is PoissonRegressor else SIGNAL


def penalty(model, strength):
    """Return the parameter that sets the penalty's strength."""
    return {"C": 1 / strength} if model in CLASSIFIERS else {"alpha": strength}


def declared(model):
    """Return the declaration of classes, for models that have classes."""
    return {"classes": ["no", "yes"]} if model in CLASSIFIERS else {}


@cache
def fitted(model, **parameters):
    """Return a model fitted once for all tests."""
    return model(**parameters).fit(X, target(model))


def coefficients(model):
    """Return all that a fitted model has learnt, as one vector."""
    return np.append(np.ravel(model.coef_), model.intercept_)

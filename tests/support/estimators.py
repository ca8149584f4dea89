"""Every estimator of the library's own list, with a table it can learn from.

Tests of all estimators take them from here; fits are shared.
"""

from __future__ import annotations

import contextlib
import inspect
from functools import cache
from numbers import Real

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.feature_selection import SelectorMixin

from discreet.additive import AdditiveClassifier, AdditiveRegressor
from discreet.additive.additive_estimator import AdditiveEstimator
from discreet.additive.cell_features import CellFeatures
from discreet.data.matrix import accept_matrix
from discreet.errors import DiscreetError
from discreet.estimators.classifier import LinearClassifierBase
from discreet.estimators.registry import all_estimators
from discreet.estimators.regressor import LinearRegressorBase
from discreet.estimators.sparse_model import SparseModel
from discreet.feature_selection import LassoStability
from discreet.kernel.kernel_features import KernelEstimator
from discreet.linear_model import (
    LinearClassifier,
    LinearRegressor,
    LowRankRegressor,
    PoissonRegressor,
    SimplexRegression,
)
from discreet.location import StableMedian
from discreet.location.base import LocationEstimator
from discreet.preprocessing import Numeric
from discreet.svm import LinearSVC

ALL = all_estimators()
SELECTORS = tuple(kind for kind in ALL if issubclass(kind, SelectorMixin))
KERNEL = tuple(kind for kind in ALL if issubclass(kind, KernelEstimator))
SPARSE = tuple(kind for kind in ALL if issubclass(kind, SparseModel))
ADDITIVE = tuple(kind for kind in ALL if issubclass(kind, AdditiveEstimator))
LINEAR = tuple(kind for kind in ALL if kind not in (*SPARSE, *KERNEL, *ADDITIVE))
CLASSIFIERS = tuple(kind for kind in LINEAR if issubclass(kind, LinearClassifierBase))
REGRESSORS = tuple(kind for kind in LINEAR if issubclass(kind, LinearRegressorBase))
MIXERS = (SimplexRegression,)
EVERY = (*CLASSIFIERS, *REGRESSORS)
WITH_COLUMNS = (LinearClassifier, LinearRegressor, LinearSVC)

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


def takes_weights(kind):
    """Say whether rows may count more than once."""
    return "max_weight" in inspect.signature(kind).parameters


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


ABOUT_X = {
    "data_norm": 1.0, "entry_bound": 1.0, "target_range": (-1.0, 1.0), "target_norm": 1.0,
    "max_count": 10.0, "bounds": (-1.0, 1.0), "radius": 1.0, "proposal": 0.3,
}  # fmt: skip
"""What has to be declared of ``X`` and of its labels."""


OF_SELECTORS = {
    "target_range": (-1.0, 1.0), "n_features_to_select": 2, "vote": "columns", "expected_rows": 200,
}  # fmt: skip
"""Of three columns, by numbers, two are chosen; there is an answer however few rows there are, but
for what needs to be stable."""

NEED_DELTA = (LassoStability, StableMedian, AdditiveClassifier)
"""What is tested has a chance of error, or three classes: asked for none, they keep theirs."""

OF_SPARSE = {"n_features_to_select": 2}
"""Of three columns two are chosen."""

OF_KERNEL = {"n_components": 20, "landmarks": 30}
"""A few features of a kernel are enough."""


def declare(kind, *given, columns_of_X=3, **parameters):
    """Return an estimator of any kind, with what it must be told declared, unless it is given."""
    if issubclass(kind, NEED_DELTA) and parameters.get("delta") == 0:
        del parameters["delta"]
    known = {*list(inspect.signature(kind).parameters)[: len(given)], *parameters}
    for ways in kind.must_declare:
        if not known.intersection(ways):
            parameters |= {way: ABOUT_X[way] for way in ways if way in ABOUT_X}
    if kind in ADDITIVE:
        parameters.setdefault("columns", [Numeric(-1, 1)] * columns_of_X)
    usual = OF_SELECTORS if kind in SELECTORS else OF_SPARSE if kind in SPARSE else {}
    usual = OF_KERNEL if kind in KERNEL else usual
    taken = inspect.signature(kind).parameters
    missing = {name for name in usual if name in taken and name not in known}
    parameters |= {name: usual[name] for name in missing}
    return kind(*given, **parameters)


class OfAnyWidth:
    """Declares as many columns as a table has: checks of scikit-learn make tables of their own."""

    must_declare = ()
    _width = 1

    def _fit(self, X, *more):
        with contextlib.suppress(DiscreetError):  # which the fit will meet itself
            self._width = accept_matrix(X).shape[1]
        return super()._fit(X, *more)

    def feature_map(self):
        return CellFeatures([Numeric(-5, 5)] * self._width)


class WideAdditiveClassifier(OfAnyWidth, AdditiveClassifier):
    """Of any table of numbers."""


class WideAdditiveRegressor(OfAnyWidth, AdditiveRegressor):
    """Of any table of numbers."""

    must_declare = (("target_range",),)


OF_ANY_WIDTH = {
    AdditiveClassifier: WideAdditiveClassifier,
    AdditiveRegressor: WideAdditiveRegressor,
}


@cache
def fitted(model, **parameters):
    """Return a model fitted once for all tests."""
    return declare(model, **parameters).fit(X, target(model))


def coefficients(model):
    """Return all that a fitted model has learnt, as one vector."""
    return np.append(np.ravel(model.coef_), model.intercept_)


def make(kind, **parameters):
    """Return an estimator of any kind, declared, its classes too if it has any."""
    if is_classifier(kind()):
        parameters.setdefault("classes", ["no", "yes"])
    return declare(kind, **parameters)


def labels_for(kind):
    """Return what an estimator of any kind learns from; None if from rows alone."""
    if issubclass(kind, LocationEstimator):
        return None
    if kind is LowRankRegressor:
        return np.column_stack([SIGNAL, COUNTS])
    if is_classifier(kind()):
        return TWO
    return COUNTS if kind is PoissonRegressor else SIGNAL


def learnt(model):
    """Return all that a fitted model of any kind has learnt, as one vector of numbers."""
    found = [np.ravel(getattr(model, name)) for name in sorted(model.learns)]
    return np.concatenate([part for part in found if part.dtype.kind in "fi"]).astype(float)


class WatchedCell:
    """A number of a foreign type, which tells when it is read."""

    def __init__(self, value, read):
        self.value, self.read = value, read

    def __float__(self):
        self.read.append(self)
        return float(self.value)


Real.register(WatchedCell)


def watched_cells(table, read):
    """Return a table of cells that list themselves in ``read`` when they are read."""
    cells = np.empty(table.shape, dtype=object)
    for place, value in np.ndenumerate(table):
        cells[place] = WatchedCell(value, read)
    return cells

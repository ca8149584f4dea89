"""Which models can be stored, what a fit leaves in each, and which of them are linear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Array
from discreet.errors import InputError, InputTypeError
from discreet.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearClassifier,
    LinearRegressor,
    LogisticRegression,
    LowRankRegressor,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    SimplexRegression,
)
from discreet.location import GeometricMedian, Location, Median, Quantile, Threshold
from discreet.preprocessing import BoundedScaler
from discreet.svm import LinearSVC

NOT_STORED = ("ledger", "rehearsal")
"""Arguments that are left out: where a fit was paid for, and the seed of a rehearsal."""

COLUMNS = frozenset(["n_features_in_"])
NAMES = frozenset(["feature_names_in_"])
CLASSIFIERS = (LogisticRegression, LinearClassifier, LinearSVC)
REGRESSORS = (
    *(Ridge, HuberRegressor, QuantileRegressor, PoissonRegressor, LinearRegressor),
    *(Lasso, ElasticNet, SimplexRegression, LowRankRegressor),
)
LOCATIONS = (Median, Quantile, Location, GeometricMedian)


@dataclass(frozen=True)
class ModelKind:
    """A class of models and the attributes that a fit leaves."""

    model: type[Any]
    learnt: frozenset[str]
    optional: frozenset[str] = NAMES
    is_released: bool = True


def _kinds() -> dict[str, ModelKind]:
    classifying = {"coef_", "intercept_", "classes_", "multiclass_"}
    kinds = [ModelKind(model, COLUMNS | classifying) for model in CLASSIFIERS]
    kinds += [ModelKind(model, COLUMNS | {"coef_", "intercept_"}) for model in REGRESSORS]
    kinds += [ModelKind(model, COLUMNS | {"location_"}) for model in LOCATIONS]
    drawn = {"threshold_", "column_", "direction_", "classes_"}
    kinds.append(ModelKind(Threshold, COLUMNS | drawn))
    kinds.append(ModelKind(BoundedScaler, frozenset(), NAMES | COLUMNS, is_released=False))
    return {kind.model.__name__: kind for kind in kinds}


KINDS = _kinds()
"""Every class of models that can be stored."""


def kind_of(model: Any) -> ModelKind:
    """Return what is known about a fitted model, or refuse it.

    Examples
    --------
    >>> from discreet.preprocessing import Numeric
    >>> kind_of(BoundedScaler([Numeric(0, 1)])).is_released
    False
    """
    kind = KINDS.get(type(model).__name__)
    if kind is None or kind.model is not type(model):
        raise InputTypeError(
            f"only this library's own models can be stored, {', '.join(sorted(KINDS))}; got a "
            f"value of type {type(model).__name__}."
        )
    missing = kind.learnt - set(vars(model))
    if missing or (kind.is_released and "release_" not in vars(model)):
        raise InputError(f"this {type(model).__name__} is not fitted; call fit before save.")
    return kind


def fitted_attributes(model: Any, kind: ModelKind) -> dict[str, Any]:
    """Return what a fit left in a model, refusing what this library did not put there."""
    known = kind.learnt | kind.optional | {"release_", "privacy_"}
    found = {name: value for name, value in vars(model).items() if name.endswith("_")}
    unknown = sorted(set(found) - known)
    if unknown:
        raise InputError(f"this model has {unknown}, which fits of this library do not leave.")
    return {name: found[name] for name in found if name not in ("release_", "privacy_")}


def check_linear(model: Any, what: str) -> None:
    """Raise unless the model is a fitted linear one."""
    kind = kind_of(model)
    if kind.model not in (*CLASSIFIERS, *REGRESSORS):
        raise InputError(f"{what} is for linear models; store a {kind.model.__name__} with save().")


def coefficients(model: Any) -> tuple[Array, Array]:
    """Return a row of coefficients, and an intercept, for each class or target."""
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    return coef, np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(coef),))

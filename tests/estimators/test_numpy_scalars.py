"""A parameter may be a scalar of NumPy: what a number is, not who made it, decides."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from discreet import LinearClassifier, LinearRegressor
from discreet.artifact import load, save
from discreet.estimators.registry import all_estimators
from discreet.preprocessing import Numeric
from support.estimators import ABOUT_X, X, labels_for, learnt, make, rehearsal

GIVEN = {
    "n_features_to_select": 2,
    **ABOUT_X, "max_rows": 5000, "rehearsal": 3, "steps": 1000, "alpha": 500.0, "C": 0.001,
    "threshold": 0.5, "max_weight": 2.0, "expected_rows": 300, "entropy": 100.0, "smoothing": 0.1,
    "q": 0.3, "quantile": 0.3,
}  # fmt: skip
"""Values of parameters that are None by default, or need another to be accepted."""


def scalar(value):
    """Return the same value as NumPy would, None if it is no number."""
    if isinstance(value, (bool, int, float)):
        return np.array(value)[()]
    if isinstance(value, tuple):
        return tuple(np.array(end)[()] for end in value)
    return None


def narrow(value):
    """Return a value in single precision, and what it is in double."""
    if isinstance(value, tuple):
        return tuple(map(np.float32, value)), tuple(float(np.float32(end)) for end in value)
    return np.float32(value), float(np.float32(value))


def numbers(kind):
    """Yield every parameter that takes a number, with one that it takes."""
    for name, parameter in inspect.signature(kind).parameters.items():
        value = GIVEN.get(name, parameter.default)
        if scalar(value) is not None:
            yield name, value


CASES = [(kind, name, value) for kind in all_estimators() for name, value in numbers(kind)]


@rehearsal
@pytest.mark.parametrize(("kind", "name", "value"), CASES)
def test_every_parameter_takes_a_scalar_of_numpy(kind, name, value):
    told = {"max_rows": 5000, "rehearsal": 3, "delta": 1e-9}
    plain, other = (
        make(kind, **{**told, name: given}).fit(X, labels_for(kind))
        for given in (value, scalar(value))
    )
    np.testing.assert_array_equal(learnt(other), learnt(plain))


@rehearsal
@pytest.mark.parametrize(
    ("kind", "name", "value"), [case for case in CASES if type(case[2]) in (float, tuple)]
)
def test_a_scalar_of_single_precision_is_computed_with_in_double(kind, name, value):
    told = {"max_rows": 5000, "rehearsal": 3, "delta": 1e-9}
    one, other = (
        make(kind, **{**told, name: given}).fit(X, labels_for(kind)) for given in narrow(value)
    )
    np.testing.assert_array_equal(learnt(one), learnt(other))


@rehearsal
@pytest.mark.parametrize("kind", all_estimators())
def test_a_model_of_such_scalars_is_stored(kind, tmp_path):
    told = {name: scalar(ABOUT_X.get(name, value)) for name, value in numbers(kind)
            if name in ("epsilon", "delta", "max_rows", "verbose", *ABOUT_X)}  # fmt: skip
    model = make(kind, **told, rehearsal=np.int64(1)).fit(X, labels_for(kind))
    again = load(save(model, tmp_path / "model"))
    np.testing.assert_array_equal(learnt(again), learnt(model))


@rehearsal
@pytest.mark.parametrize("kind", [LinearClassifier, LinearRegressor])
@pytest.mark.parametrize("delta", [np.float64(0.0), np.float64(1e-6), np.float32(1e-6)])
def test_so_do_estimators_of_columns(kind, delta):
    columns = [Numeric(np.float64(-1), np.int64(1))] * 3
    told = {"epsilon": np.int64(1), "columns": columns, "max_rows": 5000, "rehearsal": 0}
    one, other = (
        make(kind, delta=given, **told).fit(X, labels_for(kind)) for given in (delta, float(delta))
    )
    np.testing.assert_array_equal(learnt(one), learnt(other))


@pytest.mark.parametrize("name", ["epsilon", "delta", "data_norm", "max_rows"])
def test_a_truth_value_is_no_number(name):
    for wrong in (True, np.True_):
        with pytest.raises(TypeError, match=f"{name} must be a"):
            make(LinearClassifier, **{name: wrong}).fit(X, labels_for(LinearClassifier))

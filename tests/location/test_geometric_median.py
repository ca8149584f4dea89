"""The geometric median: rules, guarantees, accuracy, mistakes."""

from __future__ import annotations

import inspect
import math
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from discreet import MemoryLedger
from discreet.errors import CalibrationError, InputError, InputTypeError
from discreet.location import GeometricMedian
from discreet.privacy import Budget

rehearsal = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
CENTRE = np.array([1.0, -2.0, 0.5])
X = np.random.default_rng(0).standard_t(1.2, size=(2000, 3)) + CENTRE


def weiszfeld(rows):
    point = np.median(rows, axis=0)
    for _ in range(500):
        weights = 1 / np.maximum(np.linalg.norm(rows - point, axis=1), 1e-12)
        point = weights @ rows / weights.sum()
    return point


TRUE = weiszfeld(X)


def test_every_parameter_is_documented_and_has_the_usual_default():
    parameters = inspect.signature(GeometricMedian).parameters
    words = inspect.getdoc(GeometricMedian)
    assert [name for name in parameters if name not in words] == []
    usual = {"epsilon": 1.0, "delta": 1e-9, "unit": "add_remove", "ledger": None, "verbose": 0}
    assert {name: parameters[name].default for name in usual} == usual


@pytest.mark.parametrize("unit", ["add_remove", "replace"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_fit_costs_the_epsilon_asked_and_no_more(unit, delta):
    fit = GeometricMedian(0.7, delta, radius=10.0, unit=unit).fit(X)
    assert 0.69 <= fit.privacy_.epsilon(delta) <= 0.7
    assert fit.privacy_.unit.name == unit
    public = {"location_", "n_features_in_", "release_", "privacy_"}
    assert set(vars(fit)) - set(fit.get_params()) == public
    assert fit.location_.shape == (3,)


def test_without_noise_it_is_the_geometric_median():
    fit = GeometricMedian(math.inf, radius=10.0).fit(X)
    np.testing.assert_allclose(fit.location_, TRUE, rtol=0, atol=1e-6)
    assert not fit.release_.is_private


@rehearsal
@pytest.mark.parametrize(("delta", "within"), [(1e-6, 0.03), (0.0, 0.12)])
def test_heavy_tails_do_not_pull_it_about(delta, within):
    """The mean of these rows, without any noise, is much farther off."""
    errors = [
        np.linalg.norm(
            GeometricMedian(1.0, delta, radius=10.0, rehearsal=seed).fit(X).location_ - TRUE
        )
        for seed in range(5)
    ]
    assert np.sqrt(np.mean(np.square(errors))) < within
    assert np.linalg.norm(X.mean(axis=0) - CENTRE) > 4 * within


@rehearsal
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_every_kind_of_table_gives_the_same_answer(delta):
    pd = pytest.importorskip("pandas")
    model = GeometricMedian(1.0, delta, radius=10.0, rehearsal=5)
    dense = model.fit(X).location_
    for table in (pd.DataFrame(X, columns=list("abc")), X.tolist(), sparse.csr_array(X)):
        # Rows beyond the bound would be clipped by other roundings; these are not.
        np.testing.assert_allclose(clone(model).fit(table).location_, dense, rtol=0, atol=1e-4)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.location_, dense)


ODD = {
    "zeros": np.zeros((30, 2)),
    "one row": X[:1],
    "not finite": np.full((30, 2), math.nan),
    "far out": X * 1e300,
    "tiny": X * 5e-324,
    "one column": X[:, :1],
}


@pytest.mark.parametrize("rows", ODD.values(), ids=ODD)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_odd_rows_give_a_private_point_of_the_ball(rows, delta):
    fit = GeometricMedian(1.0, delta, radius=2.0).fit(rows)
    assert np.linalg.norm(fit.location_) <= 2.0 * (1 + 1e-9)
    assert fit.release_.is_private


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"radius": 0.0}, InputError, "radius"),
        ({"radius": math.inf}, InputError, "radius"),
        ({"radius": "1"}, InputTypeError, "radius"),
        ({"smoothing": 0.0}, InputError, "smoothing"),
        ({"smoothing": 1.0, "mechanism": "noisy_gradient"}, InputError, "needs no smoothing"),
        ({"mechanism": "magic"}, InputError, "mechanism must be one of"),
        ({"mechanism": "noisy_gradient", "delta": 0.0}, CalibrationError, "needs delta > 0"),
        ({"max_rows": 0}, InputError, "max_rows"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_refused_before_anything_is_charged(wrong, error, says):
    ledger = MemoryLedger(Budget(10.0, 1e-3))
    with pytest.raises(error, match=says):
        GeometricMedian(ledger=ledger, **({"radius": 1.0} | wrong)).fit(X)
    assert ledger.history() == ()

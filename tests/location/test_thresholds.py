"""Locations of least loss and thresholds: parameters, guarantees, accuracy, mistakes."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from discreet import MemoryLedger
from discreet.errors import BudgetExceeded, InputError, InputTypeError
from discreet.location import Location, Threshold
from discreet.losses import Hinge, Huber, Pinball, Squared
from discreet.privacy import Budget

rehearsal = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
X = np.random.default_rng(0).normal(40.0, 10.0, size=(400, 2))
y = np.where(X[:, 1] > 45.0, "old", "young")
AGES = (0.0, 120.0)


@pytest.mark.parametrize("model", [Location, Threshold])
def test_every_parameter_is_documented_and_has_the_usual_default(model):
    parameters = inspect.signature(model).parameters
    assert [name for name in parameters if name not in inspect.getdoc(model)] == []
    usual = {"epsilon": 1.0, "delta": 1e-9, "unit": "add_remove", "ledger": None, "verbose": 0}
    assert {name: parameters[name].default for name in usual} == usual


@pytest.mark.parametrize("unit", ["add_remove", "replace"])
@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_a_fit_costs_the_epsilon_asked_and_no_more(unit, delta):
    for fit in (
        Location(Huber(5.0), epsilon=0.5, delta=delta, bounds=AGES, unit=unit).fit(X),
        Threshold(0.5, delta, bounds=AGES, unit=unit).fit(X, y),
    ):
        assert 0.99 * 0.5 <= fit.privacy_.epsilon(delta) <= 0.5
        assert fit.privacy_ == fit.release_.guarantee
        assert fit.release_.is_private


@pytest.mark.parametrize(
    ("loss", "expected"),
    [("squared", X.mean(axis=0)), (Huber(1000.0), X.mean(axis=0)), ("absolute", np.median(X, 0))],
    ids=str,
)
def test_without_noise_it_is_the_point_of_least_loss(loss, expected):
    fit = Location(loss, epsilon=math.inf, bounds=AGES).fit(X)
    np.testing.assert_allclose(fit.location_, expected, atol=0.5)


@rehearsal
def test_high_budgets_give_the_point_of_least_loss():
    fit = Location("squared", epsilon=1e3, delta=0.0, bounds=AGES, rehearsal=0).fit(X)
    np.testing.assert_allclose(fit.location_, X.mean(axis=0), atol=0.5)
    fit = Location(Pinball(0.9), epsilon=1e3, delta=0.0, bounds=AGES, rehearsal=0).fit(X)
    assert np.abs((fit.location_ > X).mean(axis=0) - 0.9).max() < 0.02


def test_the_best_threshold_is_found_without_noise():
    fit = Threshold(math.inf, bounds=AGES).fit(X, y)
    assert fit.column_ == 1
    assert fit.direction_ == -1  # above the threshold they are "old", the first class
    assert fit.score(X, y) == 1.0
    opposite = Threshold(math.inf, bounds=AGES).fit(X, X[:, 1] > 45.0)
    assert opposite.direction_ == 1
    assert opposite.threshold_ == fit.threshold_


@rehearsal
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_a_private_threshold_makes_few_errors_more(unit):
    """Errors exceed ln(candidates/chance)/rate with that chance: 400 rows, a hundred thousandth."""
    model = Threshold(2.0, 0.0, bounds=AGES, unit=unit, steps=1200)
    rate = 2.0 if unit == "add_remove" else 1.0
    allowed = (math.log(2 * 2 * 1202) + math.log(1e5)) / rate
    for seed in range(10):
        fit = clone(model).set_params(rehearsal=seed).fit(X, y)
        assert (fit.predict(X) != y).sum() <= allowed


@rehearsal
def test_every_kind_of_table_gives_the_same_answer():
    pd = pytest.importorskip("pandas")
    frame, scarce = pd.DataFrame(X, columns=["a", "b"]), sparse.csr_array(X)
    model = Location("absolute", bounds=AGES, rehearsal=3)
    dense = model.fit(X).location_
    stump = Threshold(bounds=AGES, rehearsal=3)
    threshold = stump.fit(X, y).threshold_
    for table in (frame, scarce, X.tolist()):
        np.testing.assert_array_equal(clone(model).fit(table).location_, dense)
        fit = clone(stump).fit(table, y)
        assert fit.threshold_ == threshold
        np.testing.assert_array_equal(fit.predict(table), stump.predict(X))


@rehearsal
def test_values_and_labels_that_are_not_declared_are_no_error():
    broken, labels = X.copy(), y.astype(object)
    broken[::7, 0], broken[3, 1], labels[5] = np.nan, np.inf, "unknown"
    assert np.isfinite(Location(bounds=AGES, rehearsal=1).fit(broken).location_).all()
    stump = Threshold(bounds=AGES, classes=["old", "young"], rehearsal=1)
    assert np.isfinite(stump.fit(broken, labels).threshold_)


def test_a_ledger_pays_and_refuses():
    ledger = MemoryLedger(Budget(2.5), "add_remove")
    Location("squared", epsilon=1.0, delta=0.0, bounds=AGES, ledger=ledger).fit(X[:, [0]])
    Threshold(1.0, 0.0, bounds=AGES, ledger=ledger).fit(X, y)
    with pytest.raises(BudgetExceeded):
        Threshold(1.0, 0.0, bounds=AGES, ledger=ledger).fit(X, y)
    assert [entry.purpose for entry in ledger.history()] == ["Location", "Threshold"]


SHARED = [
    ({"bounds": (0.0, math.inf)}, InputError, "two finite numbers"),
    ({"bounds": (2.0, 1.0)}, InputError, "a low number below a high one"),
    ({"bounds": ([0, 0, 0], [1, 1, 1])}, InputError, "bounds name 3 columns; X has 2"),
    ({"epsilon": 0.0}, InputError, "epsilon must be positive"),
    ({"delta": 1.0}, InputError, "delta"),
    ({"unit": "person"}, InputError, "unit"),
    ({"max_rows": 0}, InputError, "max_rows"),
    ({"rehearsal": 0.5}, InputTypeError, "rehearsal"),
    ({"verbose": -1}, InputError, "verbose"),
]


@pytest.mark.parametrize(
    ("model", "parameters", "error", "says"),
    [
        *((Location, *each) for each in SHARED),
        *((Threshold, *each) for each in SHARED),
        (Location, {"loss": "cubic"}, InputError, "squared"),
        (Location, {"loss": 3}, InputError, "Huber"),
        (Location, {"loss": Hinge()}, InputError, "classes"),
        (Location, {"loss": Squared(1.0)}, InputError, "labels between"),
        (Threshold, {"steps": 0}, InputError, "steps must be at least 1"),
        (Threshold, {"steps": 2.5}, InputTypeError, "steps must be a whole number"),
        (Threshold, {"classes": ["a", "b", "c"]}, InputError, "Only binary"),
        (Threshold, {"classes": ["a"]}, InputError, "two classes"),
    ],
    ids=str,
)
def test_mistakes_are_named_before_anything_is_paid(model, parameters, error, says):
    ledger = MemoryLedger(Budget(10.0, 1e-6), "add_remove")
    with pytest.raises(error, match=says):
        model(**({"bounds": AGES, "ledger": ledger} | parameters)).fit(X, y)
    assert ledger.history() == ()

"""Oracles as estimators: classes and numbers, declared columns, stores and copies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from discreet.errors import InputError, InteractionEnded, NotAccepted, StoreError
from discreet.estimators.registry import all_estimators, all_oracles
from discreet.kernel import BoundedUpdateOracle, GaussianProcessOracle, open_oracle
from discreet.kernels import RBF, Linear, Polynomial
from discreet.ledger import MemoryLedger
from discreet.losses import PseudoHuber
from discreet.privacy import Budget

GENERATOR = np.random.default_rng(0)
X = GENERATOR.uniform(-0.7, 0.7, size=(800, 2))
INSIDE = (X**2).sum(axis=1) < 0.25
CLASSES = np.where(INSIDE, "in", "out")
GENEROUS = {"epsilon": 1000.0, "delta": 1e-3, "C": 1.0, "rehearsal": 1}

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")


def test_classes_are_told_apart_where_there_is_little_noise():
    model = GaussianProcessOracle(
        data_norm=1.0, kernel=RBF(4.0), classes=["in", "out"], max_queries=50, **GENEROUS
    ).fit(X, CLASSES)
    assert (model.predict(X[:50]) == CLASSES[:50]).mean() > 0.9
    assert (model.n_answers_, model.status_) == (50, "frozen")
    assert (model.predict(X[50:150]) == CLASSES[50:150]).mean() > 0.8  # interpolated


@pytest.mark.parametrize("loss", [None, "absolute"])
def test_numbers_are_predicted_in_their_own_units(loss):
    target = 100 + 20 * X[:, 0]
    model = GaussianProcessOracle(
        data_norm=1.0, kernel=Linear(), target_range=(80, 120), loss=loss, **GENEROUS
    ).fit(X, target)
    assert np.abs(model.predict(X[:20]) - target[:20]).max() < 3


def test_rows_are_asked_about_by_their_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    ages = GENERATOR.uniform(20, 80, size=500)
    smokes = GENERATOR.choice(["no", "yes"], size=500)
    table = pandas.DataFrame({"age": ages, "smokes": smokes})
    columns = {"age": (18, 100), "smokes": ["no", "yes"]}
    store = tmp_path / "a.oracle"
    model = GaussianProcessOracle(
        1.0, 1e-6, columns=columns, classes=[False, True], store=store, max_rows=1000
    ).fit(table, ages > 50)
    told = model.ask([{"age": 61, "smokes": "yes"}, {"smokes": "no", "age": 30}])
    again = open_oracle(store)
    np.testing.assert_array_equal(again.ask([{"smokes": "yes", "age": 61}]), told[:1])
    row = pandas.DataFrame({"age": [30], "smokes": ["no"]})
    np.testing.assert_array_equal(again.ask(row), told[1:])
    assert again.n_answers_ == 2
    assert again.classes_.tolist() == [False, True]
    for wrong in ([{"age": 61}], [{"age": 61, "smokes": "no", "more": 1}]):
        with pytest.raises(InputError, match="must have the columns"):
            again.ask(wrong)
    with pytest.raises(StoreError, match="holds an oracle already"):
        clone(model).fit(table, ages > 50)


def test_copies_have_what_is_public_and_cannot_be_asked():
    model = GaussianProcessOracle(1.0, 1e-6, data_norm=1.0, classes=["in", "out"]).fit(X, CLASSES)
    for one in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert one.privacy_ == model.privacy_
        with pytest.raises(InteractionEnded, match="a copy"):
            one.ask(X[:1])
    assert len(model.ask(X[:1])) == 1


def test_a_fit_pays_once_and_queries_nothing():
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    model = GaussianProcessOracle(1.0, 1e-6, data_norm=1.0, ledger=ledger, classes=["in", "out"])
    model.fit(X, CLASSES).ask(X[:30])
    assert len(ledger.history()) == 1
    assert model.privacy_.epsilon(1e-6) <= 1.0
    assert model.freeze().value.shape == (30, 3)


def test_bounded_updates_say_that_the_other_one_is_more_accurate():
    model = BoundedUpdateOracle(
        1.0, 1e-6, data_norm=1.0, classes=["in", "out"], max_updates=3, may_be_constant=True
    )
    with pytest.warns(UserWarning, match="more accurately"):
        model.fit(X, CLASSES)
    assert model.oracle_.declared.plan.updates == 3


@pytest.mark.parametrize("kernel", [None, Polynomial(degree=3), Linear()], ids=repr)
def test_feature_vectors_within_the_bounds_are_not_clipped(kernel):
    model = GaussianProcessOracle(data_norm=1.0, kernel=kernel, classes=[0, 1])
    bounded = model.bounded_kernel(2)
    edge = np.array([[0.6, 0.8], [0.0, 1.0]])
    np.testing.assert_allclose(bounded.factors(edge), 1.0, rtol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"classes": ["a", "b", "c"]}, "two classes"),
        ({"classes": [0, 1], "target_range": (0, 1)}, "not both"),
        ({}, "classes"),
        ({"classes": [0, 1], "max_queries": 0}, "max_queries"),
        ({"classes": [0, 1], "loss": "squared"}, "loss must be one of"),
        ({"classes": [0, 1], "loss": "huber"}, "loss must be one of"),
    ],
)
def test_wrong_declarations_are_refused_before_anything_is_paid(parameters, words):
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    model = GaussianProcessOracle(1.0, 1e-6, data_norm=1.0, ledger=ledger, **parameters)
    with pytest.raises(InputError, match=words):
        model.fit(X, INSIDE.astype(int))
    assert ledger.history() == ()


def test_a_loss_without_a_solver_is_refused_before_anything_is_paid():
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    model = GaussianProcessOracle(
        1.0, 1e-6, data_norm=1.0, ledger=ledger, target_range=(0, 1), loss=PseudoHuber(0.1)
    )
    with pytest.raises(NotAccepted, match="no solver for kernels"):
        model.fit(X, INSIDE.astype(float))
    assert ledger.history() == ()


def test_oracles_are_listed_apart():
    assert set(all_oracles()) == {GaussianProcessOracle, BoundedUpdateOracle}
    assert not set(all_oracles()) & set(all_estimators())

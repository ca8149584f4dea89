"""What is stored of a fitted model: enough to predict and to promise, and not where it was paid."""

from __future__ import annotations

import copy
import io
import pickle
import zipfile

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from artifact.test_folder import MODELS, SIGNAL, TWO, X, answers, fitted
from discreet.artifact import load, save
from discreet.compat import diffprivlib as dp
from discreet.errors import PrivacyError
from discreet.ledger import Ledger, MemoryLedger
from discreet.linear_model import LogisticRegression, Ridge
from discreet.location import Median, Threshold
from discreet.privacy import Budget

CANARY = "canary-3f9c"
RELEASED = [name for name in MODELS if "scaler" not in name]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    place = tmp_path_factory.mktemp(CANARY) / "books.db"
    return Ledger.create(place, Budget(1000.0, 1e-3), dataset="patients")


def joblib_bytes(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    return file.getvalue()


def skops_bytes(model):
    """Return the parts of a skops file, unpacked."""
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(model))) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def stored_forms(model):
    """Return a model as everything that it may be stored as."""
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.dumps(model, protocol)
    yield joblib_bytes(model)
    yield skops_bytes(model)


def paid_by(name, ledger):
    """Return a fitted model as if this ledger had paid for it."""
    return copy.copy(fitted(name)).set_params(ledger=ledger)


def test_the_canary_would_be_found(ledger):
    assert all(
        CANARY.encode()
        in pickle.dumps(Ridge(ledger=ledger, data_norm=1.0, target_range=(-1.0, 1.0)), n)
        for n in range(6)
    )


@pytest.mark.parametrize("name", RELEASED)
def test_no_stored_form_says_where_the_ledger_is(name, ledger, tmp_path):
    model = paid_by(name, ledger)
    inside = make_pipeline(FunctionTransformer(), model)
    assert not [1 for form in stored_forms(model) if CANARY.encode() in form]
    assert CANARY.encode() not in pickle.dumps(inside)
    folder = save(model, tmp_path / "model")
    assert not [1 for file in folder.iterdir() if CANARY.encode() in file.read_bytes()]


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LogisticRegression(delta=0.0, data_norm=1.0), TWO),
        (Median(bounds=(-1.0, 1.0)), None),
        (Threshold(bounds=(-1.0, 1.0)), TWO),
        (dp.LogisticRegression(data_norm=1.0, unit="add_remove"), TWO),
        (dp.LinearRegression(bounds_X=(-1, 1), bounds_y=(-1, 1), unit="add_remove"), SIGNAL),
    ],
    ids=lambda value: type(value).__module__ if hasattr(value, "fit") else "",
)
def test_nor_does_a_model_that_it_really_paid_for(model, y, ledger):
    name = "accountant" if "accountant" in model.get_params() else "ledger"
    model = clone(model).set_params(**{name: ledger}).fit(X, y)
    assert model.release_.ledger == ledger.identity
    assert not [1 for form in stored_forms(model) if CANARY.encode() in form]
    again = pickle.loads(pickle.dumps(model))
    assert again.release_.to_json() == model.release_.to_json()
    for other in (again, clone(again), copy.copy(again), pickle.loads(pickle.dumps(again))):
        with pytest.raises(PrivacyError, match="name the ledger with set_params"):
            other.fit(X, y)
    before = len(ledger.history())
    again.set_params(**{name: ledger}).fit(X, y)
    assert len(ledger.history()) == before + 1


@pytest.mark.parametrize("name", RELEASED)
def test_copies_and_clones_keep_the_ledger(name, ledger):
    model = paid_by(name, ledger)
    for other in (copy.copy(model), copy.deepcopy(model), clone(model)):
        assert other.ledger is ledger
    again = copy.deepcopy(model)
    assert set(vars(again)) == set(vars(model))
    for one, other in zip(answers(model, name), answers(again, name), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_deep_copy_shares_nothing_and_a_shallow_one_everything(ledger):
    model = paid_by("ridge in a ball", ledger)
    assert copy.copy(model).coef_ is model.coef_
    deep = copy.deepcopy([model, model])
    assert deep[0] is deep[1]
    assert deep[0].coef_ is not model.coef_


def test_an_estimator_that_is_not_fitted_takes_its_ledger_along(ledger):
    again = pickle.loads(
        pickle.dumps(Ridge(ledger=ledger, data_norm=1.0, target_range=(-1.0, 1.0)))
    )
    before = len(ledger.history())
    again.fit(X, SIGNAL)
    assert len(ledger.history()) == before + 1


def test_a_model_that_nobody_paid_for_needs_no_ledger_afterwards():
    again = pickle.loads(
        pickle.dumps(Ridge(delta=0.0, data_norm=1.0, target_range=(-1.0, 1.0)).fit(X, SIGNAL))
    )
    assert again.ledger is None
    assert again.fit(X, SIGNAL).release_.is_private


def test_a_model_from_a_folder_is_not_fitted_again_without_books(tmp_path):
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    again = load(
        save(
            Ridge(ledger=ledger, data_norm=1.0, target_range=(-1.0, 1.0)).fit(X, SIGNAL),
            tmp_path / "model",
        )
    )
    with pytest.raises(PrivacyError, match="name the ledger with set_params"):
        again.fit(X, SIGNAL)
    again.set_params(ledger=ledger, epsilon=0.5).fit(X, SIGNAL)
    assert len(ledger.history()) == 2


def arguments_of(value):
    """Return the types of this library inside of an argument."""
    if isinstance(value, dict | list | tuple):
        parts = value.values() if isinstance(value, dict) else value
        return set().union(*map(arguments_of, parts), set())
    kind = type(value)
    is_ours = kind.__module__.startswith("discreet.")
    return {f"{kind.__module__}.{kind.__qualname__}"} if is_ours else set()


@pytest.mark.parametrize("name", MODELS)
def test_skops_loads_what_it_stored_and_trusts_the_estimator_alone(name):
    model = fitted(name)
    data = skops.io.dumps(model)
    trusted = skops.io.get_untrusted_types(data=data)
    declared = arguments_of(model.get_params(deep=False))
    assert set(trusted) == {f"{type(model).__module__}.{type(model).__qualname__}"} | declared
    again = skops.io.loads(data, trusted=trusted)
    for one, other in zip(answers(model, name), answers(again, name), strict=True):
        np.testing.assert_array_equal(one, other)
    assert set(vars(again)) == set(vars(model))
    if hasattr(model, "release_"):
        assert again.release_.to_json() == model.release_.to_json()
        assert again.privacy_ is again.release_.guarantee


def test_skops_loads_a_pipeline_and_the_adapters():
    pipeline = make_pipeline(
        FunctionTransformer(), Ridge(delta=0.0, data_norm=1.0, target_range=(-1.0, 1.0))
    ).fit(X, SIGNAL)
    adapter = dp.LogisticRegression(data_norm=1.0).fit(X, TWO)
    for model in (pipeline, adapter):
        data = skops.io.dumps(model)
        again = skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))

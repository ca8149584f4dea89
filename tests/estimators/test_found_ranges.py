"""Ranges within public bounds: found by a fit, kept in its release, used by predictions."""

from __future__ import annotations

import dataclasses
import math
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from discreet import (
    Budget,
    Category,
    LinearClassifier,
    LinearRegressor,
    MemoryLedger,
    Numeric,
    check,
)
from discreet.artifact import load, save, to_onnx
from discreet.errors import BudgetExceeded, InputError, InputTypeError
from discreet.planning import Planner, PublicFacts
from discreet.preprocessing import BoundedScaler
from discreet.preprocessing.sought_column import SoughtColumn
from discreet.report import card
from discreet.svm import LinearSVC
from support.estimators import WITH_COLUMNS, coefficients, rehearsal

_GENERATOR = np.random.default_rng(6)
N = 2000
AGE, PAY = _GENERATOR.normal(50, 10, N), _GENERATOR.uniform(1000, 3000, N)
TOWN = _GENERATOR.choice(["a", "b"], N)
SCORE = (AGE - 50) / 10 + (PAY - 2000) / 1000 + (TOWN == "b") - 0.5
PAY[:40], AGE[40:50], AGE[50:60] = np.nan, np.inf, -1e300
FOUND = {
    "age": Numeric(None, None, public_bounds=(0, 1000)),
    "town": Category(["a", "b"]),
    "pay": Numeric(None, None, fill=1500, public_bounds=(0, 1e5)),
}
every_model = pytest.mark.parametrize("model", WITH_COLUMNS)


def rows():
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({"age": AGE, "town": TOWN, "pay": PAY})


def make(model, **more):
    own = {"target_range": (-4.0, 4.0)} if model is LinearRegressor else {"classes": [False, True]}
    return model(**{"epsilon": 2.0, "columns": FOUND, **own, **more})


def labels(model):
    return SCORE if model is LinearRegressor else SCORE > 0


@rehearsal
@every_model
@pytest.mark.parametrize(("unit", "delta"), [("add_remove", 0.0), ("replace", 1e-6)])
def test_ranges_are_found_and_predictions_are_those_of_a_model_with_these_ranges(
    model, unit, delta
):
    # Fixed rehearsal noise; at this epsilon ends are found within a few ranks.
    fit = make(model, epsilon=60.0, delta=delta, unit=unit, rehearsal=3).fit(rows(), labels(model))
    (youngest, oldest), (least, most) = fit.ranges_
    assert 15 < youngest < 35
    assert 65 < oldest < 85
    assert 700 < least < 1300
    assert 2700 < most < 3400
    told = {**FOUND, "age": Numeric(youngest, oldest), "pay": Numeric(least, most, fill=1500)}
    known = make(model, columns=told)
    known.__dict__.update(
        {name: value for name, value in vars(fit).items() if name.endswith("_")}, ranges_=None
    )
    hostile = rows().iloc[:100]
    np.testing.assert_array_equal(fit.predict(hostile), known.predict(hostile))
    assert fit.score(rows(), labels(model)) > 0.8


@every_model
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_one_charge_pays_for_ranges_and_model_and_the_release_holds_both(model, delta):
    ledger = MemoryLedger(Budget(2.0, delta))
    fit = make(model, delta=delta, ledger=ledger).fit(rows(), labels(model))
    assert len(ledger.history()) == 1
    # Pure noise, which a regression may choose with a delta too, adds its epsilon to the draws.
    least = 1.9 if model is LinearRegressor else 1.998
    assert least <= fit.privacy_.epsilon(delta) <= 2.0
    shares = np.asarray(fit.release_.value)[-4:].reshape(2, 2)
    ends = [1000 * (shares[0] + 1) / 2, 1e5 * (shares[1] + 1) / 2]
    np.testing.assert_allclose(fit.ranges_, ends, rtol=1e-12)
    assert "2 ranges found first, for 6% of the budget" in fit.release_.reason
    facts = {fact.what: fact.words for fact in fit.release_.facts}
    assert facts["column age"] == "numbers within 0 and 1000, whose range is found privately"
    assert "found privately" in card(fit.release_).markdown()


@every_model
def test_no_cell_is_read_before_the_ledger_is_charged(model, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("cells were read")

    monkeypatch.setattr(SoughtColumn, "encode", fail)
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    with pytest.raises(BudgetExceeded):
        make(model, ledger=ledger).fit(rows(), labels(model))
    assert ledger.history() == ()


@rehearsal
@every_model
def test_files_dask_arrays_and_copies_give_the_same_ranges(model, tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    table = rows().assign(y=labels(model))
    table.to_parquet(tmp_path / "table.parquet", row_group_size=300)
    learner = make(model, rehearsal=1)
    held = clone(learner).fit(rows(), labels(model))
    listed = clone(learner).set_params(columns=list(FOUND.values()))
    listed.fit(rows().to_numpy(dtype=object), labels(model))
    read = clone(learner).fit(str(tmp_path / "table.parquet"), target="y")
    spread = clone(learner).fit(dask.from_pandas(table, npartitions=3), target="y")
    for other in (listed, read, spread):
        np.testing.assert_array_equal(other.ranges_, held.ranges_)
        np.testing.assert_allclose(coefficients(other), coefficients(held), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(
        np.asarray(spread.predict(dask.from_pandas(rows(), npartitions=2))), held.predict(rows())
    )


@rehearsal
@pytest.mark.parametrize("model", [LinearClassifier, LinearSVC])
def test_several_classes_share_the_ranges(model):
    three = np.digitize(SCORE, [-0.5, 0.5])
    fit = make(model, classes=[0, 1, 2], rehearsal=1, epsilon=20.0).fit(rows(), three)
    assert fit.ranges_.shape == (2, 2)
    assert fit.coef_.shape == (3, 4)
    assert fit.released_model().shape == (3, 5)
    assert fit.release_.value.shape == (3 * 5 + 4,)
    assert fit.score(rows(), three) > 0.6


@rehearsal
def test_ranges_are_not_sought_where_too_few_rows_are_expected():
    pd = pytest.importorskip("pandas")
    few = make(LinearClassifier, expected_rows=300, rehearsal=1).fit(rows(), SCORE > 0)
    assert few.ranges_.tolist() == [[0, 1000], [0, 1e5]]
    assert "ranges not sought: too few rows for this budget" in few.release_.reason
    told = {**FOUND, "age": Numeric(0, 1000), "pay": Numeric(0, 1e5, fill=1500)}
    known = make(LinearClassifier, columns=told, expected_rows=300, rehearsal=1).fit(
        rows(), SCORE > 0
    )
    np.testing.assert_allclose(few.coef_, known.coef_, rtol=1e-6, atol=1e-9)
    # Where the number of rows is public, that is what is expected.
    tenth = pd.concat([rows()] * 10)
    for table, is_sought in ((rows(), False), (tenth, True)):
        model = make(LinearSVC, epsilon=0.2, unit="replace", rehearsal=1)
        fit = model.fit(table, np.resize(SCORE > 0, len(table)))
        assert ("ranges found first" in fit.release_.reason) == is_sought


@rehearsal
def test_a_fit_without_public_bounds_leaves_no_ranges_behind():
    model = make(LinearClassifier, rehearsal=1).fit(rows(), SCORE > 0)
    assert model.ranges_ is not None
    told = {**FOUND, "age": (18, 90), "pay": (0, 4000)}
    with pytest.raises(InputError, match="columns changed after the fit"):
        model.set_params(columns=told).predict(rows())
    model.fit(rows(), SCORE > 0)
    assert model.ranges_ is None


@rehearsal
@pytest.mark.parametrize("cells", [[np.nan] * 3, [7.0] * 3, [np.inf, -np.inf, 1e308]])
@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_odd_and_few_rows_are_no_error(cells, epsilon):
    column = np.array(cells)[:, None]
    model = LinearClassifier(
        epsilon, columns=[Numeric(None, None, public_bounds=(0, 10))], classes=[0, 1], rehearsal=1
    )
    if epsilon == math.inf:
        model.set_params(rehearsal=None)
    (low, high) = model.fit(column, [0, 1, 1]).ranges_[0]
    assert 0 <= low < high <= 10
    assert np.isfinite(model.decision_function(column)).all()


@every_model
def test_stored_models_keep_their_ranges(model, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    fit = make(model, epsilon=20.0).fit(rows(), labels(model))
    again = load(save(fit, tmp_path / "model"))
    assert again.columns == FOUND
    for copy in (again, pickle.loads(pickle.dumps(fit))):
        np.testing.assert_array_equal(copy.ranges_, fit.ranges_)
        np.testing.assert_array_equal(copy.predict(rows()), fit.predict(rows()))
    session = onnxruntime.InferenceSession(str(to_onnx(fit, tmp_path / "model.onnx")))
    given = {name: rows()[[name]].to_numpy() for name in FOUND}
    given["town"] = given["town"].astype(object)
    predicted = session.run(["prediction"], given)[0].ravel()
    if model is LinearRegressor:
        np.testing.assert_allclose(predicted, fit.predict(rows()), rtol=1e-9, atol=1e-9)
    else:
        assert (predicted == fit.predict(rows())).mean() > 0.999


@pytest.mark.parametrize(
    "wrong", [None, np.array([[1.0, 2.0]]), np.array([[2.0, 1.0], [0.0, 9.0]]), np.eye(2) * 1e9]
)
def test_stored_ranges_that_no_fit_could_have_found_are_refused(wrong, tmp_path):
    fit = make(LinearClassifier).fit(rows(), SCORE > 0)
    fit.ranges_ = wrong
    with pytest.raises(InputError, match="range"):
        load(save(fit, tmp_path / "model"))


def test_a_scaler_learns_nothing_so_it_refuses_public_bounds():
    with pytest.raises(InputError, match="needs a range for each numeric column"):
        BoundedScaler(FOUND).fit(rows())


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"low": None, "high": 3}, InputTypeError, "must be a number each"),
        ({"low": 0, "high": 3, "public_bounds": (0, 9)}, InputError, "got both"),
        ({"low": None, "high": None, "public_bounds": 9}, InputTypeError, "two numbers"),
        ({"low": None, "high": None, "public_bounds": (9, 0)}, InputError, "below high"),
        ({"low": None, "high": None, "public_bounds": (0, math.nan)}, InputError, "finite"),
        ({"low": None, "high": None, "public_bounds": (1e15, 1e15 + 1)}, InputError, "so wide"),
        ({"low": None, "high": None, "public_bounds": (0, 1e-99)}, InputError, "so wide"),
        ({"low": None, "high": None, "fill": -1, "public_bounds": (0, 9)}, InputError, "fill"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(given, error, words):
    with pytest.raises(error, match=words):
        Numeric(**given)


def test_a_column_is_the_same_after_repr_copies_and_replacement():
    column = Numeric(None, None, fill=3, public_bounds=(0, 10))
    assert eval(repr(column)) == column
    assert dataclasses.replace(column) == column != Numeric(0, 10, 3)
    assert len({column, pickle.loads(pickle.dumps(column))}) == 1


def test_the_owners_check_does_not_call_public_bounds_too_wide():
    wide = {**FOUND, "pay": Numeric(0, 4e4)}
    found = check(make(LinearClassifier, columns=wide), rows(), SCORE > 0)
    told = {finding.where for finding in found.findings if "of the declared range" in finding.what}
    assert told == {"pay"}
    check(make(LinearRegressor), rows(), SCORE)


def test_the_planner_rehearses_the_search_as_well():
    told = {**FOUND, "age": Numeric(0, 1000), "pay": Numeric(0, 1e5)}
    (found,), (known,) = (
        Planner(PublicFacts(columns, classes=["no", "yes"]), draws=2).predict([1.0], n=[3000])
        for columns in (FOUND, told)
    )
    assert abs(found.mean - known.mean) < 0.05
    assert found.mean != known.mean

"""How many rows there are is private: nothing that can be seen before a charge depends on it."""

from __future__ import annotations

import contextlib
import copy
import io
import math
import pickle
import sys
import warnings
from dataclasses import replace

import dask.array as da
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from discreet import LinearClassifier, LinearRegressor
from discreet.data import Bounds, Rows, dask_rows, parquet_rows
from discreet.errors import DiscreetError, InputError
from discreet.gate import release
from discreet.geometry import Box, L2Ball
from discreet.ledger import MemoryLedger, State
from discreet.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    LowRankRegressor,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    SimplexRegression,
)
from discreet.location import GeometricMedian, Location, Median, Quantile, Threshold
from discreet.losses import Huber
from discreet.mechanisms import GaussianSum
from discreet.noise import SystemNoise
from discreet.preprocessing import Category, Numeric
from discreet.privacy import Budget
from discreet.questions import VectorSum
from discreet.svm import LinearSVC
from support.cases import ALL_CASES
from support.estimators import declare

NUMBERS = (1, 2, 9, 10, 11, 40, 300)
"""Tables of so many rows, where ten are declared or many more."""

FEW = 10
GENERATOR = np.random.default_rng(4)
X = GENERATOR.uniform(-0.5, 0.5, size=(max(NUMBERS), 3))
CODES = np.arange(max(NUMBERS)) % 2
WORDS = np.array(["no", "yes"])[CODES]
KINDS = np.arange(max(NUMBERS)) % 20
COLUMNS = [Numeric(-1, 1), Numeric(-1, 1), Category([0.0, 1.0])]

ESTIMATORS = {
    "logistic": (LogisticRegression, {"classes": ["no", "yes"]}, WORDS),
    "logistic, many classes": (LogisticRegression, {"classes": list(range(20))}, KINDS),
    "support vectors": (LinearSVC, {"classes": ["no", "yes"]}, WORDS),
    "hinges": (LinearSVC, {"classes": ["no", "yes"], "loss": "hinge"}, WORDS),
    "classifier": (LinearClassifier, {"classes": ["no", "yes"]}, WORDS),
    "classifier of columns": (
        LinearClassifier,
        {"classes": ["no", "yes"], "columns": COLUMNS},
        WORDS,
    ),
    "regressor of columns": (LinearRegressor, {"columns": COLUMNS}, CODES),
    "ridge": (Ridge, {}, CODES),
    "ridge in a ball": (Ridge, {"domain": L2Ball(2.0)}, CODES),
    "ridge in a box": (Ridge, {"domain": Box([-1] * 4, [1] * 4)}, CODES),
    "huber": (HuberRegressor, {}, CODES),
    "quantile": (QuantileRegressor, {}, CODES),
    "poisson": (PoissonRegressor, {}, CODES),
    "lasso": (Lasso, {}, CODES),
    "elastic net": (ElasticNet, {}, CODES),
    "simplex": (SimplexRegression, {}, CODES),
    "low rank": (LowRankRegressor, {}, CODES),
    "median": (Median, {}, None),
    "quantiles": (Quantile, {"q": 0.9}, None),
    "location": (Location, {"loss": Huber(0.5)}, None),
    "geometric median": (GeometricMedian, {}, None),
    "threshold": (Threshold, {"classes": ["no", "yes"]}, WORDS),
}


def refusing():
    """Return a ledger that pays for nothing: what is seen until then is seen for free."""
    return MemoryLedger(Budget(1e-12))


def seen(action, model=None):
    """Return everything that can be seen of an action that fails: words, warnings, attributes."""
    out, err = io.StringIO(), io.StringIO()
    said = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                action()
            except BaseException as error:
                said = (type(error), str(error), repr(error.__cause__))
    left = {} if model is None else {name: repr(value) for name, value in vars(model).items()}
    left.pop("ledger", None)
    warned = [(one.category, str(one.message)) for one in caught]
    return said, warned, out.getvalue(), err.getvalue(), left


def differing(looks):
    """Return what was seen of tables of different sizes, once; there must be one of them."""
    return list({repr(look): look for look in looks}.values())


@pytest.mark.parametrize("epsilon", [1.0, math.inf], ids=["private", "infinite"])
@pytest.mark.parametrize("most", [FEW, 2**20])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_estimator_tells_before_it_is_paid(name, most, epsilon):
    kind, options, y = ESTIMATORS[name]

    def look(count, **more):
        model = declare(kind, epsilon=epsilon, ledger=refusing(), max_rows=most, **options, **more)
        given = (X[:count],) if y is None else (X[:count], y[:count])
        return seen(lambda: model.fit(*given), model)

    looks = differing(look(count) for count in ((1, 10, 11, 300) if most == FEW else (2, 300)))
    assert len(looks) == 1
    assert issubclass(looks[0][0][0], DiscreetError)
    assert "rows" not in looks[0][0][1]


FOUND = ["logistic", "logistic, many classes", "support vectors", "classifier", "threshold"]


@pytest.mark.parametrize("name", FOUND)
def test_no_estimator_tells_when_it_looks_for_classes(name):
    """scikit-learn warns where there are many classes for so few rows."""
    kind, options, y = ESTIMATORS[name]
    options = {key: value for key, value in options.items() if key != "classes"}
    classes = len(np.unique(y))

    def look(count):
        model = declare(kind, ledger=refusing(), **options)
        return seen(lambda: model.fit(X[:count], y[:count]), model)

    assert len(differing(look(count) for count in (classes, 30, 300))) == 1


EVERY_CASE = [case for case in ALL_CASES if not case.unit.rows_are_public]


@pytest.mark.parametrize("case", EVERY_CASE, ids=lambda case: case.label)
def test_no_mechanism_tells_before_it_is_paid(case):
    """With the bound that the case declares, and with a smaller one."""
    generator, pair = np.random.default_rng(1), case.worst_pair[0]
    width = np.asarray(pair.X).shape[1]
    labels = None if pair.y is None else np.resize(np.asarray(pair.y, dtype=float), max(NUMBERS))
    table = generator.uniform(-1, 1, size=(max(NUMBERS), width))
    declared = case.question.bounds

    def look(count, bounds):
        def ask():
            question = (
                replace(case.question, bounds=bounds) if bounds != declared else case.question
            )
            rows = Rows(table[:count], None if labels is None else labels[:count], bounds=bounds)
            said.append(repr(rows))
            release(case.mechanism, question, rows, budget=case.budget, ledger=refusing())

        said = []
        return seen(ask), said

    assert len(differing(look(count, declared) for count in (1, 300))) == 1
    with contextlib.suppress(
        TypeError, ValueError
    ):  # some questions work their bounds out from others
        few = replace(declared, max_rows=FEW)
        replace(case.question, bounds=few)
        assert len(differing(look(count, few) for count in (10, 11))) == 1


def sources(folder, count):
    """Yield the same rows wherever they may be."""
    table = X[:count]
    yield "array", table
    yield "sparse", sparse.csr_array(table)
    yield "Dask", dask_rows(da.from_array(table, chunks=(7, 3)))
    path = folder / f"{count}.parquet"
    if not path.exists():
        parquet.write_table(pa.table(dict(zip("abc", table.T, strict=True))), path)
    yield "files", parquet_rows(path, list("abc"))


@pytest.mark.parametrize("engine", ["array", "sparse", "Dask", "files"])
def test_sealed_rows_do_not_show_how_many_they_are(tmp_path, engine):
    few = Bounds(L2Ball(1.0), 3, max_rows=FEW)

    def look(count):
        rows = Rows(dict(sources(tmp_path, count))[engine], bounds=few)
        ways = [
            repr, str, len, list, bool, hash, iter, reversed, pickle.dumps, copy.copy,
            copy.deepcopy, np.asarray, np.array, sys.getsizeof, dir, vars, format, sorted,
            memoryview,
            lambda rows: rows.public_count, lambda rows: rows[0], lambda rows: 0 in rows,
            lambda rows: rows.__getstate__(), lambda rows: rows.__reduce_ex__(4),
            lambda rows: rows.check_held(), lambda rows: rows.bounds, lambda rows: rows._block_rows,
        ]  # fmt: skip
        answers = []
        for way in ways:
            found = []
            error = seen(lambda way=way, found=found: found.append(way(rows)))[:2]
            text = repr(found)
            answers.append((text if "0x" not in text else "an object", error))
        return answers

    assert len(differing(look(count) for count in NUMBERS)) == 1


@pytest.mark.parametrize("engine", ["array", "sparse", "Dask", "files"])
def test_after_the_charge_no_number_of_rows_is_refused(tmp_path, engine):
    """Neighbours at the border of what is declared are both answered, or both not."""
    few = Bounds(L2Ball(1.0), 3, max_rows=FEW)
    told = []
    for count in NUMBERS:
        rows = Rows(dict(sources(tmp_path, count))[engine], bounds=few)
        ledger = MemoryLedger(Budget(2.0, 1e-5))
        result = release(
            GaussianSum(), VectorSum(few), rows, budget=Budget(1.0, 1e-6), ledger=ledger
        )
        assert [entry.state for entry in ledger.history()] == [State.RELEASED]
        told.append(repr(replace(result, value=None, ledger="")))
    assert len(set(told)) == 1
    assert "at most 10 (of more, which are outside the promise" in told[0]


class NoNoise(SystemNoise):
    """Noise of nothing, so that what is used can be seen."""

    def gaussian(self, count, bits):
        return np.zeros(count, dtype=np.int64)


@pytest.mark.parametrize("engine", ["array", "sparse", "Dask", "files"])
def test_of_too_many_rows_the_first_are_used(tmp_path, engine):
    few = Bounds(L2Ball(1.0), 3, max_rows=FEW)
    sums = []
    for count in (FEW, FEW + 1, 300):
        rows = Rows(dict(sources(tmp_path, count))[engine], bounds=few)
        asked = release(
            GaussianSum(), VectorSum(few), rows, budget=Budget(1.0, 1e-6), noise=NoNoise()
        )
        sums.append(asked.value)
    np.testing.assert_allclose(sums[0], X[:FEW].sum(axis=0), atol=1e-6)
    np.testing.assert_array_equal(sums[1], sums[0])
    np.testing.assert_array_equal(sums[2], sums[0])


def test_where_the_number_is_public_too_many_rows_are_refused_for_free():
    few = Bounds(L2Ball(1.0), 3, max_rows=FEW)
    Rows(X[:FEW], bounds=few, unit="replace")
    with pytest.raises(InputError, match="more rows than the declared max_rows = 10"):
        Rows(X[: FEW + 1], bounds=few, unit="replace")


def test_without_privacy_all_rows_are_used():
    """Nothing is promised then, so nothing is left out."""
    few, many = (
        Ridge(epsilon=math.inf, max_rows=most, data_norm=1.0, target_range=(-1.0, 1.0)).fit(
            X, CODES
        )
        for most in (FEW, 2**20)
    )
    np.testing.assert_array_equal(few.coef_, many.coef_)

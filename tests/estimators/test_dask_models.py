"""Estimators fitted on Dask's rows: as on arrays, checked before the charge, charged once."""

from __future__ import annotations

import io

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from discreet.data.stored import partitions as engine
from discreet.errors import InputError, InputTypeError, ReleaseFailed, SourceChanged, UnitMismatch
from discreet.geometry import L2Ball
from discreet.ledger import State
from discreet.linear_model import (
    HuberRegressor,
    LinearClassifier,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from discreet.mechanisms import AdaptiveRidge, NoisyGradient, OutputPerturbation
from discreet.preprocessing import Category, Numeric
from discreet.svm import LinearSVC
from estimators.test_files import CLASSES, COLUMNS, MODELS, books, patients
from support.estimators import rehearsal


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def frame():
    return patients(2000)


@pytest.fixture(scope="module")
def scattered(frame):
    return dd.from_pandas(frame, npartitions=5, sort=False)


@pytest.fixture(autouse=True)
def as_if_sent(monkeypatch):
    """Pack every task as if it went to a worker: what refuses to be packed is noticed here."""
    task = engine.make_task

    def packed(function, **options):
        cloudpickle.dumps((function, options))
        return task(function, **options)

    monkeypatch.setattr(engine, "make_task", packed)


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-8)


@rehearsal
@pytest.mark.parametrize("name", MODELS)
def test_partitions_and_frames_give_the_same_model(frame, scattered, name):
    model, target = MODELS[name]
    plain = model.fit(frame[list(COLUMNS)], frame[target])
    coef, intercept, guarantee = plain.coef_.copy(), plain.intercept_, plain.privacy_
    predicted = plain.predict(frame[list(COLUMNS)])
    model.fit(scattered, target=target)
    assert model.privacy_.to_json() == guarantee.to_json()
    close(model.coef_, coef)
    close(model.intercept_, intercept)
    assert model.feature_names_in_.tolist() == list(COLUMNS)
    said = model.predict(scattered)
    assert (said.compute().index == frame.index).all()
    if target == "cost":
        close(said.compute(), predicted)
    else:
        assert (said.compute() == predicted).all()
        close(model.predict_proba(scattered).compute(), model.predict_proba(frame[list(COLUMNS)]))


NUMBERS = ["visits", "code", "age"]


@rehearsal
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(data_norm=30.0, classes=[0, 1, 2], epsilon=9.0, rehearsal=2),
        Ridge(data_norm=30.0, target_range=(0, 2), rehearsal=2, unit="replace"),
        HuberRegressor(data_norm=30.0, target_range=(0, 2), max_weight=2.0, rehearsal=2),
        PoissonRegressor(data_norm=30.0, max_count=2, rehearsal=2),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("kind", ["array", "frame"])
def test_plain_numbers(frame, model, kind):
    X, y = frame[NUMBERS].to_numpy(), frame["ward_of_three"].to_numpy()
    weights = frame["weight"].to_numpy() if model.max_weight is not None else None
    given = {} if weights is None else {"sample_weight": weights}
    coef = model.fit(X, y, **given).coef_.copy()
    predicted = model.predict(X)
    if kind == "array":
        given = {} if weights is None else {"sample_weight": da.from_array(weights, chunks=700)}
        rows = da.from_array(X, chunks=(300, 2))
        model.fit(rows, da.from_array(y, chunks=1000), **given)
        assert not hasattr(model, "feature_names_in_")
    else:
        names = [*NUMBERS, "ward_of_three", *(["weight"] if given else [])]
        rows = dd.from_pandas(frame[names], npartitions=3)
        model.fit(rows, target="ward_of_three", **({"sample_weight": "weight"} if given else {}))
    if (kind, model.unit) == ("frame", "replace"):  # there the number of rows is not known
        np.testing.assert_allclose(model.coef_, coef, rtol=1e-5)
        return
    close(model.coef_, coef)
    close(model.predict(rows).compute(), predicted)


@rehearsal
@pytest.mark.parametrize(
    "mechanism",
    [OutputPerturbation(), NoisyGradient(steps=12, rate=0.1), NoisyGradient(steps=3)],
    ids=lambda mechanism: f"{mechanism.name}, rate {getattr(mechanism, 'rate', None)}",
)
def test_other_mechanisms(frame, mechanism):
    X, y = frame[NUMBERS].to_numpy(), (frame["cost"] > 0).to_numpy()
    model = LogisticRegression(epsilon=5.0, data_norm=30.0, classes=[False, True], rehearsal=3)
    model.mechanism = mechanism
    coef = model.fit(X, y).coef_.copy()
    model.fit(da.from_array(X, chunks=(300, 2)), da.from_array(y, chunks=1000))
    close(model.coef_, coef)


@rehearsal
def test_coefficients_that_are_drawn(frame):
    X, y = frame[["visits"]].to_numpy(), (frame["cost"] > 0).to_numpy()
    model = LogisticRegression(
        delta=0.0,
        classes=[False, True],
        domain=L2Ball(1.0),
        mechanism="exponential_sampling",
        rehearsal=1,
        max_rows=2**12,
        data_norm=1.0,
    )
    coef = model.fit(X, y).coef_.copy()
    close(model.fit(da.from_array(X, chunks=(700, 1)), da.from_array(y)).coef_, coef)


@rehearsal
def test_labels_and_weights_beside_a_frame(frame):
    numbers = frame[["visits", "code", "weight"]].rename(columns={"visits": "y"})
    model = HuberRegressor(data_norm=30.0, target_range=(0, 2), max_weight=2.0, rehearsal=2)
    y = frame["ward_of_three"]
    coef = model.fit(numbers[["y", "code"]], y, sample_weight=numbers["weight"]).coef_.copy()
    rows, labels = dd.from_pandas(numbers, npartitions=3), dd.from_pandas(y, npartitions=3)
    close(model.fit(rows, labels, sample_weight="weight").coef_, coef)
    close(model.fit(rows[["y", "code"]], labels, sample_weight=rows["weight"]).coef_, coef)


@rehearsal
def test_an_adaptive_ridge(frame):
    X, y = frame[NUMBERS].to_numpy(), frame["cost"].to_numpy()
    options = {"target_range": (-300, 300), "domain": L2Ball(1.0), "rehearsal": 1}
    model = Ridge(data_norm=30.0, **options)
    model.mechanism = AdaptiveRidge()
    coef = model.fit(X, y).coef_.copy()
    close(model.fit(da.from_array(X, chunks=(300, 2)), da.from_array(y)).coef_, coef)


@rehearsal
def test_a_kink(frame):
    X, y = frame[NUMBERS].to_numpy(), (frame["cost"] > 0).to_numpy()
    model = LinearSVC(loss="hinge", data_norm=30.0, classes=[False, True], rehearsal=1)
    model.mechanism = NoisyGradient(steps=10, rate=0.05)
    coef = model.fit(X, y).coef_.copy()
    close(model.fit(da.from_array(X, chunks=(300, 2)), da.from_array(y)).coef_, coef)


@rehearsal
@pytest.mark.parametrize("dtype", ["object", "str", "string[pyarrow]", "category"])
def test_text_of_any_type_is_the_same_text(frame, dtype):
    model = LinearClassifier(columns=COLUMNS, classes=CLASSES, rehearsal=1)
    coef = model.fit(frame[list(COLUMNS)], frame["readmitted"]).coef_.copy()
    other = frame.astype({"ward": dtype, "readmitted": dtype})
    with dask.config.set({"dataframe.convert-string": False}):
        rows = dd.from_pandas(other, npartitions=3)
        close(model.fit(rows, target="readmitted").coef_, coef)


@rehearsal
@pytest.mark.parametrize("dtype", ["Int64", "Float64", "int32", "float64[pyarrow]", "category"])
def test_numbers_of_any_type_are_the_same_numbers(frame, dtype):
    columns = {"visits": Numeric(0, 20), "code": Category([1, 2, 7])}
    model = LinearClassifier(columns=columns, classes=[0, 1], rehearsal=1)
    labels = (frame["cost"] > 0).astype(int)
    coef = model.fit(frame[list(columns)], labels).coef_.copy()
    other = frame[list(columns)].astype({"code": dtype}).assign(ill=labels.astype(dtype))
    if dtype != "category":
        other["visits"] = other["visits"].astype(dtype)
    close(model.fit(dd.from_pandas(other, npartitions=3), target="ill").coef_, coef)


@rehearsal
def test_many_levels_are_sparse_rows():
    ward = np.random.default_rng(0).integers(0, 40, 1500)
    frame = pd.DataFrame({"ward": ward.astype(str), "ill": (ward < 20).astype(int)})
    columns = {"ward": Category([str(number) for number in range(40)])}
    model = LinearClassifier(columns=columns, classes=[0, 1], delta=0.0, rehearsal=1)
    coef = model.fit(frame[["ward"]], frame["ill"]).coef_.copy()
    close(model.fit(dd.from_pandas(frame, npartitions=4), target="ill").coef_, coef)


def test_a_private_fit_is_charged_once_and_predicts_without_the_books(frame, scattered):
    ledger = books()
    model = LinearClassifier(columns=COLUMNS, classes=CLASSES, ledger=ledger)
    model.fit(scattered, target="readmitted", purpose="Dask")
    assert model.release_.is_private
    assert [entry.state for entry in ledger.history()] == [State.RELEASED]
    said = model.predict(scattered)
    assert b"MemoryLedger" not in cloudpickle.dumps(dict(said.__dask_graph__()))
    assert said.compute().isin(CLASSES).all()
    assert model.ledger is ledger


def looked_at(parts):
    """Return a frame, and a list that grows whenever one of its partitions is computed."""
    computed = []

    def part(number):
        computed.append(number)
        return parts[number]

    tasks = [dask.delayed(part)(number) for number in range(len(parts))]
    return dd.from_delayed(tasks, meta=parts[0].iloc[:0], verify_meta=False), computed


def test_nothing_is_computed_before_the_charge(frame):
    rows, computed = looked_at([frame.iloc[:900], frame.iloc[900:]])
    for settings in (
        {"epsilon": 25.0},
        {"columns": {"no such": Numeric(0, 1)}},
        {"classes": [0, 1]},
    ):
        model = LinearClassifier(columns=COLUMNS, classes=CLASSES, ledger=books())
        with pytest.raises(Exception, match=r"budget|missing|numbers"):
            model.set_params(**settings).fit(rows, target="readmitted")
        assert not computed
        assert not model.ledger.history()
    LinearClassifier(columns=COLUMNS, classes=CLASSES, ledger=books()).fit(
        rows, target="readmitted"
    )
    assert computed


def test_a_number_of_rows_that_is_public_is_not_counted_before_the_charge(frame):
    rows, computed = looked_at([frame.iloc[:900], frame.iloc[900:]])
    model = LinearClassifier(columns=COLUMNS, classes=CLASSES, unit="replace", max_rows=9999)
    with pytest.raises(UnitMismatch):
        model.set_params(ledger=books()).fit(rows, target="readmitted")
    assert not computed
    assert model.set_params(ledger=None).fit(rows, target="readmitted").release_.is_private


@pytest.mark.parametrize("kind", ["another type", "no column", "an error"])
def test_a_partition_that_is_not_as_announced_fails_the_fit_with_one_charge(frame, kind):
    last = frame.iloc[900:]
    if kind == "another type":
        last = last.assign(age=pd.Timestamp(2024, 1, 1))
    elif kind == "no column":
        last = last.drop(columns="age")
    elif kind == "an error":
        last = "very secret"
    rows, _ = looked_at([frame.iloc[:900], last])
    model = LinearClassifier(columns=COLUMNS, classes=CLASSES, ledger=books(), max_rows=9999)
    with pytest.raises(SourceChanged) as error:
        model.fit(rows, target="readmitted")
    assert "secret" not in str(error.value)
    assert error.value.__context__ is None
    assert [entry.state for entry in model.ledger.history()] == [State.FAILED]
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("cell", ["very secret \ud800", b"very secret \xff"])
def test_a_cell_that_dask_cannot_convert_fails_the_fit_with_one_charge(frame, cell):
    spoilt = frame.assign(readmitted=frame["readmitted"].astype(object))
    spoilt.iloc[17, spoilt.columns.get_loc("readmitted")] = cell
    rows = dd.from_pandas(spoilt, npartitions=2)
    assert rows["readmitted"].dtype == "string"
    model = LinearClassifier(columns=COLUMNS, classes=CLASSES, ledger=books(), max_rows=9999)
    with pytest.raises(SourceChanged, match="could not read or convert") as error:
        model.fit(rows, target="readmitted")
    assert "secret" not in str(error.value)
    assert error.value.__context__ is None
    assert [entry.state for entry in model.ledger.history()] == [State.FAILED]


def loaded(texts, columns, kind):
    """Return partitions whose types pandas finds in their texts, as a frame or as arrays."""
    meta = pd.DataFrame({name: pd.Series(dtype="float64") for name in columns})
    frame = dd.from_map(
        lambda text: pd.read_csv(io.StringIO(text)), texts, meta=meta, enforce_metadata=False
    )
    if kind == "frame":
        return {"X": frame, "target": "t"}
    return {"X": frame[columns[:-1]].values, "y": frame["t"].values}


@rehearsal
@pytest.mark.parametrize("kind", ["array", "frame"])
@pytest.mark.parametrize("odd", ["0.5,1,x", "x,1,0", "0.5,x,1", "x,x,x"])
def test_a_row_that_changes_the_type_of_its_partition_changes_no_other(kind, odd):
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=400), generator.integers(1, 3, 400)
    t = (a + (b == 1) > 0.5).astype(int)
    rows = [f"{x!r},{y},{z}" for x, y, z in zip(a.tolist(), b, t, strict=True)]
    texts = ["\n".join(["a,b,t", *some]) for some in (rows[:200], rows[200:])]
    with_odd, missing = ([texts[0], f"{texts[1]}\n{row}"] for row in (odd, odd.replace("x", "")))
    columns = ["a", "b", "t"]
    for model in (
        LogisticRegression(classes=[0, 1], data_norm=3.0, rehearsal=1, epsilon=8.0),
        LinearClassifier(
            columns=[Numeric(-3, 3), Category([1, 2])], classes=[0, 1], rehearsal=1, epsilon=8.0
        ),
        Ridge(target_range=(0, 1), data_norm=3.0, rehearsal=1, epsilon=8.0),
    ):
        coefs = [
            model.fit(**loaded(some, columns, kind)).coef_.copy() for some in (missing, with_odd)
        ]
        np.testing.assert_array_equal(*coefs)


@rehearsal
def test_a_cell_that_changes_the_type_of_its_partition_changes_no_other(frame):
    numbers = frame[["visits", "code", "cost"]].astype(float)
    spoilt = numbers.astype(object)
    spoilt.iloc[950, 1], spoilt.iloc[951, 2] = "very secret", "very secret"
    missing = numbers.copy()
    missing.iloc[950, 1], missing.iloc[951, 2] = np.nan, np.nan
    coefs = []
    for other in (spoilt, missing):
        rows, _ = looked_at([numbers.iloc[:900], other.iloc[900:]])
        model = Ridge(data_norm=30.0, target_range=(-300, 300), rehearsal=2, max_rows=2**12)
        coefs.append(model.fit(rows, target="cost").coef_)
    np.testing.assert_array_equal(*coefs)


def test_whatever_else_fails_says_nothing(scattered, monkeypatch):
    def failing(*_, **__):
        raise ValueError("secret")

    monkeypatch.setattr("discreet.data.stored.worker.sum_blocks", failing)
    model = LinearClassifier(columns=COLUMNS, classes=CLASSES, ledger=books())
    with pytest.raises(ReleaseFailed) as error:
        model.fit(scattered, target="readmitted")
    assert "secret" not in str(error.value)
    assert len(model.ledger.history()) == 1


class TestBadInput:
    """Refused before the charge, and before anything is computed."""

    @pytest.fixture(autouse=True)
    def _nothing_is_computed(self, monkeypatch):
        def refuse(*_):
            raise AssertionError("a partition was computed")

        monkeypatch.setattr(engine, "compute_tasks", refuse)
        monkeypatch.setattr(engine, "_persist", refuse)

    def refused(self, model, *arguments, match, kind=InputError, **options):
        model.ledger = books()
        with pytest.raises(kind, match=match):
            model.fit(*arguments, **options)
        assert len(model.ledger.history()) == 0

    @pytest.fixture
    def model(self):
        return LinearClassifier(columns=COLUMNS, classes=CLASSES)

    def test_no_labels(self, model, scattered):
        self.refused(model, scattered, match="where are the labels")

    def test_labels_twice(self, model, scattered):
        column = scattered["readmitted"]
        self.refused(model, scattered, column, target="readmitted", match="where are the labels")

    def test_labels_here(self, model, scattered, frame):
        kind = InputTypeError
        self.refused(model, scattered, frame["readmitted"], match="must be a Dask", kind=kind)

    def test_names_of_arrays(self):
        model = LogisticRegression(classes=[0, 1], data_norm=1.0)
        self.refused(model, da.ones((3, 2)), target="y", match="has no names")

    def test_declared_names_of_arrays(self, model):
        self.refused(model, da.ones((3, 4)), da.ones(3), match="arrays have none")

    def test_classes_are_not_looked_for(self, scattered):
        model = LinearClassifier(columns=COLUMNS)
        self.refused(model, scattered, target="readmitted", match="declare the classes")

    def test_classes_of_another_type(self, scattered):
        model = LinearClassifier(columns=COLUMNS, classes=[0, 1])
        self.refused(model, scattered, target="readmitted", match="declared with numbers")
        labels = scattered["readmitted"]
        self.refused(model, scattered[list(COLUMNS)], labels, match="declared with numbers")

    def test_a_column_of_another_type(self, model, scattered):
        other = scattered.assign(age=scattered["ward"])
        self.refused(model, other, target="readmitted", match="'age' must hold numbers")

    def test_the_target_is_a_feature(self, scattered):
        model = LinearClassifier(columns=COLUMNS, classes=[1, 2])
        self.refused(model, scattered, target="code", match="declared as a feature")

    def test_weights_without_a_largest(self, model, scattered):
        self.refused(
            model, scattered, target="readmitted", sample_weight="weight", match="pass max_weight"
        )

    def test_text_levels_of_numbers(self):
        model = LinearClassifier(columns=[Category(["1", "2"])], classes=[0, 1])
        self.refused(model, da.ones((3, 1)), da.ones(3), match="is declared with text")

    def test_classes_that_floats_cannot_tell_apart(self):
        model = LogisticRegression(classes=[2**53, 2**53 + 1], data_norm=1.0)
        rows = da.ones((3, 1)), da.ones(3, dtype=int)
        self.refused(model, *rows, match="do not tell .* apart")

    def test_intervals(self, model, frame):
        cut = frame.assign(age=pd.cut(frame["age"], 3).astype(object).astype("interval[float64]"))
        self.refused(
            model, dd.from_pandas(cut), target="readmitted", match="'age' must hold numbers"
        )


def test_predictions_need_the_columns_of_the_fit(scattered):
    model = LinearClassifier(columns=COLUMNS, classes=CLASSES).fit(scattered, target="readmitted")
    with pytest.raises(InputError, match="'ward'"):
        model.predict(scattered.drop(columns="ward"))

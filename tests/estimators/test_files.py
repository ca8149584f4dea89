"""Estimators fitted on Parquet files: as on arrays, checked before the charge, charged once."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.data.stored import parquet as reading
from discreet.data.stored import stream as streaming
from discreet.data.stored.table import Encoding
from discreet.errors import InputError, ReleaseFailed, SourceChanged
from discreet.ledger import MemoryLedger
from discreet.linear_model import (
    HuberRegressor,
    LinearClassifier,
    LinearRegressor,
    LogisticRegression,
    Ridge,
)
from discreet.mechanisms import NoisyGradient
from discreet.preprocessing import Category, Numeric
from discreet.privacy import Budget
from discreet.svm import LinearSVC
from support.estimators import rehearsal

COLUMNS = {
    "age": Numeric(18, 100),
    "visits": Numeric(0, 20),
    "ward": Category(["a", "b", "c"]),
    "code": Category([1, 2, 7]),
}
CLASSES = ["no", "yes"]


def patients(count=4000, seed=0):
    generator = np.random.default_rng(seed)
    age = generator.uniform(10, 110, count)
    ward = generator.choice(["a", "b", "c", "other", None], count)
    score = (age - 60) / 20 + (ward == "a") + 0.5 * generator.standard_normal(count)
    frame = pd.DataFrame(
        {
            "ward": ward,
            "visits": generator.integers(0, 30, count),
            "name": [f"patient {number}" for number in range(count)],
            "age": np.where(generator.random(count) < 0.05, np.nan, age),
            "code": generator.choice([1.0, 2.0, 3.0, 7.0], count),
            "readmitted": np.where(score > 0, "yes", "no"),
            "ward_of_three": np.digitize(score, [-1, 1]),
            "cost": 100 * score,
            "weight": generator.uniform(0, 2, count),
        }
    )
    frame.loc[generator.random(count) < 0.01, "readmitted"] = "unknown"
    return frame


def write(folder, frame, files=4, group=300):
    folder.mkdir(exist_ok=True)
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), files)):
        table = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
        parquet.write_table(table, folder / f"{number}.parquet", row_group_size=group)
    return folder


@pytest.fixture(scope="module")
def frame():
    return patients()


@pytest.fixture
def folder(tmp_path, frame):
    return write(tmp_path / "patients", frame)


@pytest.fixture(params=["cached", "read again"])
def memory(request, monkeypatch):
    """Whether rows are kept after the first pass."""
    if request.param == "read again":
        source = streaming.StreamSource
        monkeypatch.setattr(reading, "StreamSource", lambda feed: source(feed, 0))
        monkeypatch.setattr(streaming, "PIECE_NUMBERS", 1)
        monkeypatch.setattr(streaming, "rows_of_width", lambda width: 512)
        monkeypatch.setattr(streaming, "HELD_BYTES", 2**16)
    return request.param


MODELS = {
    "classifier": (
        LinearClassifier(columns=COLUMNS, classes=CLASSES, rehearsal=1),
        "readmitted",
    ),
    "pure classifier": (
        LinearClassifier(columns=COLUMNS, classes=CLASSES, delta=0.0, rehearsal=1),
        "readmitted",
    ),
    "three classes": (
        LinearClassifier(epsilon=4.0, columns=COLUMNS, classes=[0, 1, 2], rehearsal=1),
        "ward_of_three",
    ),
    "one against the rest": (
        LinearClassifier(
            epsilon=4.0,
            columns=COLUMNS,
            classes=[0, 1, 2],
            mechanism="private_standardisation",
            rehearsal=1,
        ),
        "ward_of_three",
    ),
    "regressor": (
        LinearRegressor(columns=COLUMNS, target_range=(-300, 300), rehearsal=1),
        "cost",
    ),
}


@rehearsal
@pytest.mark.parametrize("most", [100, 2000])
def test_of_more_rows_than_declared_the_first_are_used(frame, folder, memory, most):
    model = LinearClassifier(columns=COLUMNS, classes=CLASSES, max_rows=most, rehearsal=1)
    files = model.fit(folder, target="readmitted").coef_
    first = model.fit(frame[list(COLUMNS)][:most], frame["readmitted"][:most]).coef_
    np.testing.assert_allclose(files, first, rtol=1e-6, atol=1e-9)


@rehearsal
@pytest.mark.parametrize("name", MODELS)
def test_files_and_frames_give_the_same_model(frame, folder, memory, name):
    if (name, memory) == ("three classes", "read again"):
        pytest.skip("noisy gradients read the files some hundred times")
    model, target = MODELS[name]
    plain = model.fit(frame[list(COLUMNS)], frame[target])
    coef, intercept, guarantee = plain.coef_.copy(), plain.intercept_, plain.privacy_
    predicted = plain.predict(frame[list(COLUMNS)])
    from_files = model.fit(str(folder / "*.parquet"), target=target)
    assert from_files.privacy_.to_json() == guarantee.to_json()
    np.testing.assert_allclose(from_files.coef_, coef, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(from_files.intercept_, intercept, rtol=1e-7, atol=1e-8)
    assert from_files.feature_names_in_.tolist() == list(COLUMNS)
    ours = from_files.predict(folder)
    if target == "cost":
        np.testing.assert_allclose(ours, predicted, rtol=1e-6)
    else:
        assert (ours == predicted).all()


@rehearsal
@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(data_norm=30.0, classes=[0, 1, 2], epsilon=9.0, rehearsal=2),
        Ridge(data_norm=30.0, target_range=(0, 2), rehearsal=2),
        HuberRegressor(data_norm=30.0, target_range=(0, 2), max_weight=2.0, rehearsal=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_plain_numbers(tmp_path, frame, model):
    numbers = frame[["visits", "code", "age", "weight", "ward_of_three"]]
    folder = write(tmp_path / "numbers", numbers)
    X, y = numbers.drop(columns="ward_of_three"), numbers["ward_of_three"]
    weights = {}
    if model.max_weight is not None:
        X, weights = X.drop(columns="weight"), {"sample_weight": X["weight"]}
    coef = model.fit(X, y, **weights).coef_.copy()
    predicted = model.predict(X)
    if weights:
        weights = {"sample_weight": "weight"}
    model.fit(folder, target="ward_of_three", **weights)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(model.predict(folder), predicted, rtol=1e-6)


@rehearsal
def test_many_levels_are_read_as_sparse_rows(tmp_path):
    generator = np.random.default_rng(0)
    ward = generator.integers(0, 40, 3000)
    frame = pd.DataFrame({"ward": ward.astype(str), "ill": (ward < 20).astype(int)})
    folder = write(tmp_path / "wards", frame)
    columns = {"ward": Category([str(number) for number in range(40)])}
    model = LinearClassifier(columns=columns, classes=[0, 1], delta=0.0, rehearsal=1)
    coef = model.fit(frame[["ward"]], frame["ill"]).coef_.copy()
    np.testing.assert_allclose(model.fit(folder, target="ill").coef_, coef, rtol=1e-7, atol=1e-8)


@rehearsal
@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_few_passes(folder, monkeypatch, name):
    monkeypatch.setattr("discreet.mechanisms.minimising.rows_objective.ROUGH_ROWS", 400)
    source, later, passes = streaming.StreamSource, streaming.FedStream.lazy_pieces, []
    monkeypatch.setattr(reading, "StreamSource", lambda feed: source(feed, 0))
    monkeypatch.setattr(streaming, "HELD_BYTES", 2**16)

    def counted(self, first=0):
        passes.append(first)
        return later(self, first)

    monkeypatch.setattr(streaming.FedStream, "lazy_pieces", counted)
    model, target = MODELS[name]
    model.fit(folder, target=target)
    assert 1 <= len(passes) <= 9


def books():
    return MemoryLedger(Budget(10.0, 1e-6))


@pytest.mark.parametrize("kind", ["touched", "truncated", "gone"])
def test_a_file_that_changes_fails_the_fit_with_one_charge(folder, monkeypatch, kind):
    ledger = books()
    encode, calls = Encoding.piece_of, []
    source = streaming.StreamSource
    monkeypatch.setattr(reading, "StreamSource", lambda feed: source(feed, 0))

    def spoiling(self, frame, place):
        calls.append(1)
        if len(calls) == 6:  # in the second pass over four files
            path = folder / "3.parquet"
            if kind == "touched":
                os.utime(path, ns=(1, 1))
            elif kind == "truncated":
                os.truncate(path, 100)
            else:
                path.unlink()
        return encode(self, frame, place)

    monkeypatch.setattr(Encoding, "piece_of", spoiling)
    model = LinearClassifier(columns=COLUMNS, classes=CLASSES, ledger=ledger)
    with pytest.raises(SourceChanged, match="nothing is released; a charge stands") as error:
        model.fit(folder, target="readmitted")
    assert error.value.__context__ is None
    assert error.value.__cause__ is None
    assert len(ledger.history()) == 1
    assert not hasattr(model, "coef_")


def test_whatever_else_fails_says_nothing(folder, monkeypatch):
    ledger = books()

    def failing(self, frame, place):
        raise ValueError("secret")

    monkeypatch.setattr(Encoding, "piece_of", failing)
    with pytest.raises(ReleaseFailed) as error:
        LinearClassifier(columns=COLUMNS, classes=CLASSES, ledger=ledger).fit(
            folder, target="readmitted"
        )
    assert "secret" not in str(error.value)
    assert len(ledger.history()) == 1


def test_a_private_fit_is_charged_once(folder):
    ledger = books()
    model = LinearClassifier(columns=COLUMNS, classes=CLASSES, ledger=ledger)
    model.fit(folder, target="readmitted", purpose="files")
    assert model.release_.is_private
    assert len(ledger.history()) == 1


class TestBadInput:
    """Refused before the charge."""

    @pytest.fixture(autouse=True)
    def _no_row_is_read(self, monkeypatch):
        def refuse(*_):
            raise AssertionError("a row was read")

        monkeypatch.setattr(reading, "_decode_batches", refuse)

    def refused(self, model, *arguments, match, kind=InputError, **options):
        model.ledger = books()
        with pytest.raises(kind, match=match) as error:
            model.fit(*arguments, **options)
        assert len(model.ledger.history()) == 0
        return str(error.value)

    @pytest.fixture
    def model(self):
        return LinearClassifier(columns=COLUMNS, classes=CLASSES)

    def test_no_target(self, model, folder):
        self.refused(model, folder, match="Pass target")

    def test_labels_beside_files(self, model, folder):
        self.refused(model, folder, [1, 2], target="readmitted", match="leave y out")

    def test_target_beside_arrays(self, model):
        self.refused(model, [[1.0]], [1], target="readmitted", match="column of stored tables")

    def test_classes_are_not_looked_for(self, folder):
        model = LinearClassifier(columns=COLUMNS)
        self.refused(model, folder, target="readmitted", match="declare the classes")

    def test_no_such_target(self, model, folder):
        self.refused(model, folder, target="no such", match="'no such'.* is missing")

    def test_no_such_folder(self, model, tmp_path):
        self.refused(model, tmp_path / "no", target="readmitted", match="no such file or folder")

    def test_classes_of_another_type(self, folder):
        model = LinearClassifier(columns=COLUMNS, classes=[0, 1])
        self.refused(model, folder, target="readmitted", match="declared with numbers")

    def test_the_target_is_a_feature(self, folder):
        model = LinearClassifier(columns=COLUMNS, classes=[1, 2])
        self.refused(model, folder, target="code", match="declared as a feature")

    def test_a_schema_that_drifts(self, model, folder):
        path = folder / "3.parquet"
        table = parquet.read_table(path)
        parquet.write_table(table.drop_columns(["age"]), path)
        self.refused(model, folder, target="readmitted", match=r"3.parquet: the column 'age'")
        text = pa.array(["very secret"] * len(table))
        parquet.write_table(table.drop_columns(["age"]).append_column("age", text), path)
        said = self.refused(model, folder, target="readmitted", match="must hold numbers")
        assert "secret" not in said

    def test_a_truncated_file(self, model, folder):
        os.truncate(folder / "2.parquet", 1000)
        self.refused(model, folder, target="readmitted", match=r"2.parquet: this cannot be read")

    def test_weights_without_a_largest(self, model, folder):
        self.refused(
            model, folder, target="readmitted", sample_weight="weight", match="pass max_weight"
        )

    def test_columns_in_a_list(self, folder):
        model = LinearClassifier(columns=list(COLUMNS.values()), classes=CLASSES)
        self.refused(model, folder, target="readmitted", match="must have 4 columns")

    def test_text_among_plain_numbers(self, folder):
        model = LogisticRegression(classes=CLASSES, data_norm=1.0)
        self.refused(model, folder, target="readmitted", match="must hold numbers")


def test_arrow_is_needed_for_files_only(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"discreet\[parquet\]"):
        Ridge(data_norm=1.0, target_range=(-1.0, 1.0)).fit(str(tmp_path), target="y")


@rehearsal
def test_batches_of_noisy_gradients_are_gathered_in_few_passes(tmp_path, frame, monkeypatch):
    source, later, passes = streaming.StreamSource, streaming.FedStream.lazy_pieces, []
    monkeypatch.setattr(reading, "StreamSource", lambda feed: source(feed, 0))

    def counted(self, first=0):
        passes.append(first)
        return later(self, first)

    monkeypatch.setattr(streaming.FedStream, "lazy_pieces", counted)
    numbers = frame[["visits", "code", "weight", "ward_of_three"]].assign(
        ward_of_three=frame["ward_of_three"] > 0
    )
    folder = write(tmp_path / "numbers", numbers)
    model = LinearSVC(loss="hinge", data_norm=30.0, classes=[False, True], rehearsal=1)
    model.mechanism = NoisyGradient(steps=40, rate=0.05)
    coef = model.fit(numbers.drop(columns="ward_of_three"), numbers["ward_of_three"]).coef_.copy()
    model.fit(folder, target="ward_of_three")
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-9)
    assert len(passes) <= 6


def test_an_interruption_leaves_one_charge_and_no_model(folder, monkeypatch):
    ledger = books()

    def interrupted(self, frame, place):
        raise KeyboardInterrupt("secret")

    monkeypatch.setattr(Encoding, "piece_of", interrupted)
    model = LinearClassifier(columns=COLUMNS, classes=CLASSES, ledger=ledger)
    with pytest.raises(KeyboardInterrupt) as error:
        model.fit(folder, target="readmitted")
    assert not error.value.args
    (entry,) = ledger.history()
    assert entry.state.value == "failed"
    assert not hasattr(model, "coef_")

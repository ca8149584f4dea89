"""What a model says of a row is, to the last bit, a function of that row alone."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as PlainSVC

from discreet import Budget, MemoryLedger
from discreet.errors import InputError, InputTypeError
from discreet.estimators.features import product_by_row
from discreet.linear_model import LinearClassifier, LogisticRegression, PoissonRegressor
from discreet.metrics import private_score
from discreet.metrics.row_outputs import outputs_of
from discreet.metrics.score_bins import ScoreBins
from discreet.preprocessing import Category, Numeric
from discreet.svm import LinearSVC


def _table(rows=257, width=16, seed=1):
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((rows, width))
    return X, (X[:, 0] + draw.standard_normal(rows) > 0).astype(int)


def _fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


X, Y = _table()
LINEAR = _fitted(LogisticRegression(epsilon=1.0, delta=0.0, data_norm=6.0, classes=[0, 1]), X, Y)


@pytest.mark.parametrize("width", [1, 5, 16, 109])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array])
def test_rows_are_multiplied_each_by_itself(width, layout):
    draw = np.random.default_rng(width)
    rows, coef = draw.standard_normal((130, width)), draw.standard_normal((2, width))
    rows[draw.random(rows.shape) < 0.3] = 0.0
    whole = product_by_row(layout(rows), coef)
    np.testing.assert_allclose(whole, rows @ coef.T, rtol=0, atol=1e-12 * width)
    for kept in (range(129), range(1, 130), range(0, 130, 3), [77]):
        some = product_by_row(layout(rows[list(kept)]), coef)
        assert np.array_equal(some, whole[list(kept)])


def test_products_of_matrices_are_not_made_each_by_itself():
    # Why the products above are not BLAS's: somewhere a row fewer changes the bits of others.
    draw = np.random.default_rng(0)
    changed = 0
    for width in (5, 16, 109, 500):
        rows, coef = draw.standard_normal((203, width)), draw.standard_normal(width)
        for layout in (np.ascontiguousarray, np.asfortranarray):
            for last in (202, 201, 200, 199):
                whole, some = layout(rows) @ coef, layout(rows[:last]) @ coef
                changed += int((whole[:last] != some).sum())
    if not changed:
        pytest.skip("this BLAS treats all rows of these shapes alike")
    assert changed > 0


def test_bins_of_a_linear_model_are_those_of_its_probabilities():
    bins = ScoreBins.of_count(16)
    outputs = outputs_of(LINEAR)
    margins = outputs.read(X)[:, 0]
    places = np.searchsorted(outputs.thresholds(bins.edges), margins, side="left")
    chances = LINEAR.predict_proba(X)[:, 1]
    expected = np.searchsorted(1 / (1 + np.exp(-bins.edges)), chances, side="left")
    assert np.array_equal(places, expected)
    assert np.array_equal(bins.is_above[places], LINEAR.predict(X) == 1)


@pytest.mark.parametrize("loss", [LogisticRegression, LinearClassifier])
def test_thresholds_rise_with_the_edges_and_are_finite(loss):
    model = _fitted(loss(epsilon=1.0, delta=1e-6, data_norm=6.0, classes=[0, 1]), X, Y)
    thresholds = outputs_of(model).thresholds(ScoreBins.of_count(32).edges)
    assert np.isfinite(thresholds).all()
    assert (np.diff(thresholds) > 0).all()
    assert thresholds[15] == 0.0


@pytest.mark.parametrize("model", [PlainLogistic(), PlainSVC()], ids=["chances", "margins"])
def test_a_foreign_model_is_asked_about_one_row_at_a_time(model):
    fitted = model.fit(X, Y)
    outputs = outputs_of(fitted)
    whole = outputs.accept(X).read()
    assert np.array_equal(outputs.accept(X[3:50]).read(), whole[3:50])
    assert outputs.has_probabilities == hasattr(model, "predict_proba")
    above = whole[:, 0] > outputs.thresholds(np.zeros(1))[0]
    assert np.array_equal(above, fitted.predict(X) == 1)


def test_a_foreign_model_of_several_classes_has_an_output_for_each():
    fitted = PlainLogistic().fit(X, Y + (X[:, 1] > 0.5))
    said = outputs_of(fitted).accept(X[:4]).read()
    np.testing.assert_allclose(said, fitted.predict_proba(X[:4]), atol=1e-12)


def test_a_row_that_a_foreign_model_refuses_has_no_outputs_and_spoils_no_other():
    fitted = PlainLogistic().fit(X, Y)
    broken = X.copy()
    broken[7, 2] = np.nan
    outputs = outputs_of(fitted)
    said, expected = outputs.accept(broken).read(), outputs.accept(X).read()
    assert np.isnan(said[7]).all()
    assert np.array_equal(np.delete(said, 7, axis=0), np.delete(expected, 7, axis=0))


def test_declared_columns_of_frames_are_read_each_row_by_itself():
    draw = np.random.default_rng(3)
    frame = pd.DataFrame({"age": draw.uniform(0, 100, 80), "ward": draw.choice(["a", "b"], 80)})
    y = (frame["age"] > 50).astype(int)
    columns = {"age": Numeric(0, 100), "ward": Category(["a", "b"])}
    for delta in (0.0, 1e-6):
        model = LinearClassifier(epsilon=3.0, delta=delta, columns=columns, classes=[0, 1])
        outputs = outputs_of(_fitted(model, frame, y))
        whole = outputs.accept(frame).read()
        np.testing.assert_allclose(whole[:, 0], model.decision_function(frame), atol=1e-9)
        assert np.array_equal(outputs.accept(frame[5:60]).read(), whole[5:60])


def test_counts_are_predicted_each_row_by_itself():
    model = PoissonRegressor(epsilon=5.0, delta=0.0, data_norm=6.0, max_count=9)
    outputs = outputs_of(_fitted(model, X, np.abs(Y) + 1))
    whole = outputs.read(X)
    np.testing.assert_allclose(whole[:, 0], model.predict(X), rtol=1e-12)
    assert np.array_equal(outputs.read(X[9:40]), whole[9:40])


@pytest.mark.parametrize(
    ("model", "kind", "words"),
    [
        (LogisticRegression(), InputError, "not fitted"),
        (PlainLogistic(), InputError, "not fitted"),
        (LogisticRegression, InputTypeError, "fitted classifier"),
        (StandardScaler().fit(X), InputTypeError, "fitted classifier"),
        (KMeans(2, n_init=1).fit(X), InputTypeError, "fitted classifier"),
    ],
)
def test_what_is_no_fitted_model_is_refused(model, kind, words):
    with pytest.raises(kind, match=words):
        outputs_of(model)


def test_other_columns_are_refused():
    for model in (
        LINEAR,
        PlainLogistic().fit(X, Y),
        _fitted(LinearSVC(data_norm=6.0, classes=[0, 1]), X, Y),
    ):
        with pytest.raises(InputError, match="16 columns"):
            outputs_of(model).accept(X[:, :3])
    frame = pd.DataFrame(X, columns=[f"c{place}" for place in range(16)])
    named = _fitted(LogisticRegression(delta=0.0, data_norm=6.0, classes=[0, 1]), frame, Y)
    with pytest.raises(InputError, match="names"):
        outputs_of(named).accept(frame[frame.columns[::-1]])


@pytest.mark.parametrize("width", [3, 16, 33])
def test_a_row_of_a_frame_is_scored_as_if_it_were_alone(width):
    """Strides of a view would tell how many rows there are, and BLAS goes by strides."""
    rows, labels = _table(rows=60, width=width)
    model = PlainLogistic().fit(pd.DataFrame(rows), labels)
    frame = pd.DataFrame(rows)
    outputs = outputs_of(model)
    together = outputs.accept(frame).read()
    for place in range(60):
        alone = outputs.accept(frame.iloc[[place]].copy()).read()
        assert np.array_equal(alone, together[place : place + 1])


def test_nothing_of_a_frame_but_the_row_itself_is_shown_to_a_model():
    class Looks(DummyRegressor):
        def predict(self, X):
            return [X.index[0] + len(X.attrs) + len(X)]

    frame = pd.DataFrame(X[:9])
    frame.attrs["rows"] = 9
    outputs = outputs_of(Looks().fit(frame, Y[:9]))
    assert outputs.accept(frame).read()[:, 0].tolist() == [1.0] * 9


def test_a_class_of_ones_own_derived_from_ours_is_foreign(capfd):
    """It may draw, remember and print."""

    class Counting(PoissonRegressor):
        seen = 0

        def predict(self, X):
            Counting.seen += 1
            print("a row")
            return np.full(len(X), Counting.seen)

    options = {"epsilon": 1.0, "delta": 1e-6, "data_norm": 6.0, "max_count": 5}
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    model = _fitted(Counting(ledger=ledger, **options), X, Y)
    patched = _fitted(PoissonRegressor(**options), X, Y)
    patched.predict = model.predict
    for one in (model, patched):
        assert outputs_of(one).accept(X[:4]).read()[:, 0].tolist() == [1.0] * 4
    assert capfd.readouterr().out == ""
    assert Counting.seen == 0


def test_a_model_that_needs_names_is_refused_without_them_before_a_charge():
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    picked = ColumnTransformer([("picked", "passthrough", ["a", "b"])])
    outputs = outputs_of(make_pipeline(picked, PlainLogistic()).fit(frame, Y))
    assert np.isfinite(outputs.accept(frame).read()).all()
    with pytest.raises(InputError, match="pass a pandas data frame"):
        outputs.accept(X[:, :2])


def test_classes_that_were_given_as_objects_are_text_all_the_same():
    words = np.array(["no", "yes"], dtype=object)[Y]
    model = PlainLogistic().fit(X, words)
    for labels in (words.astype(str), pd.Series(words, dtype="string"), words):
        scores = private_score(model, X, labels, ["accuracy"], epsilon=math.inf)
        assert scores["accuracy"].value > 0.5

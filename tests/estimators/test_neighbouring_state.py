"""All that can be seen of a fit is the same on neighbouring tables, but for what it releases."""

from __future__ import annotations

import contextlib
import io
import threading
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model as sklearn_models

from discreet import (
    AdditiveClassifier,
    AdditiveRegressor,
    LinearClassifier,
    LinearRegressor,
    metrics,
    model_selection,
    online,
)
from discreet._private_part import Sealed
from discreet.preprocessing import Category, Numeric
from support.estimators import ALL, SIGNAL, THREE, TWO, X, declare, labels_for, make
from support.neighbours import Tape

COUNT = 40
ODD = {
    "no numbers": np.nan,
    "beyond all numbers": np.inf,
    "a large number": -1e300,
    "next to nothing": 5e-324,
}


def neighbours(y, unit):
    """Yield rows and labels beside the first ones, the odd ones among them."""
    table = X[:COUNT]
    if unit == "add_remove":
        for keep in (slice(1, None), slice(None, -1), slice(1)):
            yield table[keep], None if y is None else y[keep]
    for place, cell in zip((0, COUNT // 2, COUNT - 1, 7), ODD.values(), strict=True):
        rows = table.copy()
        rows[place] = cell
        yield rows, None if y is None else with_label(y, place, cell)


def with_label(y, place, cell):
    labels = y.astype(object) if y.dtype.kind == "U" else y.astype(float)
    labels[place] = "perhaps" if y.dtype.kind == "U" else cell
    return labels


LOCK = type(threading.RLock())


def see(act, X, y, tape):
    """Return all that can be seen of what an act makes, prints, and warns of."""
    out, err = io.StringIO(), io.StringIO()
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        tape.turning(),
    ):
        warnings.simplefilter("always")
        made = act(X, y)
    warned = [(each.category, str(each.message)) for each in caught]
    return look(made), warned, out.getvalue(), err.getvalue()


def look(value):
    """Return whatever can be seen of a value, down to the bits of its arrays."""
    if isinstance(value, np.ndarray):
        cells = value.tolist() if value.dtype.hasobject else value.tobytes()
        return value.dtype.str, value.shape, cells
    if isinstance(value, dict):
        return {str(key): look(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value), [look(each) for each in value]
    if isinstance(value, Sealed | type | LOCK) or callable(value):
        return type(value)
    if hasattr(value, "__dict__"):
        return type(value), look(vars(value))
    return type(value), repr(value)


def assert_alike(act, y, unit="add_remove"):
    tape = Tape()
    expected = see(act, X[:COUNT], y, tape)
    for rows, labels in neighbours(y, unit):
        assert see(act, rows, labels, tape) == expected


def first(labels):
    return None if labels is None else labels[:COUNT]


@pytest.mark.parametrize(
    ("kind", "unit"),
    [
        *((kind, "add_remove") for kind in ALL),
        *((kind, "replace") for kind in (LinearClassifier, LinearRegressor)),
    ],
)
def test_no_estimator_keeps_or_says_what_one_record_decides(kind, unit):
    def fit(X, y):
        return make(kind, rehearsal=3, unit=unit, verbose=True).fit(X, *([] if y is None else [y]))

    assert_alike(fit, first(labels_for(kind)), unit)


LEVELS = ["low", "high"]
COLUMNS = [Numeric(-1, 1), Numeric(-1, 1, fill=0.0), Category(LEVELS)]


def draw_curves(kind, **options):
    """Return what fits curves to rows with weights, and shows all that there is to see of them."""

    def act(X, y):
        rows = X.astype(object)
        rows[:, 2] = [LEVELS[int(cell > 0)] if np.isfinite(cell) else cell for cell in X[:, 2]]
        model = kind(columns=COLUMNS, max_weight=2.0, rehearsal=3, verbose=True, **options)
        model.fit(rows, y, sample_weight=1 + X[:, 0])
        seen = model.settings_, model.summary(), model.shapes_, model.importance_
        return model, seen

    return act


@pytest.mark.parametrize("unit", ["add_remove", "replace"])
@pytest.mark.parametrize(
    ("kind", "y", "options"),
    [
        (AdditiveClassifier, TWO, {"bands": True, "monotone": {"x0": "increasing"}}),
        (AdditiveClassifier, TWO, {"epsilon": 30.0, "expected_rows": 10**5}),  # scores are counted
        (AdditiveClassifier, TWO, {"delta": 0.0}),
        (AdditiveClassifier, THREE, {"classes": ["high", "low", "mid"], "bands": True}),
        (AdditiveRegressor, SIGNAL, {"target_range": (-1.0, 1.0), "bands": True}),
        (AdditiveRegressor, SIGNAL, {"target_range": (-1.0, 1.0), "delta": 0.0}),
    ],
)
def test_no_curve_keeps_or_says_what_one_record_decides(kind, y, options, unit):
    if y is TWO:
        options = {"classes": ["no", "yes"]} | options
    assert_alike(draw_curves(kind, unit=unit, **options), first(y), unit)


@pytest.mark.parametrize("container", [np.array, sparse.csr_array])
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
@pytest.mark.parametrize("options", [{}, {"epsilon": 30.0, "expected_rows": 10**5}], ids=str)
def test_no_model_of_wide_rows_keeps_or_says_what_one_record_decides(options, unit, container):
    def act(X, y):
        rows = container(np.hstack([X, np.zeros((len(X), 600))]))
        model = make(LinearClassifier, rehearsal=3, unit=unit, verbose=True, **options)
        model.fit(rows, y)
        assert model.release_.reason.startswith("rows counted first")
        return model

    assert_alike(act, first(TWO), unit)


class Counting(LinearRegressor):
    """Keeps how many rows it learnt from."""

    def fit(self, X, y=None, **more):
        self.count_ = len(X)
        return super().fit(X, y, **more)


class Talking(LinearRegressor):
    """Prints a cell."""

    def fit(self, X, y=None, **more):
        print(X[-1, 0])
        return super().fit(X, y, **more)


@pytest.mark.parametrize("kind", [Counting, Talking])
def test_what_one_record_decides_is_noticed(kind):
    with pytest.raises(AssertionError):
        assert_alike(lambda X, y: declare(kind, rehearsal=3).fit(X, y), first(SIGNAL))


def searched(X, y):
    model = LinearClassifier(data_norm=1.0, classes=["no", "yes"])
    grid = {"margin": [0.0, 1.0]}
    return model_selection.PrivateSearchCV(
        model, grid, epsilon=1.0, method="split", rehearsal=3
    ).fit(X, y)


def aggregated(X, y):
    model = sklearn_models.LogisticRegression()
    return model_selection.SampleAndAggregate(
        model, bounds=1.0, blocks=5, classes=["no", "yes"], rehearsal=3
    ).fit(X, y)


def scored(X, y):
    scores = metrics.private_score(CLASSIFIER, X, y, rehearsal=3)
    return scores, scores.table(0.95)


def compared(X, y):
    return metrics.compare_models(CLASSIFIER, OTHER, X, y, rehearsal=3)


CLASSIFIER, OTHER = (
    LinearClassifier(data_norm=1.0, classes=["no", "yes"], epsilon=epsilon).fit(X, TWO)
    for epsilon in (1.0, 50.0)
)


@pytest.mark.parametrize("act", [searched, aggregated, scored, compared])
def test_no_search_or_score_keeps_or_says_what_one_record_decides(act):
    assert_alike(act, first(TWO))


@pytest.mark.parametrize(
    ("kind", "y", "options"),
    [
        (online.LogisticRegression, TWO, {"classes": ["no", "yes"]}),
        (online.LinearSVC, TWO, {"classes": ["no", "yes"]}),
        (online.LinearRegression, SIGNAL, {"target_range": (-1.0, 1.0)}),
    ],
)
def test_no_learner_of_a_stream_keeps_or_says_what_one_record_decides(kind, y, options):
    def learn(X, y):
        model = kind(1.0, horizon=COUNT, data_norm=1.0, rehearsal=3, **options)
        for start in range(0, COUNT, 10):
            some = slice(start, start + 10)
            model.partial_fit(X[some], y[some])
        model.freeze()
        return model

    assert_alike(learn, first(y), "replace")

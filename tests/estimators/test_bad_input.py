"""Whatever comes in: a clear error before any charge, or a private result."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pandas as pd
import pytest

from discreet import Budget, LinearClassifier, LinearRegressor, MemoryLedger
from discreet.errors import (
    CalibrationError,
    InputError,
    InputTypeError,
    NotAccepted,
)
from discreet.estimators.targets import encode_labels, list_classes
from discreet.geometry import Box, L2Ball
from discreet.ledger import State
from discreet.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)
from discreet.location import Threshold
from discreet.preprocessing import Category, Numeric
from discreet.svm import LinearSVC
from support.estimators import (
    CLASSIFIERS,
    EVERY,
    REGRESSORS,
    SIGNAL,
    TWO,
    WITH_COLUMNS,
    X,
    declare,
    declared,
    every_classifier,
    every_estimator,
    penalty,
    target,
)

SECRET = 4711.25
some_estimators = pytest.mark.parametrize("model", [LogisticRegression, Ridge, HuberRegressor])
ranged = pytest.mark.parametrize("model", [m for m in REGRESSORS if m is not PoissonRegressor])


def fit(model, rows=X, labels=None, **parameters):
    """Fit with a ledger, and hand back its history, whatever happens."""
    ledger = MemoryLedger(Budget(100.0, 1e-3), unit=parameters.get("unit", "add_remove"))
    labels = target(model) if labels is None else labels
    parameters = {"delta": 0.0, "ledger": ledger, **parameters}
    try:
        return declare(model, **parameters).fit(rows, labels), ledger.history()
    except Exception as error:
        return error, ledger.history()


def assert_private(outcome):
    model, history = outcome
    assert not isinstance(model, Exception), model
    assert [entry.state for entry in history] == [State.RELEASED]
    assert model.release_.is_private
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()


def assert_refused(outcome, error, says):
    caught, history = outcome
    assert isinstance(caught, error), caught
    assert history == ()
    with pytest.raises(error, match=says):
        raise caught


HOSTILE = X.copy()
HOSTILE[0], HOSTILE[1, 0], HOSTILE[2, 1], HOSTILE[3, 2] = math.nan, math.inf, -math.inf, 1e308
ROWS = {
    "constant columns": np.ones((200, 3)),
    "one constant column": np.column_stack([X, np.full(200, 0.3)]),
    "rows of zeros": np.zeros((200, 3)),
    "rows far out": X * 1e300,
    "not finite": HOSTILE,
    "nothing finite": np.full((200, 3), math.nan),
    "one column": X[:, :1],
    "columns twice": np.hstack([X, X]),
    "more columns than rows": np.tile(X[:4], 10),
    "one row": X[:1],
    "one row of one column": X[:1, :1],
    "tiny numbers": X * 5e-324,
    "whole numbers": np.arange(600).reshape(200, 3),
    "truth values": X > 0,
    "single precision": X.astype(np.float32),
}


@every_estimator
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_odd_rows_give_a_private_model(model, rows, unit):
    labels = target(model)[: len(rows)]
    assert_private(fit(model, rows, labels, unit=unit, **declared(model)))


@pytest.mark.parametrize("model", [LogisticRegression, LinearClassifier, Ridge])
@pytest.mark.parametrize("name", ["not finite", "one row", "rows far out", "columns twice"])
def test_odd_rows_give_a_private_model_with_gaussian_noise(model, name):
    rows = ROWS[name]
    labels = target(model)[: len(rows)]
    assert_private(fit(model, rows, labels, delta=1e-9, **declared(model)))


@every_estimator
@pytest.mark.parametrize("strength", [1e-12, 1e12])
@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_extreme_penalties_give_a_private_model_or_say_what_would_do(model, strength, delta):
    outcome = fit(model, delta=delta, **penalty(model, strength))
    if strength > 1 or model in REGRESSORS:
        assert_private(outcome)  # a regressor raises what is too weak
    else:
        assert_refused(outcome, CalibrationError, "too weak .* Use at least")


@some_estimators
@pytest.mark.parametrize("strength", [1e-12, 1e12])
def test_extreme_penalties_are_no_trouble_without_noise(model, strength):
    exact = declare(model, epsilon=math.inf, **penalty(model, strength)).fit(X, target(model))
    assert np.isfinite(exact.coef_).all()


@every_estimator
@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"epsilon": 0.0}, InputError, "epsilon must be positive"),
        ({"epsilon": -1.0}, InputError, "epsilon must be positive"),
        ({"epsilon": math.nan}, InputError, "epsilon must be positive"),
        ({"epsilon": "1"}, InputTypeError, "epsilon must be a number"),
        ({"delta": 1.0}, InputError, "delta must be"),
        ({"delta": -1e-9}, InputError, "delta must be"),
        ({"delta": None}, InputTypeError, "delta must be a number"),
        ({"data_norm": 0.0}, InputError, "data_norm must be"),
        ({"data_norm": math.inf}, InputError, "data_norm must be"),
        ({"data_norm": 1e200}, InputError, "must lie between"),
        ({"unit": "household"}, (InputError, InputTypeError), "unit"),
        ({"mechanism": "magic"}, InputError, "mechanism must be one of 'auto'"),
        ({"mechanism": None}, InputTypeError, "mechanism"),
        ({"domain": "ball"}, InputTypeError, "domain must be a ConvexSet"),
        ({"domain": Box([0.0], [1.0])}, InputError, "dimension"),
        ({"max_rows": 0}, InputError, "max_rows"),
        ({"rehearsal": 1.5}, InputTypeError, "rehearsal"),
        ({"rehearsal": True}, InputTypeError, "rehearsal"),
        ({"verbose": "much"}, InputTypeError, "verbose"),
        ({"ledger": "book"}, InputTypeError, "ledger"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_refused_before_anything_is_charged(model, wrong, error, says):
    if wrong == {"unit": "household"}:
        with pytest.raises(error, match=says):
            declare(model, delta=0.0, **wrong).fit(X, target(model))
        return
    assert_refused(fit(model, **wrong), error, says)


@every_estimator
@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf, "1"])
def test_a_penalty_that_is_none_is_refused(model, wrong):
    name = "C" if model in CLASSIFIERS else "alpha"
    assert_refused(fit(model, **{name: wrong}), (InputError, InputTypeError), f"{name} must be")


# Labels


@every_estimator
@pytest.mark.parametrize("size", [0, 1, 199, 201])
def test_labels_of_another_length_are_refused(model, size):
    labels = np.resize(target(model), size)
    assert_refused(fit(model, labels=labels), ValueError, "sample|empty|rows")


@every_estimator
def test_labels_of_another_shape_are_refused(model):
    two = np.column_stack([target(model)] * 2)
    assert_refused(fit(model, labels=two), ValueError, "1d")
    with pytest.raises(ValueError, match="y"):
        declare(model, delta=0.0).fit(X, None)


@every_classifier
def test_one_class_is_refused_unless_two_are_declared(model):
    assert_refused(fit(model, labels=np.full(200, "no")), InputError, "two classes")
    assert_private(fit(model, labels=np.full(200, "no"), classes=["no", "yes"]))
    assert_refused(fit(model, classes=["no"]), InputError, "two classes")


@every_classifier
@pytest.mark.parametrize(
    "classes", [3, [], ["no", 1], ["no", None], [0.0, math.nan], [[0, 1], [2, 3]], [(1, 2), (3,)]]
)
def test_declared_classes_that_are_none_are_refused(model, classes):
    assert_refused(fit(model, classes=classes), InputError, "classes")


@every_classifier
def test_labels_outside_the_declared_classes_are_no_error(model):
    mixed = TWO.astype(object)
    mixed[:4] = [None, 3.5, ("a", "b"), "maybe"]
    for labels in (mixed, np.full(200, "maybe")):
        outcome = fit(model, labels=labels, classes=["no", "yes"])
        assert_private(outcome)
        assert outcome[0].classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("odd", ["x", b"x", None, 0.5, 7, 10**30, True, (1, 2), 1 + 2j], ids=repr)
@pytest.mark.parametrize(
    "classes", [[0, 1], [0.0, 1.0], [False, True], ["no", "yes"], [2**53, 2**53 + 1]], ids=str
)
def test_one_odd_label_leaves_all_others_as_they_were(classes, odd):
    # A list of numbers with one text in it must not become a list of texts.
    labels = [classes[i % 2] for i in range(20)]
    declared = list_classes(classes)
    alone = encode_labels(labels, declared)
    together = encode_labels([*labels, odd], declared)
    np.testing.assert_array_equal(together[:-1], alone)
    assert set(alone) == {0.0, 1.0}


@pytest.mark.parametrize("odd", ["x", 1, [0, 1], (), np.array([0]), None, math.nan], ids=repr)
@pytest.mark.parametrize("kind", [list, tuple, deque, lambda y: np.array([*y, None], object)[:-1]])
def test_one_odd_label_leaves_labels_in_rows_of_their_own_as_they_were(kind, odd):
    nested = [[i % 2] for i in range(20)]
    declared = list_classes([0, 1])
    together = encode_labels(kind([*nested, odd]), declared)
    np.testing.assert_array_equal(together[:-1], [0.0, 1.0] * 10)


@pytest.mark.parametrize("odd", [math.nan, pd.NA, None, np.array([1, 2]), "x" * 99], ids=repr)
@pytest.mark.parametrize("model", [LogisticRegression, LinearClassifier, Threshold])
def test_odd_labels_of_declared_classes_are_no_error(model, odd):
    labels = [*([0, 1] * 10), odd]
    fit = declare(model, epsilon=1.0, classes=[0, 1]).fit(np.ones((21, 1)), labels)
    assert fit.release_.is_private


def test_a_refusal_of_labels_does_not_say_how_long_they_are():
    with pytest.raises(InputTypeError, match="the labels are text, the declared classes numbers"):
        LogisticRegression(classes=[0, 1], data_norm=1.0).fit(
            np.ones((2, 1)), np.array(["a", "b" * 4711])
        )


@pytest.mark.parametrize("model", [LogisticRegression, LinearClassifier, LinearSVC, Threshold])
def test_one_text_among_numbers_does_not_undo_a_fit(model):
    X = np.linspace(-1, 1, 4000)[:, None]
    labels = [int(x > 0) for x in X[:, 0]]
    fit = declare(model, epsilon=3.0, classes=[0, 1]).fit(np.vstack([X, [[0.5]]]), [*labels, "x"])
    assert fit.score(X, labels) > 0.9  # without privacy 1; a model of nothing scores 0.5


@pytest.mark.parametrize("model", [LogisticRegression, Threshold])
@pytest.mark.parametrize(
    ("classes", "labels"),
    [([0, 1], np.array(["0", "1"] * 10)), (["a", "b"], np.array([0, 1] * 10)),
     ([2**53, 2**53 + 1], np.array([2.0**53, 0.5] * 10))],
    ids=["text for numbers", "numbers for text", "floats for large integers"],
)  # fmt: skip
def test_labels_of_a_type_without_the_classes_are_refused(model, classes, labels):
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    with pytest.raises(InputTypeError, match=r"the labels are (text|numbers)|labels of the type"):
        declare(model, epsilon=0.5, classes=classes, ledger=ledger).fit(np.ones((20, 1)), labels)
    assert ledger.history() == ()


def test_known_labels_among_others_are_known():
    # Without noise, labels in an array of objects are the labels they are.
    exact = {"epsilon": math.inf, "classes": ["no", "yes"], "max_rows": 1000}
    mixed, text = TWO.astype(object), TWO.astype("U9")
    mixed[:4], text[:4] = [None, 3.5, ("a",), "maybe"], "maybe"
    one = LogisticRegression(**exact, data_norm=1.0).fit(X, mixed)
    other = LogisticRegression(**exact, data_norm=1.0).fit(X, text)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.score(X, TWO) > 0.8


@every_classifier
def test_labels_that_are_none_are_no_classes(model):
    labels = np.array(SIGNAL > 0, dtype=float)
    labels[:2] = [math.nan, math.inf]
    outcome = fit(model, labels=labels)
    assert_private(outcome)
    assert outcome[0].classes_.tolist() == [0.0, 1.0]
    assert_refused(fit(model, labels=np.full(200, math.nan)), InputError, "two classes")
    assert_refused(fit(model, labels=SIGNAL), InputError, "Unknown label type: continuous")
    assert_refused(fit(model, labels=[0, "x"] * 100), InputError, "all text or all numbers")


@pytest.mark.parametrize("model", REGRESSORS)
def test_targets_outside_the_range_are_clipped(model):
    far, near = np.array(target(model), dtype=float), np.array(target(model), dtype=float)
    far[:3], near[:3] = [1e300, -1e300, 11.0], [10, -10, 10]  # all beyond every default range
    exact = {"epsilon": math.inf, "max_rows": 1000}
    one, other = (declare(model, **exact).fit(X, labels) for labels in (far, near))
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("model", REGRESSORS)
def test_targets_that_are_text_are_refused(model):
    assert_refused(fit(model, labels=TWO), InputTypeError, "y must hold numbers")


@ranged
@pytest.mark.parametrize(
    "wrong",
    [(1.0, 1.0), (2.0, 1.0), (1.0,), (1.0, 2.0, 3.0), None, 3, "ab", ("0", "1"), (math.nan, 1.0),
     (0.0, math.inf), (0.0, 1e200)],
    ids=str,
)  # fmt: skip
def test_a_target_range_that_is_none_is_refused(model, wrong):
    outcome = fit(model, target_range=wrong)
    assert_refused(outcome, (InputError, InputTypeError), "target_range|low|high|1e100")


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf, "10", 1e200])
def test_a_largest_count_that_is_none_is_refused(wrong):
    assert_refused(
        fit(PoissonRegressor, max_count=wrong),
        (InputError, InputTypeError),
        "must be|1e100|between",
    )


@pytest.mark.parametrize(
    ("model", "wrong", "says"),
    [
        (PoissonRegressor, {"max_margin": 0}, "positive"),
        (PoissonRegressor, {"max_margin": 300}, "at most"),
        (HuberRegressor, {"threshold": 0}, "threshold"),
        (LinearRegressor, {"threshold": -1}, "threshold"),
        (QuantileRegressor, {"quantile": 0}, "quantile"),
        (QuantileRegressor, {"quantile": 1}, "quantile"),
        (QuantileRegressor, {"quantile": math.nan}, "quantile"),
        (QuantileRegressor, {"smoothing": -1}, "zero or a positive"),
        (LinearClassifier, {"margin": -1}, "margin"),
    ],
    ids=str,
)
def test_a_model_parameter_out_of_range_is_refused(model, wrong, says):
    assert_refused(fit(model, **wrong), InputError, says)


# Mechanisms


@pytest.mark.parametrize("mechanism", ["objective_perturbation", "output_perturbation"])
def test_the_squared_loss_without_a_domain_is_refused_with_the_reason(mechanism):
    assert_refused(
        fit(Ridge, mechanism=mechanism), NotAccepted, "no bounded slope without a domain"
    )


@pytest.mark.parametrize(
    "model", [m for m in (*CLASSIFIERS, *REGRESSORS) if m not in (Ridge, Lasso, ElasticNet)]
)
def test_other_losses_have_no_sufficient_statistics(model):
    outcome = fit(model, mechanism="sufficient_statistics")
    assert_refused(outcome, NotAccepted, "use Squared, or objective_perturbation")


def test_statistics_are_not_for_several_classes():
    outcome = fit(LogisticRegression, labels=np.arange(200) % 3, mechanism="sufficient_statistics")
    assert_refused(outcome, InputError, "use mechanism='auto'")


@pytest.mark.parametrize("model", [LogisticRegression, LinearClassifier])
def test_standardisation_without_an_intercept_is_refused_or_private(model):
    outcome = fit(model, mechanism="private_standardisation", fit_intercept=False)
    assert_refused(outcome, (NotAccepted, InputError), "intercept")


@some_estimators
def test_a_domain_that_reaches_the_solution_changes_nothing(model):
    exact = {"epsilon": math.inf, "max_rows": 1000}
    free = declare(model, **exact, **penalty(model, 0.7)).fit(X, target(model))
    held = declare(model, **exact, **penalty(model, 0.7), domain=L2Ball(50.0)).fit(X, target(model))
    np.testing.assert_allclose(held.coef_, free.coef_, rtol=0, atol=1e-8)


# Tables


@every_estimator
@pytest.mark.parametrize(
    "table",
    [
        np.full((200, 3), f"{SECRET}x"),
        np.full(200, SECRET),
        np.float64(SECRET),
        np.full((200, 3, 2), SECRET),
        [[SECRET]] * 199 + [[SECRET, SECRET]],
        np.full((200, 3), SECRET + 1j),
    ],
    ids=["text", "vector", "scalar", "three axes", "ragged", "complex"],
)
def test_what_is_no_table_of_numbers_is_refused_and_not_quoted(model, table):
    caught, history = fit(model, table)
    assert isinstance(caught, (ValueError, TypeError))
    assert history == ()
    while caught is not None:
        assert "4711" not in str(caught)
        caught = caught.__context__


@pytest.mark.parametrize(
    ("model", "with_columns"),
    [*((model, False) for model in EVERY), *((model, True) for model in WITH_COLUMNS)],
)
def test_labels_that_are_no_labels_are_refused_and_not_quoted(model, with_columns):
    columns = {"columns": [Numeric(-1, 1)] * 3} if with_columns else {}
    text = [] if model in CLASSIFIERS else [np.full(200, f"{SECRET}x")]
    for labels in (np.full(200, SECRET + 1j), np.full((200, 2), SECRET), *text):
        caught, history = fit(model, labels=labels, **columns)
        assert isinstance(caught, (ValueError, TypeError))
        assert history == ()
        while caught is not None:
            assert "4711" not in str(caught)
            caught = caught.__context__


@pytest.mark.parametrize("odd", [math.nan, math.inf, None])
def test_beside_declared_columns_odd_labels_are_brought_inside(odd):
    columns = [Numeric(-1, 1)] * 3
    targets, labels = SIGNAL.astype(object), TWO.astype(object)
    targets[0] = labels[0] = odd
    assert_private(fit(LinearRegressor, labels=targets, columns=columns))
    assert_private(fit(LinearClassifier, labels=labels, columns=columns, classes=["no", "yes"]))


@every_estimator
def test_no_rows_are_refused(model):
    assert_refused(fit(model, X[:0], target(model)[:0]), ValueError, "0 sample")


# Declared columns

COLUMNS = {"a": Numeric(-1, 1), "b": Numeric(-1, 1), "c": Category([0, 1])}


@pytest.mark.parametrize("model", [LinearClassifier, LinearRegressor])
@pytest.mark.parametrize(
    ("names", "columns", "error", "says"),
    [
        ("ab", COLUMNS, InputError, "'c'.* missing"),
        ("abcd", COLUMNS, InputError, "'d'.* as well"),
        ("abx", COLUMNS, InputError, "'c'.* missing"),
        ("", COLUMNS, InputTypeError, "data frame"),
        ("abc", list(COLUMNS.values())[:2], InputError, "2 columns"),
        ("abc", {}, InputError, "at least one column"),
        ("abc", "abc", InputTypeError, "columns must be"),
        ("abc", {"a": 1, "b": 2, "c": 3}, InputTypeError, "must be Numeric, Category, a range"),
    ],
)
def test_columns_that_do_not_fit_the_declaration_are_refused(model, names, columns, error, says):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(dict.fromkeys(names, SIGNAL)) if names else X
    assert_refused(fit(model, table, columns=columns), error, says)


@pytest.mark.parametrize("model", [LinearClassifier, LinearRegressor])
def test_labels_of_another_length_are_refused_beside_columns(model):
    columns = [Numeric(-1, 1)] * 3
    assert_refused(fit(model, X, target(model)[:-1], columns=columns), InputError, "as many rows")

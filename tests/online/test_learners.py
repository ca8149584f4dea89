"""Online learners: the same answers however records come, what is refused, and what is not."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

from discreet import Budget, MemoryLedger
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    InputError,
    InputTypeError,
    RehearsalWarning,
)
from discreet.estimators.registry import all_learners
from discreet.online import Experts, LinearRegression, LinearSVC, LogisticRegression
from support.learners import (
    ALL,
    CLASSIFIERS,
    FRAME,
    HORIZON,
    LINEAR,
    NAMES,
    RECORDS,
    SIGNAL,
    TWO,
    X,
    answer,
    labels,
    learn,
    learn_each,
    make,
)

every_learner = pytest.mark.parametrize("kind", ALL)
every_linear_one = pytest.mark.parametrize("kind", LINEAR)
every_classifier = pytest.mark.parametrize("kind", CLASSIFIERS)


def test_every_learner_of_the_library_is_tested_here():
    assert set(ALL) == set(all_learners())


def part(y, some):
    return None if y is None else y[some]


# However records come.


@every_learner
def test_the_split_into_blocks_does_not_matter_to_the_last_bit(kind):
    y = labels(kind)
    whole = answer(learn(make(kind, rehearsal=3), FRAME, y))
    parts = make(kind, rehearsal=3)
    for some in (slice(0, 1), slice(1, 30), slice(30, 31), slice(31, HORIZON)):
        learn(parts, FRAME[some], part(y, some))
        assert parts.release_.value is not None  # asking in between changes nothing
    assert answer(parts) == whole
    assert answer(learn_each(make(kind, rehearsal=3), y=y)) == whole
    turned = [dict(reversed(record.items())) for record in RECORDS]
    assert answer(learn_each(make(kind, rehearsal=3), turned, y)) == whole
    assert answer(learn(make(kind, rehearsal=4), FRAME, y)) != whole or kind is Experts


@every_linear_one
def test_the_kind_of_table_does_not_matter_to_the_last_bit(kind, tmp_path):
    y = labels(kind)
    whole = answer(learn(make(kind, rehearsal=3), X, y))
    FRAME.assign(y=y).to_parquet(tmp_path / "visits.parquet")
    stored = make(kind, rehearsal=3)
    with pytest.warns(RehearsalWarning):
        stored.partial_fit(tmp_path / "visits.parquet", target="y")
    assert answer(stored) == whole
    assert stored.n_seen == HORIZON
    for table in (FRAME, pl.DataFrame(X, schema=NAMES), sparse.csr_array(X), X.tolist()):
        assert answer(learn(make(kind, rehearsal=3), table, y)) == whole
    many = make(kind, rehearsal=3)
    with pytest.warns(RehearsalWarning):
        many.learn_many(FRAME, y)
    assert answer(many) == whole


def test_records_with_declared_columns_are_read_as_tables_are():
    columns = {"age": (-1.0, 1.0), "ward": ["a", "b"]}
    frame = FRAME[["age"]].assign(ward=np.where(X[:, 1] > 0, "a", "b"))
    frame.loc[3, "ward"], frame.loc[5, "age"] = "nowhere", np.nan
    given = {"data_norm": None, "features": None, "columns": columns, "rehearsal": 2}
    table = learn(make(LogisticRegression, **given), frame, TWO)
    single = learn_each(make(LogisticRegression, **given), frame.to_dict("records"), TWO)
    assert answer(single) == answer(table)
    chances = [single.predict_proba_one(record)["yes"] for record in frame.to_dict("records")]
    np.testing.assert_allclose(chances, table.predict_proba(frame)[:, 1], rtol=1e-12)


@every_linear_one
def test_one_record_is_predicted_as_a_table_of_one(kind):
    model = learn(make(kind, rehearsal=1), FRAME, labels(kind))
    one = [model.predict_one(record) for record in RECORDS[:5]]
    found = model.predict(FRAME[:5])
    if kind is LinearRegression:
        np.testing.assert_allclose(one, found, rtol=1e-12)
    else:
        assert one == found.tolist()


@every_learner
def test_fitting_is_beginning_anew_and_paying_again(kind):
    y, ledger = labels(kind), MemoryLedger(Budget(1.0, 1e-6), "replace")
    model = make(kind, ledger=ledger)
    model.fit(FRAME) if y is None else model.fit(FRAME, y)
    last = answer(model)
    with pytest.raises(BudgetExceeded):
        model.fit(FRAME) if y is None else model.fit(FRAME, y)
    assert (answer(model), model.n_seen) == (last, HORIZON)  # the model before stays
    model.set_params(ledger=MemoryLedger(Budget(1.0, 1e-6), "replace"))
    model.fit(FRAME[:8]) if y is None else model.fit(FRAME[:8], y[:8])
    assert model.n_seen == 8


# Before, at and after the horizon.


@every_classifier
def test_before_anything_was_learnt_the_first_class_is_likely_enough(kind):
    model = make(kind)
    assert model.predict_one(RECORDS[0]) == "no"
    if kind is LogisticRegression:
        assert model.predict_proba_one({}) == {"no": 0.5, "yes": 0.5}
    assert model.n_seen == 0
    assert not model.is_over
    assert make(LinearRegression, target_range=(2.0, 6.0)).predict_one({}) == 4.0


@every_learner
def test_at_the_horizon_it_learns_no_more_and_answers_for_ever(kind):
    y, ledger = labels(kind), MemoryLedger(Budget(3.0, 1e-5), "replace")
    model = learn(make(kind, ledger=ledger), FRAME[:50], part(y, slice(50)))
    last = answer(model)
    with pytest.raises(InputError, match="a horizon of 60 records"):
        learn(model, FRAME[:11], part(y, slice(11)))
    assert (answer(model), model.n_seen) == (last, 50)  # none of them was learnt from
    learn(model, FRAME[50:], part(y, slice(50, 60)))
    assert model.is_over
    with pytest.raises(InputError, match="a horizon of 60 records"):
        learn_each(model, RECORDS[:1], part(y, slice(1)))
    assert model.n_seen == HORIZON
    assert len(ledger.history()) == 1  # paid for once


# What must be declared, and is refused before anything is paid.


@pytest.mark.parametrize(
    ("kind", "left_out", "words"),
    [
        (LogisticRegression, "horizon", "horizon"),
        (LogisticRegression, "classes", "classes"),
        (LinearSVC, "data_norm", "data_norm"),
        (LinearRegression, "target_range", "target_range"),
        (Experts, "experts", "experts"),
        (Experts, "loss_range", "loss_range"),
    ],
)
def test_what_is_not_declared_is_asked_for_before_anything_is_paid(kind, left_out, words):
    ledger = MemoryLedger(Budget(3.0, 1e-5), "replace")
    model = make(kind, ledger=ledger, **{left_out: None})
    for act in (learn, lambda model, _, y: learn_each(model, RECORDS[:1], y)):
        with pytest.raises(InputError, match=words):
            act(model, FRAME, labels(kind))
    assert ledger.history() == ()
    assert not hasattr(model, "release_")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"horizon": 0}, "horizon"),
        ({"batch": 0}, "batch"),
        ({"classes": ["a", "b", "c"]}, "two classes"),
        ({"mechanism": "gaussian_sum"}, "mechanism"),
        ({"unit": "add_remove"}, "add_remove|remov"),
        ({"features": ["age", "age", "dose"]}, "each of them once"),
        ({"features": None}, "names of features"),
        ({"delta": 0.0}, "delta"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_paid(parameters, words):
    ledger = MemoryLedger(Budget(3.0, 1e-5), parameters.get("unit", "replace"))
    model = make(LogisticRegression, ledger=ledger, **parameters)
    with pytest.raises(DiscreetError, match=words):
        learn_each(model, RECORDS[:1], TWO)
    assert ledger.history() == ()
    assert model.n_seen == 0


def test_what_is_no_record_is_refused_by_its_type():
    model = make(LogisticRegression)
    with pytest.raises(InputTypeError, match="must be a dict"):
        model.learn_one([1.0, 2.0, 3.0], "yes")
    with pytest.raises(InputError, match="its proof knows no weights"):
        model.fit(X, TWO, np.ones(HORIZON))
    with pytest.raises(InputError, match="classes of a stream are declared"):
        model.partial_fit(X, TWO, classes=["no", "perhaps"])
    with pytest.raises(InputError, match="only classifiers have classes"):
        make(LinearRegression).partial_fit(X, SIGNAL, classes=[0, 1])
    model.partial_fit(X[:5], TWO[:5], classes=np.array(["yes", "no"]))
    with pytest.raises(InputError, match="other columns"):
        model.partial_fit(X[:5, :2], TWO[:5])
    assert model.n_seen == 5


def test_rows_of_dask_have_no_order():
    frames = pytest.importorskip("dask.dataframe")
    with pytest.raises(InputError, match="Dask"):
        make(LogisticRegression).partial_fit(frames.from_pandas(FRAME, npartitions=2), target="y")


# Odd records are read by themselves.


@every_linear_one
def test_odd_records_are_no_error_and_change_nothing_else(kind):
    y = labels(kind)
    odd = [
        ({}, y[0]),
        ({"age": math.nan, "bmi": 0.1, "dose": 0.1}, y[0]),
        ({"age": None, "bmi": "tall", "dose": 10**400}, y[0]),
        ({"age": 1e300, "bmi": -1e300, "dose": 0.0, "name": "extra"}, y[0]),
        (RECORDS[0], "undeclared"),
        (RECORDS[0], None),
        (RECORDS[0], math.nan),
    ]
    model = make(kind)
    for record, label in odd:
        model.learn_one(record, label)
        model.predict_one(record)
    assert model.n_seen == len(odd)
    assert np.isfinite(model.coef_).all()


def test_an_odd_record_counts_as_the_fixed_one():
    """What follows it is learnt from as if it had not been odd, and nothing says that it was."""
    y = TWO
    one = learn_each(make(LogisticRegression, rehearsal=1), [{"age": "old"}, *RECORDS[1:]], y)
    two = learn_each(make(LogisticRegression, rehearsal=1), [{"age": None}, *RECORDS[1:]], y)
    assert answer(one) == answer(two)
    assert answer(one) != answer(learn_each(make(LogisticRegression, rehearsal=1), y=y))


@every_learner
def test_a_parameter_may_be_a_scalar_of_numpy(kind):
    y = labels(kind)
    given = {"epsilon": 2.0, "delta": 1e-6, "horizon": HORIZON, "batch": 4, "verbose": 0}
    plain = make(kind, rehearsal=3, **given)
    other = make(
        kind, rehearsal=np.int64(3), **{name: np.array(value)[()] for name, value in given.items()}
    )
    assert answer(learn(plain, FRAME, y)) == answer(learn(other, FRAME, y))
    with pytest.raises(TypeError, match="horizon must be"):
        learn(make(kind, horizon=True), FRAME, y)


# Copies.


@every_learner
def test_a_clone_begins_anew(kind):
    model = learn(make(kind), FRAME[:8], part(labels(kind), slice(8)))
    again = clone(model)
    assert again.n_seen == 0
    assert not hasattr(again, "release_")
    assert learn(again, FRAME, labels(kind)).n_seen == HORIZON


@every_linear_one
def test_the_release_of_a_rehearsal_says_so_and_that_of_a_stream_what_was_declared(kind):
    with pytest.warns(RehearsalWarning):
        model = make(kind, rehearsal=1).partial_fit(FRAME, labels(kind))
    assert not model.privacy_.is_private
    real = learn(make(kind), FRAME, labels(kind))
    assert real.privacy_.is_private
    assert real.privacy_.quoted_delta == 1e-6
    facts = {fact.what: fact.words for fact in real.release_.facts}
    assert facts["records"] == "at most 60, in the order in which they arrive"

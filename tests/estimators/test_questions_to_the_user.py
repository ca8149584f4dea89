"""A large delta is questioned, from public values; a promise without a ledger says so once."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from discreet import Budget, GaussianSum, LinearClassifier, MemoryLedger, Rows, VectorSum, release
from discreet.errors import LargeDeltaWarning
from discreet.geometry import Box
from discreet.interaction.settlement import UNCOUNTED
from discreet.linear_model import LogisticRegression, SimplexRegression
from discreet.location import Median
from discreet.privacy.large_delta import question_delta
from discreet.questions import Bounds
from support.estimators import SIGNAL, TWO, X, make, rehearsal

BOUNDS = Bounds(Box([0], [1]), n_features=1)


def fit(rows=X, labels=TWO, **parameters):
    told = {"data_norm": 1.0, "classes": ["no", "yes"], "ledger": MemoryLedger(Budget(9, 0.5))}
    if "unit" in parameters:
        told["ledger"] = MemoryLedger(Budget(9, 0.5), parameters["unit"])
    return LogisticRegression(**{**told, **parameters}).fit(rows, labels)


def test_a_large_delta_is_questioned_before_anything_is_charged():
    ledger = MemoryLedger(Budget(9.0, 0.5))
    with pytest.raises(LargeDeltaWarning, match=r"delta = 0.001 .* one record in 1,000"):
        fit(delta=1e-3, ledger=ledger)
    rows = Rows(np.ones((9, 1)), bounds=BOUNDS)
    with pytest.raises(LargeDeltaWarning, match=r"delta = 0.001"):
        release(GaussianSum(), VectorSum(BOUNDS), rows, budget=Budget(1.0, 1e-3), ledger=ledger)
    assert ledger.history() == ()


def test_it_is_a_question_and_not_a_refusal():
    with pytest.warns(LargeDeltaWarning):
        assert fit(delta=1e-3).release_.is_private


def test_a_public_number_of_records_is_asked_about_too():
    rows, labels = np.tile(X, (150, 1)), np.tile(TWO, 150)
    with pytest.raises(LargeDeltaWarning, match="there may be 30,000 of them"):
        fit(rows, labels, delta=5e-5, unit="replace")
    assert fit(rows, labels, delta=1e-5, unit="replace").release_.is_private


def test_a_private_number_of_records_is_not():
    # Thirty thousand records or three: nothing is said of either.
    rows, labels = np.tile(X, (150, 1)), np.tile(TWO, 150)
    assert fit(rows, labels, delta=5e-5).release_.is_private
    assert fit(rows[:3], labels[:3], delta=5e-5).release_.is_private


def test_a_declared_bound_on_it_is_asked_about():
    with pytest.raises(LargeDeltaWarning, match="there may be 100,000 of them"):
        fit(delta=5e-5, max_rows=10**6)
    assert fit(delta=5e-6, max_rows=10**6).release_.is_private
    told = {"entry_bound": 1.0, "target_range": (-1, 1), "delta": 5e-5}
    with pytest.raises(LargeDeltaWarning, match="there may be 50,000 of them"):
        SimplexRegression(expected_rows=50_000, **told).fit(X, SIGNAL)


@pytest.mark.parametrize(
    "parameters", [{"delta": 0.0}, {"delta": 1e-3, "epsilon": math.inf, "ledger": None}]
)
def test_what_promises_no_delta_is_not_questioned(parameters):
    assert fit(**parameters).release_


@rehearsal
def test_a_rehearsal_and_a_pure_release_are_not_questioned():
    assert fit(delta=1e-3, rehearsal=1, ledger=None).release_
    assert Median(delta=1e-3, bounds=(-1, 1)).fit(X[:, :1]).privacy_.quoted_delta == 0


def test_the_defaults_are_not_questioned():
    assert make(LinearClassifier, unit="replace").fit(X, TWO).privacy_.is_private
    assert question_delta(1e-9, 2**30 / 10) == ""


def test_what_is_advised_would_not_be_questioned():
    for delta, records in ((0.5, None), (1e-4, 10**9), (1e-3, 10), (2e-6, 10**6)):
        advised = float(question_delta(delta, records).split("use ")[1].split(" or")[0])
        assert question_delta(advised, records) == ""


def test_a_promise_without_a_ledger_says_so_once():
    alone, paid = fit(ledger=None), fit()
    assert alone.privacy_.sentence().count("no ledger was charged") == 1
    assert alone.privacy_.compose(alone.privacy_).sentence().count("no ledger was charged") == 1
    assert UNCOUNTED in alone.privacy_.public_facts
    assert "ledger" not in paid.privacy_.sentence()
    assert alone.privacy_ == alone.release_.guarantee


def test_where_nothing_is_promised_nothing_is_said_of_a_ledger():
    assert "ledger" not in fit(epsilon=math.inf, ledger=None).privacy_.sentence()
    with warnings.catch_warnings(action="ignore"):
        assert "ledger" not in fit(rehearsal=1, ledger=None).privacy_.sentence()

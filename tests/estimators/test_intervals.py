"""Confidence intervals of coefficients: what they say, when they refuse, what they cost."""

from __future__ import annotations

import math
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from discreet import artifact
from discreet.errors import (
    DiscreetError,
    InputError,
    InputTypeError,
    IntervalRefused,
)
from discreet.geometry import L2Ball
from discreet.ledger import MemoryLedger
from discreet.linear_model import LogisticRegression, PoissonRegressor, Ridge
from discreet.mechanisms import ObjectivePerturbation
from discreet.mechanisms.released_sandwich import NoiseLevels, ReleasedSandwich
from discreet.mechanisms.signal_rules import NAMES
from discreet.privacy import AddRemoveOne, Budget

pytestmark = pytest.mark.filterwarnings(
    "ignore:this is a simulation", "ignore:up to .* of the rows may have been clipped"
)

SLOPES, CONSTANT = np.array([0.6, -0.4, 0.3, 0.0]), -0.5
TRUTH = np.append(SLOPES, CONSTANT)


def a_table(kind, seed, count=20_000):
    draw = np.random.default_rng(seed)
    X = np.clip(draw.normal(size=(count, 4)), -3, 3)
    margins = X @ SLOPES + CONSTANT
    if kind is LogisticRegression:
        return X, draw.random(count) < expit(margins)
    if kind is Ridge:
        return X, np.clip(0.5 * margins + 0.3 * draw.normal(size=count), -3, 3)
    return X, draw.poisson(np.exp(margins / 2))


OPTIONS = {
    LogisticRegression: {"data_norm": 6.0, "classes": [False, True]},
    Ridge: {"data_norm": 5.0, "target_range": (-3.0, 3.0)},
    PoissonRegressor: {"data_norm": 5.0, "max_count": 10.0, "max_margin": 2.0},
}
SCALES = {LogisticRegression: 1.0, Ridge: 0.5, PoissonRegressor: 0.5}
"""What margins are multiplied with in each model."""

every_model = pytest.mark.parametrize("kind", OPTIONS, ids=lambda kind: kind.__name__)


def a_model(kind, **options):
    given = {"epsilon": 3.0, "delta": 1e-6, "intervals": True, **OPTIONS[kind], **options}
    return kind(**given)


def a_ridge(kind, strength):
    return {"C": 1 / strength} if kind is LogisticRegression else {"alpha": strength}


def a_fit(kind, seed=0, count=20_000, **options):
    return a_model(kind, rehearsal=seed, **options).fit(*a_table(kind, seed, count))


# What they say.


@every_model
def test_there_is_a_row_for_each_coefficient_in_its_order_and_the_intercept_is_last(kind):
    model = a_fit(kind)
    limits, all_limits = model.confidence_interval(), model.confidence_interval(intercept=True)
    assert limits.shape == (4, 2)
    assert all_limits.shape == (5, 2)
    np.testing.assert_array_equal(all_limits[:4], limits)
    assert (limits[:, 0] < limits[:, 1]).all()
    middle = all_limits.mean(axis=1)
    found = np.append(np.ravel(model.coef_), model.intercept_)
    np.testing.assert_allclose(middle, found, atol=0.1)
    np.testing.assert_allclose(middle, SCALES[kind] * TRUTH, atol=0.1)


@every_model
def test_intervals_cover_about_as_often_as_they_say(kind):
    # Rows and noise are fixed, so this cannot flake. With others, fewer than 64 of 80 independent
    # intervals of 95 % would cover once in two million draws.
    hits = 0
    for seed in range(16):
        limits = a_fit(kind, seed).confidence_interval(intercept=True)
        truth = SCALES[kind] * TRUTH
        hits += int(((limits[:, 0] <= truth) & (truth <= limits[:, 1])).sum())
    assert hits >= 64


@every_model
def test_a_higher_level_is_wider_and_a_larger_budget_narrower(kind):
    model, richer = a_fit(kind), a_fit(kind, epsilon=8.0)
    width = np.ptp(model.confidence_interval(0.95), axis=1)
    assert (np.ptp(model.confidence_interval(0.99), axis=1) > width).all()
    assert (np.ptp(richer.confidence_interval(0.95), axis=1) < width).all()


def the_sandwich(X, y, kind, point):
    """The textbook: Huber's and White's covariance at a point."""
    rows = np.column_stack([X, np.ones(len(X))])
    margins = rows @ point
    if kind is LogisticRegression:
        slopes, bends = expit(margins) - y, expit(margins) * expit(-margins)
    elif kind is Ridge:
        slopes, bends = margins - y, np.ones(len(X))
    else:
        slopes, bends = np.exp(margins) - y, np.exp(margins)
    inverse = np.linalg.inv((rows * bends[:, None]).T @ rows)
    outer = (rows * np.square(slopes)[:, None]).T @ rows
    return np.sqrt(np.diag(inverse @ outer @ inverse))


@every_model
def test_without_noise_they_are_the_textbook_sandwich(kind):
    # But for rows and weights that are cut to a grid, and a trace of ridge.
    X, y = a_table(kind, 1)
    model = a_model(kind, epsilon=math.inf, **a_ridge(kind, 1e-3)).fit(X, y)
    table = model.summary()
    estimates = np.array([row.estimate for row in table])
    errors = np.array([row.standard_error for row in table])
    np.testing.assert_allclose(errors, the_sandwich(X, y, kind, estimates), rtol=2e-3)
    limits = model.confidence_interval(intercept=True)
    np.testing.assert_allclose(limits[:, 1] - estimates, 1.959964 * errors, rtol=1e-4)


def test_a_wide_range_of_targets_rounds_no_error_away():
    """Squared residuals are then tiny beside the largest; sums are of whole units."""
    X, y = a_table(Ridge, 1)
    narrow, wide = (
        a_model(Ridge, epsilon=math.inf, target_range=(-most, most)).fit(X, y).summary()
        for most in (10.0, 10_000.0)
    )
    for one, other in zip(narrow, wide, strict=True):
        assert math.isclose(one.standard_error, other.standard_error, rel_tol=1e-2)


def test_what_many_rows_may_lose_by_rounding_is_in_the_errors():
    """With a bound of 2**33 rows a second moment keeps nine digits of a row."""
    X, y = a_table(Ridge, 1)
    few, many = (
        a_model(Ridge, epsilon=50.0, max_rows=rows, rehearsal=1).fit(X, y)
        for rows in (2**18, 2**33)
    )
    moments = ReleasedSandwich.of(many.release_.value)
    assert moments.rows * moments.levels.outer_rounding > 20 * moments.levels.outer
    for one, other in zip(few.summary(), many.summary(), strict=True):
        assert other.standard_error > one.standard_error


def test_a_law_that_no_interval_is_derived_for_is_refused():
    X, y = a_table(LogisticRegression, 1)
    model = a_model(LogisticRegression, mechanism=ObjectivePerturbation("radial"))
    with pytest.raises(DiscreetError, match="Gaussian linear term alone"):
        model.fit(X, y)


def test_a_value_of_another_width_is_not_taken_for_a_sandwich():
    """Coefficients and settings are as many numbers as a sandwich of one column has."""
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(300, 16)) / 8
    size = ReleasedSandwich.of(np.zeros(1 * 6 + 2 + len(fields(NoiseLevels)))).vector().size
    model = a_model(LogisticRegression, intervals=False, rehearsal=1)
    model.fit(rows[:, : size - 1 - len(NAMES)], draw.integers(2, size=300))
    assert model.release_.value.size == size
    with pytest.raises(InputError, match="fitted without intervals"):
        model.set_params(intervals=True).confidence_interval()


@every_model
def test_the_ridge_is_taken_out_of_the_centre(kind):
    X, y = a_table(kind, 2)
    loose, tight = (
        a_model(kind, epsilon=math.inf, **a_ridge(kind, strength)).fit(X, y).summary()
        for strength in (1e-3, 300.0)
    )
    for one, other in zip(loose, tight, strict=True):
        off = abs(one.estimate - other.estimate)
        assert off < 0.3 * abs(one.coefficient - other.coefficient) + 1e-6


def test_least_squares_on_any_scale_say_the_same():
    X, y = a_table(Ridge, 3)
    plain = a_fit(Ridge, 3).confidence_interval(intercept=True)
    scaled = a_model(Ridge, data_norm=50.0, target_range=(94.0, 106.0), rehearsal=3)
    limits = scaled.fit(10 * X, 2 * y + 100).confidence_interval(intercept=True)
    # The constant column of the intercept goes along with data_norm.
    np.testing.assert_allclose(limits[:4], plain[:4] / 5, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(limits[4], 2 * plain[4] + 100, rtol=1e-4)


@pytest.mark.parametrize("unit", ["add_remove", "replace"])
@every_model
def test_either_unit_and_no_intercept_and_weights_and_sparse_tables(kind, unit):
    X, y = a_table(kind, 4)
    model = a_model(kind, unit=unit, fit_intercept=False, epsilon=8.0, rehearsal=4)
    assert model.fit(X, y).confidence_interval().shape == (4, 2)
    assert model.confidence_interval(intercept=True).shape == (4, 2)
    weighted = a_model(kind, unit=unit, max_weight=2.0, epsilon=16.0, rehearsal=4)
    weighted.fit(sparse.csr_array(X), y, np.full(len(X), 0.5))
    assert weighted.confidence_interval().shape == (4, 2)


def test_weights_of_one_half_make_no_difference_without_noise():
    X, y = a_table(LogisticRegression, 5)
    plain = a_model(LogisticRegression, epsilon=math.inf, C=1.0).fit(X, y)
    half = a_model(LogisticRegression, epsilon=math.inf, C=2.0, max_weight=1.0)
    half.fit(X, y, np.full(len(X), 0.5))
    np.testing.assert_allclose(
        half.confidence_interval(), plain.confidence_interval(), rtol=1e-3, atol=1e-5
    )


# The table.


def test_the_summary_names_columns():
    pandas = pytest.importorskip("pandas")
    X, y = a_table(LogisticRegression, 6)
    frame = pandas.DataFrame(X, columns=["age", "<dose>", "weight", "noise"])
    model = a_model(LogisticRegression, rehearsal=6).fit(frame, y)
    table = model.summary(level=0.9)
    assert [row.name for row in table] == ["age", "<dose>", "weight", "noise", "intercept"]
    assert len(table) == 5
    assert table["age"].coefficient == model.coef_[0, 0]
    assert table["intercept"].coefficient == model.intercept_[0]
    limits = model.confidence_interval(0.9, intercept=True)
    np.testing.assert_array_equal([[row.low, row.high] for row in table], limits)
    assert "90 %" in str(table)
    assert repr(table) == str(table)
    assert "&lt;dose&gt;" in table._repr_html_()
    assert "<dose>" not in table._repr_html_()
    shown = table.to_pandas()
    assert shown.loc["weight", "low"] == table["weight"].low
    assert [row.name for row in a_fit(Ridge).summary()] == ["x0", "x1", "x2", "x3", "intercept"]


# What they refuse.


@every_model
def test_few_rows_are_refused_with_the_reason_and_the_model_stands(kind):
    model = a_fit(kind, count=200, epsilon=0.5)
    with pytest.raises(IntervalRefused, match="too few rows for an interval at this budget"):
        model.confidence_interval()
    assert model.predict(a_table(kind, 0, 5)[0]).shape == (5,)
    table = model.summary()
    assert table["x0"].coefficient == np.ravel(model.coef_)[0]
    assert math.isnan(table["x0"].low)
    assert "no intervals: too few rows" in str(table)


def test_a_ridge_that_moved_margins_far_is_refused():
    X, y = a_table(LogisticRegression, 7)
    model = a_model(LogisticRegression, epsilon=math.inf, C=1e-4).fit(X, y)
    with pytest.raises(IntervalRefused, match="the ridge may have moved margins by"):
        model.confidence_interval()


def test_models_without_intervals_say_how_to_get_them():
    X, y = a_table(LogisticRegression, 8, 500)
    model = a_model(LogisticRegression, intervals=False, rehearsal=8).fit(X, y)
    for ask in (model.confidence_interval, model.summary):
        with pytest.raises(InputError, match="Fit with intervals=True"):
            ask()


REFUSED = {
    "pure": (LogisticRegression, {"delta": 0.0}, "needs delta > 0"),
    "domain": (Ridge, {"domain": L2Ball(1.0)}, "a domain biases coefficients"),
    "classes": (LogisticRegression, {"classes": [0, 1, 2]}, "intervals are for two classes"),
    "output": (LogisticRegression, {"mechanism": "output_perturbation"}, "no intervals are"),
    "gradient": (LogisticRegression, {"mechanism": "noisy_gradient"}, "no intervals are"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_interval_is_derived_for_is_refused_before_the_charge(case):
    kind, options, why = REFUSED[case]
    ledger = MemoryLedger(Budget(10.0, 1e-3))
    model = a_model(kind, ledger=ledger, **options)
    with pytest.raises(InputError, match=why):
        model.fit(*a_table(kind, 9, 50))
    assert ledger.history() == ()


def test_other_values_of_intervals_and_levels_are_refused():
    X, y = a_table(Ridge, 0, 50)
    with pytest.raises(InputTypeError, match="intervals must be a bool"):
        a_model(Ridge, intervals="yes").fit(X, y)
    assert a_model(Ridge, intervals=np.True_, rehearsal=0).fit(X, y).summary()
    model = a_fit(Ridge)
    for level in (0.0, 1.0, 95.0, math.nan):
        with pytest.raises(InputError, match="level"):
            model.confidence_interval(level)


# What they cost.


@every_model
def test_one_charge_pays_for_everything(kind):
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    model = a_model(kind, epsilon=1.0, ledger=ledger).fit(*a_table(kind, 0, 2000))
    assert len(ledger.history()) == 1
    assert model.privacy_.epsilon(1e-6) <= 1.0
    assert model.release_.is_private


def test_intervals_cost_the_coefficients_a_tenth_more_noise():
    model = a_model(LogisticRegression, intervals=False)
    budget, unit = Budget(3.0, 1e-6), AddRemoveOne()
    asked = model._ask(replace(model.fit_of(4, model.row_limit), budget=budget, unit=unit))
    plain = asked.mechanism.plan(asked.question, budget, unit).second.scale
    shared = ReleasedSandwich.of(a_fit(LogisticRegression).release_.value).levels.slope
    # Six percent of mu squared for the sums, or three and what intervals have.
    ratio = math.sqrt((1 - 0.06) / (1 - 0.03 - 0.201))
    assert shared / plain == pytest.approx(ratio, rel=0.01)


# What is stored.


@every_model
def test_stored_models_answer_as_before(kind, tmp_path):
    model = a_fit(kind)
    limits = model.confidence_interval(intercept=True)
    for again in (
        artifact.load(artifact.save(model, tmp_path / "model")),
        pickle.loads(pickle.dumps(model)),
    ):
        np.testing.assert_array_equal(again.confidence_interval(intercept=True), limits)
        assert str(again.summary()) == str(model.summary())


@every_model
def test_stored_tables_have_the_same_intervals(kind, tmp_path):
    pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = a_table(kind, 11)
    table = pandas.DataFrame(X, columns=list("abcd")).assign(y=y)
    table.to_parquet(tmp_path / "table.parquet")
    model = a_model(kind, rehearsal=11)
    limits = model.fit(table[list("abcd")], table["y"]).confidence_interval()
    for stored in (tmp_path / "table.parquet", frames.from_pandas(table, npartitions=3)):
        again = model.fit(stored, target="y").confidence_interval()
        np.testing.assert_allclose(again, limits, atol=1e-6)


# Rows that were shortened.


def test_rows_that_were_shortened_are_counted_and_warned_of():
    X, y = a_table(LogisticRegression, 10)
    model = a_model(LogisticRegression, data_norm=1.5, epsilon=8.0, rehearsal=10).fit(X, y)
    shortened = int((np.linalg.norm(X, axis=1) > 1.5).sum())
    found = ReleasedSandwich.of(model.release_.value)
    assert found.shortened == pytest.approx(shortened, abs=6 * found.levels.counts)
    assert found.shortened + found.whole == pytest.approx(len(X), abs=9 * found.levels.counts)
    with pytest.warns(UserWarning, match="of the rows may have been clipped to their bound"):
        model.confidence_interval()
    assert "may have been clipped" in str(model.summary())


@pytest.mark.filterwarnings("error:up to")
def test_wide_bounds_and_many_rows_warn_of_nothing():
    model = a_fit(LogisticRegression, count=60_000)
    model.confidence_interval()
    assert "clipped" not in str(model.summary())

"""Additive regressions: in the target's units, within its range, and bent where the truth is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet import AdditiveRegressor, LinearRegressor
from discreet.errors import InputError
from discreet.preprocessing import Category, Numeric

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")

COLUMNS = {"age": Numeric(0, 100), "smokes": Category(["no", "yes"])}


def people(count=5000, seed=0):
    """A target that is least in the middle of one column, and higher for one level of another."""
    import pandas as pd

    generator = np.random.default_rng(seed)
    age, smokes = generator.uniform(0, 100, count), generator.choice(["no", "yes"], count)
    target = (age - 50) ** 2 / 25 + 30 * (smokes == "yes") + generator.normal(0, 3, count)
    return pd.DataFrame({"age": age, "smokes": smokes}), target


def fitted(target_range=(0, 130), y=None, X=None, **parameters):
    rows, target = people()
    stated = {"epsilon": 1.0, "delta": 1e-7, "columns": COLUMNS, "rehearsal": 1} | parameters
    model = AdditiveRegressor(target_range=target_range, **stated)
    return model.fit(rows if X is None else X, target if y is None else y)


def test_it_learns_a_curve_that_no_line_could_be():
    (rows, target), (new, truth) = people(), people(seed=1)
    parameters = {"epsilon": 1.0, "delta": 1e-7, "columns": COLUMNS, "rehearsal": 1}
    linear = LinearRegressor(target_range=(0, 130), **parameters).fit(rows, target)
    # Of a variance of 1123 the parabola has 889, the level 225, and 9 are noise.
    assert linear.score(new, truth) < 0.25
    assert fitted().score(new, truth) > 0.95
    assert fitted(epsilon=math.inf).score(new, truth) > 0.98


def test_shapes_and_intercept_are_in_the_units_of_the_target():
    _, target = people()
    model, other = fitted(), fitted((100, 1400), y=100 + 10 * target)
    np.testing.assert_allclose(other.cell_values_, 10 * model.cell_values_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.intercept_, 100 + 10 * model.intercept_, rtol=1e-6)
    no, yes = model.shapes_["smokes"].values
    assert yes - no == pytest.approx(30, abs=3)
    assert other.settings_.threshold == pytest.approx(10 * model.settings_.threshold)


def test_predictions_are_explained_and_stay_within_the_range():
    model, (rows, _) = fitted((20, 60)), people(seed=1)
    told = model.explain(rows)
    sums = told.intercept + told.parts.sum(axis=1)
    assert sums.min() < 20
    assert sums.max() > 60
    np.testing.assert_allclose(model.predict(rows), np.clip(sums, 20, 60))


def test_a_target_beyond_its_range_counts_as_its_end_and_an_unreadable_one_as_any_other():
    _, target = people()
    far, end, none, nothing = (target.copy() for _ in range(4))
    far[3], end[3], none[3], nothing[3] = 1e30, 130.0, math.nan, math.nan
    assert np.array_equal(fitted(y=far).release_.value, fitted(y=end).release_.value)
    rows, _ = people()
    rows.loc[3] = [7.0, "yes"]
    assert np.array_equal(fitted(y=none).release_.value, fitted(X=rows, y=nothing).release_.value)


def test_missing_values_have_an_effect_of_their_own():
    rows, target = people()
    gone = np.arange(len(rows)) % 4 == 0
    rows.loc[gone, "age"], target[gone] = math.nan, 90.0
    model = fitted(X=rows, y=target)
    known = model.shapes_["age"].values
    assert model.shapes_["age"].missing > np.median(known) + 30
    assert model.predict(rows[gone]).mean() == pytest.approx(90, abs=5)


def test_a_shape_that_is_said_to_rise_rises():
    assert np.all(np.diff(fitted(monotone={"age": "increasing"}).shapes_["age"].values) >= 0)


def test_bands_are_in_the_units_of_the_target():
    _, target = people()
    bands = fitted(bands=True).shapes_["age"].band
    wider = fitted((0, 1300), y=10 * target, bands=True).shapes_["age"].band
    np.testing.assert_allclose(wider, 10 * bands, rtol=1e-5)
    assert 0 < bands.max() < 30


@pytest.mark.parametrize("ends", [None, (1,), (5, 5), (0, math.inf)])
def test_what_is_no_range_of_targets_is_refused_before_anything_is_paid(ends):
    with pytest.raises(InputError):
        fitted(ends)

"""Short forms of declarations, at every place that takes columns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import discreet
from discreet import artifact
from discreet.data.frame import Frame
from discreet.errors import InputError, InputTypeError
from discreet.linear_model import LinearClassifier, LinearRegressor
from discreet.planning import PublicFacts
from discreet.preprocessing import BoundedScaler, Category, Numeric, declare, declare_columns

SHORT = {"age": (18, 100), "ward": ["a", "b"]}
LONG = {"age": Numeric(18, 100), "ward": Category(["a", "b"])}
N = 400
CELLS = {"age": 20.0 + np.arange(N) % 70, "ward": np.array(["a", "b"] * (N // 2))}
BACK = np.arange(N) // 2 % 2


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ((18, 100), Numeric(18, 100)),
        ([18, 100], Numeric(18, 100)),
        (np.array([18, 100]), Numeric(18, 100)),
        ((np.float64(18), np.int64(100)), Numeric(18, 100)),
        (["a", "b"], Category(["a", "b"])),
        (("a", "b"), Category(["a", "b"])),
        ([1, 2, 3], Category([1, 2, 3])),
        ([False, True], Category([False, True])),
        (np.array(["a", "b"]), Category(["a", "b"])),
        (Numeric(0, 1, 0.5), Numeric(0, 1, 0.5)),
    ],
    ids=str,
)
def test_a_short_form_is_the_column_that_one_would_expect(short, long):
    assert declare(short) == long


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"age": (100, 18)}, InputError, r"columns\['age'\]: low must be below high"),
        ({"age": "number"}, InputTypeError, r"columns\['age'\] must be Numeric, Category, a range"),
        ({"age": ["a"]}, InputError, r"columns\['age'\]: a category must have at least two levels"),
        ({3: (0, 1)}, InputTypeError, "the column name 3"),
        ((18, 100), InputTypeError, r"columns\[0\] must be Numeric.*got a value of type int"),
        ("age", InputTypeError, "columns must be a dict from name to"),
        ({}, InputError, "at least one column"),
    ],
    ids=str,
)
def test_what_is_no_declaration_is_refused_by_its_name(given, error, said):
    with pytest.raises(error, match=said):
        declare_columns(given)
    with pytest.raises(error, match=said):
        LinearClassifier(columns=given, classes=[0, 1]).fit(Frame(CELLS), BACK)


@pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
@pytest.mark.parametrize(
    ("kind", "options"),
    [(LinearClassifier, {"classes": [0, 1]}), (LinearRegressor, {"target_range": (0, 1)})],
)
def test_short_and_long_forms_are_the_same_model(kind, options, tmp_path):
    short, long = (
        kind(1.0, columns=columns, rehearsal=3, **options).fit(Frame(CELLS), BACK)
        for columns in (SHORT, LONG)
    )
    np.testing.assert_array_equal(short.coef_, long.coef_)
    assert short.release_.facts == long.release_.facts
    assert clone(short).columns == SHORT
    artifact.save(short, tmp_path / "model")
    stored = artifact.load(tmp_path / "model")
    np.testing.assert_array_equal(stored.predict(Frame(CELLS)), long.predict(Frame(CELLS)))


def test_scalers_plans_and_checks_take_short_forms():
    frame = Frame(CELLS)
    np.testing.assert_array_equal(
        BoundedScaler(SHORT).fit_transform(frame), BoundedScaler(LONG).fit_transform(frame)
    )
    assert (
        PublicFacts(SHORT, classes=[0, 1]).stand_ins == PublicFacts(LONG, classes=[0, 1]).stand_ins
    )
    assert not discreet.check(
        LinearClassifier(columns=SHORT, classes=[0, 1]), frame, BACK
    ).is_serious

"""Columns of whole numbers: a cell for each, wherever cells are read, told or drawn."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from discreet import AdditiveClassifier
from discreet.additive.cell_features import edges_of, place
from discreet.errors import InputError
from discreet.preprocessing import Numeric
from discreet.report import card

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")

STAYS = Numeric(0, 12, whole=True)
COUNT = 8000


@cache
def fitted():
    """Risk is high after exactly one stay; nobody has had nine or ten."""
    generator = np.random.default_rng(0)
    stays = generator.choice([0, 1, 2, 3, 4, 11], size=COUNT).astype(float)
    frame = pd.DataFrame({"stays": stays, "weight": generator.normal(size=COUNT)})
    y = generator.random(COUNT) < np.where(stays == 1, 0.9, 0.1)
    model = AdditiveClassifier(
        3.0, 1e-6, columns={"stays": STAYS, "weight": (-3, 3)}, classes=[False, True], rehearsal=0
    )
    return model.fit(frame, y), frame


@pytest.mark.parametrize(
    ("low", "high"), [(0, 12), (-7, 8), (-200, 55), (10**6, 10**6 + 3), (-(2**50), 5 - 2**50)]
)
def test_the_cell_of_a_value_is_the_nearest_whole_number_and_agrees_with_the_edges(low, high):
    column = Numeric(low, high, whole=True)
    inner = edges_of(column)[1:-1]
    beside = [np.nextafter(inner, np.inf), np.nextafter(inner, -np.inf), [low, high, np.inf]]
    values = np.concatenate([inner, *beside, np.linspace(low - 1, high + 1, 501)])
    found = place(column, values)
    expected = np.searchsorted(inner, np.clip(values, low, high), side="right")
    np.testing.assert_array_equal(found, expected)
    whole = np.arange(low, high + 1, dtype=float)
    np.testing.assert_array_equal(place(column, whole), whole - low)
    assert place(column, np.array([np.nan])).tolist() == [high - low + 1]


def test_a_range_of_more_than_256_whole_numbers_has_cells_as_any_other():
    values = np.arange(0.0, 1000.0)
    np.testing.assert_array_equal(
        place(Numeric(0, 999, whole=True), values), place(Numeric(0, 999), values)
    )


def test_shapes_and_summaries_tell_of_whole_numbers():
    model, frame = fitted()
    shape = model.shapes_["stays"]
    assert shape.middles.tolist() == list(range(13))
    assert shape.values.size == 13
    shares = [(frame.stays == stay).mean() for stay in range(13)]
    np.testing.assert_allclose(shape.shares[:-1], shares, atol=0.02)
    assert int(np.argmax(np.where(np.array(shares) > 0, shape.values, -np.inf))) == 1
    (line,) = [line for line in model.summary().splitlines() if line.startswith("stays")]
    assert line.endswith("at 1")


def test_values_that_lie_half_way_are_scored_as_the_whole_number_above():
    model, _ = fitted()
    rows = pd.DataFrame({"stays": [0.49, 1.0, 0.5, 1.49], "weight": 0.0})
    scores = model.decision_function(rows)
    assert scores[1] == scores[2] == scores[3]
    assert scores[0] != scores[1]


def test_a_card_and_a_picture_have_one_place_for_each_whole_number():
    model, _ = fitted()
    shown = card(model.release_, shapes=model.shapes_).document["shapes"]
    (shape,) = [one for one in shown if one["column"] == "stays"]
    assert shape["ends"] == [-0.5, 12.5]
    assert len(shape["values"]) == 13
    (line,) = model.plot_shapes(["stays"]).axes[0].get_lines()[1:2]
    assert line.get_xdata().tolist() == list(range(13))


@pytest.mark.parametrize(
    "declared",
    [{"low": 0.5, "high": 3}, {"low": 0, "high": 2.0**51}, {"low": 0, "high": np.nextafter(3, 4)}],
    ids=str,
)
def test_a_range_that_does_not_end_at_whole_numbers_is_refused(declared):
    with pytest.raises(InputError, match="must end at whole numbers"):
        Numeric(**declared, whole=True)


def test_whole_numbers_need_a_range():
    with pytest.raises(InputError, match="need a range"):
        Numeric(None, None, public_bounds=(0, 10), whole=True)

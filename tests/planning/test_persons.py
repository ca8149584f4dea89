"""Predictions for persons: n counts them, and their rows are learnt from together."""

from __future__ import annotations

import json

import pytest

from discreet.errors import InputError
from discreet.planning import Planner, PublicFacts
from discreet.preprocessing import Numeric

TOLD = {"columns": [Numeric(0, 1)] * 3, "classes": ["no", "yes"], "signal": 0.85}
PERSON = "add_remove_person"


def predict(persons=400, epsilon=1.0, **told):
    """Return the only cell of a prediction."""
    (cell,) = Planner(PublicFacts(**TOLD, **told), draws=6).predict([epsilon], n=[persons])
    return cell


def test_one_row_of_each_person_is_predicted_as_rows_are():
    one = predict(unit=PERSON, contributions="cap", rows_per_person=1)
    rows = predict()
    assert (one.low, one.high) == (rows.low, rows.high)


def test_more_rows_of_each_person_help_and_less_than_more_persons():
    one, five = predict(unit=PERSON), predict(unit=PERSON, rows_each=5)
    many = predict(2000, unit=PERSON)
    assert one.mean <= five.mean + 0.02
    assert five.mean <= many.mean
    assert five.without_privacy == pytest.approx(many.without_privacy, abs=0.01)


def test_a_large_cap_is_predicted_to_cost_more_than_a_share():
    share = predict(200, unit=PERSON, rows_each=10)
    cap = predict(200, unit=PERSON, rows_each=10, contributions="cap", rows_per_person=10)
    assert cap.mean < share.mean - 0.01


def test_words_and_documents_count_persons():
    facts = PublicFacts(**TOLD, unit=PERSON, rows_each=4)
    planner = Planner(facts, draws=2)
    prediction = planner.predict([1.0], n=[200])
    assert prediction.conclusion().startswith("With 200 persons of 4 rows and epsilon 1, accuracy")
    assert "persons" in str(prediction).splitlines()[0]
    told = json.loads(prediction.to_json())
    assert (told["facts"]["unit"], told["facts"]["rows_each"]) == (PERSON, 4)
    assert told["bounds"] == []  # theorems are about rows
    assert "with 200 persons of 4 rows" in planner.which_epsilon(accuracy=0.7, n=200).sentence()
    assert "persons of 4 rows" in planner.which_n(accuracy=0.7, epsilon=1.0).sentence()
    few = planner.predict([0.01], n=[10]).conclusion()
    assert "10 persons of 4 rows at epsilon 0.01" in few
    assert "more persons, fewer columns" in few


@pytest.mark.parametrize("rows_each", [0, 1.5, 10**6])
def test_rows_of_each_are_a_number_of_persons_rows(rows_each):
    with pytest.raises((InputError, TypeError)):
        PublicFacts(**TOLD, unit=PERSON, rows_each=rows_each)
    with pytest.raises(InputError, match="for a unit of persons"):
        PublicFacts(**TOLD, rows_each=2)

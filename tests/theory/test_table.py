"""The table of bounds for a setting: order, sentences, JSON, the best of them."""

from __future__ import annotations

import json
import math

import pytest

from discreet.errors import InputError, InputTypeError
from discreet.mechanisms import REGISTRY
from discreet.theory import CATALOGUE, Setting, best_lower, best_upper, bounds_for

SETTING = Setting(n=2000, p=10, epsilon=1.0, delta=1e-6, smoothness=0.25, form="generalised_linear")


def test_the_table_holds_what_applies_and_nothing_else():
    names = {found.name for found in bounds_for(SETTING)}
    assert names == {name for name, bound in CATALOGUE.items() if bound.applies(SETTING)}
    assert 10 < len(names) < len(CATALOGUE)


def test_constants_come_first_and_uppers_from_the_smallest():
    table = bounds_for(SETTING)
    ranks = [(found.is_rate_only, found.kind == "lower") for found in table]
    assert ranks == sorted(ranks)
    uppers = [found.total for found in table if ranks and found.kind == "upper"][:5]
    assert uppers == sorted(uppers)


def test_sum_and_mean_differ_by_the_number_of_rows():
    for found in bounds_for(SETTING):
        assert found.mean == found.total / 2000
        assert found.total == CATALOGUE[found.name](SETTING)
        assert found.mean == CATALOGUE[found.name].mean(SETTING)


def test_the_best_of_each_side():
    constants = [found for found in bounds_for(SETTING) if not found.is_rate_only]
    best, least = best_upper(SETTING), best_lower(SETTING)
    assert best.total == min(found.total for found in constants if found.kind == "upper")
    assert least.total == max(found.total for found in constants if found.kind == "lower")
    assert best.total > least.total


def test_the_best_of_the_mechanisms_of_the_library():
    known = {mechanism.name for mechanism in REGISTRY}
    assert {bound.mechanism for bound in CATALOGUE.values()} - {None} <= known
    best = best_upper(SETTING, mechanisms=tuple(known))
    assert best.mechanism == "objective_perturbation"
    assert best.ridge > 0


def test_a_rate_is_never_called_the_best():
    nothing = Setting(n=100, p=2, epsilon=1.0, diameter=math.inf)
    with pytest.raises(InputError, match="diameter"):
        best_upper(nothing)
    with pytest.raises(InputError, match="ridge"):
        best_lower(nothing)
    assert bounds_for(nothing).sentence() == "No bound with a constant applies."
    assert str(bounds_for(nothing)).startswith("bound")
    with pytest.raises(InputError, match="upper"):
        best_upper(SETTING, mechanisms=("gaussian_sum",))


def test_sentences_tell_rates_from_bounds():
    for name, bound in CATALOGUE.items():
        if bound.applies(SETTING):
            sentence = bound.sentence(SETTING)
            assert sentence.startswith(name)
            assert bound.theorem in sentence
            assert ("of order" in sentence) == bound.is_rate_only
            assert ("at least" in sentence) == (bound.kind == "lower")
    said = bounds_for(SETTING).sentence()
    assert best_upper(SETTING).name in said
    assert best_lower(SETTING).theorem in said


def test_the_printed_table_has_a_line_for_each():
    lines = str(bounds_for(SETTING)).splitlines()
    assert len(lines) == len(bounds_for(SETTING)) + 1
    assert sum("rate only" in line for line in lines) == sum(
        found.is_rate_only for found in bounds_for(SETTING)
    )


def test_json_holds_setting_and_bounds():
    document = json.loads(bounds_for(SETTING).to_json())
    assert Setting.from_json(json.dumps(document["setting"])) == SETTING
    assert len(document["bounds"]) == len(bounds_for(SETTING))
    first = document["bounds"][0]
    assert first["total"] == CATALOGUE[first["name"]](SETTING)


def test_an_infinite_diameter_is_fit_for_json():
    setting = Setting(n=10, p=1, epsilon=1.0, diameter=math.inf, ridge=1.0)
    assert json.loads(bounds_for(setting).to_json())["setting"]["diameter"] == "inf"


@pytest.mark.parametrize("function", [bounds_for, best_upper, best_lower, CATALOGUE["zero"]])
def test_only_a_setting_is_accepted(function):
    with pytest.raises(InputTypeError):
        function({"n": 3})


def test_the_catalogue_cannot_be_changed():
    with pytest.raises(TypeError):
        CATALOGUE["zero"] = None

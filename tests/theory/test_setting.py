"""A setting: what it refuses, what follows from it, and JSON."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from discreet.errors import InputError, InputTypeError
from discreet.privacy import AddRemoveOne, ReplaceOne
from discreet.theory import Setting

GOOD = {"n": 100, "p": 3, "epsilon": 1.0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 0},
        {"p": 0},
        {"epsilon": 0.0},
        {"epsilon": -1.0},
        {"epsilon": math.inf},
        {"epsilon": math.nan},
        {"delta": -0.1},
        {"delta": 1.0},
        {"lipschitz": 0.0},
        {"lipschitz": math.inf},
        {"diameter": 0.0},
        {"diameter": math.nan},
        {"radius": -1.0},
        {"ridge": -1.0},
        {"ridge": math.inf},
        {"strong_convexity": -1.0},
        {"smoothness": -1.0},
        {"smoothness": math.nan},
        {"form": "concave"},
        {"unit": "household"},
        {"geometry": "round"},
    ],
    ids=str,
)
def test_a_wrong_value_is_refused(wrong):
    with pytest.raises(InputError):
        Setting(**(GOOD | wrong))


@pytest.mark.parametrize("wrong", [{"n": 1.5}, {"p": "3"}, {"epsilon": "1"}, {"diameter": None}])
def test_a_wrong_type_is_refused(wrong):
    with pytest.raises(InputTypeError):
        Setting(**(GOOD | wrong))


@pytest.mark.parametrize(
    ("impossible", "word"),
    [
        ({"strong_convexity": 2.1}, "Lipschitz"),
        ({"strong_convexity": 1.0, "smoothness": 0.5}, "smoothness"),
        ({"strong_convexity": 1.0, "form": "generalised_linear"}, "flat"),
        ({"form": "squared", "smoothness": 3.0}, "squared"),
        ({"form": "squared", "smoothness": 1.0, "diameter": math.inf, "ridge": 1.0}, "squared"),
        ({"smoothness": 0.0, "diameter": math.inf}, "minimiser"),
        ({"geometry": "simplex"}, "simplex"),
        ({"geometry": "simplex", "form": "generalised_linear", "ridge": 1.0}, "simplex"),
    ],
    ids=str,
)
def test_constants_that_no_losses_have_are_refused(impossible, word):
    with pytest.raises(InputError, match=word):
        Setting(**(GOOD | impossible))


def test_strong_convexity_bounds_the_diameter():
    # Two gradients of norm G at points D apart: Delta D^2 <= 2 G D.
    Setting(**GOOD, lipschitz=3.0, diameter=12.0, strong_convexity=0.5)
    for diameter in (12.1, math.inf):
        with pytest.raises(InputError, match="strong_convexity"):
            Setting(**GOOD, lipschitz=3.0, diameter=diameter, strong_convexity=0.5)


def test_the_diameter_bounds_the_minimiser_unless_a_radius_does():
    assert Setting(**GOOD, diameter=3.0).reach == 3.0
    assert Setting(**GOOD, diameter=3.0, radius=1.5).reach == 1.5
    assert Setting(**GOOD, diameter=3.0, radius=5.0).reach == 3.0
    assert replace(Setting(**GOOD), diameter=7.0).reach == 7.0


def test_a_ridge_bounds_the_minimiser():
    setting = Setting(**GOOD, diameter=math.inf, ridge=20.0)
    assert setting.reach == 5.0  # n G / Lam
    assert Setting(**GOOD, ridge=20.0).reach == 1.0
    assert Setting(**GOOD, ridge=20.0, radius=0.5).reach == 0.5


def test_the_unit_decides_what_noise_may_know():
    replace = Setting(**GOOD, strong_convexity=0.1, ridge=2.0)
    add = Setting(**GOOD, strong_convexity=0.1, ridge=2.0, unit="add_remove")
    assert (replace.unit, add.unit) == (ReplaceOne(), AddRemoveOne())
    assert (replace.row_change, add.row_change) == (2.0, 1.0)
    assert replace.curvature == add.curvature == 12.0
    assert (replace.public_curvature, add.public_curvature) == (12.0, 2.0)


def test_mu_is_that_of_the_analytic_gaussian_mechanism():
    mu = Setting(**GOOD, delta=1e-6).mu
    assert mu == pytest.approx(0.236704, rel=1e-5)
    near, far = (math.erfc((1 / mu + side * mu / 2) / math.sqrt(2)) / 2 for side in (-1, 1))
    assert near - math.e * far == pytest.approx(1e-6, rel=1e-6)  # Balle, Wang (2018)
    with pytest.raises(InputError, match="delta"):
        Setting(**GOOD).mu  # noqa: B018


@pytest.mark.parametrize(
    "more",
    [{}, {"diameter": math.inf, "ridge": 1.0}, {"unit": "add_remove", "radius": 0.5, "delta": 0.1}],
    ids=str,
)
def test_json_gives_back_an_equal_setting(more):
    setting = Setting(**(GOOD | more))
    assert Setting.from_json(setting.to_json()) == setting


def test_other_json_is_refused():
    document = json.loads(Setting(**GOOD).to_json())
    for text in ("{", "[]", "{}", json.dumps(document | {"more": 1}), None):
        with pytest.raises(InputError):
            Setting.from_json(text)
    with pytest.raises(InputError):
        Setting.from_json(json.dumps(document | {"n": 0}))

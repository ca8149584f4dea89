"""What is true of every profile."""

import json
import math
import pickle
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError, InputTypeError
from discreet.privacy import (
    ORDERS,
    Approximate,
    BoundedRange,
    Composition,
    FixedBatchGaussian,
    Gaussian,
    Guarantee,
    Laplace,
    Maximum,
    Minimum,
    NoPrivacy,
    Pure,
    Renyi,
    SampledGaussian,
    SelectedTrial,
    ShiftedGaussian,
    ThresholdedLaplace,
    WithinDistance,
    ZeroConcentrated,
    compose,
    profile_from_json,
)
from discreet.privacy.concentrated import renyi_delta

EXACT = [
    Gaussian(0.05),
    Gaussian(1.0),
    Gaussian(6.0),
    Pure(0.01),
    Pure(2.0),
    Laplace(0.3),
    Laplace(4.0),
    BoundedRange(0.5),
    BoundedRange(0.1, draws=40),
]
PROFILES = [
    *EXACT,
    BoundedRange(0.02, draws=500),
    BoundedRange(0.1, draws=40, is_pure=False),
    Approximate(0.5, 1e-6),
    Approximate(0.0, 1e-3),
    ZeroConcentrated(0.02),
    ZeroConcentrated(2.0),
    Renyi((1.5, 2.0, 8.0, 32.0), (0.01, 0.015, 0.1, 0.5)),
    ThresholdedLaplace(0.05, 5),
    ThresholdedLaplace(0.01, 200),
    SelectedTrial(Gaussian(0.1), 0.875, 1.0),
    SelectedTrial(Pure(0.2), 0.5, 0.0),
    SelectedTrial(Approximate(0.1, 1e-6), 4.0, None),
    ShiftedGaussian(0.2, 0.2),
    ShiftedGaussian(0.2, 0.05, joint=0.2),
    ShiftedGaussian(0.5, 0.3, is_one_signed=False),
    ShiftedGaussian(0.2, 0.1, is_replace=True),
    ShiftedGaussian(0.2, 0.1, joint=0.4, is_one_signed=False, is_replace=True),
    SampledGaussian(1.0, 0.01, 5),
    SampledGaussian(1.0, 0.1, 3, is_replace=True),
    FixedBatchGaussian(0.5, 1, 10, 3),
    Minimum([Pure(0.5), ZeroConcentrated(0.01)]),
    Maximum([Pure(0.5), Gaussian(0.2)]),
    Maximum([ZeroConcentrated(0.02), BoundedRange(0.1, draws=40)]),
    Composition([Gaussian(0.3), Gaussian(0.4)]),
    Composition([Gaussian(0.3), Pure(0.1), Laplace(0.2)]),
    Composition([Pure(0.1)] * 30),
    Composition([Approximate(0.1, 1e-6), Gaussian(0.2), BoundedRange(0.1)]),
    Composition([Composition([Pure(0.1), Gaussian(0.1)]), Minimum([Pure(0.2), Gaussian(0.1)])]),
    WithinDistance(Gaussian(0.2), 2.0**-80),
    WithinDistance(Approximate(1.0, 1e-6), 1e-9),
    WithinDistance(Composition([Pure(0.3), Gaussian(0.2)]), 1e-12),
    NoPrivacy(),
]
EPSILONS = np.unique(np.concatenate([np.geomspace(1e-4, 50, 40), np.linspace(0, 4, 41)]))
DELTAS = [1e-300, 1e-20, 1e-13, 1e-6, 1e-2, 0.9]

every_profile = pytest.mark.parametrize("profile", PROFILES, ids=repr)


@every_profile
def test_delta_is_a_probability_that_falls_as_epsilon_grows(profile):
    deltas = profile.deltas(np.concatenate([EPSILONS, [1e3, 1e6, math.inf]]))
    assert np.all((deltas >= 0) & (deltas <= 1))
    assert np.all(np.diff(deltas) <= deltas[:-1] * 1e-9 + 1e-14)


SIZES = [1e-300, 1e-17, 1e-5, 50.0, 1e3, 1e5, 1e50, 1e100, 1e200]
FAMILIES = {
    "gaussian": Gaussian,
    "pure": Pure,
    "laplace": Laplace,
    "approximate": lambda size: Approximate(size, 1e-6),
    "zero concentrated": ZeroConcentrated,
    "renyi": lambda size: Renyi((2.0, 9.0), (size, size)),
    "shifted": lambda size: ShiftedGaussian(size, size),
    "shifted, replaced": lambda size: ShiftedGaussian(size, size, size, False, True),
    "sampled": lambda size: SampledGaussian(size, 0.1),
    "sampled, replaced": lambda size: SampledGaussian(size, 0.1, is_replace=True),
    "fixed batches": lambda size: FixedBatchGaussian(size, 1, 10),
} | {
    f"{draws} draws": lambda size, draws=draws: BoundedRange(min(max(size, 1e-100), 1e100), draws)
    for draws in (1, 256, 2049, 10**15)
}


@pytest.mark.parametrize("family", FAMILIES)
def test_no_size_is_too_small_or_too_large(family):
    # Warnings are errors here, so this says that there are none.
    levels = np.array([0.0, 1e-300, 1e-9, 1.0, 1e3, 1e6, math.inf])
    for size in SIZES:
        profile = FAMILIES[family](size)
        deltas = profile.deltas(levels)
        assert np.all((deltas >= 0) & (deltas <= 1))
        assert np.all(np.diff(deltas) <= deltas[:-1] * 1e-9)
        if family != "256 draws":  # whose exact formula takes long
            assert profile.epsilon(1e-6) >= 0
        assert np.all(profile.rdp([1.001, 2.0, 1e4]) >= 0)


@every_profile
def test_delta_is_at_least_what_the_total_masses_force(profile):
    epsilons = np.linspace(-5, 5, 101)
    assert np.all(profile.deltas(epsilons) >= -np.expm1(np.minimum(epsilons, 0)) * (1 - 1e-15))


@every_profile
def test_delta_is_convex_in_e_to_the_epsilon(profile):
    if isinstance(profile, Renyi | Composition | SampledGaussian | Approximate | WithinDistance):
        room = 0.35  # the pointwise minimum of several convex bounds
    else:
        room = 1e-6 if profile in EXACT else 1e-2  # hulls are drawn through a few hundred points
    alphas, deltas = np.exp(EPSILONS), profile.deltas(EPSILONS)
    for gap in (1, 3):
        left, middle, right = slice(None, -2 * gap), slice(gap, -gap), slice(2 * gap, None)
        share = (alphas[right] - alphas[middle]) / (alphas[right] - alphas[left])
        chord = share * deltas[left] + (1 - share) * deltas[right]
        assert np.all(deltas[middle] <= chord * (1 + room) + 1e-11)


@every_profile
def test_a_negative_epsilon_is_answered_by_the_reversed_pair(profile):
    epsilons = np.array([1e-3, 0.1, 1.0, 7.0])
    mirrored = 1 - np.exp(-epsilons) * (1 - profile.deltas(epsilons))
    np.testing.assert_allclose(profile.deltas(-epsilons), mirrored, rtol=1e-12)
    assert profile.delta(-math.inf) == 1


@every_profile
def test_one_delta_is_the_same_as_many(profile):
    some = np.array([[0.0, 0.5], [1.0, 2.0]])
    deltas = profile.deltas(some)
    assert deltas.shape == some.shape
    single = [profile.delta(e) for e in some.ravel()]
    np.testing.assert_allclose(single, deltas.ravel(), rtol=1e-12)


@every_profile
def test_epsilon_is_an_inverse_on_the_safe_side_and_falls_as_delta_grows(profile):
    epsilons = [profile.epsilon(delta) for delta in DELTAS]
    assert [profile.epsilon(0.0), *epsilons] == sorted(
        [profile.pure_epsilon, *epsilons], reverse=True
    )
    for epsilon, delta in zip(epsilons, DELTAS, strict=True):
        assert epsilon >= 0
        if math.isfinite(epsilon):
            assert profile.delta(epsilon) <= delta
            if 0 < epsilon < profile.pure_epsilon * (1 - 1e-9):
                assert profile.delta(epsilon * (1 - 1e-6)) >= delta * (1 - 1e-9)


@every_profile
def test_delta_is_zero_only_where_purity_is_claimed(profile):
    assert profile.epsilon(0.0) == profile.pure_epsilon
    if math.isfinite(profile.pure_epsilon):
        assert profile.delta(profile.pure_epsilon) == 0
        assert profile.delta(profile.pure_epsilon * (1 - 1e-3)) > 0
    else:
        assert profile.delta(1e6) > 0


@every_profile
def test_the_renyi_curve_never_falls(profile):
    curve = profile.rdp(ORDERS)
    assert curve.shape == ORDERS.shape
    assert np.all(curve >= 0)
    finite = curve[np.isfinite(curve)]
    assert np.all(np.diff(finite) >= -1e-9 * finite[1:])
    assert np.all(np.isinf(curve[finite.size :]))


@pytest.mark.parametrize("profile", EXACT, ids=repr)
def test_an_exact_delta_falls_through_zero(profile):
    deltas = profile.deltas(np.concatenate([-EPSILONS[:0:-1], EPSILONS]))
    assert np.all(np.diff(deltas) <= 1e-14)


@pytest.mark.parametrize("profile", EXACT, ids=repr)
def test_the_renyi_curve_converts_to_no_less_than_the_exact_delta(profile):
    converted = renyi_delta(EPSILONS, ORDERS, profile.rdp(ORDERS))
    assert np.all(converted >= profile.deltas(EPSILONS) * (1 - 2e-9))


@pytest.mark.parametrize("profile", EXACT, ids=repr)
def test_the_loss_distribution_is_not_below_an_exact_delta(profile):
    loss = profile.loss(profile.reach / 300)
    for epsilon in np.linspace(-0.7, 1.4, 8):
        read = float(loss.get_delta_for_epsilon(float(epsilon)))
        assert read >= profile.delta(epsilon) * (1 - 1e-8) - 1e-13


@every_profile
def test_parts_are_consistent(profile):
    assert profile.ideal.distance == 0
    assert profile.core.distance == 0
    assert 0 <= profile.distance <= 1
    assert 0 <= profile.failure <= 1
    assert profile.is_private == (profile.delta(50.0) < 1)


@every_profile
def test_profiles_are_values(profile):
    copy = profile_from_json(profile.to_json())
    assert copy == profile
    assert hash(copy) == hash(profile)
    assert copy is not profile
    assert [other for other in PROFILES if other == profile] == [profile]


@every_profile
def test_a_used_profile_can_be_pickled_and_stays_equal(profile):
    profile.delta(0.3)
    copy = pickle.loads(pickle.dumps(profile))
    assert copy == profile
    assert vars(copy).keys() == {field.name for field in fields(profile)}  # and nothing worked out
    assert copy.delta(0.3) == profile.delta(0.3)


@every_profile
def test_a_profile_survives_json_exactly(profile):
    text = json.dumps(profile.to_json(), allow_nan=False)
    copy = profile_from_json(json.loads(text))
    assert copy == profile
    assert json.dumps(copy.to_json()) == text


@settings(derandomize=True, deadline=None, max_examples=100)
@given(mu=st.floats(1e-300, 1e100), level=st.floats(1e-300, 1e100))
def test_every_float_survives_json_exactly(mu, level):
    profile = compose([Gaussian(mu), Pure(level)])
    assert profile_from_json(json.loads(json.dumps(profile.to_json()))) == profile


@pytest.mark.parametrize(
    "profile",
    [Gaussian(np.float32(0.5)), BoundedRange(0.5, draws=np.int64(3)), Pure(np.float64(0.5))],
    ids=repr,
)
def test_numpy_numbers_survive_json(profile):
    assert profile_from_json(json.loads(json.dumps(profile.to_json()))) == profile


@every_profile
def test_fields_that_are_unknown_or_missing_are_refused(profile):
    document = profile.to_json()
    with pytest.raises(InputError, match="has the fields"):
        profile_from_json(document | {"surplus": 1.0})
    for name in set(document) - {"kind"}:
        with pytest.raises(InputError, match="has the fields"):
            profile_from_json({key: value for key, value in document.items() if key != name})


@every_profile
def test_fields_of_hostile_types_are_refused(profile):
    document = profile.to_json()
    hostile = ["abc", {"a": 1}, {"kind": "gaussian", "mu": 1.0}, [[]], True, math.nan, -1.0]
    allowed = {"is_replace", "is_one_signed", "is_pure"}
    for name in set(document) - {"kind", "of"}:
        for value in hostile:
            if not (value is True and name in allowed):
                with pytest.raises((InputError, InputTypeError)):
                    profile_from_json(document | {name: value})


@pytest.mark.parametrize("document", [None, [], "gaussian", {}, {"kind": 1}, {"kind": ["pure"]}])
def test_a_document_without_a_kind_is_refused(document):
    with pytest.raises(InputTypeError, match="JSON object with a field 'kind'"):
        profile_from_json(document)


def test_an_unknown_kind_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"unknown kind of profile 'magic'; known: .*gaussian"):
        profile_from_json({"kind": "magic"})


@every_profile
@pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan])
def test_a_delta_outside_zero_to_one_is_refused(profile, delta):
    with pytest.raises(InputError, match="delta must be at least 0 and below 1; got"):
        profile.epsilon(delta)


def test_an_epsilon_that_is_no_number_is_refused():
    with pytest.raises(InputError, match="epsilon must be a number; got NaN"):
        Gaussian(1.0).delta(math.nan)
    with pytest.raises(InputTypeError, match="delta must be a number; got a value of type str"):
        Gaussian(1.0).epsilon("0.1")


@every_profile
def test_orders_at_or_below_one_are_refused(profile):
    with pytest.raises(InputError, match="Renyi orders must be finite numbers above one"):
        profile.rdp([2.0, 1.0])


@every_profile
def test_a_profile_cannot_be_changed(profile):
    with pytest.raises(AttributeError):
        profile.kind_of_noise = "none"


EXTREMES = (5e-324, 1e-300, 0.0, 1 - 2.0**-53, 700.0, 1e16, 1e155, 1e308, -1.0, 2**63, 10**400)


def places_of_numbers(document, place=()):
    """Yield where the numbers of a JSON document are; of a list, the first two are enough."""
    if isinstance(document, dict):
        inside = document.items()
    elif isinstance(document, list):
        inside = list(enumerate(document))[:2]
    else:
        if isinstance(document, int | float) and not isinstance(document, bool):
            yield place
        return
    for name, part in inside:
        yield from places_of_numbers(part, (*place, name))


def with_number(document, place, number):
    """Return a copy of a document with another number somewhere."""
    changed = json.loads(json.dumps(document))
    *outer, last = place
    inside = changed
    for name in outer:
        inside = inside[name]
    inside[last] = number
    return changed


@pytest.mark.parametrize("profile", [p for p in PROFILES if p.precision < 1e-9], ids=repr)
def test_any_finite_parameter_gives_a_sentence_or_is_refused(profile):
    document = profile.to_json()
    for place in places_of_numbers(document):
        for number in EXTREMES if profile.is_closed_form else (5e-324, 1e16, 1e308):
            try:
                read = profile_from_json(with_number(document, place, number))
                unit = next(iter(read.units), "add_remove")
                promise = Guarantee(read, unit, quoted_delta=1e-9)
            except (InputError, InputTypeError):
                continue
            assert promise.sentence().endswith(".")

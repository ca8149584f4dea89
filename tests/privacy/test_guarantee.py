"""A guarantee says what it promises, to whom, and survives being written down."""

import json
import math
import re

import numpy as np
import pytest

from discreet.errors import InputError, InputTypeError, UnitMismatch
from discreet.privacy import (
    AddRemoveOne,
    Approximate,
    Gaussian,
    Guarantee,
    Laplace,
    NoPrivacy,
    Pure,
    ReplaceOne,
    ShiftedGaussian,
    WithinDistance,
    within,
)
from discreet.privacy.guarantee import in_three_digits

PLAIN = Guarantee(Gaussian(0.2), AddRemoveOne(), ("there are features",), quoted_delta=1e-6)


def quoted(sentence):
    """Read the epsilon and the delta out of a sentence."""
    found = re.search(r"epsilon = (\S+), delta = ([^)]+)\)", sentence)
    return float(found[1]), float(found[2])


def test_a_sentence_quotes_an_epsilon_that_is_true_at_the_delta_it_quotes():
    for mu in (0.01, 0.2, 1.0, 3.0):
        for delta in (1e-6, 1.2349e-6, 9.994e-7, 3.3333e-9):
            promise = Guarantee(Gaussian(mu), AddRemoveOne(), quoted_delta=delta)
            epsilon, said = quoted(promise.sentence())
            assert epsilon >= promise.epsilon(delta) * (1 - 1e-12)
            assert said >= delta


@pytest.mark.parametrize("level", [0.1, 1.23, 1.2300000099, 1.2301, 9.999, 99.96, 1e-5, 123456.0])
def test_a_written_number_is_never_below_the_number(level):
    assert float(in_three_digits(level)) >= level
    assert float(in_three_digits(level)) <= level * 1.01


@pytest.mark.parametrize("level", [0.5, 1.0, 2.5, 0.03, 120.0, 0.1, 1e-9])
def test_a_number_with_few_digits_is_written_as_it_is(level):
    assert float(in_three_digits(level)) == level


def test_a_tiny_epsilon_can_be_written():
    assert quoted(Guarantee(Pure(1e-310), AddRemoveOne()).sentence())[0] >= 1e-310


def test_a_sentence_names_the_unit_the_factor_and_the_public_facts():
    text = Guarantee(Pure(0.5), ReplaceOne(), ("rows: 100", "radius: 1")).sentence()
    assert "replacing one record by any other" in text
    assert "factor of 1.65" in text  # e**0.5 = 1.6487..., rounded up
    assert "Taken as public: rows: 100; radius: 1." in text
    assert "additional chance" not in text
    assert "adding or removing one record" in PLAIN.sentence()
    assert "additional chance of at most 1e-06" in PLAIN.sentence()
    assert str(PLAIN) == PLAIN.sentence()


def test_a_sentence_about_nothing_promises_nothing():
    nothing = Guarantee(NoPrivacy(), AddRemoveOne())
    assert not nothing.is_private
    assert nothing.sentence().startswith("No privacy is promised")


def test_a_sentence_claims_no_finite_factor_for_an_infinite_epsilon():
    hopeless = Guarantee(WithinDistance(Gaussian(0.2), 1e-3), AddRemoveOne())
    assert hopeless.epsilon() == math.inf
    assert not re.search(r"factor of \d", hopeless.sentence())


def test_a_sentence_claims_no_factor_below_the_true_one():
    large = Guarantee(Pure(800.0), AddRemoveOne()).sentence()  # e**800 = 2.7e347
    assert "a factor of e to the power 800" in large


def test_a_pure_guarantee_is_quoted_at_delta_zero():
    assert Guarantee(Pure(0.5), AddRemoveOne(), quoted_delta=1e-3).quoted_delta == 0
    assert Guarantee(within(Pure(0.5), 1e-20), AddRemoveOne()).quoted_delta == 1e-9


def test_answers_are_those_of_the_profile():
    assert PLAIN.epsilon() == Gaussian(0.2).epsilon(1e-6)
    assert PLAIN.epsilon(1e-3) == Gaussian(0.2).epsilon(1e-3)
    assert PLAIN.delta(1.0) == Gaussian(0.2).delta(1.0)
    np.testing.assert_array_equal(PLAIN.rdp([2.0, 9.0]), Gaussian(0.2).rdp([2.0, 9.0]))


@pytest.mark.parametrize(
    "profile",
    [Gaussian(0.2), Pure(0.5), Laplace(0.5), Approximate(0.3, 1e-6), ShiftedGaussian(0.2, 0.1)],
    ids=repr,
)
def test_the_loss_distribution_and_the_renyi_curve_agree_with_delta(profile):
    promise = Guarantee(profile, AddRemoveOne())
    loss = promise.pld()
    for epsilon in (0.0, 0.1, 0.25, 0.6):
        read = float(loss.get_delta_for_epsilon(epsilon))
        assert promise.delta(epsilon) * (1 - 1e-9) - 1e-15 <= read
        assert read <= promise.delta(epsilon) * (1 + 1e-3) + 1e-7
        for order in (1.5, 4.0, 30.0):
            curve = promise.rdp([order])[0]
            bound = math.exp((order - 1) * min(curve - epsilon, 700)) if curve < math.inf else 1
            assert promise.delta(epsilon) <= bound * (1 + 1e-6)


def test_the_loss_distribution_takes_an_interval():
    assert PLAIN.pld(0.01)._pmf_remove._discretization == 0.01
    with pytest.raises(InputError, match="interval must be a positive number; got 0"):
        PLAIN.pld(0.0)


def test_guarantees_compose_for_one_unit():
    other = Guarantee(Gaussian(0.3), AddRemoveOne(), ("there are features", "n = 7"), 1e-7)
    both = PLAIN.compose(other)
    assert both.delta(1.0) == pytest.approx(Gaussian(math.hypot(0.2, 0.3)).delta(1.0), rel=1e-8)
    assert both.public_facts == ("there are features", "n = 7")
    assert both.quoted_delta == 1e-6
    assert both.unit == AddRemoveOne()
    assert PLAIN.compose() == PLAIN


def test_guarantees_for_different_units_do_not_compose():
    with pytest.raises(UnitMismatch, match=r"'add_remove' and 'replace'"):
        PLAIN.compose(Guarantee(Gaussian(0.2), ReplaceOne()))


def test_only_guarantees_compose():
    with pytest.raises(InputTypeError, match="other must be a Guarantee; got"):
        PLAIN.compose(Gaussian(0.2))


def test_distances_add_once_at_the_end():
    near = Guarantee(within(Gaussian(0.2), 1e-20), AddRemoveOne())
    both = near.compose(near, near)
    assert both.profile.distance == pytest.approx(3e-20, rel=1e-12, abs=0)
    ideal = Gaussian(0.2 * math.sqrt(3)).delta(1.0)
    assert both.delta(1.0) >= ideal + (1 + math.exp(1.0)) * 3e-20
    assert both.delta(50.0) >= 2 * 3e-20


@pytest.mark.parametrize(
    "promise",
    [
        PLAIN,
        Guarantee(Pure(0.1 + 0.2), ReplaceOne()),
        PLAIN.compose(Guarantee(within(Laplace(1 / 3), 2.0**-80), AddRemoveOne(), ('ä; "b"',))),
        Guarantee(NoPrivacy(), AddRemoveOne()),
    ],
)
def test_a_guarantee_survives_being_written_down(promise):
    text = promise.to_json()
    assert Guarantee.from_json(text) == promise
    assert Guarantee.from_json(text).to_json() == text
    assert hash(Guarantee.from_json(text)) == hash(promise)


def test_a_unit_may_be_given_by_name():
    assert Guarantee(Pure(1.0), "replace").unit == ReplaceOne()


DOCUMENT = json.loads(PLAIN.to_json())


@pytest.mark.parametrize("text", ["", "{", None, 5, b"\xff"])
def test_a_text_that_is_not_json_is_refused(text):
    with pytest.raises(InputError, match=r"written by to_json\(\)"):
        Guarantee.from_json(text)


@pytest.mark.parametrize("text", ["[]", "1", "{}", json.dumps(DOCUMENT | {"surplus": 1})])
def test_a_document_with_other_fields_is_refused(text):
    with pytest.raises(InputTypeError, match="JSON object with fields"):
        Guarantee.from_json(text)


def test_another_format_is_refused():
    with pytest.raises(InputError, match="format 2; this version reads 1"):
        Guarantee.from_json(json.dumps(DOCUMENT | {"format": 2}))


@pytest.mark.parametrize(
    "change",
    [
        {"unit": "user"},
        {"unit": ["replace"]},
        {"unit": None},
        {"profile": {"kind": "unknown"}},
        {"profile": None},
        {"quoted_delta": 1.0},
        {"quoted_delta": "1e-6"},
        {"quoted_delta": None},
        {"public_facts": [1]},
    ],
    ids=str,
)
def test_a_document_with_a_bad_field_is_refused(change):
    with pytest.raises((InputError, InputTypeError)):
        Guarantee.from_json(json.dumps(DOCUMENT | change))


def test_public_facts_must_be_a_list_of_texts():
    for facts in (5, None, "abc", {"a": 1}):
        with pytest.raises((InputError, InputTypeError)):
            Guarantee.from_json(json.dumps(DOCUMENT | {"public_facts": facts}))
    with pytest.raises((InputError, InputTypeError)):
        Guarantee(Pure(1.0), AddRemoveOne(), public_facts="one fact")


@pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan])
def test_a_delta_outside_zero_to_one_is_refused(delta):
    with pytest.raises(InputError, match="quoted_delta must be at least 0 and below 1; got"):
        Guarantee(Gaussian(1.0), AddRemoveOne(), quoted_delta=delta)


def test_wrong_types_are_refused():
    with pytest.raises(InputTypeError, match="profile must be a Profile; got"):
        Guarantee(1.0, AddRemoveOne())
    with pytest.raises(InputTypeError, match="unit must be a name or a Unit; got"):
        Guarantee(Pure(1.0), 3)
    with pytest.raises(InputError, match="unit must be one of"):
        Guarantee(Pure(1.0), "nobody")


def test_a_promise_says_that_it_is_about_the_rows_as_they_were_given():
    for facts in ((), ("that there is a row",)):
        said = Guarantee(Pure(1.0), AddRemoveOne(), facts).sentence()
        assert said.endswith(
            "learnt from them before, and scores computed from them, are not covered."
        )
    assert "as they were given" not in Guarantee(NoPrivacy(), AddRemoveOne()).sentence()

"""The relation between neighbours decides how far a sum may move."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError, InputTypeError
from discreet.privacy import AddRemoveOne, ReplaceOne, unit_named

LAW = settings(derandomize=True, deadline=None)
NORMS = st.floats(0, 1e6)


@LAW
@given(norm=NORMS)
def test_replacing_is_removing_and_adding(norm):
    assert ReplaceOne().spread(norm) == 2 * AddRemoveOne().spread(norm)


@LAW
@given(norm=NORMS, diameter=NORMS)
def test_a_diameter_never_increases_a_spread(norm, diameter):
    assert ReplaceOne().spread(norm, diameter=diameter) == min(diameter, 2 * norm)
    assert AddRemoveOne().spread(norm, diameter=diameter) == norm


def test_the_count_is_public_only_when_records_are_replaced():
    assert ReplaceOne().count_is_public
    assert not AddRemoveOne().count_is_public


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=repr)
def test_a_name_leads_back_to_its_unit(unit):
    assert unit_named(unit.name) == unit
    assert unit_named(unit) is unit
    assert "record" in unit.change


def test_units_are_values():
    assert AddRemoveOne() == AddRemoveOne()
    assert AddRemoveOne() != ReplaceOne()
    assert len({AddRemoveOne(), AddRemoveOne(), ReplaceOne()}) == 2


def test_an_unknown_unit_is_refused_with_the_known_names():
    with pytest.raises(InputError, match=r"'add_remove', 'replace'; got 'user'"):
        unit_named("user")


@pytest.mark.parametrize("name", [None, 1, ["replace"], {"unit": "replace"}])
def test_a_unit_of_another_type_is_refused(name):
    with pytest.raises(InputTypeError, match="unit must be a name or a Unit; got"):
        unit_named(name)


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=repr)
@pytest.mark.parametrize("norm", [-1.0, float("nan"), float("inf")])
def test_a_norm_that_is_no_norm_is_refused(unit, norm):
    with pytest.raises(InputError, match="norm must be zero or a positive number; got"):
        unit.spread(norm)


def test_a_diameter_that_is_no_length_is_refused():
    with pytest.raises(InputError, match="diameter must be zero or a positive number; got -1"):
        ReplaceOne().spread(1.0, diameter=-1.0)

"""The relation between neighbours decides how far a sum may move."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError, InputTypeError, NotAccepted
from discreet.ledger import MemoryLedger
from discreet.linear_model import LogisticRegression
from discreet.location import Median
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne, ZeroOutOne, unit_named

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
    assert ZeroOutOne().spread(norm, diameter=diameter) == norm


def test_the_rows_are_public_when_records_are_replaced_by_others_or_by_nothing():
    assert ReplaceOne().rows_are_public
    assert ZeroOutOne().rows_are_public
    assert not AddRemoveOne().rows_are_public


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne(), ZeroOutOne()], ids=repr)
def test_a_name_leads_back_to_its_unit(unit):
    assert unit_named(unit.name) == unit
    assert unit_named(unit) is unit
    assert ("round" if unit.has_empty_rounds else "record") in unit.change


def test_units_are_values():
    assert AddRemoveOne() == AddRemoveOne()
    assert AddRemoveOne() != ReplaceOne()
    assert len({AddRemoveOne(), AddRemoveOne(), ReplaceOne()}) == 2


def test_an_unknown_unit_is_refused_with_the_known_names():
    with pytest.raises(InputError, match=r"'add_remove', 'replace', 'zero_out', .*; got 'user'"):
        unit_named("user")


@pytest.mark.parametrize("name", [None, 1, ["replace"], {"unit": "replace"}])
def test_a_unit_of_another_type_is_refused(name):
    with pytest.raises(InputTypeError, match="unit must be a name or a Unit; got"):
        unit_named(name)


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne(), ZeroOutOne()], ids=repr)
@pytest.mark.parametrize("norm", [-1.0, float("nan"), float("inf")])
def test_a_norm_that_is_no_norm_is_refused(unit, norm):
    with pytest.raises(InputError, match="norm must be zero or a positive number; got"):
        unit.spread(norm)


def test_a_diameter_that_is_no_length_is_refused():
    with pytest.raises(InputError, match="diameter must be zero or a positive number; got -1"):
        ReplaceOne().spread(1.0, diameter=-1.0)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(1.0, 1e-6, data_norm=1.0, classes=[0, 1], unit="zero_out"),
        Median(bounds=(0, 1), unit="zero_out"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_tables_have_no_rounds_to_be_zeroed_out(model):
    ledger = MemoryLedger(Budget(9.0, 1e-5), "zero_out")
    with pytest.raises(NotAccepted, match="does not cover the unit 'zero_out'; use 'add_remove'"):
        model.set_params(ledger=ledger).fit([[0.1], [0.9]], [0, 1])
    assert ledger.history() == ()

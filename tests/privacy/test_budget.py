"""A budget is two numbers within their limits."""

import math

import pytest

from discreet.errors import InputError, InputTypeError
from discreet.privacy import Budget


def test_a_budget_holds_floats_whatever_numbers_came_in():
    budget = Budget(1, 0)
    assert type(budget.epsilon) is float
    assert type(budget.delta) is float
    assert budget == Budget(1.0, 0.0)
    assert hash(budget) == hash(Budget(1.0))


def test_only_an_infinite_epsilon_asks_for_no_privacy():
    assert not Budget(math.inf).is_private
    assert not Budget(math.inf, 0.1).is_private
    assert Budget(1e300).is_private


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, -math.inf])
def test_an_epsilon_that_is_not_positive_is_refused(epsilon):
    with pytest.raises(InputError, match=r"epsilon must be positive; got .* Use math\.inf"):
        Budget(epsilon)


@pytest.mark.parametrize("delta", [-1e-300, 1.0, 2.0, math.nan, math.inf])
def test_a_delta_outside_zero_to_one_is_refused(delta):
    with pytest.raises(InputError, match="delta must be at least 0 and below 1; got"):
        Budget(1.0, delta)


@pytest.mark.parametrize("value", ["1", None, True, 1j, [1.0]])
def test_a_budget_of_another_type_is_refused(value):
    with pytest.raises(InputTypeError, match="epsilon must be a number; got a value of type"):
        Budget(value)
    with pytest.raises(InputTypeError, match="delta must be a number; got a value of type"):
        Budget(1.0, value)


def test_an_epsilon_beyond_floating_point_is_refused():
    with pytest.raises(InputError, match="too large"):
        Budget(10**400)


def test_a_budget_cannot_be_changed():
    with pytest.raises(AttributeError):
        Budget(1.0).epsilon = 2.0

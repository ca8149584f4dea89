"""diffprivlib's utils, and pairs that compare in both numbers."""

from __future__ import annotations

import copy
import math
import pickle
from itertools import product

import numpy as np
import pytest

import discreet.compat.diffprivlib as dp
from discreet.compat.diffprivlib import BudgetAccountant, Spent
from discreet.compat.diffprivlib.utils import (
    Budget,
    BudgetError,
    DiffprivlibCompatibilityWarning,
    PrivacyLeakWarning,
    check_random_state,
    warn_unused_args,
)
from discreet.errors import InputError

NUMBERS = [0.0, 0.5, 1.0]
PAIRS = [Spent(epsilon, delta) for epsilon, delta in product([*NUMBERS, math.inf], NUMBERS)]


def test_names_are_where_diffprivlib_has_them():
    assert dp.utils.Budget is Budget is Spent
    assert dp.utils.BudgetError is BudgetError is dp.BudgetError
    assert dp.utils.PrivacyLeakWarning is PrivacyLeakWarning
    assert dp.utils.DiffprivlibCompatibilityWarning is DiffprivlibCompatibilityWarning


@pytest.mark.parametrize(("one", "other"), list(product(PAIRS, PAIRS)))
def test_a_pair_is_at_least_another_if_both_numbers_are(one, other):
    at_least = one[0] >= other[0] and one[1] >= other[1]
    assert (one >= other) == (one >= tuple(other)) == (tuple(other) <= one) == at_least
    assert (other <= one) == at_least
    assert (one > other) == (other < one) == (at_least and tuple(one) != tuple(other))
    assert (one == other) == (tuple(one) == tuple(other))


def test_pairs_that_exceed_each_other_are_in_no_order():
    one, other = Spent(2.0, 0.0), Spent(1.0, 0.5)
    assert [one >= other, one <= other, one > other, one < other] == [False] * 4


def test_a_pair_is_a_tuple_with_names():
    pair = Spent(1, 0.5)
    assert pair == (1, 0.5)
    assert hash(pair) == hash((1, 0.5))
    assert repr(pair) == "Spent(epsilon=1, delta=0.5)"
    for again in (copy.copy(pair), copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))):
        assert again == pair
        assert type(again) is Spent
    with pytest.raises(InputError, match="such a pair"):
        _ = pair >= (1,)


@pytest.mark.parametrize("bad", [(-1, 0), (0, -0.1), (0, 1.1), (math.nan, 0), (0, math.nan)])
def test_what_is_no_epsilon_or_no_delta_is_refused(bad):
    with pytest.raises(ValueError, match="must"):
        Spent(*bad)


@pytest.mark.parametrize("bad", [("0", 0), (1j, 0), (0, None)])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises(TypeError, match="must be a number"):
        Spent(*bad)


def test_an_accountant_hands_out_such_pairs():
    accountant = BudgetAccountant().spend(1, 0.5)
    for found in (accountant.total(), accountant.remaining(), accountant.remaining(5)):
        assert isinstance(found, Budget)


def test_infinite_spends_are_counted_where_there_is_no_ceiling():
    accountant = BudgetAccountant().spend(math.inf, 1).spend(1, 0)
    assert accountant.total() == (math.inf, 1.0)
    assert accountant.total(slack=0.5) == (math.inf, 1.0)
    assert accountant.check(math.inf, 1)
    assert accountant.remaining() == (math.inf, 1.0)
    for limited in (BudgetAccountant(1e6, 0.5, 0.25), BudgetAccountant(1e6)):
        for spend in ((math.inf, 0), (0, 1), (math.inf, 1)):
            with pytest.raises(BudgetError):
                limited.spend(*spend)
        assert len(limited) == 0


def test_nothing_is_not_spent_and_a_ceiling_may_be_a_delta_alone():
    with pytest.raises(InputError, match="both be zero"):
        BudgetAccountant().spend(0, 0)
    accountant = BudgetAccountant(0, 0.5).spend(0, 0.25)
    assert accountant.remaining() == pytest.approx((0, 0.25))
    with pytest.raises(BudgetError):
        accountant.spend(1e-6, 0)
    with pytest.raises(InputError, match="epsilon must be positive"):
        BudgetAccountant(0, 0)


def test_what_counted_without_a_default_is_popped_once():
    BudgetAccountant.pop_default()
    BudgetAccountant.load_default().spend(1, 0)
    assert BudgetAccountant.pop_default().total() == (1.0, 0.0)
    assert BudgetAccountant.pop_default() is None


def test_a_seed_makes_a_generator_for_tables_and_none_for_noise():
    one, again = (check_random_state(3).permutation(9) for _ in range(2))
    np.testing.assert_array_equal(one, again)
    with pytest.raises(InputError, match="not handed out"):
        check_random_state(None, secure=True)


@pytest.mark.parametrize("names", ["solver", ["solver", "dual"], {"solver": 1, "dual": 2}])
def test_each_argument_without_effect_is_warned_about(names):
    count = 1 if isinstance(names, str) else len(names)
    with pytest.warns(DiffprivlibCompatibilityWarning, match="no effect") as said:
        warn_unused_args(names)
    assert len(said) == count
    assert said[0].filename == __file__

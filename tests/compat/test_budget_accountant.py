"""diffprivlib's accountant: its methods, and books that hold for adaptive requests."""

from __future__ import annotations

import asyncio
import copy
import math
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from discreet.compat.diffprivlib import BudgetAccountant, BudgetError, LogisticRegression
from discreet.errors import InputError, InputTypeError, PrivacyError, ReceiptError, UnitMismatch
from discreet.ledger import State
from discreet.privacy import Guarantee, Pure, ReplaceOne

X = np.random.default_rng(5).uniform(-0.5, 0.5, size=(400, 2))
Y = X[:, 0] > 0


@pytest.fixture(autouse=True)
def _no_default_accountant():
    BudgetAccountant.pop_default()
    yield
    BudgetAccountant.pop_default()


def half():
    return Guarantee(Pure(0.5), ReplaceOne())


def test_spends_add_up_to_the_last_one_that_fits():
    accountant = BudgetAccountant(epsilon=1.0, delta=0)
    for _ in range(10):
        assert accountant.check(0.1, 0)
        accountant.spend(0.1, 0)
    assert accountant.total() == pytest.approx((1.0, 0.0))
    assert len(accountant) == 10
    with pytest.raises(BudgetError, match="cannot pay"):
        accountant.spend(0.001, 0)
    assert len(accountant) == 10


@pytest.mark.parametrize("k", [1, 3, 20])
@pytest.mark.parametrize("at", [{}, {"delta": 0}])
@pytest.mark.parametrize(("delta", "slack"), [(0, 0), (1e-5, 0), (1e-5, 1e-6), (1.0, 1e-6)])
def test_what_remains_for_k_can_be_spent_k_times_and_hardly_more(k, delta, slack, at):
    accountant = BudgetAccountant(epsilon=2.0, delta=delta, slack=slack).spend(0.5, 0)
    epsilon, each = accountant.remaining(k, **at)
    assert each == pytest.approx(0 if at or delta == 1 else (delta - slack) / k)
    for _ in range(k):
        accountant.spend(epsilon, each)
    with pytest.raises(BudgetError):
        accountant.spend(0.01 * epsilon + 1e-3, min(each, 1e-9))


def test_with_a_slack_more_remains_for_many_requests_without_a_delta():
    accountant = BudgetAccountant(epsilon=1.0, delta=1e-5, slack=1e-6)
    assert accountant.remaining(200).epsilon == pytest.approx(1 / 200)
    assert accountant.remaining(200, delta=0).epsilon > 1.5 / 200


def test_what_only_the_slack_can_pay_remains_without_a_delta():
    accountant = BudgetAccountant(epsilon=2.0, delta=1e-5, slack=5e-6)
    for _ in range(42):
        accountant.spend(0.05, 0)  # 2.1 together
    epsilon, each = accountant.remaining(3)
    assert each == 0
    assert epsilon > 0.01
    for _ in range(3):
        accountant.spend(epsilon, each)


def test_spends_of_earlier_days_are_taken_over():
    first = BudgetAccountant(epsilon=3, delta=1e-5).spend(1.0, 1e-6).spend(0.5, 0)
    second = BudgetAccountant(epsilon=3, delta=1e-5, spent_budget=first.spent_budget)
    assert second.total() == first.total() == pytest.approx((1.5, 1e-6))
    with pytest.raises(BudgetError):
        BudgetAccountant(epsilon=1, delta=0, spent_budget=first.spent_budget)


def test_no_ceiling_only_counts():
    accountant = BudgetAccountant()
    accountant.spend(1000.0, 0.25).spend(1.0, 0.25)
    assert accountant.total() == (1001.0, 0.5)
    assert accountant.remaining() == (math.inf, 1.0)


def test_a_delta_that_was_not_declared_cannot_be_spent():
    accountant = BudgetAccountant(epsilon=5)
    accountant.spend(1.0, 0)
    with pytest.raises(BudgetError, match="Declare delta="):
        accountant.spend(1.0, 1e-9)


def test_slack_lets_many_small_spends_cost_less_and_never_more_than_their_sum():
    spends = [(0.05, 0)] * 20
    accountant = BudgetAccountant(slack=1e-3)
    epsilon, delta = accountant.total(spends)
    assert epsilon < 0.78  # 0.761 by diffprivlib's theorems
    assert delta == 1e-3
    assert accountant.total(spends, slack=0).epsilon == pytest.approx(1.0)
    assert accountant.total([(0.3, 0)]).epsilon <= 0.3


def test_what_slack_admits_is_within_the_ceiling():
    accountant = BudgetAccountant(epsilon=2.0, delta=1e-5, slack=1e-5)
    while True:
        try:
            accountant.spend(0.05, 0)
        except BudgetError:
            break
    assert len(accountant) > 50  # their epsilons add up to more than 2.5
    epsilon, delta = accountant.total()
    assert 1.0 < epsilon <= 2.0
    assert delta <= 1e-5


def test_deltas_keep_clear_of_the_slack():
    accountant = BudgetAccountant(epsilon=10, delta=1e-5, slack=4e-6)
    accountant.spend(0.1, 5e-6)
    with pytest.raises(BudgetError):
        accountant.spend(0.1, 2e-6)


def test_slack_is_fixed_once_something_was_spent():
    accountant = BudgetAccountant(epsilon=1, delta=1e-5)
    accountant.slack = 1e-6
    assert accountant.slack == 1e-6
    accountant.spend(0.1, 0)
    with pytest.raises(BudgetError, match="before anything is spent"):
        accountant.slack = 2e-6


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"epsilon": -1}, InputError, "epsilon must be positive"),
        ({"epsilon": "1"}, InputTypeError, "epsilon must be a number"),
        ({"delta": 2}, InputError, "delta must lie between 0 and 1"),
        ({"epsilon": 1, "delta": 0, "slack": 0.1}, InputError, "slack must be at most delta"),
        ({"spent_budget": 3}, InputTypeError, "list of pairs"),
        ({"spent_budget": [(1,)]}, InputError, "list of pairs"),
        ({"spent_budget": [(-1, 0)]}, InputError, "epsilon must be zero or a positive"),
        ({"unit": "person"}, InputError, "unit must be one of"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, said):
    with pytest.raises(error, match=said):
        BudgetAccountant(**arguments)


def test_k_is_a_whole_number():
    with pytest.raises(InputTypeError, match="k must be a whole number"):
        BudgetAccountant(1.0, 0).remaining(1.5)
    with pytest.raises(InputError, match="k must be at least 1"):
        BudgetAccountant(1.0, 0).remaining(0)


def test_blocks_pay_for_what_is_fitted_inside_and_nest():
    with BudgetAccountant(epsilon=5, delta=0) as outer:
        LogisticRegression(data_norm=1.0).fit(X, Y)
        with BudgetAccountant(epsilon=1, delta=0) as inner:
            LogisticRegression(data_norm=1.0).fit(X, Y)
            with inner:
                assert BudgetAccountant.load_default() is inner
            assert BudgetAccountant.load_default() is inner
        LogisticRegression(data_norm=1.0).fit(X, Y)
    assert (len(outer), len(inner)) == (2, 1)
    assert BudgetAccountant.pop_default() is None


def in_a_thread(work):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(timeout=600)


def test_overlapping_blocks_of_two_threads_pay_each_for_their_own():
    first, second = BudgetAccountant(1, 0), BudgetAccountant(2, 0)
    is_first_open, is_second_open, is_first_closed = (threading.Event() for _ in range(3))

    def open_first():
        with first:
            is_first_open.set()
            assert is_second_open.wait(600)
            found = BudgetAccountant.load_default()
        is_first_closed.set()
        return found

    def open_second():
        assert is_first_open.wait(600)
        with second:
            is_second_open.set()
            assert is_first_closed.wait(600)
            return BudgetAccountant.load_default()

    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(work) for work in (open_first, open_second)]
        assert [future.result(timeout=600) for future in found] == [first, second]
    assert BudgetAccountant.pop_default() is None


def test_a_thread_that_a_block_starts_is_paid_by_it():
    with BudgetAccountant(1, 0) as accountant:
        in_a_thread(lambda: LogisticRegression(data_norm=1.0).fit(X, Y))
    assert len(accountant) == 1
    shared = BudgetAccountant(1, 0).set_default()
    assert in_a_thread(BudgetAccountant.load_default) is shared


def test_a_thread_that_two_accountants_could_pay_for_is_refused():
    with (
        BudgetAccountant(1, 0),
        BudgetAccountant(2, 0),
        pytest.raises(BudgetError, match="several accountants"),
    ):
        in_a_thread(lambda: LogisticRegression(data_norm=1.0).fit(X, Y))


def test_a_default_set_within_a_block_ends_with_it():
    outer, inner = BudgetAccountant(1, 0), BudgetAccountant(2, 0)
    outer.set_default()
    with BudgetAccountant(3, 0) as block:
        inner.set_default()
        assert BudgetAccountant.pop_default() is inner
        assert BudgetAccountant.load_default() not in (outer, inner, block)
    assert BudgetAccountant.load_default() is outer


def test_a_block_of_one_task_leaves_another_alone():
    async def fit(accountant, rest):
        with accountant:
            await asyncio.sleep(0.02 * rest)
            return BudgetAccountant.load_default()

    async def both():
        return await asyncio.gather(fit(first, 1), fit(second, 2))

    first, second = BudgetAccountant(1, 0), BudgetAccountant(2, 0)
    assert asyncio.run(both()) == [first, second]


def test_the_default_accountant_pays_until_it_is_taken_away():
    accountant = BudgetAccountant(epsilon=1, delta=0).set_default()
    LogisticRegression(data_norm=1.0).fit(X, Y)
    with pytest.raises(BudgetError):
        LogisticRegression(data_norm=1.0).fit(X, Y)
    assert BudgetAccountant.pop_default() is accountant
    counted = len(BudgetAccountant.load_default())
    LogisticRegression(data_norm=1.0).fit(X, Y)
    assert len(accountant) == 1
    assert len(BudgetAccountant.load_default()) == counted + 1


def test_only_accountants_are_accountants():
    with pytest.raises(InputTypeError, match="accountant must be a BudgetAccountant"):
        LogisticRegression(data_norm=1.0, accountant="acc").fit(X, Y)


def test_copies_clones_and_pickles_are_the_same_books():
    accountant = BudgetAccountant(epsilon=1, delta=0)
    model = LogisticRegression(data_norm=1.0, accountant=accountant)
    clone(model).fit(X, Y)
    assert len(accountant) == len(copy.deepcopy(accountant)) == 1
    assert copy.copy(accountant) is accountant
    with pytest.raises(BudgetError):
        pickle.loads(pickle.dumps(accountant)).spend(0.5, 0)


def test_in_another_process_nothing_can_be_spent(monkeypatch):
    stored = pickle.dumps(BudgetAccountant(epsilon=1, delta=0))
    monkeypatch.setattr("discreet.ledger.memory._alive", {})
    accountant = pickle.loads(stored)
    assert repr(accountant) == "BudgetAccountant(elsewhere)"
    with pytest.raises(PrivacyError, match="another process"):
        accountant.spend(0.1, 0)
    with pytest.raises(PrivacyError, match="another process"):
        LogisticRegression(data_norm=1.0, accountant=accountant).fit(X, Y)


def test_a_repr_shows_ceiling_and_spends():
    accountant = BudgetAccountant(epsilon=9, delta=1e-5, slack=1e-6)
    for _ in range(6):
        accountant.spend(1.0, 0)
    spends = ", ".join(["(1, 0)"] * 5)
    assert repr(accountant) == (
        f"BudgetAccountant(epsilon=9, delta=1e-05, slack=1e-06, spent_budget=[{spends}, ...])"
    )
    assert repr(BudgetAccountant()) == "BudgetAccountant()"


def test_receipts_open_once_and_only_unopened_ones_are_refunded():
    accountant = BudgetAccountant(epsilon=1, delta=0)
    books = accountant.ledger
    first, second = books.charge(half()), books.charge(half())
    books.refund(first)
    books.redeem(second)
    with pytest.raises(ReceiptError):
        books.refund(second)
    with pytest.raises(ReceiptError):
        books.redeem(second)
    books.settle(second, State.RELEASED)
    with pytest.raises(InputError):
        books.settle(second, State.OPENED)
    assert accountant.total() == (0.5, 0.0)
    states = [entry.state for entry in books.history()]
    assert states == [State.REFUNDED, State.RELEASED]
    with pytest.raises(ReceiptError, match="not written by this"):
        BudgetAccountant(1, 0).ledger.redeem(books.charge(half()))


def test_another_unit_is_refused():
    accountant = BudgetAccountant(epsilon=1, delta=0, unit="add_remove")
    with pytest.raises(UnitMismatch, match="Give both the same unit="):
        LogisticRegression(data_norm=1.0, accountant=accountant).fit(X, Y)


def test_the_books_pay_for_estimators_of_this_library():
    from discreet.linear_model import Ridge

    accountant = BudgetAccountant(epsilon=1, delta=0)
    Ridge(
        1.0, 0.0, unit="replace", ledger=accountant.ledger, data_norm=1.0, target_range=(-1.0, 1.0)
    ).fit(X, X[:, 0])
    assert accountant.remaining().epsilon < 1e-6
    assert accountant.ledger.spent(0.0) <= 1.0

"""The ledger pays, remembers and refuses; and stays one ledger wherever it is copied."""

from __future__ import annotations

import copy
import math
import multiprocessing
import operator
import pickle
import threading

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from discreet.data import Bounds, Rows
from discreet.errors import (
    BudgetExceeded,
    InputError,
    InputTypeError,
    PrivacyError,
    ReceiptError,
    RehearsalRefused,
    RehearsalWarning,
    SealedError,
    UnitMismatch,
)
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.ledger import MemoryLedger, NoLedger, Receipt, State
from discreet.mechanisms import GaussianSum
from discreet.noise import RehearsalNoise
from discreet.privacy import (
    AddRemoveOne,
    Approximate,
    Budget,
    Gaussian,
    Guarantee,
    Laplace,
    NoPrivacy,
    Pure,
    ReplaceOne,
    WithinDistance,
    gaussian_multiplier,
)
from discreet.privacy.guarantee import down_to_three_digits
from discreet.questions import VectorSum


def pure(epsilon):
    return Guarantee(Pure(epsilon), AddRemoveOne())


def gaussian(epsilon, delta):
    mu = 1 / gaussian_multiplier(Budget(epsilon, delta))
    return Guarantee(Gaussian(mu), AddRemoveOne(), quoted_delta=delta)


def charge_until_refused(ledger, guarantee, most=10_000):
    for count in range(most):
        try:
            ledger.charge(guarantee)
        except BudgetExceeded:
            return count
    return most


@pytest.mark.parametrize(
    "exact",
    [pure(1.0), gaussian(1.0, 1e-6), Guarantee(Approximate(1.0, 1e-6), AddRemoveOne(), (), 1e-6),
     Guarantee(Laplace(1.0), AddRemoveOne())],
    ids=["pure", "gaussian", "approximate", "laplace"],
)  # fmt: skip
def test_a_single_release_may_use_the_whole_budget_exactly(exact):
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    ledger.charge(exact)
    assert ledger.remaining(1e-9) < 1e-6
    with pytest.raises(BudgetExceeded):
        ledger.charge(pure(0.001))


@pytest.mark.parametrize(
    "large",
    [pure(1.0001), gaussian(1.001, 1e-6), gaussian(1.0, 1.01e-6)],
    ids=["pure", "eps", "del"],
)
def test_a_single_release_beyond_the_budget_is_refused(large):
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    with pytest.raises(BudgetExceeded, match="No row was read"):
        ledger.charge(large)
    assert ledger.history() == ()
    assert ledger.remaining(1e-6) == 1.0


def test_ten_tenths_fit_and_eleven_do_not():
    assert charge_until_refused(MemoryLedger(Budget(1.0)), pure(0.1)) == 10


@pytest.mark.parametrize("more", [1e-9, 9e-10, 1e-15])
def test_a_hair_more_than_the_budget_is_refused_at_once_and_in_parts(more):
    with pytest.raises(BudgetExceeded):
        MemoryLedger(Budget(1.0)).charge(pure(1.0 + more))
    ledger = MemoryLedger(Budget(1.0))
    for _ in range(9):
        ledger.charge(pure(0.1))
    with pytest.raises(BudgetExceeded):
        ledger.charge(pure(0.1 + more))
    assert ledger.remaining(0.0) == 0.1
    ledger.charge(pure(0.1))


def test_what_is_left_is_exact_and_can_be_spent():
    ledger = MemoryLedger(Budget(1.0))
    for tenth in (0.9, 0.8, 0.7, 0.6):
        ledger.charge(pure(0.1))
        assert ledger.remaining(0.0) == tenth
    ledger.charge(pure(ledger.remaining(0.0)))
    assert ledger.remaining(0.0) == 0.0


def test_many_small_releases_go_further_than_the_sum_of_their_epsilons():
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    small = gaussian(0.05, 1e-7)
    count = charge_until_refused(ledger, small)
    # 1/0.05 = 20 by simple addition. Adding squares of mu allows about this many:
    allowed = (
        gaussian_multiplier(Budget(0.05, 1e-7)) / gaussian_multiplier(Budget(1.0, 2.45e-7))
    ) ** 2
    assert count == math.floor(allowed)
    assert ledger.spent(1e-6) <= 1.0


def test_small_pure_releases_go_further_too():
    assert charge_until_refused(MemoryLedger(Budget(1.0, 1e-6)), pure(0.01)) > 150


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_admitted_keeps_the_total_within_the_budget(seed):
    generator = np.random.default_rng(seed)
    budget = Budget(float(generator.choice([0.5, 1.0, 3.0])), 1e-6)
    ledger = MemoryLedger(budget)
    for _ in range(60):
        size = float(generator.uniform(0.005, 0.3))
        request = [
            pure(size),
            gaussian(size, 1e-9),
            Guarantee(Laplace(size), AddRemoveOne()),
            Guarantee(Approximate(size, 1e-9), AddRemoveOne(), (), 1e-9),
            Guarantee(WithinDistance(Gaussian(size / 5), 2.0**-79), AddRemoveOne(), (), 1e-9),
        ][generator.integers(5)]
        promised = ledger.remaining(request.quoted_delta)
        try:
            ledger.charge(request)
        except BudgetExceeded:
            # What remains is a promise: anything within it would have been accepted.
            assert request.epsilon() > promised
    assert len(ledger.history()) > 5
    assert ledger.total().delta(budget.epsilon) <= budget.delta


def test_distances_of_computed_from_ideal_releases_are_capped():
    ledger = MemoryLedger(Budget(1.0, 1e-9))
    rough = Guarantee(WithinDistance(Gaussian(0.001), 1e-11), AddRemoveOne(), (), 1e-9)
    assert charge_until_refused(ledger, rough, most=100) < 10
    assert ledger.total().delta(1.0) <= 1e-9


def test_a_ledger_without_delta_pays_for_pure_releases_only():
    ledger = MemoryLedger(Budget(1.0))
    with pytest.raises(BudgetExceeded):
        ledger.charge(gaussian(0.01, 1e-9))
    ledger.charge(pure(0.4))
    assert math.isclose(ledger.remaining(0.0), 0.6, rel_tol=1e-6)
    assert ledger.remaining(1e-9) == 0.0


def test_spent_and_total_tell_the_tighter_story():
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    assert ledger.spent(1e-6) == 0.0
    assert ledger.total() is None
    for _ in range(10):
        ledger.charge(gaussian(0.1, 1e-7))
    mu = 1 / gaussian_multiplier(Budget(0.1, 1e-7))
    assert math.isclose(
        ledger.spent(1e-6), Gaussian(mu * math.sqrt(10)).epsilon(1e-6), rel_tol=1e-6
    )


def test_another_unit_is_refused():
    with pytest.raises(UnitMismatch, match="replace"):
        MemoryLedger(Budget(1.0)).charge(Guarantee(Pure(0.1), ReplaceOne()))


def test_what_is_not_private_is_refused():
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    with pytest.raises(RehearsalRefused):
        ledger.charge(Guarantee(NoPrivacy(), AddRemoveOne()))
    bounds = Bounds(L2Ball(1.0), 2)
    rows = Rows([[0.1, 0.2]], bounds=bounds)
    with pytest.raises(RehearsalRefused), pytest.warns(RehearsalWarning):
        release(GaussianSum(), VectorSum(bounds), rows, budget=Budget(0.5, 1e-6), ledger=ledger,
                noise=RehearsalNoise(1))  # fmt: skip
    with pytest.raises(RehearsalRefused):
        release(GaussianSum(), VectorSum(bounds), rows, budget=Budget(math.inf), ledger=ledger)
    assert ledger.history() == ()


@pytest.mark.parametrize("odd", [Budget(math.inf, 1e-6)])
def test_a_ledger_needs_a_finite_budget(odd):
    with pytest.raises(InputError, match="finite"):
        MemoryLedger(odd)
    with pytest.raises(InputTypeError, match="Budget"):
        MemoryLedger(1.0)
    with pytest.raises(InputTypeError, match="Guarantee"):
        MemoryLedger(Budget(1.0)).charge(0.5)


def test_a_receipt_lives_once():
    ledger = MemoryLedger(Budget(1.0))
    receipt = ledger.charge(pure(0.5), purpose="a test")
    receipt.redeem()
    with pytest.raises(ReceiptError, match="opened"):
        receipt.redeem()
    with pytest.raises(ReceiptError):
        ledger.refund(receipt)
    ledger.settle(receipt, State.RELEASED)
    with pytest.raises(ReceiptError):
        ledger.settle(receipt, State.FAILED)
    entry = ledger.history()[0]
    assert (entry.state, entry.purpose, entry.number) == (State.RELEASED, "a test", 1)
    assert entry.time.tzinfo is not None


def test_a_charge_is_refunded_only_before_its_rows_are_opened():
    ledger = MemoryLedger(Budget(1.0))
    receipt = ledger.charge(pure(0.8))
    ledger.refund(receipt)
    assert ledger.remaining(0.0) == 1.0
    with pytest.raises(ReceiptError, match="refunded"):
        receipt.redeem()
    ledger.charge(pure(1.0))
    assert [entry.state for entry in ledger.history()] == [State.REFUNDED, State.RESERVED]


def test_a_forged_receipt_opens_nothing():
    ledger, other = MemoryLedger(Budget(1.0)), MemoryLedger(Budget(1.0))
    real = ledger.charge(pure(0.5))
    forged = [
        Receipt(1, real.guarantee, other, real.token),
        Receipt(1, real.guarantee, ledger, "guess"),
        Receipt(2, real.guarantee, ledger, real.token),
        Receipt(1, real.guarantee, NoLedger(), real.token),
    ]
    rows = Rows([[0.1]], bounds=Bounds(L2Ball(1.0), 1))
    for receipt in forged:
        with pytest.raises(ReceiptError):
            rows.open(receipt)
    rows.open(real)


def test_a_receipt_cannot_be_stored_or_copied():
    receipt = MemoryLedger(Budget(1.0)).charge(pure(0.5))
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(SealedError):
            attempt(receipt)
    assert receipt.token not in repr(receipt)


def test_settling_needs_an_end():
    ledger = MemoryLedger(Budget(1.0))
    receipt = ledger.charge(pure(0.5))
    with pytest.raises(InputError, match="released or failed"):
        ledger.settle(receipt, State.OPENED)


def test_copies_and_pickles_are_the_same_ledger():
    ledger = MemoryLedger(Budget(1.0))
    for other in (copy.copy(ledger), copy.deepcopy(ledger), pickle.loads(pickle.dumps(ledger))):
        assert other is ledger


def test_cloning_an_estimator_keeps_its_ledger():
    class Model(BaseEstimator):
        def __init__(self, ledger=None):
            self.ledger = ledger

    ledger = MemoryLedger(Budget(1.0))
    assert clone(Model(ledger)).ledger is ledger


def test_a_ledger_pickled_into_another_process_is_refused():
    ledger = MemoryLedger(Budget(1.0))
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool, pytest.raises(PrivacyError, match="another process"):
        pool.apply(operator.methodcaller("remaining", 0.0), (ledger,))
    gone = pickle.loads(pickle.dumps(MemoryLedger(Budget(1.0))))
    with pytest.raises(PrivacyError, match="another process"):
        gone.charge(pure(0.1))


def test_threads_together_never_overspend():
    ledger = MemoryLedger(Budget(1.0))
    barrier = threading.Barrier(8)
    admitted = []

    def spend():
        barrier.wait()
        for _ in range(20):
            try:
                admitted.append(ledger.charge(pure(0.01)))
            except BudgetExceeded:
                return

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == 100
    assert len({receipt.number for receipt in admitted}) == 100


def test_threads_racing_for_one_receipt_open_it_once():
    ledger = MemoryLedger(Budget(1.0))
    receipt = ledger.charge(pure(0.5))
    rows = Rows([[0.1]], bounds=Bounds(L2Ball(1.0), 1))
    outcomes = []

    def race():
        try:
            outcomes.append(rows.open(receipt))
        except ReceiptError:
            outcomes.append(None)

    threads = [threading.Thread(target=race) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(outcome is not None for outcome in outcomes) == 1


def test_a_refusal_says_what_is_left():
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    ledger.charge(pure(0.75))
    with pytest.raises(BudgetExceeded, match=r"You may still release epsilon 0\.25; the budget"):
        ledger.charge(pure(0.5))


def test_what_is_left_needs_no_argument_and_is_never_nothing_while_something_is():
    tight = MemoryLedger(Budget(1.5, 1e-9))
    tight.charge(gaussian(0.1, 1e-9))  # a second release at this delta is one too many
    assert tight.remaining(1e-9) == 0.0
    left = tight.allowance()
    assert (left.kind, left.epsilon) == ("pure", tight.remaining())
    assert "with delta = 0" in left.sentence()
    tight.charge(pure(float(down_to_three_digits(left.epsilon))))


def test_where_only_gaussian_noise_fits_that_is_what_is_left():
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    charge_until_refused(ledger, gaussian(0.2, 1e-9))
    left = ledger.allowance()
    assert ledger.remaining(1e-9) == ledger.remaining(0.0) == 0.0
    assert (left.kind, left.epsilon) == ("gaussian", ledger.remaining())
    assert 0.1 < left.epsilon < 0.2
    assert "with Gaussian noise at delta = 1e-09" in left.sentence()
    bounds = Bounds(L2Ball(1.0), n_features=1)
    release(
        GaussianSum(),
        VectorSum(bounds),
        Rows([[0.5]], bounds=bounds),
        budget=Budget(float(down_to_three_digits(left.epsilon)), left.delta),
        ledger=ledger,
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_number_that_is_shown_can_be_spent_by_any_release(seed):
    generator = np.random.default_rng(seed)
    ledger = MemoryLedger(Budget(2.0, 1e-6))
    for _ in range(5):
        ledger.charge(gaussian(float(generator.uniform(0.05, 0.4)), 1e-9))
    left = ledger.allowance()
    assert left.kind == "any"
    shown = float(down_to_three_digits(left.epsilon))
    ledger.charge(Guarantee(Approximate(shown, left.delta), AddRemoveOne(), (), left.delta))


def test_a_refusal_names_the_delta_that_stands_in_the_way():
    only_pure = MemoryLedger(Budget(1.0))
    with pytest.raises(BudgetExceeded, match=r"pure releases only: pass delta=0 \(--delta 0\)"):
        only_pure.charge(gaussian(0.01, 1e-9))
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    ledger.charge(gaussian(0.1, 1e-9))
    large = Guarantee(Approximate(0.1, 9e-7), AddRemoveOne(), quoted_delta=9e-7)
    with pytest.raises(BudgetExceeded, match="Ask for delta = 1e-09, where that epsilon fits"):
        ledger.charge(large)


def test_no_ledger_accepts_everything_but_each_receipt_once():
    books = NoLedger()
    receipt = books.charge(Guarantee(NoPrivacy(), AddRemoveOne()))
    receipt.redeem()
    with pytest.raises(ReceiptError):
        receipt.redeem()
    assert (books.history(), books.remaining(0.0), books.spent(0.0)) == ((), math.inf, 0.0)

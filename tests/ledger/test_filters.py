"""The filters hold against analysts who choose the next request after seeing the last answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.errors import BudgetExceeded
from discreet.ledger import MemoryLedger
from discreet.ledger.decimal_amounts import add, add_up, amounts
from discreet.ledger.filters import (
    BasicFilter,
    GaussianFilter,
    RenyiFilter,
    failure_by_distance,
    filters_for,
    quoted_pair,
)
from discreet.privacy import (
    AddRemoveOne,
    Approximate,
    Budget,
    Gaussian,
    Guarantee,
    Pure,
    WithinDistance,
    ZeroConcentrated,
    gaussian_multiplier,
)


def guarantee(profile, delta=1e-9):
    return Guarantee(profile, AddRemoveOne(), (), delta)


def randomised_response_tree(budget, choose, depth):
    """Exact outcome chances of an analyst who asks coins whose bias depends on past answers.

    ``choose(history)`` names the epsilon of the next coin. The ledger's rule decides whether it
    is asked: some filter must admit the whole path. Returns (P, Q) over all final paths.
    """
    rules = filters_for(budget)
    leaves = []

    def walk(history, totals, p, q):
        epsilon = choose(history)
        costs = [rule.cost(guarantee(Pure(epsilon))) for rule in rules]
        after = [add(spent, cost) for spent, cost in zip(totals, costs, strict=True)]
        admitted = any(rule.admits(spent) for rule, spent in zip(rules, after, strict=True))
        if len(history) == depth or not admitted:
            leaves.append((p, q))
            return
        truth = 1 / (1 + math.exp(-epsilon))
        walk((*history, 1), after, p * truth, q * (1 - truth))
        walk((*history, 0), after, p * (1 - truth), q * truth)

    walk((), [amounts(*(0.0 for _ in rule.limit)) for rule in rules], 1.0, 1.0)
    return np.array(leaves).T


def hockey_stick(p, q, epsilon):
    factor = math.exp(epsilon)
    return max(np.maximum(p - factor * q, 0).sum(), np.maximum(q - factor * p, 0).sum())


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-2), Budget(0.5, 0.1), Budget(2.0, 1e-3)])
@pytest.mark.parametrize("seed", range(4))
def test_adaptive_coin_askers_stay_within_the_budget(budget, seed):
    generator = np.random.default_rng(seed)
    table = generator.uniform(0.02, 0.4, size=2**14)

    def by_history(history):
        return float(table[hash(history) % table.size])

    def press_on_when_it_pays(history):
        gained = sum(1 if answer else -1 for answer in history)
        return 0.35 if gained > 0 else 0.02 + 0.1 * (gained == 0)

    for choose in (by_history, press_on_when_it_pays):
        p, q = randomised_response_tree(budget, choose, depth=12)
        assert math.isclose(p.sum(), 1.0)
        assert hockey_stick(p, q, budget.epsilon) <= budget.delta


def test_the_tree_itself_can_tell_when_a_budget_is_broken():
    # The same analyst against a ledger that forgets to add: the test above has teeth.
    p, q = randomised_response_tree(Budget(50.0, 1e-2), lambda history: 0.35, depth=12)
    assert hockey_stick(p, q, 1.0) > 1e-2


def test_the_deltas_of_the_filters_add_up_to_the_budget():
    for budget in (Budget(1.0, 1e-6), Budget(0.1, 1e-9), Budget(8.0, 1e-3), Budget(100.0, 1e-6)):
        basic, renyi, gaussian = ([float(most) for most in r.limit] for r in filters_for(budget))
        order, room = RenyiFilter(budget)._order_and_room
        from_room = math.exp((order - 1) * (room - budget.epsilon + math.log1p(-1 / order))) / order
        by_gaussian = Gaussian(math.sqrt(gaussian[0])).delta(budget.epsilon)
        spent = [basic[1], from_room, renyi[1], by_gaussian, gaussian[1]]
        assert 0.999 * budget.delta <= math.fsum(spent) <= budget.delta


def charges_until_refused(ledger, request, most):
    for count in range(most):
        try:
            ledger.charge(request)
        except BudgetExceeded:
            return count
    return most


@pytest.mark.parametrize("epsilon", [1.0, 30.0, 50.0, 100.0, 600.0])
def test_a_budget_admits_at_least_the_quoted_epsilons_that_it_holds(epsilon):
    # Computed releases are 2**-79 from ideal; e**100 times that is more than any delta.
    mu = 1 / gaussian_multiplier(Budget(epsilon / 50, 1e-9), distance=2.0**-79)
    request = guarantee(WithinDistance(Gaussian(mu), 2.0**-79))
    assert quoted_pair(request)[0] <= epsilon / 50
    ledger = MemoryLedger(Budget(epsilon, 1e-6))
    ledger.charge(request)
    assert 49 / 50 * epsilon <= ledger.remaining(1e-9) <= 49 / 50 * epsilon + 1e-9
    assert charges_until_refused(ledger, request, 49) == 49


def near_and_far(tau, mu, cells):
    """Two shifted normals on cells, and the same with tau moved where it hurts most.

    The computed pair differs from the ideal pair by tau in total variation each: where P is
    largest compared with Q, Q loses its mass, so that P is seen there alone.
    """
    edges = np.linspace(-6, 6 + mu, cells)
    chances = [np.diff(norm_cdf(edges - shift)) for shift in (mu, 0.0)]
    p, q = (chance / chance.sum() for chance in chances)
    computed, left = q.copy(), tau
    for cell in np.argsort(-p / q):
        moved = min(left, computed[cell])
        computed[cell] -= moved
        left -= moved
    computed[np.argmin(p / q)] += tau - left
    return p, q, computed


def norm_cdf(values):
    return np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in values])


@pytest.mark.parametrize("tau", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_the_worst_release_at_a_distance_stays_within_its_failure(tau, mu):
    # Exact laws, two releases in a row: the adversary's delta against that of the ideal pair.
    p, q, computed = near_and_far(tau, mu, 60)
    paired = [np.multiply.outer(law, law).ravel() for law in (p, q, computed)]
    failure = failure_by_distance(WithinDistance(Gaussian(mu), tau))
    for epsilon in (0.5, 2.0, 8.0, 30.0):
        ideal = np.maximum(paired[0] - math.exp(epsilon) * paired[1], 0).sum()
        real = np.maximum(paired[0] - math.exp(epsilon) * paired[2], 0).sum()
        assert real <= ideal + 2 * failure
    assert real > 2 * tau  # distances alone would not have paid for it


def test_without_delta_only_the_basic_filter_can_admit():
    basic, renyi, gaussian = filters_for(Budget(1.0))
    cost = guarantee(Pure(0.1))
    assert basic.admits(basic.cost(cost))
    assert not renyi.admits(renyi.cost(cost))
    assert not gaussian.admits(gaussian.cost(guarantee(Gaussian(1e-6))))


def test_the_gaussian_filter_admits_gaussians_only():
    rule = GaussianFilter(Budget(1.0, 1e-6))
    assert rule.admits(rule.cost(guarantee(Gaussian(0.05))))
    assert not rule.admits(rule.cost(guarantee(ZeroConcentrated(1e-6))))


def test_the_renyi_filter_books_the_chance_that_a_curve_fails():
    rule = RenyiFilter(Budget(1.0, 1e-6))
    cost = rule.cost(guarantee(Approximate(0.01, 1e-8)))
    assert cost[1] == amounts(1e-8)[0]
    assert rule.admits(cost)
    assert not rule.admits(add_up([cost] * 100, start=amounts(0.0, 0.0)))


def test_the_basic_filter_quotes_at_the_stated_delta():
    rule = BasicFilter(Budget(1.0, 1e-6))
    assert rule.cost(guarantee(Pure(0.3))) == amounts(0.3, 0.0)
    cost = rule.cost(guarantee(Gaussian(0.1), delta=1e-7))
    assert cost[1] == amounts(1e-7)[0]
    assert math.isclose(float(cost[0]), Gaussian(0.1).epsilon(1e-7), rel_tol=1e-9)


def test_the_basic_filter_pays_for_the_distance_in_what_it_quotes():
    rough = WithinDistance(Pure(0.5), 1e-8)
    epsilon, delta = quoted_pair(guarantee(rough, delta=1e-7))
    assert epsilon == 0.5
    assert (1 + math.exp(0.5)) * 1e-8 <= delta <= 1.001 * (1 + math.exp(0.5)) * 1e-8
    gaussian = WithinDistance(Gaussian(0.1), 1e-8)
    epsilon, delta = quoted_pair(guarantee(gaussian, delta=1e-7))
    assert epsilon > Gaussian(0.1).epsilon(1e-7)
    assert gaussian.delta(epsilon) <= delta == 1e-7


@pytest.mark.parametrize(
    ("epsilon", "times"), [(0.1, 10), (0.7, 10), (1 / 3, 3), (0.3, 7), (1e-3, 400)]
)
def test_sums_of_quoted_numbers_fill_a_budget_exactly_and_not_a_hair_more(epsilon, times):
    # As decimals: 0.1 ten times is 1, though the floats that come nearest add up to less.
    rule = BasicFilter(Budget(float(f"{epsilon * times:.12g}"), 1e-6))
    cost = rule.cost(guarantee(Approximate(epsilon, 1e-9)))
    full = add_up([cost] * times, start=amounts(0.0, 0.0))
    assert rule.admits(full)
    hair = 9e-10 if epsilon != 1 / 3 else 2e-16  # three times what 1/3 is written as is below 1
    for more in ((hair, 0.0), (hair + 1e-300, 0.0), (0.0, 5.1e-7 - times * 1e-9)):
        assert not rule.admits(add(full, amounts(*more)))
    assert rule.admits(add(full, amounts(1e-300, 0.0))) == (epsilon == 1 / 3)


@pytest.mark.parametrize("asked", [0.1, 1 / 3, 0.7, 2.0, 17.3])
@pytest.mark.parametrize("delta", [1e-5, 1e-9])
def test_what_is_quoted_of_a_calibrated_release_is_not_above_what_was_asked(asked, delta):
    for distance in (0.0, 2.0**-79):
        mu = 1 / gaussian_multiplier(Budget(asked, delta), distance=distance)
        ideal = Gaussian(mu)
        profile = WithinDistance(ideal, distance) if distance else ideal
        epsilon, at = quoted_pair(guarantee(profile, delta=delta))
        assert asked * (1 - 1e-9) <= epsilon <= asked
        assert profile.delta(epsilon) <= at == delta

"""The filters hold against analysts who choose the next request after seeing the last answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.ledger.filters import BasicFilter, GaussianFilter, RenyiFilter, filters_for
from discreet.privacy import (
    AddRemoveOne,
    Approximate,
    Budget,
    Gaussian,
    Guarantee,
    Pure,
    ZeroConcentrated,
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
        after = [total + cost for total, cost in zip(totals, costs, strict=True)]
        admitted = any(rule.admits(total) for rule, total in zip(rules, after, strict=True))
        if len(history) == depth or not admitted:
            leaves.append((p, q))
            return
        truth = 1 / (1 + math.exp(-epsilon))
        walk((*history, 1), after, p * truth, q * (1 - truth))
        walk((*history, 0), after, p * (1 - truth), q * truth)

    walk((), [np.zeros_like(rule.limit) for rule in rules], 1.0, 1.0)
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
    for budget in (Budget(1.0, 1e-6), Budget(0.1, 1e-9), Budget(8.0, 1e-3)):
        basic, renyi, gaussian = filters_for(budget)
        through_distance = 1 + math.exp(budget.epsilon)
        total = basic.limit[1] + through_distance * basic.limit[2]
        order, room = renyi._order_and_room
        from_room = math.exp((order - 1) * (room - budget.epsilon + math.log1p(-1 / order))) / order
        total += from_room + renyi.limit[1] + through_distance * renyi.limit[2]
        mu = math.sqrt(gaussian.limit[0])
        total += Gaussian(mu).delta(budget.epsilon) + through_distance * gaussian.limit[1]
        assert total <= budget.delta * (1 + 1e-6)
        assert total >= 0.95 * budget.delta


def test_a_large_epsilon_does_not_drown_in_distances():
    # e**50 times 2**-80 is 0.004: counting on epsilon = 50 would refuse every Gaussian.
    _, renyi, gaussian = filters_for(Budget(50.0, 1e-6))
    assert gaussian.limit[1] > 2.0**-80
    assert renyi.limit[2] > 2.0**-80


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
    assert cost[1] == 1e-8
    assert rule.admits(cost)
    assert not rule.admits(100 * cost)


def test_the_basic_filter_quotes_at_the_stated_delta():
    rule = BasicFilter(Budget(1.0, 1e-6))
    assert rule.cost(guarantee(Pure(0.3)))[:2].tolist() == [0.3, 0.0]
    quoted = rule.cost(guarantee(Gaussian(0.1), delta=1e-7))
    assert quoted[1] == 1e-7
    assert math.isclose(quoted[0], Gaussian(0.1).epsilon(1e-7), rel_tol=1e-9)

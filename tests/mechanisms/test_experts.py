"""Draws of experts: the exact law of whole transcripts, rates, and what is never released."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.data import Bounds
from discreet.errors import InputError, NotAccepted
from discreet.geometry import Box, L2Ball
from discreet.mechanisms import Experts
from discreet.mechanisms.sampling.choice import LOSS_STEPS
from discreet.noise import RehearsalNoise
from discreet.privacy import Budget, ReplaceOne, ZeroConcentrated, ZeroOutOne
from discreet.questions import ExpertStream, LeastLoss

SWAP, ZERO = ReplaceOne(), ZeroOutOne()


def a_stream(experts=2, horizon=3, batch=1, low=0.0, high=1.0):
    return ExpertStream(Bounds(Box([low] * experts, [high] * experts), experts), horizon, batch)


def chances(plan, losses):
    """The law of a draw after some losses, worked out from what is declared."""
    scores = np.zeros(plan.question.bounds.n_features)
    for loss in losses:
        scores = scores + plan.score(np.array([loss]))[0]
    weights = np.exp(-float(plan.rate) * (scores - scores.min()))
    return weights / weights.sum()


def laws(plan, first):
    """The chance of every transcript if an adversary goes on after a first record."""
    experts, horizon = plan.question.bounds.n_features, plan.question.horizon
    found = {}
    for drawn in itertools.product(range(experts), repeat=horizon):
        losses, chance = [], 1.0
        for t, expert in enumerate(drawn):
            losses.append(first if t == 0 else adversary(drawn[:t], experts))
            chance *= chances(plan, losses)[expert]
        found[drawn] = chance
    return found


def adversary(drawn, experts):
    """Whoever is followed has a bad round, in part."""
    return np.where(np.arange(experts) == drawn[-1], 1.0, 0.25)


def delta(one, other, epsilon):
    return sum(max(one[drawn] - math.exp(epsilon) * other[drawn], 0.0) for drawn in one)


@pytest.mark.parametrize("unit", [SWAP, ZERO], ids=lambda unit: unit.name)
@pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-3), Budget(3.0, 0.05)], ids=str)
@pytest.mark.parametrize(("experts", "horizon"), [(2, 1), (2, 2), (2, 3), (3, 3)])
def test_the_joint_law_of_few_draws_keeps_the_promise(experts, horizon, budget, unit):
    # So warm that the budget decides, not what is best for regret.
    plan = Experts().plan(a_stream(experts, horizon), budget, unit)
    best = np.eye(experts)[0]
    other = 1 - best if unit == SWAP else np.zeros(experts)
    pairs = [laws(plan, best), laws(plan, other)]
    for one, two in (pairs, pairs[::-1]):
        for epsilon in (0.0, 0.3, 1.0, 2.0):
            assert delta(one, two, epsilon) <= plan.guarantee.delta(epsilon)
    ratio = max(abs(math.log(pairs[0][drawn] / pairs[1][drawn])) for drawn in pairs[0])
    span = float(plan.rate) * LOSS_STEPS * (2 if unit == SWAP else 1)
    assert 0.3 * span * horizon <= ratio <= horizon * span * (1 + 1e-12)
    assert sum(pairs[0].values()) == pytest.approx(1.0, abs=1e-12)


def test_half_the_range_would_break_the_promise():
    # One draw of two experts, one of them rare: the log ratio comes near the whole range.
    plan = Experts().plan(a_stream(horizon=100), Budget(1.0), SWAP)
    behind = [np.array([0.0, 1.0])] * 99
    worst = max(
        abs(np.log(chances(plan, [first, *behind]) / chances(plan, [1 - first, *behind]))).max()
        for first in (np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    )
    span = float(plan.rate) * 2 * LOSS_STEPS
    assert 0.5 * span < worst <= span


class Watching(RehearsalNoise):
    """Writes down what is asked of it."""

    def __init__(self):
        super().__init__(3)
        self.asked = []

    def candidates(self, counts, scores, rate, draws=1):
        self.asked.append((np.array(scores), rate))
        assert (counts == 1).all()
        return super().candidates(counts, scores, rate, draws)


@pytest.mark.parametrize("batch", [1, 3])
def test_draws_are_made_from_the_sums_of_losses_at_the_planned_rate(batch):
    plan = Experts().plan(a_stream(4, 10, batch, low=-2.0, high=2.0), Budget(1.0, 1e-6), SWAP)
    X = np.random.default_rng(1).uniform(-2, 2, (10, 4))
    noise = Watching()
    session = plan.start(noise)
    for start in range(0, 10, 4):  # not where batches end
        session.learn(X[start : start + 4])
    sums = np.cumsum(np.rint((X + 2) / 4 * LOSS_STEPS), axis=0).astype(np.int64)
    seen = [np.zeros(4), *sums[batch - 1 :: batch]]
    assert len(noise.asked) == len(seen) == plan.question.updates + 1
    for (scores, rate), expected in zip(noise.asked, seen, strict=True):
        np.testing.assert_array_equal(scores, expected - expected.min())
        assert rate == plan.rate
    assert session.answer() in range(4)


def test_a_session_goes_on_where_it_was_packed():
    plan = Experts().plan(a_stream(4, 50), Budget(1.0, 1e-6), SWAP)
    X, noise = np.random.default_rng(1).random((50, 4)), Watching()
    session = plan.start(noise)
    session.learn(X[:20])
    session = plan.unpack(session.pack(), noise)
    session.learn(X[20:])
    whole = Watching()
    plan.start(whole).learn(X)
    np.testing.assert_array_equal(noise.asked[-1][0], whole.asked[-1][0])
    assert session.is_over


@pytest.mark.parametrize(("unit", "factor"), [(SWAP, 2.0), (ZERO, 0.5)])
def test_the_temperature_is_that_of_concentrated_privacy(unit, factor):
    # rho = factor N R^2 / lambda^2, R half the range of losses.
    plan = Experts().plan(a_stream(5, 10_000), Budget(1.0, 1e-6), unit)
    rho = factor * 10_000 * 0.25 / plan.temperature**2
    assert ZeroConcentrated(rho).delta(1.0) == pytest.approx(1e-6, rel=1e-6)


def test_no_colder_than_is_good_for_regret_and_no_more_is_charged():
    stream = a_stream(5, 10_000)
    plan = Experts().plan(stream, Budget(500.0, 1e-6), SWAP)
    assert plan.temperature == pytest.approx(0.5 * math.sqrt(10_000 / (2 * math.log(5))))
    assert plan.guarantee.epsilon(1e-6) < 100
    assert "less than the budget" in plan.reason


def test_the_bound_on_regret_holds_for_experts_that_differ():
    # Losses are fixed; over six fixed rehearsals the mean regret is far below its bound.
    stream, generator = a_stream(10, 400), np.random.default_rng(5)
    X = (generator.random((400, 10)) < np.linspace(0.3, 0.7, 10)).astype(float)
    plan = Experts().plan(stream, Budget(8.0, 1e-6), SWAP)
    bound = plan.temperature * math.log(10) + 400 * 0.25 / (2 * plan.temperature)
    regrets = []
    for seed in range(6):
        session, lost = plan.start(RehearsalNoise(seed)), 0.0
        for x in X:
            lost += x[session.answer()]
            session.learn(x[None])
        regrets.append(lost - X.sum(axis=0).min())
    assert 0 < np.mean(regrets) < bound


def test_without_a_budget_the_leader_is_followed():
    plan = Experts().plan(a_stream(3, 4), Budget(math.inf), SWAP)
    assert plan.rate is None
    session = plan.start(RehearsalNoise(1))
    session.learn(np.array([[1.0, 0.0, 0.5], [0.0, 0.9, 0.1]]))
    assert session.answer() == 2
    assert plan.temperature == 0


def test_rates_are_exact_fractions():
    plan = Experts().plan(a_stream(2, 7), Budget(1.0, 1e-6), SWAP)
    assert isinstance(plan.rate, Fraction)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (Bounds(L2Ball(1.0), 2), "declare a Box"),
        (Bounds(Box([0.0], [1.0]), 1), "at least two experts"),
        (Bounds(Box([0.0] * 2, [1.0] * 2), 2, max_weight=2.0), "no weights"),
    ],
)
def test_a_stream_of_experts_checks_its_declaration(bounds, message):
    with pytest.raises(InputError, match=message):
        ExpertStream(bounds, 10)


def test_other_questions_are_refused():
    with pytest.raises(NotAccepted, match="ExpertStream"):
        Experts().plan(LeastLoss(Bounds(Box([0.0] * 2, [1.0] * 2), 2)), Budget(1.0), SWAP)

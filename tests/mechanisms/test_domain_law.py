"""Objective perturbation on an interval: its exact law, its accuracy, and its mutants.

In one dimension, with coefficients in [-B, B], put ``F(w) = J'(prox w) + w - prox w``. Minus the
linear term is F(w), and the coefficient is prox w: the noise beyond F(-B) and F(B) piles up at the
ends. F increases, so a cell's chance is a difference of the noise's distribution function; a
partition into cells can only lower a divergence.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.data import Bounds, Interval, LabelSet
from discreet.geometry import L2Ball
from discreet.losses import Logistic, Squared
from discreet.mechanisms import ObjectivePerturbation
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, Gaussian, ReplaceOne
from discreet.questions.problem import Problem
from support.opened import open_rows

ADD, SWAP = AddRemoveOne(), ReplaceOne()
EPSILONS = np.array([0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 4.5])
LABEL, HALF = 1.0, 1.0
"""The largest label, and half the interval."""


def problem_of(loss, *, ridge, half=HALF, label=LABEL):
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-label, label)
    bounds = Bounds(L2Ball(1.0), 1, labels=labels, max_rows=1000)
    return Problem(loss, bounds, ridge=ridge, penalty=Indicator(L2Ball(half)))


def gaussian(values):
    return ndtr(values)


def laplace(values):
    return np.where(
        values < 0, 0.5 * np.exp(np.minimum(values, 0)), 1 - 0.5 * np.exp(-np.abs(values))
    )


LAWS = {"gaussian": gaussian, "radial": laplace}


def chances(loss, ridge, scale, records, cdf, *, half=HALF):
    """The chances of both ends and of the cells between them."""
    inner = np.linspace(-half, half, 1001)
    slopes = ridge * inner
    for x, y, many in records:
        slopes = slopes + many * x * loss.slope(np.float64(y), x * inner)
    assert (np.diff(slopes) > 0).all()
    # Upper tails as such, or small chances would be lost in those near one.
    below, above = cdf(slopes / scale), cdf(-slopes / scale)
    cells = np.where(slopes[:-1] > 0, above[:-1] - above[1:], below[1:] - below[:-1])
    return np.concatenate([below[:1], cells, above[-1:]])


def hockey_stick(loss, ridge, scale, pair, cdf):
    """A lower bound on the true divergence, in both orders: exact but for the cells."""
    one, other = (chances(loss, ridge, scale, data, cdf) for data in pair)
    assert one.sum() == pytest.approx(1, abs=1e-12)
    factors = np.exp(EPSILONS)[:, None]
    sides = (np.maximum(a - factors * b, 0).sum(axis=1) for a, b in ((one, other), (other, one)))
    return np.maximum(*sides)


def pairs_of(unit):
    """Neighbours beside common records that bring the noise's tails to the ends, and do not."""
    for many in (0, 1, 3, 6, 10, 15, 20, 25, 30):
        for common in ([(1.0, LABEL, many)], [(1.0, -LABEL, many)], [(0.3, LABEL, many)]):
            for y in (LABEL, -LABEL):
                record = (1.0, y, 1)
                if not unit.rows_are_public:
                    yield common, [*common, record]
                    continue
                for other in ((1.0, -y, 1), (-1.0, y, 1), (0.0, y, 1)):
                    yield [*common, record], [*common, other]


def worst(loss, ridge, plan, law, unit):
    every = (hockey_stick(loss, ridge, plan.scale, pair, LAWS[law]) for pair in pairs_of(unit))
    return np.max(list(every), axis=0)


def exceeds(loss, ridge, plan, law, unit):
    """Whether the true profile exceeds the claimed one anywhere."""
    claimed = np.array([plan.guarantee.profile.delta(e) for e in EPSILONS])
    true = worst(loss, ridge, plan, law, unit)
    return (true > claimed * (1 + 1e-6) + 1e-12).any()


BUDGETS = {"gaussian": (Budget(1.0, 1e-5), Budget(3.0, 1e-3)), "radial": (Budget(1.0), Budget(3.0))}


@pytest.mark.parametrize("loss", [Squared(LABEL), Logistic()], ids=repr)
@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("ridge", "place"), [(4.0, 0), (0.9, 1)], ids=["usual", "little ridge"])
def test_the_exact_law_on_an_interval_is_within_the_guarantee(loss, unit, law, ridge, place):
    problem = problem_of(loss, ridge=ridge)
    plan = ObjectivePerturbation(law).plan(problem, BUDGETS[law][place], unit)
    assert not exceeds(loss, ridge, plan, law, unit)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("half", "label"), [(HALF, 1e-3), (HALF / 2, LABEL), (1e-3, LABEL)],
    ids=["no labels in the slope", "half the interval", "no interval"],
)  # fmt: skip
def test_a_slope_that_forgets_labels_or_interval_is_caught(law, half, label):
    # At one end, with the label of the other, a squared loss has the slope R B + Y. Two records
    # cannot both have it and pull apart, so replacement would hide what adding shows.
    loss, ridge, unit = Squared(LABEL), 40.0, ADD
    budget = BUDGETS[law][0]
    honest = ObjectivePerturbation(law).plan(problem_of(loss, ridge=ridge), budget, unit)
    small = problem_of(Squared(label), ridge=ridge, half=half, label=label)
    mutant = ObjectivePerturbation(law).plan(small, budget, unit)
    assert not exceeds(loss, ridge, honest, law, unit)
    assert exceeds(loss, ridge, mutant, law, unit)


def test_the_ends_nearly_attain_the_guarantee():
    # The noise that moves the coefficient off its end is judged by a half line, as is optimal.
    loss, ridge = Squared(LABEL), 400.0
    plan = ObjectivePerturbation("gaussian").plan(
        problem_of(loss, ridge=ridge), Budget(1.0, 1e-5), ADD
    )
    mu = (HALF + LABEL) / plan.scale
    height = (1 / mu + mu / 2) * plan.scale  # where the likelihood ratio of a shift is e
    push = (ridge * HALF + height) / (0.3 * (LABEL - 0.3 * HALF))  # many short rows
    common = [(0.3, -LABEL, push)]
    pair = (common, [*common, (1.0, LABEL, 1)])
    at_one = EPSILONS.tolist().index(1.0)
    true = hockey_stick(loss, ridge, plan.scale, pair, gaussian)[at_one]
    assert true == pytest.approx(Gaussian(mu).delta(1.0), rel=0.1)
    assert true > 0.4 * 1e-5  # the claim doubles it, for slopes of either sign


@pytest.mark.parametrize("law", LAWS)
def test_the_mechanism_puts_as_much_on_the_ends_as_its_law(law):
    loss, ridge, trials = Squared(LABEL), 4.0, 400
    problem = problem_of(loss, ridge=ridge)
    plan = ObjectivePerturbation(law).plan(problem, Budget(0.5, 1e-3), ADD)
    rows = open_rows([[1.0]], [LABEL], bounds=problem.bounds)
    noise = RehearsalNoise(6)
    released = np.array([plan.run(rows, noise)[0] for _ in range(trials)])
    true = chances(loss, ridge, plan.scale, [(1.0, LABEL, 1)], LAWS[law])
    near = 40 * plan.mask.grid.scale  # the mask smears the ends
    for end, chance in ((-HALF, true[0]), (HALF, true[-1])):
        assert 0.05 < chance < 0.95
        hits = (np.abs(released - end) < near).mean()
        assert abs(hits - chance) <= 4 * math.sqrt(chance * (1 - chance) / trials) + near


def test_the_excess_of_least_squares_is_half_the_trace_of_the_inverse_hessian():
    # Thakurta (2013), theorem 4.3: E J(w) - J(w*) = sigma^2/2 tr((X'X + Lam I)^-1), inside.
    p, ridge, trials = 4, 60.0, 600
    generator = np.random.default_rng(3)
    X = generator.standard_normal((4000, p))
    X *= 0.9 / np.linalg.norm(X, axis=1, keepdims=True)
    y = np.clip(X @ np.array([0.3, -0.2, 0.1, 0.0]), -1, 1)
    bounds = Bounds(L2Ball(1.0), p, labels=Interval(-1, 1), max_rows=4000)
    problem = Problem(Squared(1.0), bounds, ridge=ridge, penalty=Indicator(L2Ball(1.0)))
    plan = ObjectivePerturbation("gaussian").plan(problem, Budget(2.0, 1e-3), ADD)
    rows, noise = open_rows(X, y, bounds=bounds), RehearsalNoise(8)
    released = np.array([plan.run(rows, noise) for _ in range(trials)])
    assert np.linalg.norm(released, axis=1).max() < 0.9  # no draw has met the border
    hessian = X.T @ X + ridge * np.eye(p)
    best = np.linalg.solve(hessian, X.T @ y)
    excess = np.einsum("ij,jk,ik->i", released - best, hessian, released - best) / 2
    expected = plan.scale**2 / 2 * np.trace(np.linalg.inv(hessian))
    error = excess.std() / math.sqrt(trials)
    assert error < 0.04 * expected
    assert abs(excess.mean() - expected) <= 4 * error  # fixed draws: one in 16,000 would fail

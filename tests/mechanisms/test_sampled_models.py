"""Coefficients drawn by the exponential mechanism, everywhere or in a ball around a draft."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2, gamma

from discreet.audit.cases.draws import crowd_pair
from discreet.audit.cases.pairs import straight
from discreet.audit.exact import largest_loss
from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import CalibrationError, InputError, NotAccepted
from discreet.geometry import Box, L1Ball, L2Ball, Simplex
from discreet.losses import Hinge, Logistic, Pinball, Poisson, Squared
from discreet.mechanisms import ExponentialSampling, Localization
from discreet.mechanisms.sampling.energy import Energy, Scale
from discreet.mechanisms.sampling.guide import Guide
from discreet.noise import RehearsalNoise
from discreet.penalties import L1, Indicator
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions.problem import Problem
from support.cases.base import data_of
from support.cases.models import coarse, lattice, law_of
from support.opened import open_rows

ADD, SWAP = AddRemoveOne(), ReplaceOne()
UNITS = pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
PURE = Budget(1.0)


def opened(plan, data, unit=ADD):
    return open_rows(data.X, data.y, bounds=plan.problem.bounds, unit=unit)


@UNITS
@pytest.mark.parametrize(("width", "bits"), [(1, 8), (2, 5)])
def test_exact_laws_stay_within_epsilon_and_come_near_it(unit, width, bits):
    plan = ExponentialSampling().plan(straight(width=width), PURE, unit)
    plan = coarse(plan, bits)
    laws = [
        law_of(plan, opened(plan, data, unit))
        for data in data_of(crowd_pair(unit, width, crowd=20))
    ]
    reached = max(largest_loss(*laws), largest_loss(*laws[::-1]))
    assert 0.7 < reached <= 1.0


@UNITS
def test_twice_the_rate_breaks_the_claim(unit):
    plan = coarse(ExponentialSampling().plan(straight(), PURE, unit), 8)
    laws = [
        law_of(plan, opened(plan, data, unit), factor=2.0)
        for data in data_of(crowd_pair(unit, 1, crowd=20))
    ]
    assert max(largest_loss(*laws), largest_loss(*laws[::-1])) > 1.3


def table(width, classes, count=200, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(count, width)) + generator.normal(size=(count, 1))
    signal = X.sum(axis=1) / 4 + generator.normal(size=count)
    y = np.where(signal > 0, 1.0, -1.0) if classes else np.clip(signal / 4, -1, 1)
    return X / 2, y


DOMAINS = {1: Box([-0.5], [2.0]), 2: L2Ball(1.5), 3: L1Ball(1.0)}


@pytest.mark.parametrize(("width", "bits"), [(1, 5), (2, 4), (3, 3)])
@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Squared(1.0), Pinball(0.3)], ids=repr)
def test_draws_follow_the_law(loss, width, bits):
    """A chi-square test at a level of one in a million each, with a fixed key."""
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-1, 1)
    bounds = Bounds(L2Ball(1.0), width, labels=labels, max_rows=1000)
    problem = Problem(loss, bounds, ridge=1.0, penalty=Indicator(DOMAINS[width]))
    plan = coarse(ExponentialSampling().plan(problem, Budget(0.5), ADD), bits)
    X, y = table(width, loss.is_classifier, count=40)
    rows = open_rows(X, y, bounds=bounds, unit=ADD)
    draws = 4000
    drawn = plan.run_many(rows, RehearsalNoise(1), draws)
    expected = draws * law_of(plan, rows).masses
    places = np.rint((drawn - plan.region.lower) / plan.region.spacing).astype(int)
    number = {tuple(place): i for i, place in enumerate(lattice(plan.region).tolist())}
    seen = np.bincount([number[tuple(place)] for place in places], minlength=expected.size)
    often = expected > 8
    seen = np.append(seen[often], seen[~often].sum())
    expected = np.append(expected[often], max(expected[~often].sum(), 1e-3))
    statistic = ((seen - expected) ** 2 / np.maximum(expected, 1.0)).sum()
    assert chi2.sf(statistic, expected.size - 1) > 1e-6


def least_value(energy, region, rounds=9, side=21):
    """The minimum over the region, found on grids that close in on it."""
    low, high = np.array(region.lower), np.array(region.upper)
    best, least = (low + high) / 2, np.inf
    half = (high - low) / 2
    for _ in range(rounds):
        ticks = np.linspace(-1, 1, side)
        grid = np.stack(np.meshgrid(*[ticks] * region.width), -1).reshape(-1, region.width)
        points = region.project(best + grid * half)
        values = energy.values(points)
        best, least = points[values.argmin()], min(least, float(values.min()))
        half = half / 3
    return least


@pytest.mark.parametrize("domain", [L2Ball(3.0), L2Ball(0.2), Box([-1, 0.1], [1, 3])], ids=repr)
@pytest.mark.parametrize("loss", [Hinge(), Logistic()], ids=repr)
def test_the_excess_over_the_minimum_is_at_most_coefficients_over_the_rate(loss, domain):
    """Times the rate, an excess is stochastically below a Gamma variable of shape p.

    So the mean of 400 exceeds what is allowed, a little more than p, with a chance of 10**-8.
    """
    width, draws = 2, 400
    X, y = table(width, classes=True, count=300)
    bounds = Bounds(L2Ball(1.0), width, labels=LabelSet([-1, 1]), max_rows=1000)
    problem = Problem(loss, bounds, ridge=1.0, penalty=Indicator(domain))
    plan = ExponentialSampling().plan(problem, PURE, ADD)
    rows = open_rows(X, y, bounds=bounds, unit=ADD)
    energy = Energy(problem, 1.0, rows)
    excess = energy.values(plan.run_many(rows, RehearsalNoise(0), draws))
    excess -= least_value(energy, plan.region)
    assert excess.min() > -1e-3
    allowed = gamma.isf(1e-8, width * draws) / draws
    assert allowed < 1.3 * width
    assert excess.mean() * plan.rate <= allowed


def test_offsets_and_places_are_one_to_one():
    guide = Guide(np.array([3, 5]), np.array([1, 0]), np.array([[0.0, 0.73], [0.0, 0.0]]),
                  np.ones(2))  # fmt: skip
    offsets = np.indices((60, 60)).reshape(2, -1).T - 30
    assert len(np.unique(guide.places(offsets), axis=0)) == len(offsets)


@pytest.mark.parametrize(
    "loss", [Logistic(), Hinge(), Squared(1.0), Pinball(0.2), Poisson(1.0, 2.0)], ids=repr
)
def test_no_loss_ranges_further_than_the_span(loss):
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(0.0, 1.0)
    bounds = Bounds(L2Ball(1.0), 1, labels=labels, max_rows=1000)
    for reach in (0.1, 1.0, 3.0):
        scale = Scale(Problem(loss, bounds, ridge=1.0), reach, 2 * reach)
        margins = np.linspace(-reach, reach, 401)
        for label in (-1.0, 1.0) if loss.is_classifier else np.linspace(0, 1, 21):
            values = loss.value(np.full(401, label), margins)
            assert values.max() - values.min() <= scale.span


@UNITS
def test_the_rate_pays_for_rounding(unit):
    plan = ExponentialSampling().plan(straight(ridge=2.0, width=2), PURE, unit)
    total = plan.rate * unit.spread(plan.scale.span) + 4 * plan.rounding
    assert 0.999 < total <= 1.0


def test_what_cannot_be_drawn_is_refused_with_an_alternative():
    bounds = Bounds(L2Ball(1.0), 7, labels=LabelSet([-1, 1]), max_rows=1000)
    wide = Problem(Logistic(), bounds, 1.0, penalty=Indicator(L2Ball(1.0)))
    few = replace(bounds, n_features=2)
    for problem, words in (
        (wide, "objective_perturbation"),
        (Problem(Logistic(), few, 1.0), "localization"),
        (Problem(Logistic(), few, 1.0, penalty=L1(1.0)), "domain="),
        (Problem(Logistic(), few, 1.0, penalty=Indicator(Simplex())), "objective_perturbation"),
        (Problem(Logistic(), few, 1.0, penalty=Indicator(Box([0, 1], [1, 1]))), "lower limit"),
    ):
        with pytest.raises(NotAccepted, match=words):
            ExponentialSampling().plan(problem, PURE, ADD)
    with pytest.raises(NotAccepted, match="not smooth"):
        Localization().plan(Problem(Hinge(), few, 1.0), PURE, ADD)
    many = replace(few, max_rows=2**40)
    problem = Problem(Logistic(), many, 1.0, penalty=Indicator(L2Ball(1.0)))
    with pytest.raises(CalibrationError, match="max_rows"):
        ExponentialSampling().plan(problem, PURE, ADD)


@UNITS
def test_localization_draws_from_a_ball_of_the_exact_radius(unit):
    problem = straight(10.0, ridge=40.0, width=2)
    plan = Localization().plan(problem, PURE, unit)
    first = plan.first
    assert plan.scale.diameter == pytest.approx(2 * plan.radius)
    noise = plan.radius / first.scale
    assert 9.23 < noise < 1.1 * 9.24  # the 0.999 quantile of Gamma(2) is 9.233
    drawn = plan.run(opened(plan, data_of(crowd_pair(unit, 2))[0], unit), RehearsalNoise(0))
    assert np.linalg.norm(drawn) <= 10.0


def test_localization_gives_way_where_the_domain_is_small():
    plan = Localization().plan(straight(0.1, ridge=1.0, width=2), PURE, ADD)
    alone = ExponentialSampling().plan(straight(0.1, ridge=1.0, width=2), PURE, ADD)
    assert plan.rate == alone.rate


def test_localization_needs_no_domain():
    bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=10_000)
    plan = Localization().plan(Problem(Logistic(), bounds, ridge=50.0), PURE, ADD)
    X, y = table(2, classes=True, count=2000)
    drawn = plan.run(open_rows(X, y, bounds=bounds, unit=ADD), RehearsalNoise(3))
    assert drawn.shape == (2,)
    assert math.isclose(plan.guarantee.epsilon(0.0), 1.0, rel_tol=1e-9)


class TestTruncatedGeometric:
    def test_chances_fall_geometrically(self):
        rates, bits = np.full(20_000, 2**39), np.full(20_000, 3)
        seen = np.bincount(RehearsalNoise(0).truncated_geometric(rates, bits), minlength=8)
        expected = np.exp(-0.5 * np.arange(8))
        expected *= seen.sum() / expected.sum()
        assert chi2.sf(((seen - expected) ** 2 / expected).sum(), 7) > 1e-6

    def test_no_bits_give_zero(self):
        assert RehearsalNoise(0).truncated_geometric(
            np.array([5, 0]), np.array([0, 0])
        ).tolist() == [0, 0]

    @pytest.mark.parametrize(("rate", "bits"), [(-1, 3), (1, 59), (2**57, 2)])
    def test_sizes_that_do_not_fit_are_refused(self, rate, bits):
        with pytest.raises(InputError):
            RehearsalNoise(0).truncated_geometric(np.array([rate]), np.array([bits]))


EDGES = {
    "round": (Logistic(), L2Ball(0.5), 3, 1.0),
    "vertex": (Hinge(), L1Ball(0.5), 3, 1.0),
    "corner": (Hinge(), Box([-0.2] * 4, [0.2] * 4), 4, 1.0),
    "ridge": (Logistic(), Box([1.0] * 3, [2.0] * 3), 3, 1e7),
}


@pytest.mark.parametrize("case", EDGES)
def test_draws_end_where_the_domain_does_before_the_energy_is_least(case):
    loss, domain, width, ridge = EDGES[case]
    X = np.random.default_rng(1).normal(size=(5000, width)) / 3
    bounds = Bounds(L2Ball(1.0), width, labels=LabelSet([-1, 1]), max_rows=10**4)
    problem = Problem(loss, bounds, ridge=ridge, penalty=Indicator(domain))
    plan = ExponentialSampling().plan(problem, PURE, ADD)
    rows = open_rows(X, np.sign(X[:, 0] + X[:, -1]), bounds=bounds, unit=ADD)
    found = plan.run(rows, RehearsalNoise(1))
    assert domain.contains(found)

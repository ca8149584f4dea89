"""The exponents of coins are never negative, however large energies are."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.data import Bounds, Interval
from discreet.geometry import Box
from discreet.losses import Squared
from discreet.mechanisms import ExponentialSampling
from discreet.mechanisms.sampling.guide import FARTHEST, STEEPEST, Guide, find_guide
from discreet.mechanisms.sampling.rejection import RATE_BITS, EnvelopeCells, Sampler, _log_sums
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget
from discreet.questions.problem import Problem
from support.opened import open_rows


def guide_of(width, lean=0.0):
    leans = np.triu(np.full((width, width), lean), 1)
    return Guide(np.zeros(width, np.int64), np.arange(width), leans, np.ones(width))


@pytest.mark.parametrize("exponent", [0, 20, 33, 40, 47, 60])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_tangent_that_touches_the_energy_is_no_error_at_any_height(exponent, sign):
    generator = np.random.default_rng(exponent)
    count, width = 64, 2
    bits = np.full((count, width), 4, np.int64)
    rates = generator.integers(0, 2**38, size=(count, width))
    bases = sign * 2.0**exponent * (1 + generator.random()) + generator.random(count)
    cells = EnvelopeCells(
        np.zeros((count, width), np.int64), bits, rates, rates >= 0, bases, _log_sums(rates, bits)
    )
    sampler = Sampler(None, None, None, guide_of(width))
    for seed in range(20):
        proposals = sampler._propose(cells, RehearsalNoise(seed), 50)
        touching = [
            least_float(Fraction(base) + Fraction(int(descent), 1 << RATE_BITS))
            for base, descent in zip(bases[proposals.cells], proposals.descents, strict=True)
        ]
        exponents = proposals.exponents(np.arange(50), np.array(touching))
        assert exponents.min() >= 0


def least_float(number):
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def test_steep_leans_do_not_leave_the_integers():
    generator = np.random.default_rng(0)
    offsets = generator.integers(-(2**40), 2**40, size=(1000, 6))
    places = guide_of(6, lean=STEEPEST).places(offsets)
    assert np.abs(places).max() <= 2 * FARTHEST
    assert len(np.unique(places, axis=0)) == 1000


@pytest.mark.parametrize("ridge", [1e-12, 1e-3])
def test_rows_that_are_all_alike_are_no_error(ridge):
    bounds = Bounds(Box([-1] * 3, [1] * 3), 3, labels=Interval(-1, 1), max_rows=10_000)
    domain = Box([-1.0, -1e-6, -1e3], [1.0, 1e-6, 1e3])
    problem = Problem(Squared(1.0), bounds, ridge, penalty=Indicator(domain))
    plan = ExponentialSampling().plan(problem, Budget(1.0), AddRemoveOne())
    rows = open_rows(np.ones((500, 3)), np.ones(500), bounds=bounds, unit=AddRemoveOne())
    drawn = plan.run(rows, RehearsalNoise(0))
    assert bool(np.all((drawn >= domain.lower) & (drawn <= domain.upper)))


def test_a_guide_is_found_where_matrices_are_singular(monkeypatch):
    def fail(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr("discreet.mechanisms.sampling.guide._find_guide", fail)
    bounds = Bounds(Box([-1], [1]), 1, labels=Interval(-1, 1), max_rows=100)
    problem = Problem(Squared(1.0), bounds, 1.0, penalty=Indicator(Box([-1], [1])))
    plan = ExponentialSampling().plan(problem, Budget(1.0), AddRemoveOne())
    rows = open_rows(np.ones((9, 1)), np.ones(9), bounds=bounds, unit=AddRemoveOne())
    assert find_guide(None, plan.region).place.tolist() == [2**29]
    assert -1 <= plan.run(rows, RehearsalNoise(0))[0] <= 1

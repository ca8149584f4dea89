"""Small versions of Table I and of what Huberization costs; all noise is rehearsed."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.mechanisms import ExponentialSampling
from discreet.privacy import Budget
from reproductions import huberization, lower_bound
from reproductions.lower_bound import Cell, slope

SIZES = {"p": (10, 100), "n": (200, 2000), "epsilon": (0.1, 1.0)}
FIXED = {"n": 600, "p": 10, "epsilon": 1.0}


def cells(quarter, axis, **fixed):
    is_pure, is_curved = quarter
    return [
        Cell(**(FIXED | fixed | {axis: size}), is_pure=is_pure, is_curved=is_curved)
        for size in SIZES[axis]
    ]


@pytest.mark.parametrize("axis", SIZES)
@pytest.mark.parametrize("quarter", lower_bound.QUARTERS)
def test_noise_in_the_objective_has_the_slopes_of_the_table(quarter, axis):
    make = lower_bound.QUARTERS[quarter]["objective perturbation"]
    found = [lower_bound.excess(cell, make(cell), seeds=range(12)) for cell in cells(quarter, axis)]
    expected = lower_bound.PREDICTED[quarter][axis]
    assert slope(SIZES[axis], found) == pytest.approx(expected, abs=0.13)


@pytest.mark.parametrize("axis", ["n", "epsilon"])
@pytest.mark.parametrize("quarter", [(True, False), (True, True)])
def test_exact_draws_have_the_slopes_of_the_table(quarter, axis):
    places = cells(quarter, axis, p=2, n=2000)
    found = [
        lower_bound.excess(cell, lower_bound.few_coefficients(cell), seeds=range(20))
        for cell in places
    ]
    expected = lower_bound.PREDICTED[quarter][axis]
    assert slope(SIZES[axis], found) == pytest.approx(expected, abs=0.2)


def test_descent_has_the_excess_of_its_theorem_and_not_less_than_is_possible():
    cell = Cell(n=300, p=20, epsilon=1.0, is_pure=False, is_curved=False)
    found = lower_bound.excess(cell, lower_bound.descent(cell), seeds=range(3))
    mu = cell.setting.mu
    assert cell.least < found < np.sqrt(2) * 2 * 2 * np.sqrt(cell.p) / mu


def test_the_excess_is_that_of_the_losses():
    cell = Cell(n=6, p=4, epsilon=1.0, is_pure=True, is_curved=True)
    X, corner = lower_bound.corners(cell, 2)
    assert np.allclose(X.sum(axis=0), 2 * corner)
    assert np.allclose(np.linalg.norm(X, axis=1), 1)
    point = np.array([[0.3, -0.2, 0.1, 0.4]])
    loss, least = (0.5 * ((w - X) ** 2).sum() for w in (point, X.mean(axis=0)))
    assert lower_bound._excess(cell, point, 2 * corner) == pytest.approx(loss - least)
    linear = Cell(n=6, p=4, epsilon=1.0, is_pure=True, is_curved=False)
    loss, least = (-(X @ w).sum() for w in (point[0], corner))
    assert lower_bound._excess(linear, point, 2 * corner) == pytest.approx(loss - least)


def test_a_rounded_hinge_costs_the_more_the_more_rows_there_are():
    rows, seeds, budget = (1000, 10_000), range(2), Budget(1.0, 1e-6)
    given = [huberization.rounded(0.5, n=n, budget=budget, seeds=seeds) for n in rows]
    assert slope(rows, given) == pytest.approx(1, abs=0.1)
    best = [huberization.best_rounded(n=n, budget=budget, seeds=seeds) for n in rows]
    assert slope(rows, best) == pytest.approx(0.5, abs=0.15)


def test_a_hinge_that_keeps_its_kink_costs_the_same_for_any_number_of_rows():
    rows, seeds = (1000, 10_000), range(4)
    found = [
        huberization.kinked(ExponentialSampling(), n=n, budget=Budget(1.0), seeds=seeds)
        for n in rows
    ]
    assert max(found) < 30  # p/c = 2 * 3, on average

"""Averages of blocks: what one record changes, what is clipped, and what a plan costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from discreet.audit.cases.votes import average_of_least, least_entry
from discreet.data import Bounds
from discreet.errors import InputError, InputTypeError
from discreet.geometry import Box, L1Ball, L2Ball, LinfBall
from discreet.mechanisms import NoisyAggregate
from discreet.mechanisms.ballot import Workers
from discreet.mechanisms.block_estimates import as_rows, estimates_on_blocks, estimating
from discreet.mechanisms.noisy_aggregate import STEPS, MeanPlan, WinsorisedPlan, widen
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import BlockAverage
from support.opened import open_rows

ROWS = Bounds(LinfBall(1.0), 3, max_rows=1000)
WIDE = Box([-1.0, 0.0], [1.0, 10.0])


def ends(X, y):
    return [float(X.min()), float(X.max()) * 20]


def asked(procedure=ends, blocks=12, region=WIDE, outputs=2, **options):
    return BlockAverage(ROWS, procedure, blocks, region, outputs, **options)


def numbers(X, question, workers=None):
    found = estimates_on_blocks(
        question, open_rows(X, bounds=ROWS), RehearsalNoise(5), workers or Workers()
    )
    return found.gather()[0]


def test_one_record_more_changes_the_numbers_of_one_block():
    X = np.random.default_rng(1).uniform(-1, 1, (300, 3))
    X[-1] = -1.0
    fewer, more = (numbers(rows, asked()) for rows in (X[:-1], X))  # others are dealt as before
    assert (fewer != more).any(axis=1).sum() == 1


def test_numbers_are_clipped_and_workers_agree():
    X = np.random.default_rng(2).uniform(-1, 1, (120, 3))
    reference = numbers(X, asked())
    assert reference.shape == (12, 2)
    assert reference.min(axis=0)[0] >= -1
    assert (reference[:, 1] == 10).any()
    for workers in (Workers(2), Workers(2, "processes")):
        np.testing.assert_array_equal(numbers(X, asked(), workers), reference)
    np.testing.assert_array_equal(numbers(sparse.csr_array(X), asked()), reference)
    ball = numbers(X, asked(region=L2Ball(0.5)))
    assert np.linalg.norm(ball, axis=1).max() <= 0.5 * (1 + 1e-9)


def leave(X, y):
    raise SystemExit(3)


@pytest.mark.parametrize(
    "said",
    [None, "number", [1.0], [1.0, 2.0, 3.0], [1.0, math.nan], [math.inf, 0.0], len, [1j, 2], [[]]],
    ids=repr,
)
def test_what_is_no_answer_is_the_centre(said):
    assert numbers(np.zeros((3, 3)), asked(lambda X, y: said, blocks=1)).tolist() == [[0.0, 5.0]]


def test_a_block_that_is_empty_or_fails_is_the_centre():
    assert estimating(asked())(np.zeros((0, 3)), None).tolist() == [0.0, 5.0]
    one = np.zeros((1, 3))
    assert numbers(one, asked(leave, blocks=1)).tolist() == [[0.0, 5.0]]
    assert numbers(one, asked(leave, blocks=1, region=L2Ball(2.0))).tolist() == [[0, 0]]
    assert estimating(asked())(np.zeros((1, 3)), None).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=lambda unit: unit.name)
def test_the_noise_is_that_of_one_replaced_block_for_either_unit(unit):
    """In the frame where a box is a cube one block moves by two along every axis."""
    plan = NoisyAggregate().plan(asked(), Budget(1.0), unit)
    assert isinstance(plan, MeanPlan)
    np.testing.assert_allclose(plan.mean.grid.scale, 2 * 2 / 1.0, rtol=1e-5)
    opposite = [
        as_rows(np.tile([corner], (12, 1)), asked().answers) for corner in ((-1, 0), (1, 10))
    ]
    units = [plan.mean.totals.units(rows, plan.mean.grid) for rows in opposite]
    apart = plan.mean.grid.step * np.abs(units[1] - units[0]).sum() / 12  # one block of twelve
    assert 0.999 * plan.mean.sensitivity <= apart <= plan.mean.sensitivity
    ball = NoisyAggregate().plan(asked(region=L2Ball(3.0), outputs=50), Budget(1.0, 1e-6), unit)
    np.testing.assert_allclose(ball.mean.sensitivity, 2 * 3.0, rtol=1e-5)
    assert "Gaussian" in ball.reason
    assert ball.guarantee.unit == unit


@pytest.mark.parametrize("budget", [Budget(2.0), Budget(0.3), Budget(1.0, 1e-6)], ids=str)
@pytest.mark.parametrize("outputs", [1, 3, 60])
def test_quartiles_and_mean_together_cost_the_budget(budget, outputs):
    region = Box([-1.0] * outputs, [1.0] * outputs)
    question = asked(region=region, outputs=outputs, aggregate="winsorised")
    plan = NoisyAggregate().plan(question, budget, AddRemoveOne())
    assert isinstance(plan, WinsorisedPlan)
    span = 2 * float(plan.quartiles[0].rate)
    mean = plan.mean.guarantee.profile
    if math.isfinite(mean.pure_epsilon):
        assert 2 * outputs * span + mean.epsilon(0.0) <= budget.epsilon
    else:
        rho = 2 * outputs * span**2 / 8 + mean.ideal.mu**2 / 2
        # What zCDP of so much costs at this delta is no less than what is booked.
        assert rho + 2 * math.sqrt(rho * math.log(1 / budget.delta)) >= 0.9 * budget.epsilon
    assert 0.999 * budget.epsilon <= plan.guarantee.epsilon(budget.delta) <= budget.epsilon


def test_an_interval_is_ordered_not_empty_and_within_the_limits():
    generator = np.random.default_rng(0)
    question = asked(blocks=27, aggregate="winsorised")
    lower, upper = np.array(WIDE.lower), np.array(WIDE.upper)
    for low, high in generator.uniform(lower, upper, size=(200, 2, 2)):
        low, high = np.minimum(low, high), np.maximum(low, high)
        for first, last in ((low, high), (low, low), (lower, lower), (upper, upper)):
            middle, half = widen(first, last, question)
            assert (half >= (upper - lower) / STEPS / 2).all()
            assert (middle - half >= lower - 1e-12).all()
            assert (middle + half <= upper + 1e-12).all()


def test_wide_limits_cost_a_winsorised_mean_little():
    """Numbers of blocks near 0, in limits a thousand times wider than they are spread."""
    X = np.random.default_rng(4).uniform(-1, 1, (4000, 3))
    rows = Bounds(LinfBall(1.0), 3, max_rows=10_000)
    errors = {}
    for aggregate in ("mean", "winsorised"):
        question = BlockAverage(rows, np.mean, 400, Box([-997.0], [1003.0]), 1, aggregate)
        plan = NoisyAggregate().plan(question, Budget(2.0), AddRemoveOne())
        released = [
            plan.run(open_rows(X, bounds=rows), RehearsalNoise(seed))[0] for seed in range(5)
        ]
        errors[aggregate] = np.abs(released).mean()
    assert errors["winsorised"] < 0.2 < errors["mean"]


def test_what_cannot_be_averaged_is_refused():
    for make, says in (
        (lambda: asked("ridge"), "a function"),
        (lambda: asked(blocks=0), "blocks"),
        (lambda: asked(outputs=3), "limits for 2"),
        (lambda: asked(region=L1Ball(1.0)), "Box or an L2Ball"),
        (lambda: asked(region=Box([0, 0], [1, 0])), "below the upper"),
        (lambda: asked(region=L2Ball(1.0), aggregate="winsorised"), "declare a Box"),
        (lambda: asked(aggregate="median"), "aggregate"),
    ):
        with pytest.raises((InputError, InputTypeError), match=says):
            make()
    assert least_entry(np.ones((1, 2)), None) == 1.0
    assert average_of_least(3).centre == (0.0,)

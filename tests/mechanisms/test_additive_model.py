"""Additive models: what is settled is a function of the marginals, and widths are planned for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.data import Interval, LabelSet
from discreet.errors import CalibrationError, InputError, PrivacyError
from discreet.mechanisms import AdditiveModel
from discreet.mechanisms.summing.additive_tables import widest_frame
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import AdditiveProblem, Marginals
from support.opened import open_rows

ADD = AddRemoveOne()
QUESTION = AdditiveProblem(Marginals((None, 3, None), LabelSet([-1, 1]), max_rows=10**6), ridge=1.4)


def curved_rows(count, seed=0):
    """Rows whose class depends on the distance of the first column from its middle."""
    generator = np.random.default_rng(seed)
    highs = [256, 3, 256]
    cells = np.column_stack([generator.integers(high, size=count) for high in highs])
    score = 4 * (np.abs(cells[:, 0] - 128) / 64 - 1)
    labels = np.where(generator.random(count) < 1 / (1 + np.exp(-score)), 1.0, -1.0)
    return cells.astype(float), labels


def opened(cells, labels):
    return open_rows(cells, labels, bounds=QUESTION.bounds, unit=ADD)


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-8), Budget(math.inf)], ids=["noise", "none"])
def test_a_curve_is_learnt_that_no_line_could_be(budget):
    plan = AdditiveModel().plan(QUESTION, budget, ADD)
    value = plan.run(opened(*curved_rows(20_000)), RehearsalNoise(1))
    shapes, constant = plan.shapes(value)
    assert [shape.size for shape in shapes] == [257, 4, 257]
    cells, labels = curved_rows(5000, seed=9)
    places = cells.astype(int)
    scores = constant + sum(shape[places[:, j]] for j, shape in enumerate(shapes))
    # Who knows the chances is right in (log(1 + e**4) - log 2)/4 of all cases, 83.1 %.
    assert np.mean(np.sign(scores) == labels) > 0.8
    assert shapes[0][0] > shapes[0][128] < shapes[0][255]


@pytest.mark.parametrize("unit", [ADD, ReplaceOne()], ids=lambda unit: unit.name)
def test_the_noise_is_planned_before_anything_is_released(unit):
    plan = AdditiveModel().plan(QUESTION, Budget(1.0, 1e-6), unit)
    generator, noise = np.random.default_rng(1), plan.second.objective_noise
    for scale in (0.0, 1e2, 1e6):
        released = scale * generator.standard_normal(plan.noise.layout.kinds.size)
        frame, settings = plan.settle_from(released)
        assert frame.width + 1 <= plan.widest == widest_frame(QUESTION.marginals.levels)
        assert QUESTION.ridge <= settings.ridge <= 2 * QUESTION.ridge
        assert 0 <= settings.margin <= 3
        assert plan.second.narrow(frame.width + 1).objective_noise == noise


TARGET = AdditiveProblem(Marginals((None, 3, None), Interval(-20, 60), max_rows=10**6), ridge=1.8)


def curved_targets(count, seed=0):
    """Targets that fall and rise with the first column, with noise of deviation two."""
    cells, _ = curved_rows(count, seed)
    targets = 10 + 20 * (np.abs(cells[:, 0] - 128) / 64 - 1)
    return cells, targets + 2 * np.random.default_rng(seed + 1).standard_normal(count)


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-8), Budget(math.inf)], ids=["noise", "none"])
def test_a_curve_of_targets_comes_back_in_their_units(budget):
    plan = AdditiveModel().plan(TARGET, budget, ADD)
    rows = open_rows(*curved_targets(20_000), bounds=TARGET.bounds, unit=ADD)
    shapes, constant = plan.shapes(plan.run(rows, RehearsalNoise(1)))
    cells, targets = curved_targets(5000, seed=9)
    places = cells.astype(int)
    found = constant + sum(shape[places[:, j]] for j, shape in enumerate(shapes))
    # The targets deviate by 11.5 from their mean, and by 2 from the curve: R^2 0.970 at most.
    assert 1 - np.mean((targets - found) ** 2) / np.var(targets) > 0.95
    assert shapes[0][0] > shapes[0][128] < shapes[0][255]


@pytest.mark.parametrize("unit", [ADD, ReplaceOne()], ids=lambda unit: unit.name)
def test_targets_stay_within_what_is_planned_for_whatever_is_released(unit):
    plan = AdditiveModel().plan(TARGET, Budget(1.0, 1e-6), unit)
    generator, noise = np.random.default_rng(1), plan.second.objective_noise
    for scale in (0.0, 1e2, 1e6):
        released = scale * generator.standard_normal(plan.noise.layout.kinds.size)
        frame, settings = plan.settle_from(released)
        assert frame.width + 1 <= plan.widest == widest_frame(TARGET.marginals.levels)
        assert settings.ridge == TARGET.ridge
        ends = (np.array([-20.0, 60.0]) - settings.centre) / settings.threshold
        assert np.abs(ends).max() <= 25
        assert plan.second.narrow(frame.width + 1).objective_noise == noise


def test_a_plan_is_not_run_on_rows_that_are_wider_than_it_was_made_for():
    plan = AdditiveModel().plan(QUESTION, Budget(1.0, 1e-6), ADD)
    with pytest.raises(PrivacyError, match="wider than was planned"):
        plan.second.narrow(plan.widest + 1)


def test_what_has_no_proof_is_refused():
    with pytest.raises(CalibrationError, match="delta > 0"):
        AdditiveModel().plan(QUESTION, Budget(1.0), ADD)
    with pytest.raises(InputError, match="labels -1 and 1, or for a number"):
        AdditiveProblem(Marginals((None,), LabelSet([0, 1])), ridge=1.0)
    with pytest.raises(InputError, match="a margin is for two classes"):
        AdditiveProblem(Marginals((None,), Interval(0, 1)), ridge=1.0, margin=1.0)

"""Additive models: what is settled is a function of the marginals, and widths are planned for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.data import Interval, LabelSet
from discreet.errors import CalibrationError, InputError, NotAccepted, PrivacyError
from discreet.geometry import L2Ball
from discreet.losses import Huber, MarginLogistic, PseudoHuber
from discreet.mechanisms import AdditiveModel
from discreet.mechanisms.additive_model import bounds_within
from discreet.mechanisms.objective_perturbation import ExactMinimiser
from discreet.mechanisms.summing.additive_tables import widest_frame
from discreet.mechanisms.summing.score_counts import BINS, EDGES
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne, gaussian_multiplier
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


def rare_rows(count, share):
    """Rows of which about so large a share are of the class 1."""
    cells, _ = curved_rows(count)
    return cells, np.where(np.random.default_rng(1).random(count) < share, 1.0, -1.0)


def settled_frame(budget, share):
    """The frame that exact counts give, under what is planned for a budget."""
    plan = AdditiveModel().plan(QUESTION, budget, ADD)
    numbers = plan.noise.layout.count(opened(*rare_rows(20_000, share)))
    return plan.settle_from(numbers.astype(float))[0]


def test_a_rare_class_has_a_larger_constant_which_long_rows_keep():
    usual, rare = (settled_frame(Budget(3.0, 1e-9), share) for share in (0.5, 0.1))
    assert (usual.constant, usual.keeps_constant) == (1.0, False)
    assert rare.constant == pytest.approx(math.log(9) / 2, abs=0.05)
    assert rare.keeps_constant
    # One function cannot make up for a constant that is cut, and an l1 ball has its own clip.
    assert not settled_frame(Budget(3.0, 1e-9), 0.01).keeps_constant
    assert not settled_frame(Budget(3.0), 0.1).keeps_constant


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


def test_weights_count_in_the_second_stage_alone_and_are_in_its_noise():
    weighted = replace(QUESTION, max_weight=3.0, ridge=3 * QUESTION.ridge)
    plan = AdditiveModel().plan(weighted, Budget(1.0, 1e-6), ADD)
    plain = AdditiveModel().plan(QUESTION, Budget(1.0, 1e-6), ADD)
    assert plan.second.objective_noise == pytest.approx(3 * plain.second.objective_noise)
    assert plan.noise.sensitivity == plain.noise.sensitivity
    cells, labels = curved_rows(300)
    counts = np.random.default_rng(2).integers(0, 4, size=300)
    rows = open_rows(cells, labels, weights=counts.astype(float), bounds=weighted.bounds, unit=ADD)
    numbers = plan.noise.layout.count(rows)
    np.testing.assert_array_equal(numbers, plan.noise.layout.count(opened(cells, labels)))
    exact = AdditiveModel().plan(weighted, Budget(math.inf), ADD)
    frame, settings = exact.settle_from(numbers.astype(float))
    repeated = opened(np.repeat(cells, counts, axis=0), np.repeat(labels, counts))
    found, expected = (
        exact.run_in(frame, settings, each, RehearsalNoise(1)) for each in (rows, repeated)
    )
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.abs(expected).max() > 0.1


def test_scores_are_counted_as_the_released_shapes_give_them():
    plan = AdditiveModel(counts_scores=True).plan(QUESTION, Budget(math.inf), ADD)
    cells, labels = curved_rows(3000)
    read = plan.read(plan.run(opened(cells, labels), RehearsalNoise(1)))
    shapes, constant = read.shapes()
    places = cells.astype(int)
    scores = constant + sum(shape[places[:, j]] for j, shape in enumerate(shapes))
    bins = np.searchsorted(EDGES, scores)
    for offset, label in ((0, -1.0), (BINS, 1.0)):
        expected = np.bincount(bins[labels == label], minlength=BINS)
        assert np.abs(read.counts[offset : offset + BINS] - expected).sum() <= 2  # at an edge


@pytest.mark.parametrize("unit", [ADD, ReplaceOne()], ids=lambda unit: unit.name)
def test_counts_are_paid_for_within_the_budget(unit):
    budget, noise = Budget(1.0, 1e-6), {}
    for counts_scores in (False, True):
        mechanism = AdditiveModel(counts_scores=counts_scores)
        plan = mechanism.plan(replace(QUESTION, ridge=3.2), budget, unit)
        assert 0.99 < plan.guarantee.epsilon(1e-6) <= 1 + 1e-12
        noise[counts_scores] = plan.second.objective_noise
    assert noise[True] == pytest.approx(noise[False] * math.sqrt(0.91 / 0.88), rel=2e-3)
    rows = open_rows(*curved_rows(500), bounds=QUESTION.bounds, unit=unit)
    assert plan.read(plan.run(rows, RehearsalNoise(1))).counts.shape == (2 * BINS,)


SEVERAL = AdditiveProblem(Marginals((None, 3), LabelSet([0, 1, 2]), max_rows=10**6), ridge=1.4)


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-8), Budget(math.inf)], ids=["noise", "none"])
def test_each_class_has_functions_of_its_own(budget):
    plan = AdditiveModel().plan(SEVERAL, budget, ADD)
    generator = np.random.default_rng(4)
    cells = np.column_stack([generator.integers(high, size=20_000) for high in (256, 3)])
    classes = np.where(np.abs(cells[:, 0] - 128) < 40, 2, cells[:, 0] > 128).astype(float)
    rows = open_rows(cells.astype(float), classes, bounds=SEVERAL.bounds, unit=ADD)
    shapes, constants = plan.shapes(plan.run(rows, RehearsalNoise(1)))
    assert [shape.shape for shape in shapes] == [(3, 257), (3, 4)]
    scores = constants + shapes[0][:, cells[:, 0]].T + shapes[1][:, cells[:, 1]].T
    assert np.mean(scores.argmax(axis=1) == classes) > 0.9


@pytest.mark.parametrize("unit", [ADD, ReplaceOne()], ids=lambda unit: unit.name)
def test_several_classes_have_the_noise_that_was_planned_whatever_is_released(unit):
    plan = AdditiveModel().plan(SEVERAL, Budget(1.0, 1e-6), unit)
    generator, objective = np.random.default_rng(1), plan.objective
    for scale in (0.0, 1e2, 1e6):
        released = scale * generator.standard_normal(plan.noise.layout.kinds.size)
        frame, settings = plan.settle_from(released)
        bounds = bounds_within(SEVERAL, L2Ball(1.0), frame.width + 1, objective.labels)
        settled = objective.settle_second(plan.second, settings, bounds)
        assert settled.problem.shape == (3, frame.width + 1)
        assert settled.problem.loss.margin == settings.margin
        assert (settled.grid, settled.steps) == (plan.second.grid, plan.second.steps)
        assert settled.sensitivity <= plan.second.sensitivity
    wider = bounds_within(SEVERAL, L2Ball(1.0), plan.widest + 1, objective.labels)
    longer = bounds_within(SEVERAL, L2Ball(2.0), frame.width + 1, objective.labels)
    for bounds in (wider, longer):
        with pytest.raises(PrivacyError, match="wider, or their gradients longer"):
            objective.settle_second(plan.second, settings, bounds)


@pytest.mark.parametrize(
    ("unit", "ridge", "most"), [(ADD, 8.4, 1.03), (ReplaceOne(), 16.8, 1.02)], ids=["add", "swap"]
)
def test_four_fits_cost_little_more_noise_than_one_if_the_ridge_is_strong(unit, ridge, most):
    one = AdditiveModel().plan(replace(QUESTION, ridge=ridge), Budget(1.0, 1e-6), unit)
    four = AdditiveModel(fits=4).plan(replace(QUESTION, ridge=ridge), Budget(1.0, 1e-6), unit)
    averaged = four.second.objective_noise / 2
    assert one.second.objective_noise < averaged < most * one.second.objective_noise
    assert four.guarantee.epsilon(1e-6) <= 1 + 1e-12


def test_bands_cover_the_shapes_that_there_were_without_noise_as_often_as_they_say():
    question = replace(QUESTION, ridge=8.4)
    plan = AdditiveModel(fits=4).plan(question, Budget(1.0, 1e-6), ADD)
    rows, covered = opened(*curved_rows(3000)), []
    for seed in range(40):
        read = plan.read(plan.run(rows, RehearsalNoise(seed)))
        exact = ExactMinimiser(plan.second.minimiser, plan.second.guarantee)
        without = replace(plan, second=exact, fits=1)
        coefficients = without.run_in(read.frame, read.settings, rows, RehearsalNoise(1))
        truth, _ = replace(read, coefficients=coefficients).shapes()
        for shape, true, band in zip(read.shapes()[0], truth, read.bands(), strict=True):
            covered.append(np.mean(np.abs(shape - true)[:-1] <= band[:-1]))
    # 120 shapes with some two independent parts each: a deviation of .015.
    assert np.mean(covered) == pytest.approx(0.95, abs=0.04)
    with pytest.raises(InputError, match="a band needs repeats"):
        replace(read, coefficients=coefficients).bands()


def test_what_was_taken_as_public_stands_in_the_guarantee():
    question = replace(QUESTION, assumed=("the labels, as found in the data",))
    plan = AdditiveModel().plan(question, Budget(1.0, 1e-6), ADD)
    assert "the labels, as found in the data" in plan.guarantee.public_facts


@pytest.mark.parametrize("loss", [PseudoHuber(2.0), PseudoHuber(0.5), Huber(1.0), MarginLogistic()])
def test_noise_for_a_number_is_not_used_with_another_loss(loss):
    plan = AdditiveModel().plan(TARGET, Budget(1.0, 1e-6), ADD)
    plan.second.settle(PseudoHuber(1.0), TARGET.ridge)
    with pytest.raises(PrivacyError, match="not one that was planned for"):
        plan.second.settle(loss, TARGET.ridge)


def test_noise_for_residuals_of_both_signs_is_that_of_half_the_delta():
    # Beside other releases a little more; a Gaussian of half the delta is the least there is.
    budget, target = Budget(1.0, 1e-9), replace(TARGET, ridge=4.0)
    classes = AdditiveModel().plan(replace(QUESTION, ridge=4.0), budget, ADD)
    number = AdditiveModel().plan(target, budget, ADD)
    least = gaussian_multiplier(Budget(1.0, 0.5e-9)) / gaussian_multiplier(budget)
    ratio = number.second.objective_noise / classes.second.objective_noise
    assert least <= ratio <= 1.005 * least


@pytest.mark.parametrize("unit", [ADD, ReplaceOne()], ids=lambda unit: unit.name)
@pytest.mark.parametrize("question", [QUESTION, TARGET], ids=["classes", "number"])
def test_a_pure_epsilon_is_kept_in_every_frame_that_may_be_released(question, unit):
    stated = replace(question, ridge=5.0)
    plan = AdditiveModel(counts_scores=question is QUESTION).plan(stated, Budget(1.0), unit)
    whole = plan.guarantee.profile.pure_epsilon
    assert 0.999 < whole <= 1
    generator, widths = np.random.default_rng(1), set()
    for scale in (0.0, 1e2, 1e4, 1e6):
        released = scale * generator.standard_normal(plan.noise.layout.kinds.size)
        frame, settings = plan.settle_from(released)
        bounds = bounds_within(stated, frame.region, frame.width + 1, plan.objective.labels)
        assert bounds.row_norm() <= 1 + 2**-19
        second = plan.second.settle(settings, bounds)
        assert second.guarantee.profile.pure_epsilon <= whole * (1 + 1e-12)
        widths.add((frame.width, settings.ridge))
    assert len(widths) > 1
    shares = plan.noise.sensitivity, AdditiveModel().budget_for_second(Budget(1.0)).epsilon
    assert shares == (pytest.approx(0.1), 0.9)


def test_a_pure_epsilon_learns_a_curve_too():
    plan = AdditiveModel().plan(replace(QUESTION, ridge=1.2), Budget(1.0), ADD)
    read = plan.read(plan.run(opened(*curved_rows(20_000)), RehearsalNoise(1)))
    shapes, constant = read.shapes()
    cells, labels = curved_rows(5000, seed=9)
    places = cells.astype(int)
    scores = constant + sum(shape[places[:, j]] for j, shape in enumerate(shapes))
    assert np.mean(np.sign(scores) == labels) > 0.8
    # Indicators are not centred there, but shapes are: the constant is that of an average row.
    for shape, shares in zip(shapes, read.shares, strict=True):
        assert shape @ shares == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-9), Budget(1.0)], ids=["gaussian", "pure"])
def test_a_mask_for_numbers_is_about_as_small_as_for_classes(budget):
    # Labels of 25 would let coefficients go 25 times as far, and masks grow with that.
    def mask(question):
        second = AdditiveModel().plan(replace(question, ridge=4.0), budget, ADD).second
        return getattr(second, "widest", second).mask.grid.scale

    assert mask(TARGET) <= 8 * mask(QUESTION)


def test_a_plan_is_not_run_on_rows_that_are_wider_than_it_was_made_for():
    plan = AdditiveModel().plan(QUESTION, Budget(1.0, 1e-6), ADD)
    with pytest.raises(PrivacyError, match="wider than was planned"):
        plan.second.narrow(plan.widest + 1)


def test_what_has_no_proof_is_refused():
    with pytest.raises(CalibrationError, match="delta > 0"):
        AdditiveModel().plan(SEVERAL, Budget(1.0), ADD)
    with pytest.raises(InputError, match="for classes or for a number"):
        AdditiveProblem(Marginals((None,), LabelSet([0, 1])), ridge=1.0)
    with pytest.raises(NotAccepted, match="counted of two classes"):
        AdditiveModel(counts_scores=True).plan(TARGET, Budget(1.0, 1e-6), ADD)
    with pytest.raises(InputError, match="a margin is for classes"):
        AdditiveProblem(Marginals((None,), Interval(0, 1)), ridge=1.0, margin=1.0)

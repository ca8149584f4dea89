"""Published attacks on floating-point noise: they break a naive stand-in and not this library.

Each attack is run twice. That it succeeds against NumPy's noise added in floats shows that the
attack works; that it fails against ours is then worth something. An audit only refutes: the proof
is in the documentation of the noise room.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from discreet.audit.scores import (
    EvenSteps,
    GridAlignment,
    ImpliedNoise,
    lowest_bit,
    reachable,
    trailing_bit,
)
from discreet.data import Bounds, LabelSet
from discreet.geometry import L2Ball
from discreet.losses import Logistic
from discreet.noise import (
    Grid,
    RehearsalNoise,
    gaussian_grid,
    release_gaussian,
    release_laplace,
)
from discreet.questions.problem import Problem
from support.minimisers import minimisers

TRIALS = 1_000_000


def naive(name):
    """Return the mistake: NumPy's floats added to the value."""

    def release(values, grid, generator):
        return values + getattr(generator, name)(0.0, grid.scale, values.size)

    return release


def epsilon_delta(epsilon, distance):
    """Return the delta of the Gaussian mechanism with sensitivity / scale = distance."""
    upper = stats.norm.cdf(distance / 2 - epsilon / distance)
    return upper - math.exp(epsilon) * stats.norm.cdf(-distance / 2 - epsilon / distance)


# The precision of the addition (Haney et al. 2022): which low bits of the sum can be set.


def precision_attack(release, grid, sources, certified):
    hits = [
        np.count_nonzero(lowest_bit(release(np.full(TRIALS, value), grid, source)) < -53)
        for value, source in zip((0.0, 1.0), sources, strict=True)
    ]
    return certified(*hits, TRIALS)


@pytest.mark.parametrize("name", ["laplace", "normal"])
def test_low_bits_of_naive_noise_betray_the_value(name, certified_epsilon):
    grid = Grid(scale=1.0, bits=40, bound=10.0)
    sources = np.random.default_rng(1), np.random.default_rng(2)
    assert precision_attack(naive(name), grid, sources, certified_epsilon) >= 8


SCALES = pytest.mark.parametrize("scale", [1.0, 1.3, math.pi])
BITS = pytest.mark.parametrize("bits", [20, 40])


@SCALES
@BITS
def test_low_bits_of_a_laplace_release_say_no_more_than_promised(scale, bits, certified_epsilon):
    """With a step that is no power of two the event is possible, and nearly as likely for both."""
    grid, sources = Grid(scale=scale, bits=bits, bound=10.0), (RehearsalNoise(1), RehearsalNoise(2))
    certified = precision_attack(release_laplace, grid, sources, certified_epsilon)
    assert certified <= (1 + grid.spread_l1(1)) / scale
    assert certified == 0.0 or scale != 1.0


@SCALES
@BITS
def test_low_bits_of_a_gaussian_release_say_no_more_than_promised(scale, bits, certified_distance):
    grid, sources = Grid(scale=scale, bits=bits, bound=10.0), (RehearsalNoise(1), RehearsalNoise(2))
    certified = precision_attack(release_gaussian, grid, sources, certified_distance)
    assert certified <= (1 + grid.spread_l2(1)) / scale
    assert certified == 0.0 or scale != 1.0


# The holes (Mironov 2012): a logarithm of a 53-bit uniform number leaves most floats unreached.


def hole_gap(released):
    """Return how much more often outputs are reachable from their true centre than from afar."""
    return reachable(released, 0.0).mean() - reachable(released, 2.0**-10).mean()


HOLE_TRIALS = 40_000


def test_holes_in_naive_laplace_noise_betray_its_centre():
    released = np.random.default_rng(3).laplace(0.0, 1.0, HOLE_TRIALS)
    assert hole_gap(released) > 0.4


@pytest.mark.parametrize("bits", [40, 50])
def test_a_release_has_no_holes_that_depend_on_its_centre(bits):
    grid = Grid(scale=1.0, bits=bits, bound=2.0)
    released = release_laplace(np.zeros(HOLE_TRIALS), grid, RehearsalNoise(3))
    assert abs(hole_gap(released)) < 0.01


# A battery of events, with confidence bounds that hold for all of them at once.


def battery(released):
    """Count 36 events, 12 of a kind: thresholds, divisibilities, trailing bits.

    Their complements are audited too: 72 in all.
    """
    thresholds = [np.count_nonzero(released < t) for t in np.arange(-5, 7) / 2]
    lowest = lowest_bit(released)
    divisible = [np.count_nonzero(lowest >= -j) for j in range(42, 54)]
    bits = [np.count_nonzero(trailing_bit(released, j)) for j in range(12)]
    return np.array([*thresholds, *divisible, *bits])


PAIRS = pytest.mark.parametrize("pair", [(0.0, 1.0), (0.3, 1.3)], ids=str)
GRIDS = pytest.mark.parametrize(
    "grid",
    [Grid(scale=1.0, bits=k, bound=100.0) for k in (20, 32, 40)],
    ids=lambda g: f"k={g.bits}",
)


def battery_counts(release, pair, grid, sources):
    return [
        battery(release(np.full(TRIALS, value), grid, source))
        for value, source in zip(pair, sources, strict=True)
    ]


@PAIRS
@GRIDS
def test_the_audit_certifies_nearly_all_of_epsilon_and_no_more(pair, grid, certified_epsilon):
    counts = battery_counts(release_laplace, pair, grid, (RehearsalNoise(1), RehearsalNoise(2)))
    nominal = (1.0 + grid.spread_l1(1)) / grid.scale
    assert 0.9 * nominal <= certified_epsilon(*counts, TRIALS) <= nominal


def test_the_audit_refutes_naive_laplace_noise(certified_epsilon):
    sources = np.random.default_rng(1), np.random.default_rng(2)
    grid = Grid(scale=1.0, bits=40, bound=100.0)
    counts = battery_counts(naive("laplace"), (0.0, 1.0), grid, sources)
    assert certified_epsilon(*counts, TRIALS) > 8


EPSILONS = (0.0, 0.5, 1.0, 2.0, 3.0)


def certified_deltas(counts, chance_bounds):
    """Return, for each epsilon, a delta that the counts of some event rule out anything below."""
    counts = [np.concatenate([c, TRIALS - c]) for c in counts]  # events and their complements
    comparisons = 4 * counts[0].size
    (low, high), (other_low, other_high) = (chance_bounds(c, TRIALS, comparisons) for c in counts)
    return [
        max((low - math.exp(e) * other_high).max(), (other_low - math.exp(e) * high).max())
        for e in EPSILONS
    ]


@PAIRS
@GRIDS
def test_the_audit_certifies_nearly_all_of_delta_and_no_more(pair, grid, chance_bounds):
    counts = battery_counts(release_gaussian, pair, grid, (RehearsalNoise(3), RehearsalNoise(4)))
    deltas = certified_deltas(counts, chance_bounds)
    distance = (1.0 + grid.spread_l2(1)) / grid.scale
    nominal = [epsilon_delta(e, distance) for e in EPSILONS]
    assert all(seen <= claimed for seen, claimed in zip(deltas, nominal, strict=True))
    assert deltas[0] >= 0.9 * nominal[0]


def test_the_audit_refutes_naive_gaussian_noise(chance_bounds):
    sources = np.random.default_rng(1), np.random.default_rng(2)
    grid = Grid(scale=1.0, bits=40, bound=100.0)
    counts = battery_counts(naive("normal"), (0.0, 1.0), grid, sources)
    assert certified_deltas(counts, chance_bounds)[-1] > 10 * epsilon_delta(3.0, 1.0)


# Objective perturbation: the released minimiser gives the noise away, up to a candidate dataset.

ROWS, FEATURES, CONVEXITY = 500, 10, 0.01
NOISE_GRID = Grid(scale=5.0, bits=32, bound=1.0)
ATTACKS = 1500
PROBLEM = Problem(
    Logistic(), Bounds(L2Ball(2.0), FEATURES, labels=LabelSet([-1, 1])), ridge=ROWS * CONVEXITY
)


@pytest.fixture(scope="module")
def perturbed_models():
    """Return two neighbours, which of them was used, and the minimisers."""
    rng = np.random.default_rng(12)
    features = rng.standard_normal((ROWS, FEATURES))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    labels = rng.choice([-1.0, 1.0], ROWS)
    neighbour = features.copy()
    neighbour[0] *= -0.5
    datasets = [(features, labels), (neighbour, labels)]
    truths, noise = rng.integers(0, 2, ATTACKS), RehearsalNoise(12)
    linears = NOISE_GRID.values(noise.gaussian(ATTACKS * FEATURES, NOISE_GRID.bits))
    linears = linears.reshape(ATTACKS, FEATURES)
    models = [minimisers(*data, PROBLEM.ridge, linears) for data in datasets]
    return datasets, truths, np.where(truths[:, None] == 1, models[1], models[0])


def guesses(datasets, models):
    """Name the dataset whose implied noise lies closer to the grid."""
    first, second = (ImpliedNoise(PROBLEM, *data) for data in datasets)
    alignment = GridAlignment(EvenSteps(NOISE_GRID.step), first, second)
    return alignment.learn(models, models)(models) > 0


def mask_grid():
    """Return the mask of the proof: it hides an error of the minimiser up to ``error``."""
    target, float_error = 1e-12, 300 * 2.0**-52
    from_noise = NOISE_GRID.step * math.sqrt(FEATURES) / (2 * ROWS)
    error = (target + float_error + from_noise) / CONVEXITY
    multiplier = 600.0  # about epsilon 0.01 and delta 1e-9
    return gaussian_grid(
        multiplier=multiplier, sensitivity=2 * error, dimension=FEATURES, bound=1000.0
    )


def test_without_the_mask_the_grid_names_the_dataset(perturbed_models):
    datasets, truths, models = perturbed_models
    assert np.mean(guesses(datasets, models) == truths) >= 0.95


def test_with_the_mask_the_grid_names_the_dataset_no_better_than_chance(perturbed_models):
    datasets, truths, models = perturbed_models
    grid, noise = mask_grid(), RehearsalNoise(13)
    masked = release_gaussian(models.ravel(), grid, noise).reshape(models.shape)
    assert grid.scale < 1e-3 * np.std(models)  # the mask is far below the noise that matters
    right = np.mean(guesses(datasets, masked) == truths)
    assert abs(right - 0.5) <= 4 * 0.5 / math.sqrt(ATTACKS)

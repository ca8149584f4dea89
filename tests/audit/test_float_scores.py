"""Attacks on floats: each breaks a naive stand-in, and says nothing new about this library.

A score and its threshold are learned on one half of the trials and judged on the other, with
confidence 99.9 %. The numbers for the stand-ins are those of the published attacks.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet import Budget, RehearsalNoise
from discreet.audit.scores import (
    CoarsestBit,
    EvenSteps,
    FinestBit,
    FloatShape,
    GridAlignment,
    ImpliedNoise,
    LowestBit,
    OutputAlignment,
    Reachable,
    SinglePrecision,
    TrailingBits,
    bit_scores,
    implied_noise,
    lowest_bit,
    reachable,
    trailing_bit,
)
from discreet.data import Bounds, LabelSet
from discreet.errors import InputError
from discreet.geometry import L2Ball
from discreet.losses import Logistic
from discreet.mechanisms import ObjectivePerturbation, OutputPerturbation
from discreet.mechanisms.minimising.linear_term import BITS
from discreet.mechanisms.minimising.many_terms import solve_many
from discreet.noise import Grid, release_gaussian, release_laplace
from discreet.noise.radial_noise import draw_radials
from discreet.penalties import L1
from discreet.privacy import ReplaceOne
from discreet.questions.problem import Problem
from support.confidence import certify_distance, certify_epsilon, lower_bound, upper_bound
from support.minimisers import minimisers
from support.opened import open_rows

TRIALS = 1_000_000
FEWER = 200_000


def event_counts(score, first, second):
    """Learn the score and its best threshold on one half; count the event on the other."""
    half = len(first) // 2
    measure = score.learn(first[:half], second[:half])
    learned = [np.sort(measure(values[:half])) for values in (first, second)]
    levels = np.unique(np.quantile(np.concatenate(learned), np.linspace(0, 1, 101)))
    below = [np.searchsorted(values, levels) for values in learned]
    above = [half - counts for counts in below]
    gains = [
        lower_bound(one, half, 1e-4) / upper_bound(other, half, 1e-4)
        for one, other in (below, below[::-1], above, above[::-1])
    ]
    threshold = levels[np.argmax(np.max(gains, axis=0))]
    return [np.count_nonzero(measure(values[half:]) >= threshold) for values in (first, second)]


def certified(scores, first, second, certify=certify_epsilon):
    """Return what the best of the scores certifies, corrected for their number."""
    first, second = (np.asarray(v).reshape(len(v), -1) for v in (first, second))
    counts = np.array([event_counts(score, first, second) for score in scores]).T
    return certify(*counts, len(first) - len(first) // 2)


# The scores themselves.


def test_the_lowest_bit_is_that_of_the_exact_fraction():
    values = np.concatenate(
        [
            np.random.default_rng(1).standard_normal(300) * 2.0 ** np.arange(-150, 150),
            [5e-324, -5e-324, 2.0**-1022, 3 * 2.0**1000, 1.7976931348623157e308, 2.0**1023],
        ]
    )
    for value, lowest in zip(values.tolist(), lowest_bit(values).tolist(), strict=True):
        numerator, denominator = abs(value).as_integer_ratio()
        odd = (numerator & -numerator).bit_length() - 1
        assert lowest == odd - (denominator.bit_length() - 1)


def test_what_is_no_number_has_a_score_too():
    assert lowest_bit(np.array([0.0, -0.0, np.inf, np.nan])).tolist() == [1100, 1100, 1200, 1200]
    lattice = SinglePrecision()
    assert np.isfinite(lattice.distance(np.array([1e300, np.inf, np.nan, 0.0, 1e-300]))).all()


@pytest.mark.parametrize(
    "score",
    [LowestBit(1), FloatShape(1), FinestBit(), CoarsestBit(), TrailingBits(0, column=1),
     OutputAlignment(EvenSteps(2.0**-20, offset=0.0))],
    ids=lambda score: score.name,
)  # fmt: skip
def test_large_scores_speak_for_the_second_in_either_order(score):
    generator = np.random.default_rng(2)
    fine = generator.uniform(1, 2, (400, 2))
    coarse = np.rint(fine * 2.0**20) * 2.0**-20
    for first, second in ((fine, coarse), (coarse, fine)):
        measure = score.learn(first[:200], second[:200])
        assert measure(second[200:]).mean() > measure(first[200:]).mean()
        assert measure(first[200:]).shape == (200,)


def test_a_column_of_many_is_looked_at():
    generator = np.random.default_rng(3)
    first, second = generator.uniform(1, 2, (2, 4000, 3))
    second[:, 2] = np.rint(second[:, 2])
    assert certified([LowestBit(2)], first, second) > 4
    assert certified([CoarsestBit()], first, second) > 4
    assert certified([LowestBit(0)], first, second) < 0.5
    first[:, 0] = first[:, 1] = second[:, 0] = second[:, 1] = 1.0
    assert certified([FinestBit()], first, second) > 4


def test_bits_that_do_not_exist_are_refused():
    for bad in (-1, 52):
        with pytest.raises(InputError, match="bit"):
            TrailingBits(bad)
    with pytest.raises(InputError, match="column"):
        LowestBit(-1)
    with pytest.raises(InputError, match="scale"):
        Reachable(0.0, 1.0, scale=0.0)


# The precision of an addition (Haney et al. 2022), and the battery of divisibilities.


def naive_normal(value, count, seed):
    return value + np.random.default_rng(seed).normal(0.0, 1.0, count)


def naive_laplace(value, count, seed):
    return value + np.random.default_rng(seed).laplace(0.0, 1.0, count)


def four_normals(value, count, seed):
    """The repair that is none: it only makes the sampler costlier to invert."""
    return value + np.random.default_rng(seed).normal(0.0, 0.5, (4, count)).sum(axis=0)


@pytest.mark.parametrize(
    ("naive", "chance", "epsilon"),
    [(naive_normal, 0.257, 10.0), (naive_laplace, 0.272, 10.0), (four_normals, 0.164, 9.7)],
)
def test_the_precision_event_has_its_published_chance_and_betrays_the_value(naive, chance, epsilon):
    off_lattice = [
        np.count_nonzero(lowest_bit(naive(value, TRIALS, seed)) < -53)
        for seed, value in enumerate((0.0, 1.0))
    ]
    assert off_lattice[0] / TRIALS == pytest.approx(chance, abs=0.0025)
    assert off_lattice[1] == 0
    assert certify_epsilon(*off_lattice, TRIALS) > epsilon


@pytest.mark.parametrize("naive", [naive_normal, naive_laplace, four_normals])
def test_the_threshold_need_not_be_known_in_advance(naive):
    first, second = naive(0.0, FEWER, 1), naive(1.0, FEWER, 2)
    assert certified([LowestBit()], first, second) > 7.4
    assert certified([LowestBit()], second, first) > 7.4
    assert certified(bit_scores(), first, second) > 7.2


def test_no_value_need_be_zero():
    generator = np.random.default_rng(4)
    first, second = (v + 0.3 * generator.standard_normal(FEWER) for v in (0.3, 0.7))
    assert certified([LowestBit()], first, second) > 6.5
    assert certified([FloatShape()], first, second) > 7.4


PAIRS = pytest.mark.parametrize("pair", [(0.0, 1.0), (0.3, 1.3)], ids=str)
GRIDS = pytest.mark.parametrize(
    "grid",
    [Grid(scale=s, bits=k, bound=100.0) for s, k in ((1.0, 20), (1.0, 40), (math.pi, 32))],
    ids=lambda grid: f"scale={grid.scale:.3g}, k={grid.bits}",
)


def released_pair(release, pair, grid, count=FEWER):
    return [
        release(np.full(count, value), grid, RehearsalNoise(seed))
        for seed, value in enumerate(pair)
    ]


@PAIRS
@GRIDS
def test_bits_and_alignment_of_a_release_say_no_more_than_promised(pair, grid):
    scores = (*bit_scores(), OutputAlignment(EvenSteps(grid.step)))
    laplace = released_pair(release_laplace, pair, grid)
    assert certified(scores, *laplace) <= (1 + grid.spread_l1(1)) / grid.scale
    gaussian = released_pair(release_gaussian, pair, grid)
    seen = certified(scores, *gaussian, certify=certify_distance)
    assert seen <= (1 + grid.spread_l2(1)) / grid.scale


# The holes of a logarithm (Mironov 2012).

CENTRES = (0.0, 2.0**-10)


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_holes_betray_the_centre_of_naive_laplace_noise(scale):
    first, second = (
        centre + np.random.default_rng(seed).laplace(0.0, scale, 40_000)
        for seed, centre in enumerate(CENTRES)
    )
    true, other = reachable(first, 0.0, scale).mean(), reachable(first, CENTRES[1], scale).mean()
    assert true - other > 0.4
    if scale == 1.0:  # which floats are holes is for the last place of the C library's logarithm
        assert true == pytest.approx(0.75, abs=0.1)
        assert other == pytest.approx(0.18, abs=0.1)
    assert certified([Reachable(*CENTRES, scale)], first, second) > 1.0
    assert certified([Reachable(*CENTRES[::-1], scale)], second, first) > 1.0


@pytest.mark.parametrize("bits", [40, 50])
def test_a_release_has_no_holes_that_depend_on_its_centre(bits):
    grid = Grid(scale=1.0, bits=bits, bound=2.0)
    first, second = released_pair(release_laplace, CENTRES, grid, count=40_000)
    assert abs(reachable(first, 0.0).mean() - reachable(first, CENTRES[1]).mean()) < 0.01
    assert certified([Reachable(*CENTRES)], first, second) <= CENTRES[1]


# Mutants of a release.


def without_snap(values, grid, noise):
    return values + grid.values(noise.laplace(values.size, grid.bits))


@pytest.mark.parametrize("score", [OutputAlignment, LowestBit])
@pytest.mark.parametrize("scale", [1.0, 1.3])
def test_noise_added_without_a_snap_is_seen(score, scale):
    grid = Grid(scale=scale, bits=30, bound=10.0)
    scores = [OutputAlignment(EvenSteps(grid.step)) if score is OutputAlignment else score()]
    if scale == 1.0 or score is OutputAlignment:  # other steps leave no bit alone
        assert certified(scores, *released_pair(without_snap, (0.0, 0.3), grid)) > 7.4
    assert certified(scores, *released_pair(release_laplace, (0.0, 0.3), grid)) <= 0.3


def radial_without_mask(values, grid, noise):
    return values + draw_radials(1, 1.0, values.size, noise)[:, 0]


def radial_with_mask(values, grid, noise):
    return release_laplace(radial_without_mask(values, grid, noise), grid, noise)


def test_radial_noise_without_its_mask_is_seen():
    grid = Grid(scale=1 / 64, bits=30, bound=1000.0)
    assert certified([LowestBit()], *released_pair(radial_without_mask, (0.0, 1.0), grid)) > 6
    assert certified(bit_scores(), *released_pair(radial_with_mask, (0.0, 1.0), grid)) <= 1


# Objective perturbation: a minimiser gives its linear term away, up to a candidate data set.

ROWS, FEATURES, RIDGE, SIGMA = 500, 10, 5.0, 5.0
BOUNDS = Bounds(L2Ball(1.0), FEATURES, labels=LabelSet([-1, 1]), max_rows=ROWS)
PROBLEM = Problem(Logistic(), BOUNDS, ridge=RIDGE)


def neighbours():
    generator = np.random.default_rng(12)
    X = generator.standard_normal((ROWS, FEATURES))
    X *= 0.999 / np.linalg.norm(X, axis=1, keepdims=True)
    y = generator.choice([-1.0, 1.0], ROWS)
    changed = X.copy()
    changed[0] *= -0.5
    return (X, y), (changed, y)


FIRST, SECOND = neighbours()


def right_guesses(lattice, first, second):
    """Return how often the data set whose noise is nearer to the lattice is the true one."""
    score = GridAlignment(lattice, ImpliedNoise(PROBLEM, *FIRST), ImpliedNoise(PROBLEM, *SECOND))
    measure = score.learn(first, second)
    return np.concatenate([measure(first) < 0, measure(second) > 0])


def unmasked(linears_of):
    return [
        minimisers(*data, RIDGE, linears_of(RehearsalNoise(seed)))
        for seed, data in enumerate((FIRST, SECOND))
    ]


def on_grid(bits):
    def linears(noise):
        units = noise.gaussian(300 * FEATURES, bits).reshape(300, FEATURES)
        return Grid(scale=SIGMA, bits=bits, bound=1.0).values(units)

    return linears


def test_the_implied_noise_is_the_noise():
    linears = on_grid(40)(RehearsalNoise(9))
    points = minimisers(*FIRST, RIDGE, linears)
    np.testing.assert_allclose(implied_noise(PROBLEM, *FIRST, points), linears, atol=1e-12)
    far = np.abs(implied_noise(PROBLEM, *SECOND, points) - linears).max(axis=1)
    assert far.min() > 1e-3


@pytest.mark.parametrize("bits", [20, 32, 40])
def test_without_a_mask_noise_on_a_grid_names_the_data_set(bits):
    lattice = EvenSteps(math.ldexp(SIGMA, -bits))
    first, second = unmasked(on_grid(bits))
    assert right_guesses(lattice, first, second).mean() >= 0.995
    score = GridAlignment(lattice, ImpliedNoise(PROBLEM, *FIRST), ImpliedNoise(PROBLEM, *SECOND))
    assert certified([score], first, second) > 2.5


def test_without_a_mask_noise_in_single_precision_names_the_data_set():
    def linears(noise):
        return on_grid(46)(noise).astype(np.float32).astype(np.float64)

    assert right_guesses(SinglePrecision(), *unmasked(linears)).mean() >= 0.995


def test_rounding_the_minimiser_is_no_remedy():
    rounded = [np.rint(points * 2.0**16) * 2.0**-16 for points in unmasked(on_grid(12))]
    assert right_guesses(EvenSteps(math.ldexp(SIGMA, -12)), *rounded).mean() >= 0.95


LAWS = pytest.mark.parametrize("law", ["gaussian", "laplace"])
DRAWS = 2000


def planned(law):
    return ObjectivePerturbation(law).plan(PROBLEM, Budget(1.0, 1e-6), ReplaceOne())


def opened():
    return [open_rows(*data, bounds=BOUNDS, unit="replace") for data in (FIRST, SECOND)]


@LAWS
def test_our_own_minimisers_would_name_the_data_set_without_their_mask(law):
    plan = planned(law)
    bare = [
        solve_many(plan.minimiser, rows, plan.term.draw_many(FEATURES, DRAWS, RehearsalNoise(seed)))
        for seed, rows in enumerate(opened())
    ]
    right = right_guesses(EvenSteps(math.ldexp(plan.scale, -BITS)), *bare)
    assert right.mean() > 0.7


@LAWS
def test_with_its_mask_objective_perturbation_leaves_the_grid_to_chance(law):
    plan = planned(law)
    first, second = (
        plan.run_many(rows, RehearsalNoise(seed), DRAWS) for seed, rows in enumerate(opened())
    )
    lattice = EvenSteps(math.ldexp(plan.scale, -BITS))
    right = right_guesses(lattice, first, second)
    assert abs(right.mean() - 0.5) <= 4 * 0.5 / math.sqrt(right.size)
    score = GridAlignment(lattice, ImpliedNoise(PROBLEM, *FIRST), ImpliedNoise(PROBLEM, *SECOND))
    mask = plan.mask.grid
    scores = (score, OutputAlignment(EvenSteps(mask.step)), FinestBit(), CoarsestBit())
    assert certified((*scores, *bit_scores()), first, second) <= 1.0


@pytest.mark.parametrize("law", ["gaussian", "laplace", "radial"])
def test_bits_of_output_perturbation_say_no_more_than_promised(law):
    plan = OutputPerturbation(law).plan(PROBLEM, Budget(1.0, 1e-6), ReplaceOne())
    first, second = (
        plan.run_many(rows, RehearsalNoise(seed), 1000) for seed, rows in enumerate(opened())
    )
    assert certified((FinestBit(), CoarsestBit(), *bit_scores()), first, second) <= 1.0


def test_implied_noise_of_what_it_is_not_for_is_refused():
    with pytest.raises(InputError, match="penalty"):
        ImpliedNoise(Problem(Logistic(), BOUNDS, ridge=RIDGE, penalty=L1(1.0)), *FIRST)


def test_the_intercept_and_the_clipping_are_those_of_the_mechanism():
    bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), intercept=0.5)
    problem = Problem(Logistic(), bounds, ridge=2.0)
    implied = implied_noise(problem, [[30.0, 40.0]], [1], np.zeros((1, 3)))
    np.testing.assert_allclose(implied, [[0.3, 0.4, 0.25]], rtol=1e-6)


def test_trailing_bits_are_those_of_the_pattern():
    values = np.random.default_rng(5).standard_normal(1000)
    for bit in (0, 7, 51):
        expected = [
            int(v.hex().split("p")[0][-13:], 16) >> bit & 1 for v in np.abs(values).tolist()
        ]
        assert trailing_bit(values, bit).tolist() == [bool(b) for b in expected]

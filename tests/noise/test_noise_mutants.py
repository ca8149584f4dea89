"""Broken copies of the mechanism: each is caught by an attack or a bound that ours passes.

A test that no mutant fails tests nothing. The mutants are written out here, beside the check that
catches them; the last line of each test runs the same check on the real code.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import stats

from discreet.audit.scores import EvenSteps, lowest_bit
from discreet.noise import Grid, RehearsalNoise, draw_radial, gaussian_grid, law, release_laplace
from discreet.noise.radial_noise import BITS, _standard, _sum_of_squares
from discreet.noise.words import CipherWords

KEY = bytes(range(32))


# Mutant: add the noise to the float, without snapping it first.


def release_without_snap(values, grid, noise):
    return values + grid.values(noise.laplace(values.size, grid.bits))


def certify_alignment(release, certified_epsilon):
    """Attack: is the output in the middle of a grid cell? Values 0 and 0.3, nominal 0.3."""
    grid, trials = Grid(scale=1.0, bits=30, bound=10.0), 100_000
    hits = []
    for seed, value in enumerate((0.0, 0.3)):
        released = release(np.full(trials, value), grid, RehearsalNoise(seed))
        hits.append(np.count_nonzero(EvenSteps(grid.step).distance(released) == 0))
    return certified_epsilon(*hits, trials)


def test_noise_added_without_snapping_shows_the_value(certified_epsilon):
    assert certify_alignment(release_without_snap, certified_epsilon) > 8
    assert certify_alignment(release_laplace, certified_epsilon) <= 0.3


# Mutant: forget that snapping widens the sensitivity.

COARSE = {"multiplier": 1.0, "sensitivity": 1.0, "dimension": 1_000_000, "bound": 1.5 * 2.0**39}


def grid_without_widening(*, multiplier, sensitivity, dimension, bound):
    scale = multiplier * sensitivity
    return Grid(scale=scale, bits=12, bound=bound)


def noise_multiplier_after_snapping(grid):
    """Snap two neighbours at distance one whose coordinates straddle the cells' edges."""
    p, nudge = COARSE["dimension"], 1e-9
    left = np.full(p, (0.5 - nudge) * grid.step)
    right = np.full(p, (0.5 + nudge) * grid.step)
    right[0] = left[0] + 0.99
    assert np.linalg.norm(right - left) <= COARSE["sensitivity"]
    apart = (grid.snap(right) - grid.snap(left)).astype(float) * grid.step
    return grid.scale / np.linalg.norm(apart)


def test_calibration_that_forgets_the_snap_falls_short_of_its_multiplier():
    mutant, real = grid_without_widening(**COARSE), gaussian_grid(**COARSE)
    assert real.bits == mutant.bits == 12
    assert noise_multiplier_after_snapping(mutant) < COARSE["multiplier"]
    widened = 1 + mutant.spread_l2(COARSE["dimension"])
    assert mutant.scale < COARSE["multiplier"] * widened
    assert noise_multiplier_after_snapping(real) >= COARSE["multiplier"]
    assert real.scale >= COARSE["multiplier"] * (1 + real.spread_l2(COARSE["dimension"]))


# Mutant: single precision, in the sum of rows and in the radial length.


def sum_in_single_precision(rows):
    return float(np.cumsum(rows, dtype=np.float32)[-1])


def test_sums_in_single_precision_exceed_the_sensitivity():
    """Row bound 1; one row is removed. The others are too small to move a float32 one."""
    rows = np.full(2**16, -(2.0**-26))
    rows[0] = 1.0
    allowed = 1 + 2 * rows.size**2 * 2.0**-53

    def moved(total):
        return total(rows) - total(rows[1:])

    assert moved(sum_in_single_precision) > allowed + 9e-4
    assert moved(math.fsum) <= 1.0
    assert moved(lambda r: float(np.cumsum(r)[-1])) <= allowed


def radial_error(sum_of_squares, dimension=2000):
    """Return the distance of a radial draw, made with this sum, from the centre of its cell."""
    noise = RehearsalNoise(8)
    m, n = (_standard(noise.gaussian(size, BITS)) for size in (dimension + 1, dimension))
    vector = n * math.sqrt(sum_of_squares(m))
    with mp.workdps(50):
        length = mp.sqrt(mp.fsum(mpf(x) ** 2 for x in m.tolist()))
        gaps = (mpf(v) - length * mpf(x) for v, x in zip(vector.tolist(), n.tolist(), strict=True))
        return mp.sqrt(mp.fsum(g * g for g in gaps))


def test_a_radial_length_in_single_precision_exceeds_its_coupling_error():
    drawn = draw_radial(2000, 1.0, RehearsalNoise(8))
    assert radial_error(lambda m: float(np.sum(m.astype(np.float32) ** 2))) > drawn.coupling_error
    assert radial_error(_sum_of_squares) <= drawn.coupling_error


# Mutant: release a value with radial noise in floats, without the mask. (The same mutant of
# objective perturbation is caught in test_float_attacks.)


def release_radial_without_mask(value, grid, noise):
    return value + draw_radial(1, 1.0, noise).vector


def release_radial_with_mask(value, grid, noise):
    return release_laplace(release_radial_without_mask(value, grid, noise), grid, noise)


def certify_low_bits(release, certified_epsilon):
    """Attack: is the output a multiple of 2**-53? Values 0 and 1, nominal epsilon 1."""
    grid, trials = Grid(scale=1 / 64, bits=30, bound=1000.0), 3_000
    hits = []
    for seed, value in enumerate((0.0, 1.0)):
        noise = RehearsalNoise(seed)
        released = np.array([release(value, grid, noise)[0] for _ in range(trials)])
        hits.append(np.count_nonzero(lowest_bit(released) < -53))
    return certified_epsilon(*hits, trials)


def test_radial_noise_without_its_mask_shows_the_value(certified_epsilon):
    assert certify_low_bits(release_radial_without_mask, certified_epsilon) > 3
    assert certify_low_bits(release_radial_with_mask, certified_epsilon) <= 1


# Mutants of the sampler.


def chi_square_p(drawn, bits):
    """Compare the integers within 1/64 of zero with their exact chances."""
    reach = 1 << (bits - 6)
    near = drawn[(drawn >= -reach) & (drawn < reach)]
    chances = np.diff(stats.norm.cdf(np.arange(-reach, reach + 1) / 2.0**bits))
    counts = np.bincount(near + reach, minlength=2 * reach)
    return stats.chisquare(counts, chances / chances.sum() * near.size).pvalue


def test_a_sign_with_two_zeros_is_seen():
    drawn = law.draw(law.GAUSSIAN, CipherWords(KEY), 4_000_000, 12)
    two_zeros = np.where(drawn < 0, -(~drawn), drawn)
    assert chi_square_p(two_zeros, 12) < 1e-12
    assert chi_square_p(drawn, 12) > 1e-4


@pytest.mark.parametrize("which", [law.GAUSSIAN, law.LAPLACE], ids=lambda which: which.name)
def test_a_residual_path_that_accepts_everything_is_seen(which, monkeypatch):
    def counts():
        drawn = law._draw_residual(which, CipherWords(KEY), 300_000, 30)
        return np.bincount(np.minimum(drawn >> 21, 2047), minlength=2048)

    tails = (lambda x: 2 * stats.norm.sf(x)) if which is law.GAUSSIAN else (lambda x: np.exp(-x))
    upper = law.SLOTS * tails(np.arange(2049) / 512)
    table = law.tables(which)
    mass = -np.diff(upper) - np.repeat(table.certain[:256] / 8, 8)
    mass[-1] += upper[-1] - table.certain[256:].sum()
    expected = mass / mass.sum() * 300_000

    assert stats.chisquare(counts(), expected).pvalue > 1e-4
    everything = lambda law, words, column, offset, height: np.arange(column.size)  # noqa: E731
    monkeypatch.setattr(law, "_accepts", everything)
    assert stats.chisquare(counts(), expected).pvalue < 1e-12

"""Factors of running sums: their norms and errors, and noise that is what the proof says it is."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import CalibrationError, InputError, PrivacyError, SealedError
from discreet.mechanisms.streaming.prefix_factor import ONCE, Participation
from discreet.mechanisms.streaming.toeplitz_factor import (
    FINENESS,
    LIMIT,
    ToeplitzFactor,
    optimal_band,
    square_root,
    square_root_coefficients,
)
from discreet.mechanisms.streaming.tree_factor import WEIGHT_BITS, TreeFactor, choose_factor
from discreet.noise import RehearsalNoise
from support.factor_matrices import decoder_of, matrix_of
from support.scripted_noise import RecordedNoise
from support.silent import SilentNoise

SMALL = [
    square_root(1),
    square_root(2),
    square_root(13),
    optimal_band(13, 1),
    optimal_band(13, 4),
    optimal_band(40, 5, "largest"),
    TreeFactor(1),
    TreeFactor(2),
    TreeFactor(13),
    TreeFactor(32),
]
every_factor = pytest.mark.parametrize("factor", SMALL, ids=lambda one: f"{one.name}, {one.steps}")


@every_factor
def test_b_times_c_is_the_matrix_of_running_sums(factor):
    product = decoder_of(factor) @ matrix_of(factor)
    np.testing.assert_allclose(product, np.tril(np.ones((factor.steps,) * 2)), atol=1e-12)


@every_factor
def test_the_norm_of_columns_is_not_below_the_largest_one_and_hardly_above(factor):
    norms = np.linalg.norm(matrix_of(factor), axis=0)
    assert norms.max() <= factor.column_norm() <= norms.max() * (1 + 1e-9)


@every_factor
def test_deviations_are_the_norms_of_rows_of_b(factor):
    rows = np.linalg.norm(decoder_of(factor), axis=1)
    # Rounding of coefficients, and the stretch of the last columns, which makes rows shorter.
    told = factor.deviations(factor.steps)
    assert (rows <= told * (1 + 1e-4)).all()
    early = max(1, factor.steps - 5)
    np.testing.assert_allclose(told[:early], rows[:early], rtol=1e-4)
    assert factor.largest_deviation == pytest.approx(told.max(), rel=1e-9)
    assert factor.usual_deviation == pytest.approx(math.sqrt((told**2).mean()), rel=1e-9)


@pytest.mark.parametrize(
    ("factor", "error"),
    [(square_root(256), 2.83), (square_root(4096), 3.71), (optimal_band(256, 1), 16.0),
     (optimal_band(4096, 1), 64.0)],
)  # fmt: skip
def test_largest_errors_are_those_of_the_theory(factor, error):
    # The square root's is the sum of its squared coefficients; independent noise has sqrt(T).
    assert factor.largest_error() == pytest.approx(error, abs=0.006)


def test_coefficients_of_the_square_root_are_binomial():
    exact = [float(Fraction(math.comb(2 * k, k), 4**k)) for k in range(300)]
    np.testing.assert_allclose(square_root_coefficients(300), exact, rtol=1e-13)


def test_estimates_from_below_take_the_variance_of_a_tree_to_nearly_one_half():
    tree = TreeFactor(4096)
    assert tree.largest_deviation < math.sqrt(13 * 0.55)
    plain = math.sqrt(12)  # 4095 has twelve ones, each a node of its own
    assert tree.deviations(4095)[-1] < 0.77 * plain


@pytest.mark.parametrize("aim", ["mean", "largest"])
@pytest.mark.parametrize(("steps", "band"), [(64, 4), (300, 16), (10**5, 8)])
def test_an_optimal_band_is_better_than_the_square_root_cut_off_and_than_others_nearby(
    steps, band, aim
):
    def error(one):
        return one.error() if aim == "mean" else one.largest_error()

    best = optimal_band(steps, band, aim)
    cut = ToeplitzFactor(steps, square_root_coefficients(band))
    assert error(best) < error(cut)
    generator = np.random.default_rng(3)
    for _ in range(20):
        near = best.coefficients * np.exp(0.01 * generator.standard_normal(band))
        near = np.minimum.accumulate(near / near[0])
        assert error(best) <= error(ToeplitzFactor(steps, near)) * (1 + 1e-6)


# Several participations


def worst_sum(factor, participation):
    """The largest norm of a sum of columns over all sets of steps that are far enough apart."""
    gram, largest = np.abs(matrix_of(factor).T @ matrix_of(factor)), 0.0
    for count in range(1, participation.times + 1):
        for steps in itertools.combinations(range(factor.steps), count):
            if all(b - a >= participation.separation for a, b in itertools.pairwise(steps)):
                largest = max(largest, gram[np.ix_(steps, steps)].sum())
    return math.sqrt(largest)


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("separation", [1, 3, 5])
@pytest.mark.parametrize(
    "factor", [square_root(12), optimal_band(12, 3), TreeFactor(12), TreeFactor(8)],
    ids=["square root", "band", "tree 12", "tree 8"],
)  # fmt: skip
def test_no_participations_move_more_than_the_norm_says(factor, times, separation):
    participation = Participation(times, separation)
    if times > 1 and getattr(factor, "stretched", False) and factor.band > separation:
        with pytest.raises(PrivacyError, match="no longer than steps"):
            factor.column_norm(participation)
        return
    worst, told = worst_sum(factor, participation), factor.column_norm(participation)
    assert worst <= told
    slack = 1.35 if isinstance(factor, TreeFactor) else 1 + 1e-4  # stretched entries are cut
    assert told <= worst * slack


def test_auto_takes_the_least_error_that_fits():
    assert choose_factor("auto", 1000, 10, None, ONCE).name == "square root"
    assert choose_factor("auto", 10**7, 10, None, ONCE).name == "tree"
    assert choose_factor("auto", 1000, 10**6, None, ONCE).name == "tree"
    many = choose_factor("auto", 10**5, 10, None, Participation(10, 1000))
    assert many.column_norm(Participation(10, 1000)) > many.column_norm()


@pytest.mark.parametrize(
    ("coefficients", "error"),
    [([1.0, 1.1], PrivacyError), ([0.9], PrivacyError), ([1.0, 0.0], PrivacyError),
     ([1.0, math.nan], PrivacyError), ([], CalibrationError), ([1.0] * 9, CalibrationError)],
)  # fmt: skip
def test_coefficients_that_the_proof_does_not_cover_are_refused(coefficients, error):
    with pytest.raises(error):
        ToeplitzFactor(8, np.array(coefficients))


# Noise


def collect(factor, noise, width=3, steps=None):
    """The noise of every step, one by one."""
    stream, found = factor.noise(width, FINENESS, noise), []
    for _ in range(steps or factor.steps):
        step = np.zeros(width, dtype=np.int64)
        stream.advance(step)
        found.append(step)
    return np.array(found)


@pytest.mark.parametrize(
    "factor", [square_root(150), optimal_band(150, 9), optimal_band(150, 70), square_root(3)]
)
def test_noisy_sums_are_a_function_of_the_gaussian_mechanism_in_exact_arithmetic(factor):
    """From y = C q + w alone, in Python's integers, follows what the stream makes of q and w."""
    width = 2
    recorded = RecordedNoise(RehearsalNoise(4))
    zeta = collect(factor, recorded, width)
    w = np.concatenate(recorded.drawn).reshape(-1, width)[: factor.steps]
    q = np.random.default_rng(0).integers(-(2**40), 2**40, (factor.steps, width))
    found = []
    for step in range(factor.steps):
        row = [int(one) for one in factor.row(step)]
        estimate = []
        for j in range(width):
            seen = sum(row[k] * int(q[step - k, j]) for k in range(len(row))) + int(w[step, j])
            known = sum(row[k] * found[step - k][j] for k in range(1, len(row)))
            estimate.append((seen - known + row[0] // 2) // row[0])
        found.append(estimate)
    np.testing.assert_array_equal(np.array(found), q + zeta)


@pytest.mark.parametrize("steps", [1, 2, 7, 64, 100])
def test_estimates_of_a_tree_are_a_function_of_noisy_nodes_in_exact_arithmetic(steps):
    factor, width = TreeFactor(steps), 2
    recorded = RecordedNoise(RehearsalNoise(6))
    zeta = collect(factor, recorded, width)
    draws = iter(np.concatenate(recorded.drawn).reshape(-1, width))
    q = np.random.default_rng(1).integers(-(2**40), 2**40, (steps, width))
    nodes = {}
    for step in range(1, steps + 1):  # nodes in the order in which they are complete
        for level in range(factor.levels):
            if step % 2**level == 0:
                nodes[level, (step >> level) - 1] = q[step - 2**level : step].sum(axis=0) + next(
                    draws
                )

    def estimate(level, place):
        own = nodes[level, place]
        if level == 0:
            return own
        below = estimate(level - 1, 2 * place) + estimate(level - 1, 2 * place + 1)
        weight = factor.weights[level - 1]
        half = 2 ** (WEIGHT_BITS - 1)
        return (weight * own + (2**WEIGHT_BITS - weight) * below + half) >> WEIGHT_BITS

    running = np.cumsum(q + zeta, axis=0)
    for step in range(1, steps + 1):
        start, total = 0, np.zeros(width, dtype=np.int64)
        for level in reversed(range(factor.levels)):
            if step >> level & 1:
                total = total + estimate(level, start >> level)
                start += 1 << level
        np.testing.assert_array_equal(running[step - 1], total)


@pytest.mark.parametrize("factor", [square_root(100), optimal_band(100, 9), TreeFactor(100)])
@pytest.mark.parametrize("stop", [0, 1, 37, 64, 100])
def test_a_stream_that_is_handed_over_keeps_the_noise_of_its_steps(factor, stop):
    """After the hand-over no noise is drawn, and what was drawn before is still there, exactly."""
    width, steps = 3, factor.steps
    first = factor.noise(width, FINENESS, RehearsalNoise(8))
    before = []
    for _ in range(stop):
        step = np.zeros(width, dtype=np.int64)
        first.advance(step)
        before.append(step)
    second = factor.noise(width, FINENESS, SilentNoise())
    second.unpack(first.pack())
    after = []
    for _ in range(steps - stop):
        step = np.zeros(width, dtype=np.int64)
        second.advance(step)
        after.append(step)
    running = np.cumsum(np.array(before + after), axis=0)
    # What the nodes, or steps, before the hand-over had drawn is the same in every later sum.
    b, w = decoder_of(factor), _drawn_until(factor, RehearsalNoise(8), width, stop)
    np.testing.assert_allclose(running, b @ w, atol=4.0 * steps, rtol=1e-4)


def _drawn_until(factor, noise, width, stop):
    """The noise of columns of B that are drawn by then, in units; the rest are zero."""
    recorded = RecordedNoise(noise)
    collect(factor, recorded, width, steps=stop) if stop else None
    w = np.zeros((decoder_of(factor).shape[1], width))
    if not stop:
        return w
    draws = np.concatenate(recorded.drawn).reshape(-1, width)
    if isinstance(factor, ToeplitzFactor):
        w[:stop] = draws[:stop] * 2.0**-factor.coefficient_bits
        return w
    order, place = {}, 0
    for level in range(factor.levels):
        for number in range(factor.steps >> level):
            order[level, number] = len(order)
    for step in range(1, stop + 1):
        for level in range(factor.levels):
            if step % 2**level == 0:
                w[order[level, (step >> level) - 1]] = draws[place]
                place += 1
    return w


@every_factor
def test_partial_sums_of_every_row_fit_53_bits(factor):
    """For noise of any step up to its limit, and draws up to 16 deviations."""
    if isinstance(factor, ToeplitzFactor):
        longest = max(factor.row(step)[1:].sum() for step in range(factor.steps))
        draw = 2.0 ** (FINENESS + factor.coefficient_bits + 4)
        assert longest * LIMIT + draw <= 2.0**53


@every_factor
def test_noise_is_added_to_large_totals_without_rounding(factor):
    small, large = np.zeros(2, dtype=np.int64), np.full(2, 2**60 + 1, dtype=np.int64)
    one, other = (factor.noise(2, FINENESS, RehearsalNoise(1)) for _ in range(2))
    for _ in range(factor.steps):
        one.advance(small)
        other.advance(large)
    np.testing.assert_array_equal(large - (2**60 + 1), small)


def test_noise_ends_with_its_steps_and_cannot_be_looked_at():
    stream = TreeFactor(2).noise(1, FINENESS, RehearsalNoise(1))
    for _ in range(2):
        stream.advance(np.zeros(1, dtype=np.int64))
    with pytest.raises(PrivacyError, match="beyond its last step"):
        stream.advance(np.zeros(1, dtype=np.int64))
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(SealedError, match="noise of a stream"):
            attempt(stream)
    assert repr(stream) == "<noise of a stream>"


@pytest.mark.parametrize("factor", [square_root(10), optimal_band(10, 3), TreeFactor(10)])
def test_packed_noise_of_another_plan_is_refused(factor):
    packed = TreeFactor(100).noise(2, FINENESS, RehearsalNoise(1)).pack()
    for change in ({}, {"noise_steps": 11}, {"noise_steps": -1}, {"noise_steps": 2.5}):
        with pytest.raises(InputError, match="does not fit this plan"):
            factor.noise(2, FINENESS, RehearsalNoise(1)).unpack({**packed, **change})


def test_a_stream_of_ten_million_steps_is_as_small_as_its_memory_says():
    tree, band = TreeFactor(10**7), optimal_band(10**7, 32)
    assert tree.rows_in_memory == 24
    assert band.rows_in_memory == 31
    for factor in (tree, band):
        stream = factor.noise(100, FINENESS, RehearsalNoise(3))
        for _ in range(70):
            stream.advance(np.zeros(100, dtype=np.int64))
        assert stream.pack()["noise"].shape == (factor.rows_in_memory, 100)

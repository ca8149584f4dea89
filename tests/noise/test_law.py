"""The integers drawn have exactly the floored Gaussian and Laplace laws."""

from __future__ import annotations

import decimal
import hashlib

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import stats

from discreet.noise import law as laws
from discreet.noise.law import COLUMNS, GAUSSIAN, LAPLACE, SLOTS, WEIGHT_BITS
from discreet.noise.words import CipherWords

LAWS = pytest.mark.parametrize("law", [GAUSSIAN, LAPLACE], ids=lambda law: law.name)
KEY = bytes(range(32))
BITS = 30
DRAWS = 20_000_000


# The reference: the same densities, in mpmath's binary arithmetic rather than decimals.


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(90):
        yield


def height(law, x):
    """Return N f(x) / Z."""
    if law is GAUSSIAN:
        return SLOTS * mpmath.exp(-x * x / 2) / (64 * mpmath.sqrt(mp.pi / 2))
    return SLOTS * mpmath.exp(-x) / 64


def mass_beyond(law, x):
    """Return N P(|X| >= x)."""
    if law is GAUSSIAN:
        return SLOTS * mpmath.erfc(x / mpmath.sqrt(2))
    return SLOTS * mpmath.exp(-x)


def residual(law, column, offset, bits):
    """Return the residual density at the middle of an offset."""
    if column == COLUMNS:
        return mass_beyond(law, mpf(16))
    x = (column + (mpf(offset) + mpf(1) / 2) / mpf(2) ** bits) / 64
    return height(law, x) - int(laws.tables(law).certain[column])


def survival(law, x):
    """Return P(X >= x) for x >= 0, in floats."""
    return stats.norm.sf(x) if law is GAUSSIAN else np.exp(-np.asarray(x)) / 2


def chi_square_p(counts, probabilities):
    expected = probabilities * counts.sum()
    return stats.chi2.sf(np.sum((counts - expected) ** 2 / expected), counts.size - 1)


# The tables.


@LAWS
def test_certain_slots_fit_below_the_density_and_weights_above_the_residual(law):
    table = laws.tables(law)
    for column in range(COLUMNS):
        left, right = height(law, mpf(column) / 64), height(law, mpf(column + 1) / 64)
        certain, weight = int(table.certain[column]), int(table.weight[column])
        assert certain <= right
        assert certain + 1 > right  # and no slot is wasted
        assert mpf(weight) / 2**WEIGHT_BITS >= left - certain
        assert mpf(weight - 2) / 2**WEIGHT_BITS < left - certain


def test_the_tail_column_is_wide_enough_for_laplace_and_shut_for_gaussian():
    assert laws.tables(GAUSSIAN).weight[COLUMNS] == 0
    weight = int(laws.tables(LAPLACE).weight[COLUMNS])
    assert mpf(weight) / 2**WEIGHT_BITS >= mass_beyond(LAPLACE, mpf(16))
    assert laws.tables(LAPLACE).certain[COLUMNS] == 0


@LAWS
def test_every_slot_is_certain_or_residual_and_points_to_its_column(law):
    table = laws.tables(law)
    assert table.certain.sum() == table.first_residual_slot <= SLOTS
    certain = table.column_of_slot[: table.first_residual_slot]
    np.testing.assert_array_equal(np.bincount(certain, minlength=COLUMNS + 1), table.certain)
    np.testing.assert_array_equal(np.diff(table.cumulative, prepend=0), table.weight)


@LAWS
def test_the_residual_mass_is_what_the_residual_slots_promise(law):
    table = laws.tables(law)
    inside = [
        mass_beyond(law, mpf(c) / 64) - mass_beyond(law, mpf(c + 1) / 64) - int(table.certain[c])
        for c in range(COLUMNS)
    ]
    tail = mass_beyond(law, mpf(16)) if law.has_tail else mpf(0)
    missing = SLOTS - table.first_residual_slot - (mpmath.fsum(inside) + tail)
    truncation = mpf(0) if law.has_tail else SLOTS * mpf(2) ** -188
    assert -(mpf(10) ** -60) <= missing <= truncation + mpf(10) ** -60


@LAWS
def test_tables_do_not_depend_on_the_users_decimal_context(law):
    with decimal.localcontext(decimal.Context(prec=3, rounding=decimal.ROUND_UP, Emax=9, Emin=-9)):
        table = laws.tables.__wrapped__(law)
    np.testing.assert_array_equal(table.certain, laws.tables(law).certain)
    np.testing.assert_array_equal(table.weight, laws.tables(law).weight)


def test_tables_do_not_depend_on_the_rounding_of_the_default_context(monkeypatch):
    for rounding in (decimal.ROUND_UP, decimal.ROUND_FLOOR, decimal.ROUND_05UP):
        monkeypatch.setattr(decimal.DefaultContext, "rounding", rounding)
        table = laws.tables.__wrapped__(GAUSSIAN)
        np.testing.assert_array_equal(table.weight, laws.tables(GAUSSIAN).weight)


def test_draws_survive_a_default_context_that_traps_rounding(monkeypatch):
    traps = decimal.DefaultContext.traps
    monkeypatch.setitem(traps, decimal.Inexact, True)
    laws.tables.__wrapped__(GAUSSIAN)


def test_pi_is_right_to_the_last_digit_asked_for():
    for digits in (50, 82, 200):
        with mp.workdps(digits + 20):
            error = abs(mpf(str(laws.decimal_pi(digits))) - mp.pi)
            assert error < mpf(10) ** (2 - digits)


# The filter and the exact decisions behind it.


@LAWS
def test_the_filter_is_a_thousand_times_wider_than_the_float_error(law):
    rng = np.random.default_rng(4)
    column = rng.integers(0, COLUMNS // 2, 3000)
    offset = rng.integers(0, 2**64, 3000, dtype=np.uint64)
    table = laws.tables(law)
    x = (column + offset * 2.0**-64) * 2.0**-laws.COLUMN_BITS
    density = table.peak * np.exp(law.float_exponent(x)) - table.certain[column]
    exact = [residual(law, int(c), int(u), 64) for c, u in zip(column, offset, strict=True)]
    worst = max(abs(mpf(float(d)) - e) for d, e in zip(density, exact, strict=True))
    assert worst < laws.FILTER_WIDTH / 1000


@LAWS
def test_exact_decisions_are_those_of_the_filter(law, monkeypatch):
    filtered = laws._draw_residual(law, CipherWords(KEY), 2000, BITS)
    monkeypatch.setattr(laws, "FILTER_WIDTH", np.inf)
    np.testing.assert_array_equal(laws._draw_residual(law, CipherWords(KEY), 2000, BITS), filtered)


@LAWS
def test_whole_draws_are_the_same_when_every_decision_is_exact(law, monkeypatch):
    filtered = laws.draw(law, CipherWords(KEY), 60_000, BITS)
    monkeypatch.setattr(laws, "FILTER_WIDTH", np.inf)
    np.testing.assert_array_equal(laws.draw(law, CipherWords(KEY), 60_000, BITS), filtered)


@LAWS
def test_the_residual_is_always_within_its_interval(law):
    rng = np.random.default_rng(8)
    for bits in (64, 128, 256):
        for column in (0, 1, 70, 300, 1023):
            offset = int.from_bytes(rng.bytes(bits // 8), "big")
            low, high = law.residual_between(column, offset, bits)
            with mp.workdps(150):
                truth = residual(law, column, offset, bits)
                assert mpf(str(low)) < truth < mpf(str(high))
                assert mpf(str(high)) - mpf(str(low)) < mpf(2) ** (5 - bits)


def boundary(law, column, offset, bits):
    """Return the height of so many bits at which acceptance turns into rejection."""
    weight = int(laws.tables(law).weight[column])
    unit = mpf(weight) / mpf(2) ** (bits + WEIGHT_BITS)
    return int(mpmath.floor(residual(law, column, offset, bits) / unit))


UNDECIDED = [
    *((GAUSSIAN, column) for column in (0, 3, 70, 128, 400, 500)),
    *((LAPLACE, column) for column in (0, 3, 70, 400, 1023, COLUMNS)),
]


@pytest.mark.parametrize(("law", "column"), UNDECIDED, ids=lambda v: getattr(v, "name", v))
@pytest.mark.parametrize("blocks", [2, 3])
def test_undecided_rejections_are_decided_by_fresh_bits(law, column, blocks, scripted):
    rng = np.random.default_rng([column, blocks])
    answers = []
    with mp.workdps(200):
        for below in [True, False] * 6:
            offset = [int(w) for w in rng.integers(0, 2**64, blocks, dtype=np.uint64)]
            long_offset = int.from_bytes(b"".join(w.to_bytes(8, "big") for w in offset), "big")
            # Agree with the boundary in all words but the last, whose value decides.
            edge = boundary(law, column, long_offset, 64 * blocks)
            height_words = [(edge >> (64 * i)) & (2**64 - 1) for i in reversed(range(blocks))]
            last = height_words[-1]
            height_words[-1] = int(
                rng.random() * last if below else last + rng.random() * (2**64 - last)
            )
            if abs(height_words[-1] - last) < 2**40:
                continue  # too close for this many words
            fresh = [w for pair in zip(offset[1:], height_words[1:], strict=True) for w in pair]
            words = scripted(fresh)
            answer = laws._accepts_exactly(law, words, column, offset[0], height_words[0])
            assert answer == below
            assert not words.script  # every fresh word was needed
            answers.append(answer)
    assert {True, False} == set(answers)


@LAWS
def test_each_ticket_belongs_to_the_column_whose_weight_it_falls_in(law, scripted):
    cumulative = laws.tables(law).cumulative
    ends = [int(cumulative[c]) for c in (0, 1, 70, 200)]
    tickets = [0, *(end + shift for end in ends for shift in (-1, 0)), int(cumulative[-1])]
    columns = [0, 0, 1, 1, 2, 70, 71, 200, 201]  # and the last ticket belongs to nobody
    shift = 64 - int(cumulative[-1]).bit_length()
    low_bits = (1 << shift) - 1
    script = [ticket << shift | low_bits for ticket in tickets]
    script += [5] * len(tickets) + [0] * len(tickets)  # offsets, and heights that are accepted
    found, offsets = laws._propose(law, scripted(script), len(tickets))
    assert found.tolist() == columns
    assert set(offsets.tolist()) == {5}


@LAWS
def test_clear_cases_draw_no_fresh_bits(law, scripted):
    assert laws._accepts_exactly(law, scripted([]), 10, 2**63, 0)
    assert not laws._accepts_exactly(law, scripted([]), 10, 2**64 - 2, 2**64 - 1)


# The law itself. The keys are fixed, so that none of these can fail by chance.


@pytest.fixture(scope="module", params=[GAUSSIAN, LAPLACE], ids=lambda law: law.name)
def sample(request):
    return request.param, laws.draw(request.param, CipherWords(KEY), DRAWS, BITS)


# A regression value, frozen from this implementation on x86-64 with NumPy 2.4; it has no other
# authority. The draws are integers made of integers, so every platform must agree.
KNOWN_ANSWER = {
    "gaussian": "bd19cafb04fa36e2f4957569604cf25b737d7b25aa6f860b37b5d3f492bc6530",
    "laplace": "7d1f5bc521a32e5b3ad3144abea5f1b9e1d4a1c7e09539033b701b3a9b0191ef",
}


@LAWS
def test_a_million_draws_are_the_same_bits_on_every_platform(law):
    drawn = laws.draw(law, CipherWords(KEY), 1_000_000, BITS)
    assert hashlib.sha256(drawn.astype("<i8").tobytes()).hexdigest() == KNOWN_ANSWER[law.name]


def test_cells_have_their_exact_chances(sample):
    law, drawn = sample
    cells = np.clip((drawn >> (BITS - 9)) + 2048, 0, 4095)  # width 1/512 on [-4, 4), and beyond
    upper = survival(law, np.arange(2049) / 512)
    upper[-1] = 0.0
    half = -np.diff(upper)
    counts = np.bincount(cells, minlength=4096)
    assert chi_square_p(counts, np.concatenate([half[::-1], half])) > 1e-4


def test_moments_are_those_of_the_law(sample):
    law, drawn = sample
    values = (drawn + 0.5) * 2.0**-BITS
    moments = {1: 0.0, 2: 1.0, 3: 0.0, 4: 3.0, 6: 15.0, 8: 105.0}
    if law is LAPLACE:
        moments = {1: 0.0, 2: 2.0, 3: 0.0, 4: 24.0, 6: 720.0, 8: 40320.0}
    for power in (1, 2, 3, 4):
        variance = moments[2 * power] - moments[power] ** 2
        score = (np.mean(values**power) - moments[power]) / np.sqrt(variance / DRAWS)
        assert 2 * stats.norm.sf(abs(score)) > 1e-4


@pytest.mark.parametrize("edge", [4, 16])
def test_tails_hold_their_share(sample, edge):
    law, drawn = sample
    beyond = np.count_nonzero(np.where(drawn < 0, ~drawn, drawn) >= edge << BITS)
    chance = float(2 * survival(law, edge))
    assert stats.binomtest(int(beyond), DRAWS, chance).pvalue > 1e-4


def test_the_low_byte_is_uniform(sample):
    _, drawn = sample
    assert chi_square_p(np.bincount(drawn & 255, minlength=256), np.full(256, 1 / 256)) > 1e-4


def test_the_sign_is_fair_and_independent_of_the_size(sample):
    _, drawn = sample
    negative = drawn < 0
    assert stats.binomtest(int(np.count_nonzero(negative)), DRAWS, 0.5).pvalue > 1e-4
    # Columns of the table, either side of zero: floors are symmetric about -1/2.
    column = np.minimum(np.where(negative, ~drawn, drawn) >> (BITS - 6), 255)
    table = [np.bincount(column[side], minlength=256) for side in (negative, ~negative)]
    assert stats.chi2_contingency(np.array(table)).pvalue > 1e-4


def test_successive_draws_are_not_correlated(sample):
    _, drawn = sample
    ranks = (drawn >> (BITS - 6)).astype(float)
    r = np.corrcoef(ranks[:-1], ranks[1:])[0, 1]
    assert 2 * stats.norm.sf(abs(r) * np.sqrt(DRAWS)) > 1e-4


@LAWS
def test_the_residual_path_alone_has_its_exact_law(law):
    draws = 1_500_000
    magnitude = laws._draw_residual(law, CipherWords(KEY), draws, BITS)
    table = laws.tables(law)
    upper = 2 * SLOTS * survival(law, np.arange(8 * COLUMNS + 1) / 512)  # eight cells a column
    mass = np.append(-np.diff(upper) - np.repeat(table.certain[:-1] / 8, 8), upper[-1])
    counts = np.bincount(np.minimum(magnitude >> (BITS - 9), 8 * COLUMNS), minlength=mass.size)
    probabilities = mass / (SLOTS - table.first_residual_slot)
    assert abs(probabilities.sum() - 1) < 1e-9
    thick = probabilities * draws >= 10
    counts = np.append(counts[thick], counts[~thick].sum())
    probabilities = np.append(probabilities[thick], probabilities[~thick].sum())
    assert chi_square_p(counts[probabilities > 1e-9], probabilities[probabilities > 1e-9]) > 1e-4


def test_beyond_sixteen_laplace_starts_again(monkeypatch):
    """The tail is one residual draw in 100 000, so the proposals are doctored to be all tail."""
    proposals, count = laws._propose, 300_000
    doctored = iter([(np.full(count, COLUMNS), np.zeros(count, dtype=np.uint64))])
    monkeypatch.setattr(laws, "_propose", lambda *args: next(doctored, None) or proposals(*args))
    magnitude = laws._draw_residual(LAPLACE, CipherWords(KEY), count, BITS)
    beyond = magnitude - (16 << BITS)
    assert beyond.min() >= 0
    cells = np.minimum(beyond >> (BITS - 5), 255)  # width 1/32 on [0, 8), and beyond
    upper = np.exp(-np.arange(257) / 32)
    upper[-1] = 0.0
    assert chi_square_p(np.bincount(cells, minlength=256), -np.diff(upper)) > 1e-4
    assert chi_square_p(np.bincount(beyond & 255, minlength=256), np.full(256, 1 / 256)) > 1e-4


@LAWS
@pytest.mark.parametrize("bits", [laws.MIN_BITS, 13, 31, 46, laws.MAX_BITS])
def test_the_law_does_not_depend_on_the_grid(law, bits):
    drawn = laws.draw(law, CipherWords(KEY), 1_000_000, bits)
    cells = np.clip((drawn >> (bits - 7)) + 512, 0, 1023)  # width 1/128 on [-4, 4), and beyond
    upper = survival(law, np.arange(513) / 128)
    upper[-1] = 0.0
    half = -np.diff(upper)
    counts = np.bincount(cells, minlength=1024)
    assert chi_square_p(counts, np.concatenate([half[::-1], half])) > 1e-4
    for byte in range(0, bits - 12, 8):  # every bit of the offset is fair
        counts = np.bincount((drawn >> byte) & 255, minlength=256)
        assert chi_square_p(counts, np.full(256, 1 / 256)) > 1e-4


def test_at_twelve_bits_every_integer_has_its_exact_chance():
    drawn = laws.draw(GAUSSIAN, CipherWords(KEY), 8_000_000, 12)
    inside = np.arange(-4096, 4097)
    chances = np.diff(stats.norm.cdf(inside / 4096))
    counts = np.bincount(drawn[(drawn >= -4096) & (drawn < 4096)] + 4096, minlength=8192)
    assert chi_square_p(counts, chances / chances.sum()) > 1e-4


@LAWS
@pytest.mark.parametrize("count", [0, 1, 2, 65_535, 65_537])
def test_as_many_draws_come_back_as_were_asked_for(law, count):
    drawn = laws.draw(law, CipherWords(KEY), count, BITS)
    assert drawn.shape == (count,)
    assert drawn.dtype == np.int64


def test_a_shortfall_of_proposals_is_made_up(monkeypatch):
    proposals, calls = laws._propose, []

    def stingy(law, words, count):
        calls.append(count)
        columns, offsets = proposals(law, words, count)
        return columns[:7], offsets[:7]

    monkeypatch.setattr(laws, "_propose", stingy)
    magnitude = laws._draw_residual(GAUSSIAN, CipherWords(KEY), 100, BITS)
    assert magnitude.size == 100
    assert len(calls) == 15

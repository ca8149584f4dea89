"""Linear terms have the laws that they are named for, within the bounds that they state.

Every Kolmogorov-Smirnov test has a fixed key and fails a true law with chance 1e-4.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from discreet.mechanisms.minimising.linear_term import (
    BITS,
    GAMMA_TAIL,
    GAMMA_TAIL_CHANCE,
    GAUSSIAN_TAIL,
    GAUSSIAN_TAIL_CHANCE,
    GaussianTerm,
    LaplaceTerm,
    LinearTerm,
    RadialTerm,
)
from discreet.noise import RehearsalNoise
from support.shifted_radial import ShiftedRadial

FALSE_ALARM = 1e-4
TERMS = (GaussianTerm, LaplaceTerm, RadialTerm)
every_term = pytest.mark.parametrize("made", TERMS, ids=lambda made: made.__name__)
every_width = pytest.mark.parametrize("width", [1, 3, 50])


def draws(term, width, count=4000):
    noise = RehearsalNoise(width)
    return np.array([term.draw(width, noise) for _ in range(count)])


def draws_together(term, width, count=4000):
    """The same law (test_many_terms), in one call of the sampler."""
    return term.draw_many(width, count, RehearsalNoise(width))


def fits(sample, law):
    return stats.kstest(sample, law.cdf).pvalue > FALSE_ALARM


@every_width
def test_gaussian_and_laplace_terms_have_independent_coordinates_of_their_law(width):
    gaussian, laplace = (draws_together(made(2.5), width) for made in (GaussianTerm, LaplaceTerm))
    assert fits(gaussian[:, -1], stats.norm(scale=2.5))
    assert fits(laplace[:, -1], stats.laplace(scale=2.5))
    assert fits((gaussian**2).sum(axis=1), stats.chi2(width, scale=2.5**2))
    assert fits(np.abs(laplace).sum(axis=1), stats.gamma(width, scale=2.5))


def check_radial(term, width):
    vectors = draws(term, width)
    assert fits(np.linalg.norm(vectors, axis=1), stats.gamma(width, scale=term.scale))
    first = vectors[:, 0] / np.linalg.norm(vectors, axis=1)
    if width > 1:  # the square of a coordinate of a uniform direction is a beta variable
        assert fits(first**2, stats.beta(0.5, (width - 1) / 2))
    assert abs((first > 0).mean() - 0.5) < 3.9 * 0.5 / math.sqrt(len(first))


@every_width
def test_a_radial_term_has_a_gamma_norm_and_a_uniform_direction(width):
    check_radial(RadialTerm(2.5), width)


def test_the_profile_of_moved_radial_noise_is_the_closed_form_in_three_dimensions():
    # (1/4) exp(-a (1 + t)/2) (a^2 (1 - t^2)/4 + a + 2) is the density of t = -loss/a.
    shift = 1.7
    for epsilon in (0.0, 0.4, 1.2):

        def excess(t, epsilon=epsilon):
            density = 0.25 * math.exp(-shift * (1 + t) / 2)
            density *= shift**2 * (1 - t**2) / 4 + shift + 2
            return density * -math.expm1(epsilon + shift * t)

        exact = quad(excess, -1, -epsilon / shift, epsabs=1e-13)[0]
        assert ShiftedRadial(shift, 3).delta(epsilon) == pytest.approx(exact, rel=1e-9)
    assert ShiftedRadial(shift, 3).delta(shift) == 0


@pytest.mark.parametrize("width", [2, 4, 7])
def test_the_profile_of_moved_radial_noise_agrees_with_draws(width):
    vectors = draws(RadialTerm(1.0), width)
    moved = vectors - 1.5 * np.eye(width)[0]
    loss = np.linalg.norm(moved, axis=1) - np.linalg.norm(vectors, axis=1)
    excess = np.maximum(-np.expm1(0.4 - loss), 0)
    # Four standard errors: a false alarm in 10^4.
    error = excess.std() / math.sqrt(len(excess))
    assert abs(excess.mean() - ShiftedRadial(1.5, width).delta(0.4)) <= 4 * error


class NormOfTheWrongShape(RadialTerm):
    """The norm drawn with shape p - 1: a density with a pole at zero, and no privacy there."""

    def draw(self, width, noise):
        vector = super().draw(width, noise)
        norm = np.abs(LaplaceTerm(self.scale).draw(width - 1, noise)).sum()
        return vector / np.linalg.norm(vector) * norm


@pytest.mark.parametrize("width", [2, 3, 50])
def test_a_norm_drawn_with_shape_p_minus_one_is_caught(width):
    check_radial(RadialTerm(1.0), width)
    with pytest.raises(AssertionError):
        check_radial(NormOfTheWrongShape(1.0), width)


@every_term
@every_width
def test_the_size_is_the_root_mean_square_of_a_coordinate(made, width):
    term = made(0.3)
    squares = draws_together(term, width, count=6000 if width < 50 else 2000) ** 2
    # Five standard errors: a false alarm in 10^6.
    error = squares.mean(axis=1).std() / math.sqrt(len(squares))
    assert abs(squares.mean() - term.size(width) ** 2) <= 5 * error
    assert error < 0.05 * term.size(width) ** 2


@every_term
@pytest.mark.parametrize("width", [1, 2, 10, 1000])
def test_norms_stay_within_the_bound_which_is_not_out_of_proportion(made, width):
    term = made(7.0)
    norms = np.linalg.norm(draws_together(term, width, count=300), axis=1)
    assert norms.max() <= term.bound(width)
    assert term.bound(width) <= 100 * width * term.scale


@pytest.mark.parametrize("width", [1, 2, 10, 1000, 10**6])
def test_the_chances_of_the_tails_are_those_of_the_exact_laws(width):
    gaussian = stats.chi.logsf(math.sqrt(width) + GAUSSIAN_TAIL, width)
    assert gaussian <= math.log(GAUSSIAN_TAIL_CHANCE)
    bound = RadialTerm(1.0).bound(width)
    assert stats.gamma.logsf(bound, width) <= math.log(GAMMA_TAIL_CHANCE)
    each = GAMMA_TAIL + math.log(width)  # Laplace variables one by one, the union of them
    assert math.log(width) - each <= math.log(GAMMA_TAIL_CHANCE)
    assert LaplaceTerm(1.0).bound(width) <= min(bound, math.sqrt(width) * each)


@pytest.mark.parametrize("made", [GaussianTerm, LaplaceTerm], ids=lambda made: made.__name__)
@pytest.mark.parametrize("scale", [1e-9, 0.3, 7e12])
def test_a_drawn_term_is_within_its_error_of_both_ends_of_its_cells(made, scale):
    width, term = 40, made(scale)
    name = "gaussian" if made is GaussianTerm else "laplace"
    units = getattr(RehearsalNoise(5), name)(width, BITS)
    drawn = term.draw(width, RehearsalNoise(5))
    step = math.ldexp(scale, -BITS)
    for end in (0, 1):
        exact = np.array([float(int(unit) + end) for unit in units]) * step
        assert np.linalg.norm(drawn - exact) <= term.error(width)


@every_term
def test_the_chance_covers_the_tail_and_the_sampler(made):
    tail = GAUSSIAN_TAIL_CHANCE if made is GaussianTerm else GAMMA_TAIL_CHANCE
    assert issubclass(made, LinearTerm)
    for width in (1, 100, 10**6):
        assert tail <= made(1.0).chance(width) < 2.0**-70

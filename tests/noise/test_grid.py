"""A release is a whole number of steps and a half, whatever the value was."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import CalibrationError, InputError, InputTypeError
from discreet.noise import Grid, RehearsalNoise, release_gaussian, release_laplace

fixed = settings(derandomize=True, deadline=None)
RELEASES = pytest.mark.parametrize("release", [release_gaussian, release_laplace])
GRIDS = [
    Grid(scale=1.0, bits=40, bound=100.0),
    Grid(scale=1.3, bits=12, bound=7.0),
    Grid(scale=3e-9, bits=26, bound=0.1),
    Grid(scale=1e200, bits=30, bound=1e203),
    Grid(scale=math.pi, bits=46, bound=5.0),
]
HOSTILE = [
    math.nan,
    math.inf,
    -math.inf,
    5e-324,
    -5e-324,
    sys.float_info.min / 3,
    -0.0,
    1e308,
    -1e308,
    sys.float_info.max,
    1e30,
]


def units_of(released, grid):
    """Return the integers behind a release, and check that they are integers."""
    units = np.rint(released / grid.step - 0.5)
    np.testing.assert_array_equal(grid.step * (units + 0.5), released)
    return units


@st.composite
def grids(draw):
    scale = draw(st.floats(1e-150, 1e150))
    bits = draw(st.integers(12, 50))
    return Grid(scale=scale, bits=bits, bound=scale * 2.0 ** draw(st.integers(-5, 52 - bits)))


@RELEASES
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_every_release_is_a_whole_number_of_steps_and_a_half(release, grid):
    values = np.random.default_rng(2).uniform(-1.5, 1.5, 50_000) * grid.bound
    released = release(values, grid, RehearsalNoise(3))
    assert np.isfinite(units_of(released, grid)).all()


@RELEASES
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_hostile_values_give_finite_points_of_the_grid(release, grid):
    released = release(HOSTILE, grid, RehearsalNoise(4))
    assert np.isfinite(released).all()
    assert np.abs(units_of(released, grid)).max() <= grid.bound / grid.step + 40 * 2.0**grid.bits


def test_hostile_values_are_zero_or_the_bound():
    grid = Grid(scale=1.0, bits=20, bound=2.0)
    top = 2 << 20
    expected = [0, top, -top, 0, 0, 0, 0, top, -top, top, top]
    assert grid.snap(HOSTILE).tolist() == expected


def test_no_value_causes_a_floating_point_error():
    with np.errstate(all="raise"):
        released = release_gaussian(
            HOSTILE, Grid(scale=1e10, bits=12, bound=1.0), RehearsalNoise(4)
        )
    assert np.isfinite(released).all()


def test_a_scale_whose_noise_could_overflow_is_refused():
    with pytest.raises(CalibrationError):
        Grid(scale=1.7e308, bits=12, bound=1e308)


@fixed
@given(grid=grids(), share=st.floats(-1.5, 1.5))
def test_snapping_moves_a_value_by_one_step_at_most(grid, share):
    value = share * grid.bound
    clipped = min(max(value, -grid.bound), grid.bound)
    snapped = Fraction(grid.step) * int(grid.snap([value])[0])
    assert abs(snapped - Fraction(clipped)) <= Fraction(grid.step)


@fixed
@given(grid=grids(), a=st.floats(-2, 2), b=st.floats(-2, 2))
def test_snapping_keeps_the_order_of_values(grid, a, b):
    low, high = grid.snap([min(a, b) * grid.bound, max(a, b) * grid.bound])
    assert low <= high


@fixed
@given(grid=grids())
def test_the_scale_is_a_power_of_two_times_the_step(grid):
    assert Fraction(grid.step) * 2**grid.bits == Fraction(grid.scale)


@fixed
@given(grid=grids(), dimension=st.integers(1, 10**9))
def test_spreads_are_rounded_up(grid, dimension):
    step = Fraction(grid.step)
    assert Fraction(grid.spread_l2(dimension)) ** 2 >= 4 * step**2 * dimension
    assert Fraction(grid.spread_l1(dimension)) >= 2 * step * dimension
    assert Fraction(grid.spread_l1(dimension)) <= 2 * step * dimension * (1 + Fraction(1, 2**45))


@fixed
@given(grid=grids(), data=st.data())
def test_spreads_bound_what_snapping_does_to_distances(grid, data):
    pairs = data.draw(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1))
    left, right = np.array(pairs).T * grid.bound
    units = [int(u) for u in grid.snap(left) - grid.snap(right)]
    true = [Fraction(a) - Fraction(b) for a, b in zip(left, right, strict=True)]
    growth = Fraction(grid.step) * sum(map(abs, units)) - sum(map(abs, true))
    assert growth <= Fraction(grid.spread_l1(len(pairs)))


def test_noise_of_the_declared_scale_is_added_around_the_value():
    grid = Grid(scale=3.0, bits=30, bound=1000.0)
    for release, deviation in ((release_gaussian, 3.0), (release_laplace, 3.0 * math.sqrt(2))):
        released = release(np.full(200_000, 250.0), grid, RehearsalNoise(6))
        assert abs(released.mean() - 250) < 5 * deviation / math.sqrt(200_000)
        assert abs(released.std() / deviation - 1) < 0.02


def test_the_half_step_removes_the_bias_of_the_floor():
    grid = Grid(scale=1.0, bits=12, bound=1.0)
    released = release_gaussian(np.zeros(4_000_000), grid, RehearsalNoise(5))
    assert abs(released.mean()) < 4 / math.sqrt(4_000_000)


@RELEASES
@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 200_000])
def test_a_release_is_as_long_as_its_values(release, size):
    grid = Grid(scale=1.0, bits=30, bound=10.0)
    released = release(np.zeros(size), grid, RehearsalNoise(1))
    assert released.shape == (size,)
    assert np.unique(released).size >= 0.999 * size


def test_a_single_number_is_a_vector_of_one():
    assert release_gaussian(1.0, GRIDS[0], RehearsalNoise(1)).shape == (1,)
    assert GRIDS[0].snap(math.nan).shape == ()


@RELEASES
def test_values_are_left_as_they_were(release):
    values = np.array(HOSTILE)
    values.flags.writeable = False
    release(values, GRIDS[0], RehearsalNoise(1))
    np.testing.assert_array_equal(values, np.array(HOSTILE))
    units = np.arange(5)
    GRIDS[0].values(units)
    np.testing.assert_array_equal(units, np.arange(5))


@RELEASES
def test_matrices_are_refused(release):
    with pytest.raises(InputError, match="vector"):
        release(np.zeros((2, 2)), GRIDS[0], RehearsalNoise(1))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"scale": 0.0}, InputError),
        ({"scale": -1.0}, InputError),
        ({"scale": math.nan}, InputError),
        ({"scale": math.inf}, InputError),
        ({"scale": "1"}, InputTypeError),
        ({"bound": 0.0}, InputError),
        ({"bound": math.inf}, InputError),
        ({"bits": 11}, InputError),
        ({"bits": 51}, InputError),
        ({"bits": 20.0}, InputTypeError),
        ({"scale": sys.float_info.min, "bits": 12, "bound": 1e-300}, CalibrationError),
        ({"bits": 30, "bound": 2.0**22 * (1 + 2.0**-50)}, CalibrationError),
        ({"scale": 1e-300, "bound": 1e300}, CalibrationError),
    ],
)
def test_a_grid_that_cannot_hold_is_refused(change, error):
    with pytest.raises(error):
        Grid(**{"scale": 1.0, "bits": 30, "bound": 1.0, **change})


def test_the_finest_and_the_widest_grids_are_accepted():
    assert Grid(scale=1.0, bits=30, bound=2.0**22).snap(2.0**22) == 2**52
    assert Grid(scale=sys.float_info.min * 2**12, bits=12, bound=1e-300).step > 0


def test_bits_may_be_a_numpy_integer():
    assert Grid(scale=1.0, bits=np.int64(20), bound=1.0).step == 2.0**-20


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_drawing_a_million_takes_little_more_than_a_word_each_and_few_calls(law, monkeypatch):
    """What makes it fast, counted; how fast it is in seconds is for ``make bench``."""
    asked, words = [], RehearsalNoise.words

    class Counted:
        def __init__(self, supply):
            self.supply = supply

        def take(self, count):
            asked.append(count)
            return self.supply.take(count)

    monkeypatch.setattr(RehearsalNoise, "words", lambda noise: Counted(words(noise)))
    getattr(RehearsalNoise(1), law)(10**6, 36)
    assert sum(asked) < 1.12 * 10**6
    assert len(asked) < 30


@pytest.mark.oracle
def test_opendp_maps_the_same_grid_to_nearly_the_same_loss():
    """OpenDP widens by sqrt(p) steps; ours is two sqrt(p) steps, for it covers the division."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=1000)
    space = domain, dp.l2_distance(T=float)
    theirs = dp.m.make_gaussian(*space, scale=1.0, k=-20).map(1.0)
    grid = Grid(scale=1.0, bits=20, bound=1.0)
    ours = (1 + grid.spread_l2(1000)) ** 2 / 2
    assert theirs == pytest.approx((1 + math.sqrt(1000) * 2.0**-20) ** 2 / 2, rel=1e-9)
    assert theirs <= ours
    assert ours - theirs == pytest.approx(math.sqrt(1000) * 2.0**-20, rel=1e-3)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["gaussian", "laplace"])
def test_opendp_draws_from_the_same_law(name):
    """OpenDP has no seed, so the threshold is one in a million."""
    from scipy import stats

    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    draws = 100_000
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=draws)
    metric = dp.l2_distance(T=float) if name == "gaussian" else dp.l1_distance(T=float)
    make = dp.m.make_gaussian if name == "gaussian" else dp.m.make_laplace
    theirs = np.array(make(domain, metric, scale=1.0, k=-20)([0.0] * draws))
    release = release_gaussian if name == "gaussian" else release_laplace
    ours = release(np.zeros(draws), Grid(scale=1.0, bits=20, bound=1.0), RehearsalNoise(11))
    edges = np.concatenate([[-np.inf], np.linspace(-3, 3, 121), [np.inf]])
    table = np.array([np.histogram(sample, edges)[0] for sample in (theirs, ours)])
    assert stats.chi2_contingency(table).pvalue > 1e-6

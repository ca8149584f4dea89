"""Laws that hold for every convex set."""

import functools
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import geometry
from discreet.errors import InputError, InputTypeError
from discreet.geometry import (
    SETS,
    Box,
    ConvexSet,
    L1Ball,
    L2Ball,
    LinfBall,
    NuclearBall,
    Simplex,
    Uniforms,
    WholeSpace,
)
from support.examples import ALL_SETS, SET_EXAMPLES

law = settings(derandomize=True, deadline=None, max_examples=20)

BOUNDED = [region for region in ALL_SETS if not isinstance(region, WholeSpace)]
SAMPLED = [region for region in BOUNDED if not isinstance(region, NuclearBall)]
"""Sets that offer uniform points."""

ORDERS = [1, 2, math.inf]
DIMENSION = 3

every_set = pytest.mark.parametrize("region", ALL_SETS, ids=repr)
every_bounded_set = pytest.mark.parametrize("region", BOUNDED, ids=repr)
every_sampled_set = pytest.mark.parametrize("region", SAMPLED, ids=repr)
every_order = pytest.mark.parametrize("order", ORDERS)

ordinary = st.floats(-10, 10)
extreme = st.sampled_from([0.0, 5e-324, -1e-310, 1e-100, 1.0, 1e100, -1e200, 1e300, -1.7e308])
entries = st.one_of(ordinary, extreme, st.floats(allow_nan=False, allow_infinity=False))
points = st.lists(entries, min_size=DIMENSION, max_size=DIMENSION).map(np.array)
directions = points


class Seeded:
    """Uniform numbers that are the same in every run."""

    def __init__(self, seed=0):
        self.generator = np.random.default_rng(seed)

    def uniform(self, count):
        return self.generator.uniform(2**-60, 1, size=count)


def size(region):
    return region.reach(DIMENSION)


def corners(region):
    """Extreme points in every direction with entries -1, 0 and 1."""
    return region.vertex(np.array(list(itertools.product([-1.0, 0.0, 1.0], repeat=DIMENSION))))


@functools.cache
def members(region):
    """Corners, random points and the fixed point of a bounded set."""
    source = Seeded()
    if region in SAMPLED:
        inner = [region.uniform(source, DIMENSION) for _ in range(20)]
    else:
        inner = region.project(
            size(region) * (source.uniform(20 * DIMENSION) - 0.5).reshape(20, -1)
        )
    return np.vstack([corners(region), inner, [region.fixed_point(DIMENSION)]])


def meant_for(region, points):
    """Points that a set is for: matrices of coefficients have squares that floats hold."""
    return np.clip(points, -1e100, 1e100) if isinstance(region, NuclearBall) else points


def unit(vector):
    """The same direction, with a largest entry of one; zeros stay zeros."""
    return vector / (np.abs(vector).max() or 1.0)


def test_every_listed_set_has_examples_and_no_other_is_exported():
    assert set(SET_EXAMPLES) == set(SETS)
    assert all(type(one) is kind for kind, some in SET_EXAMPLES.items() for one in some)
    exported = {getattr(geometry, name) for name in geometry.__all__ if name != "SETS"}
    assert exported == {*SETS, ConvexSet, Uniforms}


@every_set
@given(point=points)
@law
def test_projection_lies_in_the_set(region, point):
    point = meant_for(region, point)
    assert region.contains(region.project(point), tolerance=1e-12)


@every_bounded_set
@given(point=points)
@law
def test_projecting_twice_is_projecting_once(region, point):
    once = region.project(meant_for(region, point))
    np.testing.assert_allclose(region.project(once), once, rtol=0, atol=1e-12 * size(region))


@every_bounded_set
@given(first=points, second=points)
@law
def test_projection_brings_no_two_points_further_apart(region, first, second):
    first, second = meant_for(region, first), meant_for(region, second)
    apart = math.dist(region.project(first), region.project(second))
    assert apart <= math.dist(first, second) + 1e-12 * size(region)


@every_bounded_set
@given(point=points)
@law
def test_no_member_is_nearer_than_the_projection(region, point):
    point = meant_for(region, point)
    nearest = region.project(point)
    scale = size(region) or 1.0
    far = max(scale, np.abs(point).max())
    outward = point / far - nearest / far
    gains = (members(region) - nearest) / scale @ outward
    assert gains.max() <= 1e-12


@every_set
@given(rows=st.lists(points, max_size=5))
@law
def test_one_point_and_many_points_agree(region, rows):
    batch = meant_for(region, np.array(rows).reshape(-1, DIMENSION))
    batch.setflags(write=False)
    projected, inside = region.project(batch), region.contains(batch)
    assert projected.shape == batch.shape
    assert projected.dtype == np.float64
    assert not np.shares_memory(projected, batch)
    assert inside.shape == (len(batch),)
    for i, row in enumerate(batch):
        np.testing.assert_allclose(region.project(row), projected[i], rtol=1e-14)
        assert region.contains(row) is bool(inside[i])


@every_bounded_set
def test_members_are_contained_and_stay_where_they_are(region):
    inside = members(region)
    assert region.contains(inside).all()
    np.testing.assert_allclose(region.project(inside), inside, rtol=0, atol=1e-12 * size(region))


@every_bounded_set
def test_points_beyond_the_reach_are_not_contained(region):
    away = np.ones(DIMENSION) * (2 * region.reach(DIMENSION, math.inf) + 1e-99)
    assert not region.contains(away)
    assert not region.contains(-away)


@every_set
def test_points_that_are_not_finite_are_not_contained(region):
    strange = np.full((3, DIMENSION), 0.0)
    strange[:, 1] = [math.nan, math.inf, -math.inf]
    assert not region.contains(strange).any()


@every_bounded_set
@given(direction=directions)
@law
def test_no_member_goes_lower_than_the_vertex(region, direction):
    direction = meant_for(region, direction)
    scale = size(region) or 1.0
    climbs = (members(region) - region.vertex(direction)) / scale @ unit(direction)
    assert climbs.min() >= -1e-12


@every_bounded_set
@given(rows=st.lists(directions, max_size=5))
@law
def test_vertices_lie_in_the_set_one_or_many(region, rows):
    batch = meant_for(region, np.array(rows).reshape(-1, DIMENSION))
    vertices = region.vertex(batch)
    assert region.contains(vertices, tolerance=1e-12).all()
    for row, vertex in zip(batch, vertices, strict=True):
        np.testing.assert_allclose(region.vertex(row), vertex, rtol=1e-14)


@every_bounded_set
def test_the_vertex_of_no_direction_is_a_fixed_member(region):
    vertex = region.vertex(np.zeros(DIMENSION))
    assert region.contains(vertex)
    np.testing.assert_array_equal(vertex, region.vertex(np.zeros(DIMENSION)))


@every_bounded_set
@every_order
def test_reach_bounds_every_norm_and_is_attained(region, order):
    reach = region.reach(DIMENSION, order)
    norms = np.linalg.norm(members(region), order, axis=1)
    assert norms.max() <= reach * (1 + 1e-15)
    assert norms.max() >= reach * (1 - 1e-9)


@every_bounded_set
@every_order
def test_diameter_bounds_every_distance_and_is_attained(region, order):
    diameter = region.diameter(DIMENSION, order)
    inside = members(region)
    gaps = (inside[:, None] - inside[None, :]).reshape(-1, DIMENSION)
    distances = np.linalg.norm(gaps, order, axis=1)
    assert distances.max() <= diameter * (1 + 1e-15)
    assert distances.max() >= diameter * (1 - 1e-9)


@every_sampled_set
def test_uniform_points_average_to_the_centre(region):
    """Seven standard errors: a wrong alarm has chance below 3e-12 for each of 3 x 16 means."""
    source, count = Seeded(1), 2000
    drawn = np.array([region.uniform(source, DIMENSION) for _ in range(count)])
    assert region.contains(drawn).all()
    deviations = (drawn - mean_of(region)) / (size(region) or 1.0)
    standard_errors = deviations.std(axis=0) / math.sqrt(count)
    assert np.all(np.abs(deviations.mean(axis=0)) <= 7 * standard_errors + 1e-12)


def mean_of(region):
    """Centre of mass, known by symmetry."""
    corner = region.vertex(np.ones(DIMENSION))
    opposite = region.vertex(-np.ones(DIMENSION))
    return {
        Box: lambda: (corner + opposite) / 2,
        Simplex: lambda: np.full(DIMENSION, region.total / DIMENSION),
    }.get(type(region), lambda: np.zeros(DIMENSION))()


@pytest.mark.parametrize("kind", [L2Ball, L1Ball, LinfBall])
@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_half_the_ball_holds_its_share_of_uniform_points(kind, dimension):
    """The share is 2^-p; seven standard errors, so a wrong alarm has chance below 3e-12."""
    source, count = Seeded(2), 4000
    drawn = np.array([kind(1.0).uniform(source, dimension) for _ in range(count)])
    share = 2.0**-dimension
    error = abs(kind(0.5).contains(drawn, tolerance=0).mean() - share)
    assert error <= 7 * math.sqrt(share * (1 - share) / count)


def test_the_half_near_a_corner_of_the_simplex_holds_its_share_of_uniform_points():
    """The share with first entry above 1/2 is 2^-(p-1) = 1/4; seven standard errors again."""
    source, count = Seeded(3), 4000
    drawn = np.array([Simplex().uniform(source, 3) for _ in range(count)])
    assert abs((drawn[:, 0] > 0.5).mean() - 0.25) <= 7 * math.sqrt(0.25 * 0.75 / count)


@every_set
def test_the_fixed_point_is_the_member_nearest_to_the_origin(region):
    fixed = region.fixed_point(DIMENSION)
    assert fixed.shape == (DIMENSION,)
    np.testing.assert_array_equal(fixed, region.project(np.zeros(DIMENSION)))


@every_set
def test_sets_are_values(region):
    copy = pickle.loads(pickle.dumps(region))
    assert copy == region
    assert hash(copy) == hash(region)
    assert eval(repr(region), vars(geometry)) == region
    with pytest.raises(AttributeError):
        region.radius = 2.0


def test_sets_that_differ_are_not_equal():
    assert len(set(ALL_SETS)) == len(ALL_SETS)


@pytest.mark.parametrize(
    ("region", "order"),
    [
        (L2Ball(1), 2),
        (L1Ball(1), 1),
        (LinfBall(1), math.inf),
        (Box([-1], [1]), None),
        (Simplex(), None),
        (WholeSpace(), None),
    ],
    ids=repr,
)
def test_only_norm_balls_name_a_norm(region, order):
    assert region.norm_order == order


@every_order
def test_the_whole_space_has_no_end(order):
    assert WholeSpace().reach(2, order) == WholeSpace().diameter(2, order) == math.inf


@pytest.mark.parametrize(
    "question",
    [
        lambda region: region.vertex([1.0, 2.0]),
        lambda region: region.uniform(Seeded(), 2),
        lambda region: region.clip_rows(np.ones((2, 2))),
    ],
)
def test_the_whole_space_refuses_what_needs_a_bounded_set(question):
    with pytest.raises(InputError, match="bounded set"):
        question(WholeSpace())


@pytest.mark.parametrize("kind", [L2Ball, L1Ball, LinfBall, Simplex])
@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, 1e-101, 1e101])
def test_sizes_that_are_not_safe_to_square_are_refused(kind, bad):
    with pytest.raises(InputError, match="must"):
        kind(bad)


@pytest.mark.parametrize("kind", [L2Ball, L1Ball, LinfBall, Simplex])
@pytest.mark.parametrize("bad", ["1", None, True, [1.0]])
def test_sizes_that_are_not_numbers_are_refused(kind, bad):
    with pytest.raises(InputTypeError, match="number"):
        kind(bad)


@every_set
@pytest.mark.parametrize("bad", [1.0, np.zeros((2, 2, 2)), [], np.zeros((2, 0))], ids=repr)
def test_points_of_the_wrong_shape_are_refused(region: ConvexSet, bad):
    with pytest.raises(InputError, match="shape"):
        region.project(bad)
    with pytest.raises(InputError, match="shape"):
        region.contains(bad)
    with pytest.raises(InputError, match="shape"):
        region.vertex(bad)


@every_set
@pytest.mark.parametrize("bad", [["a"], [1j], [[1.0], [1.0, 2.0]], [None]], ids=repr)
def test_points_that_are_not_numbers_are_refused(region, bad):
    with pytest.raises(InputTypeError, match="numbers"):
        region.project(bad)


@every_set
def test_orders_and_dimensions_that_make_no_sense_are_refused(region):
    for measure in (region.reach, region.diameter):
        for order in (0, 3, math.nan, "2", None):
            with pytest.raises(InputError, match="order must be 1, 2 or"):
                measure(DIMENSION, order)
        with pytest.raises(InputError, match="dimension must be"):
            measure(0)
        with pytest.raises(InputTypeError, match="dimension must be"):
            measure(2.0)
    with pytest.raises(InputError, match="dimension must be"):
        region.fixed_point(0)
    with pytest.raises(InputError, match="tolerance"):
        region.contains(np.zeros(DIMENSION), tolerance=-1e-9)


@pytest.mark.parametrize("kind", [L2Ball, L1Ball, LinfBall, Simplex])
def test_whole_numbers_and_single_precision_are_welcome(kind):
    expected = kind(1).project(np.array([3.0, 4.0]))
    np.testing.assert_array_equal(kind(1).project([3, 4]), expected)
    np.testing.assert_array_equal(kind(1).project(np.array([3, 4], dtype=np.float32)), expected)

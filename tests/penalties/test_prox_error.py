"""The declared rounding errors of proxes and projections, against exact rational arithmetic."""

import functools
import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.geometry import Box, L1Ball, L2Ball, LinfBall, Simplex, WholeSpace
from discreet.penalties import L1, L1L2, L2, Indicator, L1Within, WithRidge

law = settings(derandomize=True, deadline=None, max_examples=150)
UNIT = 2.0**-53

PENALTIES = [
    L1(0.0),
    L1(0.3),
    L1(1e-9),
    L2(0.7),
    L2(1e100),
    L1L2(0.3, 0.9),
    L1L2(1e-3, 1e9),
    *(Indicator(kind(size)) for kind in (L2Ball, L1Ball, Simplex) for size in (1.0, 0.3, 1e-100)),
    Indicator(L1Ball(1e100)),
    Indicator(LinfBall(0.3)),
    Indicator(WholeSpace()),
    L1(0.3, spares_last=True),
    L1Within(L1(0.2), L1Ball(0.3)),
    L1Within(L1(0.2, spares_last=True), L2Ball(0.3)),
    L1Within(L1(0.2, spares_last=True), LinfBall(0.3)),
    L1Within(L1(0.2), Simplex(0.3)),
    L1Within(L1(0.2, spares_last=True), Simplex(0.3)),
    WithRidge(L1(0.3), 0.7),
    WithRidge(Indicator(L1Ball(0.3)), 0.7),
    WithRidge(Indicator(Simplex(0.3)), 1e5),
    WithRidge(WithRidge(L1L2(0.2, 0.3), 0.1), 0.9),
]
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)


@functools.singledispatch
def exactly(thing, values, step):
    raise NotImplementedError


@exactly.register
def _(penalty: L1, values, step):
    distance = Fraction(penalty.weight) * step
    shrunk = [value - max(-distance, min(distance, value)) for value in values]
    return [*shrunk[:-1], values[-1]] if penalty.spares_last else shrunk


@exactly.register
def _(penalty: L1Within, values, step):
    if not isinstance(penalty.region, Simplex):
        return exactly(penalty.region, exactly(penalty.lasso, values, step), step)
    distance = Fraction(penalty.lasso.weight) * step
    lowered = [value - distance for value in values]
    if penalty.lasso.spares_last:
        lowered[-1] = values[-1]
    return exactly(penalty.region, lowered, step)


@exactly.register
def _(penalty: L2, values, step):
    return [value / (1 + Fraction(penalty.weight) * step) for value in values]


@exactly.register
def _(penalty: L1L2, values, step):
    shrunk = exactly(L1(penalty.l1_weight), values, step)
    return exactly(L2(penalty.l2_weight), shrunk, step)


@exactly.register
def _(penalty: WithRidge, values, step):
    shrink = 1 + Fraction(penalty.weight) * step
    return exactly(penalty.penalty, [value / shrink for value in values], step / shrink)


@exactly.register
def _(penalty: Indicator, values, step):
    return exactly(penalty.region, values, step)


@exactly.register
def _(region: WholeSpace, values, step):
    return values


@exactly.register
def _(region: LinfBall, values, step):
    radius = Fraction(region.radius)
    return [max(-radius, min(radius, value)) for value in values]


@exactly.register
def _(region: Simplex, values, step):
    total, descending = Fraction(region.total), sorted(values, reverse=True)
    running, threshold = Fraction(0), None
    for count, value in enumerate(descending, start=1):
        running += value
        if value > (running - total) / count:
            threshold = (running - total) / count
    return [max(value - threshold, Fraction(0)) for value in values]


@exactly.register
def _(region: L1Ball, values, step):
    if sum(map(abs, values)) <= Fraction(region.radius):
        return values
    shares = exactly(Simplex(region.radius), [abs(value) for value in values], step)
    return [share if value > 0 else -share for share, value in zip(shares, values, strict=True)]


@exactly.register
def _(region: L2Ball, values, step):
    squared, radius = sum(value**2 for value in values), Fraction(region.radius)
    if squared <= radius**2:
        return values
    with mpmath.workdps(60):
        root = mpmath.sqrt(mpmath.mpf(squared.numerator) / squared.denominator)
        _sign, mantissa, exponent, _ = root._mpf_
    length = Fraction(mantissa) * Fraction(2) ** exponent
    return [value * radius / length for value in values]


def excess(penalty, point, step):
    """The squared error of the computed prox, and the square of what is declared."""
    truth = exactly(penalty, [Fraction(value) for value in point.tolist()], Fraction(step))
    ours = penalty.prox(point, step).tolist()
    gaps = (Fraction(computed) - exact for computed, exact in zip(ours, truth, strict=True))
    size = math.nextafter(math.hypot(*point.tolist()) * (1 + 2**-50), math.inf)
    return sum(gap**2 for gap in gaps), Fraction(penalty.prox_error(size, point.size)) ** 2


def hostile(dimension):
    """Ties, long tails, wide ranges, and points on every boundary or a hair beside it."""
    generator = np.random.default_rng(dimension)
    noise = generator.standard_normal(dimension)
    tail = np.full(dimension, 1 / 3)
    tail[0] = 4 / 3
    barely = np.full(dimension, 0.1)
    barely[: max(1, dimension // 3)] += generator.random(max(1, dimension // 3)) * 2**-50
    wide = np.logspace(-300, 90, dimension) * generator.choice([-1.0, 1.0], dimension)
    base = [noise, 1e9 + noise, 1e-9 * noise, np.full(dimension, 0.3), tail, barely, wide]
    on_the_edge = [
        region.project(noise + 1.0) for region in (L1Ball(0.3), L2Ball(0.3), Simplex(0.3))
    ]
    beside = [np.nextafter(point, math.inf) for point in on_the_edge]
    return [*base, *on_the_edge, *beside, np.zeros(dimension)]


@every_penalty
@pytest.mark.parametrize("dimension", [1, 2, 3, 17, 100])
@pytest.mark.parametrize("step", [1.0, 0.1, 7e4])
def test_the_error_is_within_what_is_declared(penalty, dimension, step):
    for point in hostile(dimension):
        error, declared = excess(penalty, point, step)
        assert error <= declared


@every_penalty
def test_the_error_is_within_what_is_declared_in_a_thousand_dimensions(penalty):
    for point in hostile(1000):
        error, declared = excess(penalty, point, 0.1)
        assert error <= declared


coordinates = st.one_of(
    st.floats(-2, 2), st.sampled_from([0.1, 0.3, -0.3, 1 / 3, 1.0, 1e-17, 1e100, -1e100, 5e-324])
)


@every_penalty
@given(
    point=st.lists(coordinates, min_size=1, max_size=9).map(np.array),
    step=st.sampled_from([1e-100, 1e-5, 1 / 3, 1.0, 1e100]),
)
@law
def test_the_error_is_within_what_is_declared_for_any_point(penalty, point, step):
    error, declared = excess(penalty, point, step)
    assert error <= declared


@pytest.mark.parametrize("kind", [L2Ball, L1Ball, Simplex])
@pytest.mark.parametrize("dimension", [1, 10, 1000, 10**6])
def test_what_is_declared_for_a_set_is_a_few_roundings_of_its_size(kind, dimension):
    declared = kind(0.3).projection_error(1e9, dimension)
    assert declared <= (4 * math.log2(dimension) + 15) * UNIT * 0.3


@pytest.mark.parametrize("region", [LinfBall(1.0), Box([0, 0], [1, 1]), WholeSpace()], ids=repr)
def test_clamping_is_exact(region):
    assert region.projection_error(1e9, 2) == 0.0
    assert Indicator(region).prox_error(1e9, 2) == 0.0


@pytest.mark.parametrize("penalty", [L1(0.3), L2(0.3), L1L2(0.3, 0.3), L1(1.0)], ids=repr)
def test_what_is_declared_for_a_norm_is_a_few_roundings_of_the_point(penalty):
    assert 0 < penalty.prox_error(3.0, 10**6) <= 8 * UNIT * 3.0


TIGHT = [L1(0.3), L2(0.7), L1L2(0.3, 0.9), WithRidge(L1(0.3), 0.7)]
TIGHT += [Indicator(kind(0.3)) for kind in (L2Ball, L1Ball, Simplex)]


@pytest.mark.parametrize("penalty", TIGHT, ids=repr)
def test_a_hundredth_of_what_is_declared_would_not_do(penalty):
    errors = [excess(penalty, point, 0.1) for point in hostile(3)]
    assert any(error > declared / 100**2 for error, declared in errors)


@every_penalty
def test_an_error_in_the_step_is_declared_too(penalty):
    """Against the exact prox at a step one part in a million longer."""
    wrong, step = Fraction(1, 10**6), Fraction(0.1)
    for point in hostile(17):
        truth = exactly(penalty, list(map(Fraction, point.tolist())), step * (1 + wrong))
        ours = penalty.prox(point, float(step))
        error = sum((Fraction(a) - b) ** 2 for a, b in zip(ours.tolist(), truth, strict=True))
        size = math.hypot(*point.tolist()) * (1 + 2**-50)
        assert error <= Fraction(penalty.prox_error(size, 17, 1e-6)) ** 2


def test_declared_errors_grow_with_the_point_and_the_dimension():
    for penalty in PENALTIES:
        sizes = [penalty.prox_error(size, 10) for size in (0.0, 1e-3, 1.0, 1e3)]
        widths = [penalty.prox_error(1.0, width) for width in (1, 2, 100, 10**5)]
        assert all(small <= large for small, large in [*pairwise(sizes), *pairwise(widths)])


def test_a_size_must_be_a_number_and_a_dimension_must_fit():
    with pytest.raises(InputError, match="size"):
        L2Ball(1.0).projection_error(-1.0, 2)
    with pytest.raises(InputError, match="dimension"):
        Box([0, 0], [1, 1]).projection_error(1.0, 3)

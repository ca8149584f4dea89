"""Laws that hold for every penalty."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import geometry, penalties
from discreet.errors import InputError, InputTypeError
from discreet.geometry import Box, L2Ball, LinfBall
from discreet.penalties import L1, L1L2, L2, PENALTIES, Indicator, Penalty, WithRidge
from support.examples import ALL_PENALTIES, PENALTY_EXAMPLES

law = settings(derandomize=True, deadline=None, max_examples=20)


def is_ridge(penalty):
    """Whether squares are all that is added up, so that the penalty has to be smooth."""
    return isinstance(penalty, L2) or (isinstance(penalty, WithRidge) and is_ridge(penalty.penalty))


SMOOTH = [penalty for penalty in ALL_PENALTIES if is_ridge(penalty)]
ROUGH = [penalty for penalty in ALL_PENALTIES if not is_ridge(penalty)]
ON_A_LINE = [
    L2(0.7),
    L1(0.5),
    L1L2(0.3, 0.8),
    Indicator(LinfBall(0.5)),
    Indicator(Box((0.25,), (2.0,))),
    WithRidge(L1(0.5), 0.8),
    WithRidge(Indicator(LinfBall(0.5)), 0.9),
]
STEPS = [0.01, 1.0, 30.0]
DIMENSION = 3

every_penalty = pytest.mark.parametrize("penalty", ALL_PENALTIES, ids=repr)
every_step = pytest.mark.parametrize("step", STEPS)
steps = st.sampled_from(STEPS)
points = st.lists(st.floats(-4, 4), min_size=DIMENSION, max_size=DIMENSION).map(np.array)


def in_domain(penalty, point):
    """A point of finite penalty: a prox always is one."""
    return penalty.prox(point, 1.0)


def test_every_listed_penalty_has_examples_and_no_other_is_exported():
    assert set(PENALTY_EXAMPLES) == set(PENALTIES)
    assert all(type(one) is kind for kind, some in PENALTY_EXAMPLES.items() for one in some)
    exported = {getattr(penalties, name) for name in penalties.__all__ if name != "PENALTIES"}
    assert exported == {*PENALTIES, Penalty}


@every_penalty
@given(step=steps, point=points, other=points)
@law
def test_no_point_beats_the_prox(penalty, step, point, other):
    """Moreau: (w - u) / step is a subgradient at the prox u, strong convexity included."""
    best, rival = penalty.prox(point, step), in_domain(penalty, other)
    gap = rival - best
    tangent = penalty.value(best) + (point - best) @ gap / step
    assert penalty.value(rival) >= tangent + penalty.strong_convexity / 2 * gap @ gap - 1e-9 / step


@pytest.mark.parametrize("penalty", ON_A_LINE, ids=repr)
@every_step
@pytest.mark.parametrize("w", [-3.0, -0.4, 0.2, 1.7])
def test_prox_on_a_line_is_the_minimiser_found_by_search(penalty, step, w):
    def objective(u):
        return penalty.value(np.array([u])) + (u - w) ** 2 / (2 * step)

    found, ours = minimiser(objective), float(penalty.prox(np.array([w]), step)[0])
    assert ours == pytest.approx(found, abs=1e-6)
    assert objective(ours) <= objective(found) + 1e-8 / step


def minimiser(objective):
    """The minimiser of a convex function on [-4, 4], by grids each a tenth as wide."""
    centre, width = 0.0, 4.0
    for _ in range(8):
        candidates = np.linspace(centre - width, centre + width, 41)
        centre = candidates[np.argmin([objective(u) for u in candidates])]
        width /= 10
    return centre


@every_penalty
@given(step=steps, first=points, second=points)
@law
def test_prox_contracts_by_the_strong_convexity(penalty, step, first, second):
    apart = np.linalg.norm(penalty.prox(first, step) - penalty.prox(second, step))
    allowed = np.linalg.norm(first - second) / (1 + penalty.strong_convexity * step)
    assert apart <= allowed + 1e-12


@every_penalty
@given(first=points, second=points)
@law
def test_value_halfway_is_below_the_average_by_the_strong_convexity(penalty, first, second):
    first, second = in_domain(penalty, first), in_domain(penalty, second)
    average = (penalty.value(first) + penalty.value(second)) / 2
    gap = first - second
    halfway = penalty.value(first / 2 + second / 2)
    assert halfway <= average - penalty.strong_convexity / 8 * gap @ gap + 1e-12 * (1 + average)


@every_penalty
@given(point=points)
@law
def test_a_prox_has_a_finite_penalty_that_is_never_negative(penalty, point):
    assert 0 <= penalty.value(in_domain(penalty, point)) < math.inf


@every_penalty
def test_inputs_are_left_alone_and_outputs_are_new(penalty):
    w = np.array([0.2, 0.3, 0.5])
    w.setflags(write=False)
    moved = penalty.prox(w, 1.0)
    assert moved.shape == w.shape
    assert moved.dtype == np.float64
    assert not np.shares_memory(moved, w)
    assert isinstance(penalty.value(w), float)


@pytest.mark.parametrize("penalty", SMOOTH, ids=repr)
@given(point=points)
@law
def test_gradient_is_the_difference_quotient_of_the_value(penalty, point):
    step = 1e-4
    moves = step * np.eye(DIMENSION)
    quotients = [
        (penalty.value(point + move) - penalty.value(point - move)) / (2 * step) for move in moves
    ]
    assert penalty.is_smooth
    np.testing.assert_allclose(penalty.gradient(point), quotients, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("penalty", SMOOTH, ids=repr)
@given(step=steps, point=points)
@law
def test_prox_of_a_smooth_penalty_is_a_backward_gradient_step(penalty, step, point):
    best = penalty.prox(point, step)
    np.testing.assert_allclose(best + step * penalty.gradient(best), point, atol=1e-13)


@pytest.mark.parametrize("penalty", ROUGH, ids=repr)
def test_a_penalty_with_kinks_refuses_a_gradient_and_names_the_prox(penalty):
    assert not penalty.is_smooth
    with pytest.raises(InputTypeError, match="prox"):
        penalty.gradient(np.zeros(DIMENSION))


@every_penalty
def test_a_penalty_is_a_value(penalty):
    copy = pickle.loads(pickle.dumps(penalty))
    assert copy == penalty
    assert hash(copy) == hash(penalty)
    assert eval(repr(penalty), vars(penalties) | vars(geometry)) == penalty


@every_penalty
def test_a_step_must_be_a_positive_number(penalty):
    for step in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="step"):
            penalty.prox(np.zeros(DIMENSION), step)
    with pytest.raises(InputTypeError, match="step"):
        penalty.prox(np.zeros(DIMENSION), "1")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (L2, "weight"),
        (L1, "weight"),
        (lambda weight: L1L2(weight, 1.0), "l1_weight"),
        (lambda weight: L1L2(1.0, weight), "l2_weight"),
        (lambda weight: WithRidge(L1(1.0), weight), "weight"),
    ],
)
def test_weights_must_be_zero_or_more(kind, name):
    for wrong in (-1.0, math.inf, math.nan):
        with pytest.raises(InputError, match=name):
            kind(wrong)
    for wrong in ("1", None, True):
        with pytest.raises(InputTypeError, match=name):
            kind(wrong)


def test_parts_must_be_of_the_right_kind():
    with pytest.raises(InputTypeError, match="region must be a ConvexSet"):
        Indicator(1.0)
    with pytest.raises(InputTypeError, match="penalty must be a Penalty"):
        WithRidge(L2Ball(1.0), 1.0)

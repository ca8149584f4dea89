"""Laws that hold for every loss."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import losses
from discreet.errors import InputError, InputTypeError
from discreet.losses import (
    LOSSES,
    Hinge,
    Huber,
    HuberHinge,
    LogCosh,
    Loss,
    Pinball,
    Poisson,
    ProbabilisticLoss,
    PseudoHuber,
    SmoothedHinge,
    SmoothedPinball,
    Squared,
)
from support.examples import ALL_LOSSES, EXTREME_LOSSES, LOSS_EXAMPLES

law = settings(derandomize=True, deadline=None, max_examples=20)

ONE_SIGNED = [loss for loss in ALL_LOSSES if loss.is_one_signed]
SMOOTH = [loss for loss in ALL_LOSSES if loss.is_smooth]
JOINTLY_SMOOTH = [loss for loss in ALL_LOSSES if loss.joint_smoothness is not None]
SELF_CONCORDANT = [loss for loss in ALL_LOSSES if loss.self_concordance is not None]
REACHES = [0.0, 0.3, 1.0, 2.5, 40.0]

every_loss = pytest.mark.parametrize("loss", ALL_LOSSES, ids=repr)
every_smooth_loss = pytest.mark.parametrize("loss", SMOOTH, ids=repr)
every_reach = pytest.mark.parametrize("reach", REACHES)

margins = st.one_of(st.floats(-8, 8), st.floats(-1e6, 1e6))
shares = st.floats(0, 1)
reaches = st.one_of(st.sampled_from(REACHES), st.floats(0, 5), st.floats(0, 1e3))


def label_range(loss):
    """The smallest and largest label to try: those allowed, or very large ones."""
    low, high = loss.label_range
    return max(low, -1e9), min(high, 1e9)


def label(loss, share):
    """An allowed label, the smallest at share 0 and the largest at share 1."""
    low, high = label_range(loss)
    if loss.is_classifier:
        return low if share < 0.5 else high
    return min(low + share * (high - low), high)


def labels(loss):
    """Both extreme labels, and a few more for regression."""
    low, high = label_range(loss)
    ordinary = [0.0, 0.5, -1.3, 1.0]
    inner = [] if loss.is_classifier else [y for y in ordinary if low <= y <= high]
    return np.array([low, high, *inner])


def corners(loss, y):
    """Margins where the curvature jumps."""
    match loss:
        case Hinge():
            return [y]
        case HuberHinge():
            return [y * (1 - loss.width), y * (1 + loss.width)]
        case SmoothedHinge():
            return [y * (1 - loss.width), y]
        case Huber():
            return [y - loss.threshold, y + loss.threshold]
        case Pinball():
            return [y]
        case SmoothedPinball():
            return [y - loss.width / 2, y + loss.width / 2]
        case Poisson():
            return [-loss.reach, loss.reach]
        case _:
            return []


def ordinary_labels(loss):
    """Allowed labels of ordinary size."""
    return [float(y) for y in labels(loss) if abs(y) <= 100]


def grid(y, count=4001):
    """Margins around the origin and around the label."""
    return np.sort(np.concatenate([np.linspace(-10, 10, count), np.linspace(y - 4, y + 4, count)]))


def test_every_listed_loss_has_examples_and_no_other_is_exported():
    assert set(LOSS_EXAMPLES) == set(LOSSES)
    assert all(type(loss) is kind for kind, some in LOSS_EXAMPLES.items() for loss in some)
    exported = {getattr(losses, name) for name in losses.__all__ if name != "LOSSES"}
    assert exported == {*LOSSES, Loss, ProbabilisticLoss}


@every_loss
@given(share=shares, first=margins, second=margins)
@law
def test_slope_never_decreases(loss, share, first, second):
    y, (low, high) = label(loss, share), sorted([first, second])
    rounding = 1e-15 * abs(loss.slope(y, high))
    assert loss.slope(y, low) <= loss.slope(y, high) + rounding


@every_loss
@given(share=shares, first=margins, second=margins)
@law
def test_value_halfway_is_at_most_the_average(loss, share, first, second):
    y = label(loss, share)
    ends = loss.value(y, np.array([first, second]))
    rounding = 1e-14 * np.abs(ends).max() + 1e-300
    assert loss.value(y, first / 2 + second / 2) <= ends.mean() + rounding


@every_loss
@given(share=shares, first=margins, second=margins)
@law
def test_value_lies_above_every_tangent(loss, share, first, second):
    y = label(loss, share)
    rise = loss.slope(y, first) * (second - first)
    here, there = loss.value(y, first), loss.value(y, second)
    assert there >= here + rise - 1e-14 * (abs(here) + abs(there) + abs(rise))


@every_loss
def test_value_rises_between_the_slopes_at_both_ends_of_a_short_step(loss):
    """Holds at kinks too, and pins the slope down to the change of slope over one step."""
    for y in ordinary_labels(loss):
        z = grid(y)
        steps, rises, slopes = np.diff(z), np.diff(loss.value(y, z)), loss.slope(y, z)
        rounding = 1e-14 * (1 + np.abs(loss.value(y, z[1:])))
        assert np.all(slopes[:-1] * steps <= rises + rounding)
        assert np.all(rises <= slopes[1:] * steps + rounding)


@every_loss
def test_slope_is_the_difference_quotient_of_the_value_away_from_corners(loss):
    step = 1e-5
    for y in ordinary_labels(loss):
        z = away_from_corners(loss, y, step)
        quotients = (loss.value(y, z + step) - loss.value(y, z - step)) / (2 * step)
        np.testing.assert_allclose(loss.slope(y, z), quotients, rtol=1e-6, atol=1e-7)


@every_loss
def test_curvature_is_the_difference_quotient_of_the_slope_away_from_corners(loss):
    step = 1e-5
    for y in ordinary_labels(loss):
        z = away_from_corners(loss, y, step)
        quotients = (loss.slope(y, z + step) - loss.slope(y, z - step)) / (2 * step)
        np.testing.assert_allclose(loss.curvature(y, z), quotients, rtol=1e-6, atol=1e-7)


def away_from_corners(loss, y, step):
    z = grid(y)
    near = [np.abs(z - corner) <= 2 * step for corner in corners(loss, y)]
    return z[~np.any(near, axis=0)] if near else z


@every_smooth_loss
def test_slope_is_continuous(loss):
    for y in ordinary_labels(loss):
        around = np.array([[c - 1e-9, c + 1e-9] for c in corners(loss, y)]).reshape(-1, 2)
        assert np.all(np.diff(loss.slope(y, around), axis=1) <= 1e-7)


@every_loss
@given(reach=reaches, share=shares, across=st.floats(-1, 1))
@law
def test_slope_never_exceeds_its_declared_bound(loss, reach, share, across):
    y, z = label(loss, share), across * reach
    assert abs(loss.slope(y, z)) <= loss.lipschitz(reach)
    assert abs(loss.slope(y, z)) <= loss.lipschitz(abs(z))
    assert abs(loss.slope(y, z)) <= loss.lipschitz(math.inf)


@every_loss
@given(reach=reaches, share=shares, across=st.floats(-1, 1))
@law
def test_curvature_never_exceeds_its_declared_bound(loss, reach, share, across):
    y, z = label(loss, share), across * reach
    rounding = 1 + 1e-15
    assert loss.curvature(y, z) <= loss.smoothness(reach) * rounding
    assert loss.curvature(y, z) <= loss.smoothness(abs(z)) * rounding
    assert loss.curvature(y, z) <= loss.smoothness(math.inf) * rounding


def within_reach(loss, reach):
    """All labels against all margins within reach, the grid holding ends and corners."""
    y = labels(loss)
    inner = np.array([c for label in y for c in [*corners(loss, label), label, label * 2]])
    z = np.concatenate([np.linspace(-reach, reach, 20001), inner[np.abs(inner) <= reach]])
    return y[:, None], z


@every_loss
@every_reach
def test_bound_on_the_slope_is_attained(loss, reach):
    bound = loss.lipschitz(reach)
    assert np.abs(loss.slope(*within_reach(loss, reach))).max() >= bound * (1 - 1e-6)


@every_smooth_loss
@every_reach
def test_bound_on_the_curvature_is_attained(loss, reach):
    bound = loss.smoothness(reach)
    assert loss.curvature(*within_reach(loss, reach)).max() >= bound * (1 - 1e-5)


@every_loss
def test_bounds_without_a_limit_are_the_limits_of_bounds(loss):
    assert loss.smoothness(1e3) == loss.smoothness(math.inf)
    far, limit = loss.lipschitz(1e3), loss.lipschitz(math.inf)
    assert far == limit or (limit == math.inf and far > 1e3)


@every_loss
@given(pair=st.tuples(reaches, reaches).map(sorted))
@law
def test_bounds_grow_with_the_reach(loss, pair):
    near, far = pair
    assert loss.lipschitz(near) <= loss.lipschitz(far) <= loss.lipschitz(math.inf)
    assert loss.smoothness(near) <= loss.smoothness(far) <= loss.smoothness(math.inf)


@every_loss
@pytest.mark.parametrize("measure", ["lipschitz", "smoothness"])
def test_a_reach_that_is_no_bound_is_refused(loss, measure):
    for reach in (-1.0, math.nan, -math.inf):
        with pytest.raises(InputError, match="reach"):
            getattr(loss, measure)(reach)
    with pytest.raises(InputTypeError, match="reach"):
        getattr(loss, measure)("far")


@pytest.mark.parametrize("loss", ALL_LOSSES + EXTREME_LOSSES, ids=repr)
def test_extreme_margins_and_labels_are_silent_and_never_nan(loss):
    sizes = np.array([0.0, 5e-324, 1e-300, 1e-100, 0.5, 1.0, 1e10, 1e100, 1e200, 1e300])
    z = np.concatenate([-sizes, sizes])
    for y in extreme_labels(loss):
        value, slope, curvature = loss.value(y, z), loss.slope(y, z), loss.curvature(y, z)
        assert not np.isnan(value).any()
        assert np.isfinite(slope).all()
        assert np.isfinite(curvature).all()
        assert np.all(curvature >= 0)
        assert np.abs(slope).max() <= loss.lipschitz(1e300)
        too_large = np.log10(np.abs(slope) + 1e-300) + np.log10(np.abs(z - y) + 1e-300) > 308
        assert np.all(np.isfinite(value) | too_large)


def extreme_labels(loss):
    low, high = loss.label_range
    if loss.is_classifier:
        return [low, high]
    tried = np.array([low, -1e100, -1e-100, 0.0, 1.0, 1e100, high])
    return np.unique(np.clip(tried, max(low, -1e100), min(high, 1e100)))


@every_loss
def test_constants_hold_for_any_labels_unless_a_bound_is_declared(loss):
    low, high = loss.label_range
    bound = getattr(loss, "label_bound", 1.0 if loss.is_classifier else math.inf)
    assert high == bound
    assert low == (0.0 if isinstance(loss, Poisson) else -bound)


@pytest.mark.parametrize("loss", ONE_SIGNED, ids=repr)
@given(share=shares, z=margins)
@law
def test_the_label_fixes_the_sign_of_the_slope_where_claimed(loss, share, z):
    y = label(loss, share)
    assert y * loss.slope(y, z) <= 0


@every_loss
def test_slopes_of_both_signs_exist_where_one_sign_is_not_claimed(loss):
    y, z = within_reach(loss, 40.0)
    slopes = loss.slope(y, z)
    both = np.any((slopes.max(axis=1) > 0) & (slopes.min(axis=1) < 0))
    assert both == (not loss.is_one_signed)


@pytest.mark.parametrize("loss", JOINTLY_SMOOTH, ids=repr)
@given(share=shares, offset=margins)
@law
def test_joint_smoothness_holds_where_claimed(loss, share, offset):
    y = label(loss, share)
    for z in (offset, y + offset):
        room = 1 - abs(loss.slope(y, z)) / loss.lipschitz(math.inf)
        assert loss.curvature(y, z) <= loss.joint_smoothness * room + 1e-15


def joint_ratios(loss):
    """Curvature over the room left to the slope, where rounding does not spoil the ratio."""
    y = np.array(ordinary_labels(loss))[:, None]
    z = np.linspace(-30, 30, 60001)
    room = 1 - np.abs(loss.slope(y, z)) / loss.lipschitz(math.inf)
    safe = room > 1e-7
    return loss.curvature(y, z)[safe] / room[safe]


@pytest.mark.parametrize("loss", JOINTLY_SMOOTH, ids=repr)
def test_no_smaller_joint_smoothness_would_do(loss):
    assert joint_ratios(loss).max() >= loss.joint_smoothness * (1 - 1e-5)


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_joint_smoothness_is_missing_only_where_the_ratio_has_no_bound(loss):
    if loss.joint_smoothness is None and math.isfinite(loss.lipschitz(math.inf)):
        assert joint_ratios(loss).max() > 100


@pytest.mark.parametrize("loss", SELF_CONCORDANT, ids=repr)
@given(share=shares, first=st.floats(-8, 8), second=st.floats(-8, 8))
@law
def test_the_logarithm_of_the_curvature_is_lipschitz_where_self_concordance_is_claimed(
    loss, share, first, second
):
    """Integrating |f'''| <= M f'' gives this law, free of difference quotients."""
    y = label(loss, share)
    y = y if abs(y) <= 100 else 0.0
    logs = np.log(loss.curvature(y, np.array([first, second])))
    assert abs(logs[1] - logs[0]) <= loss.self_concordance * abs(second - first) + 1e-12


@pytest.mark.parametrize("loss", SELF_CONCORDANT, ids=repr)
def test_third_differences_of_the_value_obey_self_concordance_with_the_smallest_constant(loss):
    step, largest = 2e-3 * scale(loss), 0.0
    for y in ordinary_labels(loss):
        z = np.linspace(y - 12 * scale(loss), y + 12 * scale(loss), 2001)
        before2, before, after, after2 = (loss.value(y, z + j * step) for j in (-2, -1, 1, 2))
        third = (after2 - 2 * after + 2 * before - before2) / (2 * step**3)
        trusted = loss.curvature(y, z) > 1e-3
        largest = max(largest, (np.abs(third) / loss.curvature(y, z))[trusted].max())
    assert largest == pytest.approx(loss.self_concordance, rel=5e-3, abs=1e-4)


def scale(loss):
    """The margin over which the curvature changes."""
    return getattr(loss, "threshold", 1.0)


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_self_concordance_is_missing_only_where_the_curvature_vanishes(loss):
    """A convex f with |f'''| <= M f'' has f'' positive everywhere or nowhere."""
    y = ordinary_labels(loss)[0]
    curvatures = loss.curvature(y, grid(y))
    vanishes = bool(np.any(curvatures == 0) and np.any(curvatures > 0))
    assert vanishes == (loss.self_concordance is None)


@pytest.mark.parametrize("loss", [x for x in ALL_LOSSES if not isinstance(x, Poisson)], ids=repr)
@given(share=shares, z=margins)
@law
def test_value_is_never_negative(loss, share, z):
    assert loss.value(label(loss, share), z) >= 0


@every_loss
def test_smooth_losses_are_those_with_a_finite_bound_on_the_curvature(loss):
    assert loss.is_smooth == (not isinstance(loss, Hinge | Pinball))
    assert loss.is_smooth == math.isfinite(loss.smoothness(1.0))


@every_loss
def test_arrays_are_treated_entry_by_entry_and_left_alone(loss):
    y, z = np.broadcast_arrays(labels(loss)[:, None], np.linspace(-3, 3, 7))
    for function in (loss.value, loss.slope, loss.curvature):
        table = function(y, z)
        assert table.shape == z.shape
        assert table.dtype == np.float64
        assert not np.shares_memory(table, z)
        singles = [float(function(*pair)) for pair in zip(y.flat, z.flat, strict=True)]
        np.testing.assert_allclose(table.ravel(), singles, rtol=1e-14, atol=1e-300)


@every_loss
def test_labels_may_be_whole_numbers(loss):
    z = np.linspace(-2, 2, 3)
    for function in (loss.value, loss.slope, loss.curvature):
        np.testing.assert_array_equal(function(np.ones(3, dtype=int), z), function(np.ones(3), z))


@every_loss
def test_a_loss_is_a_value(loss):
    copy = pickle.loads(pickle.dumps(loss))
    assert copy == loss
    assert hash(copy) == hash(loss)
    assert eval(repr(loss), vars(losses)) == loss


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (HuberHinge, "width"),
        (SmoothedHinge, "width"),
        (Squared, "label_bound"),
        (Huber, "threshold"),
        (PseudoHuber, "threshold"),
        (LogCosh, "threshold"),
        (lambda width: SmoothedPinball(0.5, width), "width"),
        (lambda bound: Poisson(bound, 1.0), "label_bound"),
        (lambda reach: Poisson(1.0, reach), "reach"),
    ],
)
def test_sizes_must_be_positive_numbers(kind, name):
    for wrong in (0.0, -1.0, math.inf, math.nan, 1e-200, 1e200):
        with pytest.raises(InputError, match=name):
            kind(wrong)
    for wrong in ("1", None, True, [1.0]):
        with pytest.raises(InputTypeError, match=name):
            kind(wrong)

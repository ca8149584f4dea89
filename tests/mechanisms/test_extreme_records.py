"""No record makes a round fail, whatever floats it is made of and whatever was declared."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import DiscreetError
from discreet.geometry import Box, L2Ball
from discreet.losses import Hinge, Huber, LogCosh, Logistic, Pinball, SmoothedHinge, Squared
from discreet.mechanisms import FollowTheLeader, ImplicitGradient, PrivateOCP
from discreet.mechanisms.doubling_epochs import DoublingEpochs
from discreet.mechanisms.registry import REGISTRY
from discreet.mechanisms.streaming.proximal_steps import implicit_slope
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import Budget, ReplaceOne, ZeroOutOne
from discreet.questions import ExpertStream, Problem, Stream
from support.opened import open_rows

ONLINE = [
    *(mechanism for mechanism in REGISTRY if ZeroOutOne().name in mechanism.units),
    *(PrivateOCP(algorithm=name) for name in ("proximal", "gradient")),
    DoublingEpochs(ImplicitGradient()),
]
"""Every mechanism of streams: no other knows rounds without a record."""

SIZES = (0.0, 5e-324, 1e-310, 1e-160, 1e-60, 2.0**-30, 0.5, 1.0, 3.0, 1e60, 1e160, 1.7e308)
EXTREMES = np.array([*SIZES, *(-size for size in SIZES), math.inf, -math.inf, math.nan])

HORIZON = 12


def declare_streams():
    """Return streams of ordinary and of odd magnitudes, as far as they can be declared."""
    streams = []
    for high in (1e-6, 1.0, 1e9, 1e30):
        streams.append(ExpertStream(Bounds(Box([0.0] * 3, [high] * 3), 3), HORIZON))
        losses = (Squared(high), Huber(high), LogCosh(high), Pinball(0.3))
        for loss in (*losses, Hinge(), Logistic(), SmoothedHinge(0.1)):
            labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-high / 3, high)
            bounds = Bounds(L2Ball(1.0), 3, labels=labels, intercept=1.0)
            for penalty in (None, Indicator(L2Ball(2.0 * high))):
                problem = Problem(loss, bounds, 0.5, penalty=penalty)
                streams.append(Stream(problem, HORIZON))
    return streams


def plan_all(mechanism, unit=ReplaceOne()):  # noqa: B008
    """Yield the plans of all streams that a mechanism does not refuse, in public."""
    for stream in declare_streams():
        with contextlib.suppress(DiscreetError):
            yield mechanism.plan(stream, Budget(1.0, 1e-6), unit)


@pytest.mark.parametrize("mechanism", ONLINE, ids=lambda one: repr(one)[:50])
def test_no_floats_of_a_record_make_a_round_fail(mechanism):
    random, plans = np.random.default_rng(11), list(plan_all(mechanism))
    for plan in plans:
        bounds = plan.question.bounds
        for tiny in (5e-324, -1e-310, 0.0):
            X, y = random.choice(EXTREMES, (HORIZON, 3)), random.choice(EXTREMES, HORIZON)
            X[random.random(X.shape) < 0.4] = 0.0
            X[0], y[0] = 0.5, tiny  # while a margin is zero, and a slope as small as any
            rows = open_rows(X, None if bounds.labels is None else y, bounds=bounds, unit="replace")
            assert np.isfinite(plan.run(rows, RehearsalNoise(1))).all()
    assert len(plans) >= 4


@pytest.mark.parametrize("mechanism", ONLINE, ids=lambda one: repr(one)[:50])
@pytest.mark.parametrize("unit", [ReplaceOne(), ZeroOutOne()], ids=lambda unit: unit.name)
def test_every_promise_about_a_stream_says_that_a_record_comes_once_in_its_round(mechanism, unit):
    promise = next(plan_all(mechanism, unit)).guarantee.sentence()
    assert "that a record comes once, in its round (several passes over" in promise
    counted = "rounds" if unit.has_empty_rounds else "records"
    assert f"the number of {counted};" in promise
    assert ("one round of a stream" in promise) == unit.has_empty_rounds


def test_a_promise_for_several_passes_says_how_many():
    mechanism = FollowTheLeader(participations=3, separation=2)
    promise = next(plan_all(mechanism)).guarantee.sentence()
    assert "a record comes at most 3 times" in promise
    assert "comes once" not in promise


WIDE = st.floats(allow_nan=False, allow_infinity=False)


@given(
    label=WIDE,
    margin=WIDE,
    bend=st.floats(0.0, 1e6),
    tolerance=st.floats(5e-324, 1e300, exclude_min=False),
)
@settings(max_examples=400, deadline=None)
def test_a_slope_is_found_for_all_floats(label, margin, bend, tolerance):
    loss = Squared(1e100)
    label, margin = (math.remainder(value, 1e99) for value in (label, margin))
    found = implicit_slope(loss, label, lambda slope: margin - slope * bend, tolerance=tolerance)
    wanted = (margin - label) / (1 + bend)
    assert abs(found - wanted) <= tolerance * (1 + 1e-9) + 1e-9 * (abs(margin) + abs(label))

"""The constants of a learning problem, computed by hand, and what it refuses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import InputError
from discreet.geometry import L2Ball
from discreet.losses import Huber, HuberHinge, Logistic, Poisson, PseudoHuber, Squared
from discreet.questions.problem import Problem

CLASSES = Bounds(L2Ball(3.0), 2, labels=LabelSet([-1, 1]), intercept=4.0)
NUMBERS = Bounds(L2Ball(2.0), 2, labels=Interval(-1, 1))


def nearly(exact):
    """The exact number, or a little more: clipping may exceed a bound by one part in 2**20."""
    return pytest.approx(exact * (1 + 2.0**-21), rel=2.0**-20)


def test_the_intercept_is_part_of_the_row_norm():
    problem = Problem(Logistic(), CLASSES, ridge=2.0)
    assert problem.row_norm == nearly(5.0)
    assert problem.row_norm >= 5.0
    assert problem.row_lipschitz == nearly(5.0)


def test_one_logistic_row_bends_the_objective_by_a_quarter_of_its_squared_norm():
    problem = Problem(Logistic(), CLASSES, ridge=2.0)
    assert problem.row_smoothness == pytest.approx(6.25, rel=2e-6)
    assert problem.log_ratio == pytest.approx(math.log(1 + 6.25 / 2), rel=2e-6)
    assert problem.log_ratio >= math.log1p(6.25 / 2)
    assert problem.joint == pytest.approx(25 / 2, rel=2e-6)
    assert problem.strong_convexity == 2.0


def test_a_squared_loss_is_as_steep_as_the_radius_and_the_labels_allow():
    problem = Problem(Squared(1.0), NUMBERS, ridge=4.0, radius=3.0)
    assert problem.reach == nearly(6.0)
    assert problem.lipschitz == nearly(7.0)
    assert problem.row_lipschitz == pytest.approx(14.0, rel=4e-6)
    assert problem.row_smoothness == pytest.approx(4.0, rel=4e-6)
    assert problem.log_ratio == pytest.approx(math.log(2), rel=4e-6)
    assert problem.joint is None


def test_without_a_radius_a_squared_loss_has_no_largest_slope():
    assert Problem(Squared(1.0), NUMBERS, ridge=4.0).lipschitz == math.inf


def test_a_radius_never_makes_a_constant_larger():
    free = Problem(Logistic(), CLASSES, ridge=2.0)
    previous = free
    for radius in (100.0, 1.0, 0.1, 1e-3):
        bound = replace(free, radius=radius)
        assert bound.row_lipschitz <= previous.row_lipschitz
        assert bound.row_smoothness <= previous.row_smoothness
        assert bound.log_ratio <= previous.log_ratio
        previous = bound


@pytest.mark.parametrize(("loss", "kappa"), [(Logistic(), 1.0), (PseudoHuber(0.5), 1.2990381056)])
def test_joint_smoothness_is_dropped_as_soon_as_the_radius_lowers_the_slope(loss, kappa):
    bounds = CLASSES if loss.is_classifier else NUMBERS
    free = Problem(loss, bounds, ridge=2.0)
    assert free.joint == pytest.approx(kappa * free.row_norm**2 / 2, rel=1e-9)
    small = replace(free, radius=0.01)
    assert (small.joint is None) == (small.lipschitz < free.lipschitz)
    if loss.is_classifier:
        assert small.joint is None


@pytest.mark.parametrize("loss", [HuberHinge(0.5), Huber(1.0)])
def test_a_loss_that_still_bends_where_it_is_steepest_has_no_joint_constant(loss):
    bounds = CLASSES if loss.is_classifier else NUMBERS
    assert Problem(loss, bounds, ridge=2.0).joint is None


def test_equal_problems_are_one_key():
    first, second = (Problem(Logistic(), CLASSES, ridge=2.0) for _ in range(2))
    assert len({first, second}) == 1
    assert first != replace(first, radius=5.0)


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan, -math.inf])
def test_a_radius_that_is_not_positive_is_refused(radius):
    with pytest.raises(InputError, match="radius must be positive"):
        Problem(Logistic(), CLASSES, ridge=1.0, radius=radius)


@pytest.mark.parametrize("ridge", [0.0, -1.0, math.nan, math.inf])
def test_a_ridge_that_is_not_a_positive_number_is_refused(ridge):
    with pytest.raises(InputError, match="ridge"):
        Problem(Logistic(), CLASSES, ridge=ridge)


@pytest.mark.parametrize(
    ("loss", "labels", "reason"),
    [
        (Logistic(), None, "needs labels"),
        (Logistic(), LabelSet([0, 1]), "-1 and 1"),
        (Logistic(), LabelSet([-1, 1, 2]), "-1 and 1"),
        (Logistic(), Interval(-1, 1), "-1 and 1"),
        (Huber(1.0), LabelSet([-1, 1]), "interval"),
        (Squared(1.0), Interval(-1, 2), "between -1.0 and 1.0"),
        (Poisson(label_bound=5.0, reach=1.0), Interval(-1, 5), "between 0.0 and 5.0"),
    ],
)
def test_labels_that_the_loss_is_not_made_for_are_refused(loss, labels, reason):
    with pytest.raises(InputError, match=reason):
        Problem(loss, replace(NUMBERS, labels=labels), ridge=1.0)


def test_numbers_of_coarser_types_do_not_round_a_constant_down():
    coarse = replace(CLASSES, intercept=np.float16(0.1), max_weight=np.float16(0.1))
    fine = replace(CLASSES, intercept=float(np.float16(0.1)), max_weight=float(np.float16(0.1)))
    problem = Problem(Logistic(), coarse, ridge=np.float32(2.0))
    assert problem.row_lipschitz == Problem(Logistic(), fine, ridge=2.0).row_lipschitz
    assert type(problem.row_lipschitz) is float
    assert type(problem.log_ratio) is float

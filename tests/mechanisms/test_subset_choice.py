"""The least error of every subset is certified, and moves no further than is booked."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import CalibrationError, InputError
from discreet.geometry import LinfBall
from discreet.mechanisms import ExponentialSampling
from discreet.mechanisms.sampling import subset_choice
from discreet.mechanisms.sampling.subset_choice import (
    GAP,
    SCORE_STEPS,
    least_errors,
    moments_of,
)
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import BestSubset
from support.opened import open_rows

BOUNDS = Bounds(LinfBall(1.0), 5, labels=Interval(-1, 1), max_rows=10_000)
SUBSETS = np.array(list(itertools.combinations(range(5), 2)))


def errors(question, X, y):
    rows = open_rows(X, y, bounds=question.bounds)
    return least_errors(question, *moments_of(question, rows), SUBSETS)


@pytest.mark.parametrize("has_constant", [True, False])
@pytest.mark.parametrize("coefficient", [0.2, 1.0, 30.0])
def test_least_errors_are_those_of_another_solver_within_the_certificate(coefficient, has_constant):
    generator = np.random.default_rng(1)
    question = BestSubset(BOUNDS, 2, coefficient, has_constant=has_constant)
    X = np.round(generator.uniform(-1, 1, (60, 5)) * 1024) / 1024  # nothing is rounded
    X[:, 4] = X[:, 3]  # the same column twice
    y = np.round((X[:, 0] - 0.5 * X[:, 1]) * 600) / 1024
    for subset, found in zip(SUBSETS, errors(question, X, y), strict=True):
        columns = np.column_stack([X[:, subset], *([np.ones(60)] if has_constant else [])])
        ridged = np.vstack([columns, np.eye(columns.shape[1])])
        target = np.append(y, np.zeros(columns.shape[1]))
        least = lsq_linear(ridged, target, (-coefficient, coefficient), tol=1e-14).cost
        assert -1e-9 <= found - least <= GAP * question.largest_loss + 1e-9


def test_sweeps_and_active_sets_agree(monkeypatch):
    generator = np.random.default_rng(2)
    question = BestSubset(BOUNDS, 2, 0.3)
    X = generator.uniform(-1, 1, (200, 5)) @ (np.eye(5) + 0.99)  # nearly one direction
    X /= np.abs(X).max()
    y = np.clip(4 * X[:, 0] - 3 * X[:, 1], -1, 1)
    reference = errors(question, X, y)
    monkeypatch.setattr(subset_choice, "SWEEPS", 0)
    np.testing.assert_allclose(errors(question, X, y), reference, atol=2 * GAP * 2)


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=lambda unit: unit.name)
def test_no_record_moves_scores_by_more_than_the_range(unit):
    generator = np.random.default_rng(3)
    question = BestSubset(BOUNDS, 2)
    plan = ExponentialSampling().plan(question, Budget(1.0), unit)
    booked = float(1 / plan.rate) / SCORE_STEPS
    assert (1 + unit.rows_are_public) <= booked <= (1 + unit.rows_are_public) * 1.002
    for _ in range(40):
        X, y = generator.choice([-1.0, 0.0, 1.0], (30, 5)), generator.choice([-1.0, 1.0], 30)
        first = errors(question, X, y)
        if unit.rows_are_public:
            X, y = X.copy(), y.copy()
            X[0], y[0] = generator.choice([-1.0, 1.0], 5), -y[0]
            second = errors(question, X, y)
        else:
            second = errors(question, X[1:], y[1:])
        assert np.ptp(second - first) <= booked * question.largest_loss


def test_the_right_columns_are_drawn_from_enough_rows():
    X = np.random.default_rng(4).uniform(-1, 1, (9000, 5))
    question = BestSubset(BOUNDS, 2)
    plan = ExponentialSampling().plan(question, Budget(1.0), AddRemoveOne())
    rows = open_rows(X, 0.5 * X[:, 1] - 0.5 * X[:, 4], bounds=BOUNDS)
    drawn = plan.run_many(rows, RehearsalNoise(1), 50)
    assert (drawn == [1, 4]).all()


def test_what_is_too_much_is_refused():
    wide = Bounds(LinfBall(1.0), 300, labels=Interval(-1, 1))
    classes = Bounds(LinfBall(1.0), 5, labels=LabelSet([0, 1, 2]))
    constant = Bounds(LinfBall(1.0), 5, labels=LabelSet([1]))
    for make, says in (
        (lambda: BestSubset(wide, 3), "too many"),
        (lambda: BestSubset(classes, 2), "two classes"),
        (lambda: BestSubset(constant, 2), "differ"),
        (lambda: BestSubset(BOUNDS, 6), "size"),
        (lambda: BestSubset(BOUNDS, 2, 0.0), "coefficient"),
    ):
        with pytest.raises(InputError, match=says):
            make()
    many = BestSubset(Bounds(LinfBall(1.0), 5, labels=Interval(-1, 1), max_rows=2**30), 2)
    with pytest.raises(CalibrationError, match="max_rows"):
        ExponentialSampling().plan(many, Budget(1.0), AddRemoveOne())

"""Errors of oracles against the number of queries: Jain and Thakurta (2013), interactive mode.

The paper says of noise that is a path of a Gaussian process that it answers few queries. That holds
of independent noise, whose deviation has to grow with the root of their number. Here all three are
set beside one another, in units of what one record can do to one answer, with the constants of
theory: deviations, and bounds on the largest of so many errors with chance 1 - FAILURE.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from discreet.data import Bounds, LabelSet, Rows
from discreet.errors import RehearsalWarning
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.kernels import RBF, BoundedKernel
from discreet.losses import Logistic
from discreet.mechanisms import BoundedUpdates, GaussianProcess
from discreet.mechanisms.bounded_updates import FAILURE, farthest_noise
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, gaussian_multiplier
from discreet.questions import KernelQueries

BUDGET, UNIT = Budget(1.0, 1e-6), AddRemoveOne()
ROWS, RIDGE, COLUMNS = 500, 20.0, 2


@dataclass(frozen=True)
class Errors:
    """The largest error of so many answers, mean over runs, and what theory allows."""

    path: float
    path_bound: float
    independent: float
    independent_bound: float
    updates: float
    updates_bound: float


def draw_queries(count: int) -> KernelQueries:
    """Declare so many public points, drawn once and for all."""
    generator = np.random.default_rng(count)
    points = generator.uniform(-0.7, 0.7, size=(count, COLUMNS))
    bounds = Bounds(L2Ball(1.0), COLUMNS, labels=LabelSet([-1, 1]), max_rows=ROWS)
    kernel = BoundedKernel(RBF(4.0), 1.0)
    return KernelQueries(Logistic(), bounds, RIDGE, kernel, count, tuple(map(tuple, points)))


def draw_rows(question: KernelQueries) -> Rows:
    """Make up a checkerboard of two by two."""
    generator = np.random.default_rng(0)
    X = generator.uniform(-0.7, 0.7, size=(ROWS, COLUMNS))
    return Rows(X, np.sign(X[:, 0] * X[:, 1]), bounds=question.bounds)


def measure_errors(count: int, seeds: range) -> Errors:
    """Ask about so many points, and return the largest error in units of one record's influence.

    Parameters
    ----------
    count
        How many points.
    seeds
        Of the noise, one a run.
    """
    question = draw_queries(count)
    influence = question.row_lipschitz / question.ridge * question.row_norm
    exact = _answers(GaussianProcess(), question, Budget(math.inf, 1e-6), 0)
    path, updates = (
        np.mean([_largest(_answers(one, question, BUDGET, seed), exact) for seed in seeds])
        for one in (GaussianProcess(), BoundedUpdates())
    )
    deviation = influence * gaussian_multiplier(BUDGET)
    wide = deviation * math.sqrt(count)
    draws = [np.random.default_rng(seed).normal(0, wide, count) for seed in seeds]
    independent = float(np.mean([np.abs(one).max() for one in draws]))
    tail = math.sqrt(2 * math.log(2 * count / FAILURE))
    plan = BoundedUpdates().plan(question, BUDGET, UNIT)
    reached = 5 * farthest_noise(getattr(plan, "grid").scale, count)  # noqa: B009
    found = (path, deviation * tail, independent, wide * tail, updates, reached)
    return Errors(*(float(one) / influence for one in found))


def _answers(mechanism: object, question: KernelQueries, budget: Budget, seed: int) -> np.ndarray:
    with warnings.catch_warnings(action="ignore", category=RehearsalWarning):
        made = release(mechanism, question, draw_rows(question), budget=budget,  # type: ignore[arg-type]
                       noise=RehearsalNoise(seed))  # fmt: skip
    value = np.asarray(made.value)
    return value[:, 0] if value.ndim == 2 else value


def _largest(answers: np.ndarray, exact: np.ndarray) -> float:
    return float(np.abs(answers - exact).max())

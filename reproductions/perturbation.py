"""Chaudhuri and Monteleoni (2008), figures 1 and 2: perturbing the output or the objective."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from discreet.data import Bounds, LabelSet
from discreet.errors import CalibrationError
from discreet.geometry import L2Ball
from discreet.losses import Logistic
from discreet.mechanisms import ObjectivePerturbation, OutputPerturbation
from discreet.privacy import Budget, ReplaceOne
from discreet.questions.problem import Problem
from reproductions.many import minimisers, unit_terms
from reproductions.sphere import WIDTH, Sample, separable, unseparable

RIDGE = 0.01  # lambda, of the mean loss
FOLDS = 5
SETS: dict[str, Callable[[int, int], Sample]] = {
    "separable": separable,
    "unseparable": unseparable,
}
METHODS = ("output", "objective", "printed")
"""The two mechanisms, and the paper's own noise for the second, which is not always enough."""

MECHANISMS = {
    "output": OutputPerturbation("radial"),
    "objective": ObjectivePerturbation("radial"),
}
PRINTED = {
    "separable": {"output": 0.2962, "objective": 0.1426, "plain": 0.0},
    "unseparable": {"output": 0.3257, "objective": 0.1903, "plain": 0.0530},
}
"""The test errors of figure 1, whose epsilon the paper does not state."""


@dataclass(frozen=True)
class Setting:
    """One point of a curve: how many rows are trained on, and epsilon."""

    rows: int
    epsilon: float


@dataclass(frozen=True)
class Errors:
    """Test errors at one setting: for each method, one row a fold and one column a draw."""

    setting: Setting
    plain: np.ndarray
    private: dict[str, np.ndarray]

    def mean(self, method: str) -> float:
        """Return the mean over folds and draws."""
        return float(self.plain.mean() if method == "plain" else self.private[method].mean())

    def between_folds(self, method: str) -> float:
        """Return the standard deviation over folds of the mean over draws, as in figure 1."""
        return float(np.std(self.private[method].mean(axis=1), ddof=1))

    def between_draws(self, method: str) -> float:
        """Return the standard deviation over all draws of all folds."""
        return float(np.std(self.private[method], ddof=1))


def problem(rows: int) -> Problem:
    """Return the paper's problem: its mean loss with lambda is a sum with n lambda."""
    bounds = Bounds(L2Ball(1.0), WIDTH, labels=LabelSet([-1, 1]), max_rows=rows)
    return Problem(Logistic(), bounds, ridge=RIDGE * rows)


def least_covered_epsilon(rows: int) -> float:
    """Return the epsilon from which on the paper's noise is enough: n lambda >= 2/epsilon."""
    return 2 / (RIDGE * rows)


def scale(method: str, setting: Setting) -> float:
    """Return the scale of the noise; NaN where the mechanism refuses."""
    if method == "printed":
        return 2 / setting.epsilon
    try:
        plan = MECHANISMS[method].plan(problem(setting.rows), Budget(setting.epsilon), ReplaceOne())
    except CalibrationError:
        return math.nan
    return plan.scale


def errors(
    name: str,
    settings: Sequence[Setting],
    *,
    count: int = 17_500,
    draws: int = 200,
    seed: int = 2008,
    workers: int | None = 1,
) -> list[Errors]:
    """Return the errors of five-fold cross-validation; folds and methods share their draws."""
    sample = SETS[name](count, seed)
    fold = partial(_fold, sample, tuple(settings), draws)
    if workers == 1:
        folds = [fold(i) for i in range(FOLDS)]
    else:
        with ProcessPoolExecutor(workers, initializer=threadpool_limits, initargs=(1,)) as pool:
            folds = list(pool.map(fold, range(FOLDS)))
    return [
        Errors(
            setting,
            np.array([plain[i] for plain, _ in folds]),
            {method: np.array([private[i][method] for _, private in folds]) for method in METHODS},
        )
        for i, setting in enumerate(settings)
    ]


def _fold(
    sample: Sample, settings: tuple[Setting, ...], draws: int, fold: int
) -> tuple[list[float], list[dict[str, np.ndarray]]]:
    """Train on rows outside a fold, as many as each setting says, and test on the fold."""
    is_test = np.arange(len(sample.y)) % FOLDS == fold
    train, test = Sample(sample.X[~is_test], sample.y[~is_test]), sample.X[is_test]
    truth = sample.y[is_test]
    terms = unit_terms(WIDTH, range(1000 * fold, 1000 * fold + draws))

    def error(points: np.ndarray) -> np.ndarray:
        return np.mean(np.sign(test @ points.T) != truth[:, None], axis=0)

    plain, private = [], []
    for setting in settings:
        rows = setting.rows
        if rows > len(train.y):
            raise ValueError(f"a fold leaves {len(train.y)} rows; asked for {rows}.")
        at = partial(
            minimisers, Logistic(), train.X[:rows], train.y[:rows], ridge=problem(rows).ridge
        )
        best = at(linear=np.zeros((1, WIDTH)))
        plain.append(float(error(best)[0]))
        found = {"output": error(best + scale("output", setting) * terms)}
        corrected = scale("objective", setting)
        refused = np.full(draws, math.nan)
        found["objective"] = (
            refused if math.isnan(corrected) else error(at(linear=corrected * terms, start=best))
        )
        is_enough = setting.epsilon >= least_covered_epsilon(rows)
        found["printed"] = (
            found["objective"]
            if is_enough
            else error(at(linear=scale("printed", setting) * terms, start=best))
        )
        private.append(found)
    return plain, private


def epsilon_reaching(curve: Sequence[Errors], method: str, error: float) -> float:
    """Return where a curve over epsilon crosses an error, on a logarithmic scale."""
    curve = [point for point in curve if not math.isnan(point.mean(method))]
    means = np.array([point.mean(method) for point in curve])
    logs = np.log([point.setting.epsilon for point in curve])
    return float(np.exp(np.interp(-error, -means, logs)))

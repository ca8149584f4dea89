"""Jain and Thakurta (2014), figure 1(c): columns of zeros hurt radial noise, not Gaussian noise.

A column of zeros leaves the minimiser alone: its coefficient is minus the linear term's coordinate
over the ridge, and no other coefficient changes. So the other coefficients of a run on p columns
are those of a run without the zeros whose linear term is the first coordinates of a draw on p.
For a Gaussian law these have the same law whatever p is; for a radial law each has a root mean
square of sqrt(p + 1) scales. :func:`shortcut` uses this identity; :func:`run` does not, and
releases all p coefficients.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from discreet.data import Bounds, LabelSet, OpenRows, Rows
from discreet.errors import CalibrationError, RehearsalWarning
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.ledger import NoLedger
from discreet.losses import HuberHinge, Logistic, Loss
from discreet.mechanisms import ObjectivePerturbation, OutputPerturbation
from discreet.mechanisms.minimising.linear_term import GaussianTerm, LinearTerm
from discreet.noise import RehearsalNoise
from discreet.privacy import Budget, Guarantee, NoPrivacy, ReplaceOne
from discreet.questions.problem import Problem

EPSILON, DELTA, RIDGE = 5.0, 1e-3, 0.001  # the paper's; its ridge is of the mean loss
TRAINED_SHARE = 0.7
LOSSES: dict[str, Loss] = {"svm": HuberHinge(0.5), "logistic": Logistic()}
MECHANISMS = {
    "Objective-Gauss": ObjectivePerturbation("gaussian"),
    "Output-Gauss": OutputPerturbation("gaussian"),
    "Objective": ObjectivePerturbation("radial"),
    "Output": OutputPerturbation("radial"),
}


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of norm at most one, for training and for testing, with labels -1 and 1."""

    X: np.ndarray
    y: np.ndarray
    test_X: np.ndarray
    test_y: np.ndarray

    def accuracy(self, coefficients: np.ndarray) -> float:
        """Return the share of the test rows that are on the right side."""
        return float(np.mean(np.sign(self.test_X @ coefficients) == self.test_y))


def made_up(count: int = 59_535, seed: int = 2014) -> Split:
    """Draw a set of Cod-RNA's shape: eight columns, a third of the labels positive."""
    generator = np.random.default_rng(seed)
    mix = generator.normal(size=(8, 8))
    X = np.clip(generator.normal(size=(count, 8)) @ mix / 6, -1, 1)
    score = X @ generator.normal(size=8)
    score += 0.15 * score.std() * generator.logistic(size=count)
    return _split(X, np.where(score > np.quantile(score, 2 / 3), 1.0, -1.0), generator)


def cod_rna(folder: Path, seed: int = 2014) -> Split:
    """Read Cod-RNA's training part; columns are scaled by their 1 % and 99 % quantiles."""
    import pandas as pd  # optional: the extra named bench

    frame = pd.read_parquet(folder / "codrna" / "data.parquet").iloc[:59_535]
    y = np.where(frame.pop("target").to_numpy() == 1, 1.0, -1.0)
    X = frame.to_numpy(float)
    low, high = np.quantile(X, [0.01, 0.99], axis=0)
    X = np.clip(2 * (X - low) / (high - low) - 1, -1, 1)
    return _split(X, y, np.random.default_rng(seed))


def _split(X: np.ndarray, y: np.ndarray, generator: np.random.Generator) -> Split:
    """Append a constant, bring rows to norm at most one, and keep three tenths for testing."""
    X = np.hstack([X, np.ones((len(X), 1))]) / np.sqrt(X.shape[1] + 1)
    order = generator.permutation(len(X))
    train, test = np.split(order, [int(TRAINED_SHARE * len(X))])
    return Split(X[train], y[train], X[test], y[test])


def problem(loss: str, split: Split, width: int) -> Problem:
    """Return the problem on ``width`` columns."""
    rows = len(split.y)
    bounds = Bounds(L2Ball(1.0), width, labels=LabelSet([-1, 1]), max_rows=rows)
    return Problem(LOSSES[loss], bounds, ridge=RIDGE * rows)


def budget(name: str, epsilon: float = EPSILON) -> Budget:
    """Return the paper's budget; radial noise needs no delta and gets none."""
    return Budget(epsilon, DELTA if name.endswith("Gauss") else 0.0)


def run(name: str, loss: str, split: Split, width: int, *, seed: int) -> np.ndarray | None:
    """Release all coefficients on ``width`` columns, sparse, or None where the plan refuses."""
    question = problem(loss, split, width)
    rows = Rows(padded(split.X, width), split.y, bounds=question.bounds, unit="replace")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RehearsalWarning)
        try:
            return release(
                MECHANISMS[name], question, rows, budget=budget(name), noise=RehearsalNoise(seed)
            ).value
        except CalibrationError:
            return None


def shortcut(
    name: str, loss: str, split: Split, width: int, *, seeds: range, epsilon: float = EPSILON
) -> list[np.ndarray]:
    """Return the coefficients that are not of zeros, of the same draws without the mask."""
    narrow = split.X.shape[1]
    question = problem(loss, split, narrow)
    plan = MECHANISMS[name].plan(question, budget(name, epsilon), ReplaceOne())
    opened, term = _opened(question, split), term_of(plan)
    drawn = [term.draw(width, RehearsalNoise(seed))[:narrow] for seed in seeds]
    if name.startswith("Objective"):
        return [plan.minimiser.solve(opened, linear) for linear in drawn]
    best = plan.minimiser.solve(opened, np.zeros(narrow))
    return [best + noise for noise in drawn]


def plain(loss: str, split: Split) -> np.ndarray:
    """Return the minimiser without noise."""
    question = problem(loss, split, split.X.shape[1])
    plan = ObjectivePerturbation().plan(question, Budget(math.inf), ReplaceOne())
    return np.asarray(plan.run(_opened(question, split), RehearsalNoise(0)))


def _opened(question: Problem, split: Split) -> OpenRows:
    rows = Rows(split.X, split.y, bounds=question.bounds, unit="replace")
    return rows.open(NoLedger().charge(Guarantee(NoPrivacy(), ReplaceOne())))


def term_of(plan: object) -> LinearTerm:
    """Return the law of a plan's noise."""
    grid = getattr(plan, "grid", None)
    term: LinearTerm = GaussianTerm(grid.scale) if grid is not None else plan.term
    return term


def padded(X: np.ndarray, width: int) -> sparse.csr_array:
    """Append columns of zeros."""
    count, narrow = X.shape
    columns = np.tile(np.arange(narrow), count)
    starts = np.arange(0, count * narrow + 1, narrow)
    return sparse.csr_array((X.ravel(), columns, starts), shape=(count, width))

r"""Thakurta's thesis (2013), theorem 4.3: what a linear term costs in least squares, exactly.

With :math:`J(w) = \frac12\|y - Xw\|^2 + \frac\Lambda2\|w\|^2`, :math:`A = X'X + \Lambda I` and a
Gaussian b of scale :math:`\sigma`, a minimiser of :math:`J + \langle b, \cdot\rangle` inside the
constraint is :math:`A^{-1}b` away from that of J, and

.. math:: J(w_{priv}) - \min J = \tfrac12 b'A^{-1}b, \quad
          \text{of mean } \tfrac{\sigma^2}{2} \operatorname{tr} A^{-1}
          \text{ and deviation } \tfrac{\sigma^2}{\sqrt2} \|A^{-1}\|_F.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.data import Bounds, Interval, Rows
from discreet.geometry import L2Ball
from discreet.ledger import NoLedger
from discreet.losses import Squared
from discreet.mechanisms import ObjectivePerturbation
from discreet.mechanisms.minimising.linear_term import GaussianTerm
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import (
    AddRemoveOne,
    Budget,
    Guarantee,
    NoPrivacy,
    Profile,
    ShiftedGaussian,
    calibrate,
)
from discreet.questions.problem import Problem

RADIUS = 4.0  # of the constraint; solutions stay within half of it
WIDTH, LABEL_BOUND = 5, 1.0
MECHANISM = ObjectivePerturbation("gaussian")
SOLVERS = ("mechanism", "algebra")
"""Where private points come from: the library's whole mechanism, or the formula in its noise."""


@dataclass(frozen=True)
class Setting:
    """A design, even in all directions or weak in one, its ridge, and the budget."""

    is_even: bool
    ridge: float
    epsilon: float
    rows: int = 4000


@dataclass(frozen=True, eq=False)
class Excess:
    """The measured excess of every draw, and what the theorem says of it."""

    setting: Setting
    solver: str
    sigma: float
    measured: np.ndarray
    mean: float
    deviation: float

    @property
    def score(self) -> float:
        """How many standard errors the measured mean is above the theorem's."""
        error = self.deviation / math.sqrt(self.measured.size)
        return float((self.measured.mean() - self.mean) / error)


def design(setting: Setting, seed: int = 2013) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of norm at most one and labels that a linear model nearly explains."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(setting.rows, WIDTH))
    if not setting.is_even:
        X[:, 0] *= 0.3
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    y = X @ np.linspace(0.2, 0.5, WIDTH) + 0.1 * generator.normal(size=setting.rows)
    return X, np.clip(y, -LABEL_BOUND, LABEL_BOUND)


def problem(setting: Setting) -> Problem:
    """Return constrained least squares, whose gradients the constraint bounds."""
    labels = Interval(-LABEL_BOUND, LABEL_BOUND)
    bounds = Bounds(L2Ball(1.0), WIDTH, labels=labels, max_rows=setting.rows)
    region = Indicator(L2Ball(RADIUS))
    return Problem(Squared(LABEL_BOUND), bounds, ridge=setting.ridge, penalty=region)


def best_solver() -> str:
    """Return the mechanism if it takes constrained least squares, and the formula otherwise."""
    accepted = MECHANISM.accepts(problem(Setting(True, 1.0, 1.0)), AddRemoveOne())
    return "mechanism" if accepted else "algebra"


def excess(setting: Setting, *, seeds: range, solver: str | None = None) -> Excess:
    """Measure the excess of one private point a seed."""
    solver = best_solver() if solver is None else solver
    X, y = design(setting)
    curvature = X.T @ X + setting.ridge * np.eye(WIDTH)
    best = np.linalg.solve(curvature, X.T @ y)
    if solver == "mechanism":
        sigma, points = _by_mechanism(setting, X, y, seeds)
    else:
        sigma, points = _by_algebra(setting, curvature, best, seeds)
    if np.linalg.norm([*points, best], axis=1).max() > 0.5 * RADIUS:
        raise ArithmeticError("a solution is too near the boundary for the theorem.")

    def objective(w: np.ndarray) -> float:
        return float(0.5 * np.sum((y - X @ w) ** 2) + 0.5 * setting.ridge * w @ w)

    inverse = np.linalg.inv(curvature)
    return Excess(
        setting,
        solver,
        sigma,
        np.array([objective(point) for point in points]) - objective(best),
        mean=0.5 * sigma**2 * float(np.trace(inverse)),
        deviation=sigma**2 / math.sqrt(2) * float(np.linalg.norm(inverse)),
    )


def _by_mechanism(
    setting: Setting, X: np.ndarray, y: np.ndarray, seeds: range
) -> tuple[float, list[np.ndarray]]:
    question, unit = problem(setting), AddRemoveOne()
    plan = MECHANISM.plan(question, Budget(setting.epsilon, 1e-6), unit)
    rows = Rows(X, y, bounds=question.bounds, unit=unit)
    opened = rows.open(NoLedger().charge(Guarantee(NoPrivacy(), unit)))
    return plan.scale, [plan.run(opened, RehearsalNoise(seed)) for seed in seeds]


def _by_algebra(
    setting: Setting, curvature: np.ndarray, best: np.ndarray, seeds: range
) -> tuple[float, list[np.ndarray]]:
    """Use the thesis's linear algebra, and noise calibrated to the constrained slope R B + Y."""
    question = problem(setting)

    def profile(scale: float) -> Profile:
        return ShiftedGaussian(
            mu=question.row_lipschitz / scale,
            log_ratio=question.log_ratio,
            joint=None,
            is_one_signed=False,
            is_replace=False,
        )

    sigma = calibrate(profile, Budget(setting.epsilon, 1e-6))
    terms = (GaussianTerm(sigma).draw(WIDTH, RehearsalNoise(seed)) for seed in seeds)
    return sigma, [best - np.linalg.solve(curvature, term) for term in terms]

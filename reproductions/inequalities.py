r"""What holds of every single draw: bounds on how far a private point can be from the best one.

For output perturbation, :math:`\hat w` the minimiser of J, whose Hessian is at most S:

* curved: :math:`J(\hat w + b) - J(\hat w) \le \frac{S}{2} \|b\|^2`.

For objective perturbation, with J the sum of losses and the ridge, F the losses alone:

* near: :math:`\|w_{priv} - \hat w\| \le \|b\|/\Lambda`;
* low: :math:`J(w_{priv}) - J(\hat w) \le \|b\|^2/(2\Lambda)`;
* fitting: :math:`F(w_{priv}) - F(v) \le \|b\|^2/(2\Lambda) + \frac\Lambda2\|v\|^2` for every v, and
  so for the minimiser of F.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.data import Bounds, Interval, LabelSet, OpenRows, Rows
from discreet.geometry import L2Ball
from discreet.ledger import NoLedger
from discreet.losses import HuberHinge, Logistic, Loss, PseudoHuber
from discreet.mechanisms import ObjectivePerturbation, OutputPerturbation
from discreet.noise import RehearsalNoise
from discreet.privacy import Budget, Guarantee, NoPrivacy, ReplaceOne
from discreet.questions.problem import Problem
from reproductions.sphere import WIDTH, unseparable

LAWS = ("gaussian", "laplace", "radial")


@dataclass(frozen=True)
class Case:
    """A loss, the ridge of its sum, epsilon, and how many rows there are."""

    loss: Loss
    ridge: float
    epsilon: float
    rows: int = 1000


CASES = (
    Case(Logistic(), ridge=5.0, epsilon=1.0),
    Case(HuberHinge(0.5), ridge=50.0, epsilon=0.1),
    Case(PseudoHuber(0.5), ridge=50.0, epsilon=0.1),
    Case(Logistic(), ridge=500.0, epsilon=0.1, rows=50),
    Case(HuberHinge(0.5), ridge=500.0, epsilon=0.1, rows=50),
)
"""The last two have so much ridge that the bounds of objective perturbation are nearly reached."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """For each inequality, its left side over its right side, one number a draw."""

    case: Case
    law: str
    of: dict[str, np.ndarray]

    @property
    def largest(self) -> dict[str, float]:
        """How much of each bound the worst draw used."""
        return {name: float(values.max()) for name, values in self.of.items()}


def ratios(case: Case, law: str, *, seeds: range, sample_seed: int = 4) -> Ratios:
    """Run both mechanisms once a seed; each draws its noise first, so it can be drawn again."""
    sample = unseparable(case.rows, sample_seed)
    labels = LabelSet([-1, 1]) if case.loss.is_classifier else Interval(-1, 1)
    bounds = Bounds(L2Ball(1.0), WIDTH, labels=labels, max_rows=case.rows)
    problem, unit = Problem(case.loss, bounds, ridge=case.ridge), ReplaceOne()
    rows = Rows(sample.X, sample.y, bounds=bounds, unit=unit)
    opened = rows.open(NoLedger().charge(Guarantee(NoPrivacy(), unit)))
    budget = Budget(case.epsilon, 1e-6)

    def losses(w: np.ndarray) -> float:
        return float(case.loss.value(sample.y, sample.X @ w).sum())

    def objective(w: np.ndarray) -> float:
        return losses(w) + 0.5 * case.ridge * float(w @ w)

    best = _exact(problem, opened)
    freer = _exact(Problem(case.loss, bounds, ridge=1e-3), opened)
    found: dict[str, list[float]] = {"near": [], "low": [], "fitting": [], "curved": []}
    plan = ObjectivePerturbation(law).plan(problem, budget, unit)
    for seed in seeds:
        linear = plan.term.draw(WIDTH, RehearsalNoise(seed))
        point, size = plan.run(opened, RehearsalNoise(seed)), float(np.linalg.norm(linear))
        low = size**2 / (2 * case.ridge)
        found["near"].append(float(np.linalg.norm(point - best)) * case.ridge / size)
        found["low"].append((objective(point) - objective(best)) / low)
        found["fitting"].append(
            (losses(point) - losses(freer)) / (low + 0.5 * case.ridge * float(freer @ freer))
        )
    stiffness = case.rows * problem.row_smoothness + case.ridge
    output = OutputPerturbation(law).plan(problem, budget, unit)
    for seed in seeds:
        point = output.run(opened, RehearsalNoise(seed))
        moved = float(np.sum((point - best) ** 2))
        found["curved"].append(2 * (objective(point) - objective(best)) / (stiffness * moved))
    return Ratios(case, law, {name: np.array(values) for name, values in found.items()})


def _exact(problem: Problem, opened: OpenRows) -> np.ndarray:
    plan = ObjectivePerturbation().plan(problem, Budget(np.inf), ReplaceOne())
    return np.asarray(plan.run(opened, RehearsalNoise(0)))

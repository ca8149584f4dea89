r"""The instances on which no private mechanism does better: rows at corners of a cube.

Bassily, Smith and Thakurta (2014), section V. Rows are corners of the cube of half-width
:math:`1/\sqrt p`, so of norm one; most of them cancel, and ``pull`` of them do not. On the unit
ball, one record replaced,

* linear: :math:`-\langle w, x\rangle`, whose sum is least at a corner;
* quadratic: :math:`\|w - x\|^2/2`, strongly convex, whose sum is least at the mean. But for a
  constant it is the linear loss with a ridge of one a row, and the ridge is as public as the number
  of rows.

A pull far above the noise is easily followed, and one far below it does not matter; so the hardest
of a few is what counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.data import Bounds, LabelSet, OpenRows, Rows
from discreet.geometry import L2Ball
from discreet.ledger import NoLedger
from discreet.losses import Loss
from discreet.mechanisms import (
    ExponentialSampling,
    Learner,
    Localization,
    NoisyGradient,
    ObjectivePerturbation,
    OutputPerturbation,
)
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import Budget, Guarantee, NoPrivacy, ReplaceOne, gaussian_multiplier
from discreet.questions.problem import Problem
from discreet.theory import Setting, best_lower

DELTA = 1e-9
PULLS = (0.5, 1.0, 2.0)
"""In units of the noise that a sum of rows needs."""

FREE_RIDGE = 0.05
"""Of linear losses, in the same units: too little to matter, enough for a unique minimiser."""


@dataclass(frozen=True)
class Linear(Loss):
    """The loss -yz: the margin itself, with its sign turned."""

    def value(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return -y * z

    def slope(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return -y * np.ones_like(z)

    def curvature(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return np.zeros_like(y * z)

    @property
    def is_classifier(self) -> bool:
        return True

    @property
    def is_one_signed(self) -> bool:
        return True

    @property
    def self_concordance(self) -> float:
        return 0.0

    def _lipschitz(self, reach: float) -> float:
        return 1.0

    def _smoothness(self, reach: float) -> float:
        return 0.0


@dataclass(frozen=True)
class Cell:
    """How many rows and columns, the budget, and whether losses are strongly convex."""

    n: int
    p: int
    epsilon: float
    is_pure: bool
    is_curved: bool

    @property
    def budget(self) -> Budget:
        return Budget(self.epsilon, 0.0 if self.is_pure else DELTA)

    @property
    def noise(self) -> float:
        """Return the length of the noise that hides one replaced row in the sum of all."""
        if self.is_pure:
            return 2 * self.p / self.epsilon
        return 2 * float(np.sqrt(self.p)) * gaussian_multiplier(self.budget)

    @property
    def problem(self) -> Problem:
        bounds = Bounds(L2Ball(1.0), self.p, labels=LabelSet([-1, 1]), max_rows=self.n)
        ridge = float(self.n) if self.is_curved else FREE_RIDGE * self.noise
        return Problem(Linear(), bounds, ridge=ridge, penalty=Indicator(L2Ball(1.0)))

    @property
    def setting(self) -> Setting:
        """Return what the bounds need to know."""
        slope = 2.0 if self.is_curved else 1.0
        plain = Setting(
            self.n, self.p, self.epsilon, self.budget.delta, lipschitz=slope, diameter=2.0
        )
        return replace(plain, strong_convexity=1.0) if self.is_curved else plain

    @property
    def least(self) -> float:
        """Return what no mechanism can do better than on all instances: proved, with constants."""
        return best_lower(self.setting).total


def corners(cell: Cell, pull: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of which ``pull`` more are at one corner than at the opposite, and the corner."""
    if (cell.n - pull) % 2 or not 0 <= pull <= cell.n:
        raise ValueError(f"{cell.n} rows cannot pull by {pull}")
    signs = np.where(RehearsalNoise(cell.p).below(2, cell.p) == 1, 1.0, -1.0)
    corner = signs / np.sqrt(cell.p)
    sides = np.ones(cell.n)
    sides[: (cell.n - pull) // 2] = -1.0
    return sides[:, None] * corner, corner


def excess(cell: Cell, mechanism: Learner, *, seeds: range) -> float:
    """Return the mean excess of a mechanism on the hardest of a few pulls."""
    plan = mechanism.plan(cell.problem, cell.budget, ReplaceOne())
    found = []
    for share in PULLS:
        pull = min(round(share * cell.noise), cell.n)
        pull -= (cell.n - pull) % 2
        X, corner = corners(cell, pull)
        opened = _opened(X, cell.problem.bounds)
        points = np.array([plan.run(opened, RehearsalNoise(seed)) for seed in seeds])
        found.append(float(np.mean(_excess(cell, points, pull * corner))))
    return max(found)


def _opened(X: np.ndarray, bounds: Bounds) -> OpenRows:
    rows = Rows(X, np.ones(len(X)), bounds=bounds, unit=ReplaceOne())
    return rows.open(NoLedger().charge(Guarantee(NoPrivacy(), ReplaceOne())))


def _excess(cell: Cell, points: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return the sum of losses at each point, less the least on the ball."""
    if cell.is_curved:
        return 0.5 * cell.n * ((points - total / cell.n) ** 2).sum(axis=1)
    return np.linalg.norm(total) - points @ total


def slope(sizes: Sequence[float], excesses: Sequence[float]) -> float:
    """Return the slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(excesses), 1)[0])


def descent(cell: Cell) -> NoisyGradient:
    """Return gradient descent with the steps of its theorem: as many as noise makes useful."""
    mu = 1 / gaussian_multiplier(cell.budget)
    steps = int(np.ceil(min(max((cell.n * mu) ** 2 / (4 * cell.p), 50), 4000)))
    if cell.is_curved:
        return NoisyGradient(steps=steps, rate=1.0, rule="strongly_convex", average="polynomial")
    return NoisyGradient(steps=steps, rate=1.0, rule="lipschitz", average="uniform")


def few_coefficients(cell: Cell) -> Learner:
    """Return the exponential mechanism, after localization where losses are strongly convex."""
    return Localization() if cell.is_curved else ExponentialSampling()


Maker = Callable[[Cell], Learner]
QUARTERS: dict[tuple[bool, bool], dict[str, Maker]] = {
    (False, False): {
        "noisy gradient": descent,
        "objective perturbation": lambda _: ObjectivePerturbation("gaussian"),
    },
    (False, True): {
        "noisy gradient": descent,
        "objective perturbation": lambda _: ObjectivePerturbation("gaussian"),
        "output perturbation": lambda _: OutputPerturbation("gaussian"),
    },
    (True, False): {
        "objective perturbation": lambda _: ObjectivePerturbation("radial"),
        "exponential sampling": few_coefficients,
    },
    (True, True): {
        "objective perturbation": lambda _: ObjectivePerturbation("radial"),
        "output perturbation": lambda _: OutputPerturbation("radial"),
        "localization": few_coefficients,
    },
}
"""By (pure, strongly convex): what is measured in each quarter of Table I."""

PREDICTED = {
    (False, False): {"p": 0.5, "n": 0.0, "epsilon": -1.0},
    (False, True): {"p": 1.0, "n": -1.0, "epsilon": -2.0},
    (True, False): {"p": 1.0, "n": 0.0, "epsilon": -1.0},
    (True, True): {"p": 2.0, "n": -1.0, "epsilon": -2.0},
}
"""The slopes of Table I: of the logarithm of the excess against that of each size."""

AXES = {
    "p": (20, 50, 100, 200),
    "n": (1000, 2000, 5000, 10_000),
    "epsilon": (0.1, 0.2, 0.5, 1.0),
}
FIXED = {"n": 2000, "p": 20, "epsilon": 1.0}
FEW = {"p": (1, 2, 3, 4, 6), "fixed": 2}
"""For the mechanisms that sample: few coefficients, and two where p is fixed."""


@dataclass(frozen=True)
class Curve:
    """Excesses of one mechanism along one axis, what is proved impossible there, and slopes."""

    name: str
    axis: str
    sizes: tuple[float, ...]
    excesses: tuple[float, ...]
    least: tuple[float, ...]
    predicted: float

    @property
    def slope(self) -> float:
        return slope(self.sizes, self.excesses)


def curves(quarter: tuple[bool, bool], axis: str, *, draws: int) -> Iterator[Curve]:
    """Measure every mechanism of a quarter of the table along an axis."""
    is_pure, is_curved = quarter
    for name, make in QUARTERS[quarter].items():
        is_few = make is few_coefficients
        sizes = FEW["p"] if is_few and axis == "p" else AXES[axis]
        fixed = FIXED | ({"p": FEW["fixed"]} if is_few else {})
        cells = [
            Cell(**(fixed | {axis: size}), is_pure=is_pure, is_curved=is_curved) for size in sizes
        ]
        yield Curve(
            name,
            axis,
            tuple(map(float, sizes)),
            tuple(excess(cell, make(cell), seeds=range(draws)) for cell in cells),
            tuple(cell.least for cell in cells),
            PREDICTED[quarter][axis],
        )

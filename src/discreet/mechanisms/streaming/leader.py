r"""Where the leader is: coefficients from a noisy running sum of gradients, and how far it may go.

After t of T steps, with S the running sum, the ridge and the penalty of the whole stream counted as
far as it has gone, and :math:`1/\eta` the pull towards the origin,

.. math:: \theta = \arg\min_\theta \langle S, \theta \rangle + \frac{1}{2 \eta} \|\theta\|^2
          + \frac{t}{T} \Big( \frac{\Lambda}{2} \|\theta\|^2 + P(\theta) \Big).

All of it is public: S is released.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Vector
from discreet.mechanisms.summing.step_policy import expected_distance
from discreet.questions.problem import Problem


@dataclass(frozen=True)
class Leader:
    """The rule that makes coefficients of a running sum."""

    problem: Problem
    pull: float
    steps: int

    def first(self) -> Vector:
        """Return the coefficients before the first record."""
        return np.array(self._project(np.zeros(self.problem.width), 1 / self.pull))

    def after(self, total: Vector, step: int) -> Vector:
        """Return the coefficients after ``step`` steps with this running sum."""
        share = step / self.steps
        stiffness = self.pull + share * self.problem.ridge
        return self._project(total * (-1 / stiffness), share / stiffness)

    def _project(self, point: Vector, step: float) -> Vector:
        penalty = self.problem.penalty
        return point if penalty is None else penalty.prox(point, step)


def best_pull(problem: Problem, steps: int, batch: int, deviation: float) -> float:
    r"""Return the pull towards the origin for which the bound on regret is least.

    .. math:: \frac{D^2}{2 \eta} + \eta T G^2 + \eta T G \sigma \sqrt p
    """
    return math.sqrt(2 * _growth(problem, steps, batch, deviation)) / expected_distance(problem)


CURVED, CAUTION = 0.6, 2.5
"""Margins bend a loss by this share of its smoothness; how far the bound's rate is exceeded."""

BEND_OF_KINKS = 0.25
"""What stands for the smoothness of a loss that has none: that of a logistic one."""


def usual_pull(problem: Problem, steps: int, batch: int, deviation: float) -> float:
    r"""Return the pull towards the origin for which records are predicted best, as expected.

    The bound on regret counts noise as if losses were steep everywhere. Where margins are, they
    bend: noise of deviation :math:`\sigma` in a sum is one of :math:`\eta \sigma R` in a margin,
    and costs :math:`h (\eta \sigma R)^2 / 2` a record. With the way that is left to go,

    .. math:: \frac{D^2}{2 \eta n} + \frac{h}{2} (\eta \sigma R)^2

    is least at :math:`\eta^3 = D^2 / (2 n h \sigma^2 R^2)`, n the number of records. The rate is
    no larger than two and a half times that of the bound without noise. Chosen on the streams elec2
    and adult, where rates of half and of twice as much predict worse.
    """
    smooth = (
        problem.row_smoothness if problem.loss.is_smooth else BEND_OF_KINKS * problem.row_norm**2
    )
    far, records = expected_distance(problem), steps * batch
    least = problem.row_lipschitz * math.sqrt(records) / (CAUTION * far)
    return max(least, math.cbrt(2 * records * CURVED * smooth * deviation**2 / far**2))


def bound_regret(problem: Problem, steps: int, batch: int, deviation: float, pull: float) -> float:
    """Return the bound on the expected regret over all records at a pull."""
    far = expected_distance(problem)
    return far**2 * pull / 2 + _growth(problem, steps, batch, deviation) / pull


def _growth(problem: Problem, steps: int, batch: int, deviation: float) -> float:
    steepest = batch * problem.row_lipschitz
    return steps * steepest * (steepest + deviation * math.sqrt(problem.width))

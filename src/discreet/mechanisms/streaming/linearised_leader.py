"""Follow the leader, with each loss as straight as it is at the point that was played.

The sum of gradients at released points (dual averaging): given these, one record moves the sum by
its own gradient and nothing else, whatever the loss is.
"""

from __future__ import annotations

from discreet._types import Vector
from discreet.mechanisms.base import Verdict
from discreet.mechanisms.streaming.online_algorithm import (
    OnlineAlgorithm,
    accepts_domain,
    own_margin,
    subtract,
)
from discreet.questions.problem import Problem


class LinearisedLeader(OnlineAlgorithm):
    """The minimiser of all losses so far, each replaced by its tangent and the ridge.

    Iterates leave the domain, what is played does not: its nearest point.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Hinge
    >>> from discreet.questions import Bounds, LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=2, labels=LabelSet([-1, 1]))
    >>> leader = LinearisedLeader(Problem(Hinge(), bounds, ridge=0.5), horizon=100)
    >>> total = leader.step(np.zeros(2), 1, np.array([0.6, 0.8]), 1.0, np.zeros(2))
    >>> leader.iterate(total, 1)
    array([1.2, 1.6])
    """

    listens = True

    @staticmethod
    def accepts(problem: Problem) -> Verdict:
        return accepts_domain(problem)

    @property
    def binds(self) -> bool:
        return False

    @property
    def error(self) -> float:
        return self.adding_error()

    def step(self, total: Vector, seen: int, row: Vector, label: float, played: Vector) -> Vector:
        slope = self.problem.loss.slope(label, own_margin(row, played))  # type: ignore[arg-type]
        return subtract(total, float(slope), row)

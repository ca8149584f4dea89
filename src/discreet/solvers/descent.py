"""Projected steps along gradients that somebody else releases.

Proximal subgradient descent, with the ridge and the penalty taken exactly; with momentum, if asked
for (Nesterov's accelerated gradient). Which point of a path is the answer is an average: the last
point, suffix averages, polynomial weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError
from discreet.penalties import Penalty
from discreet.solvers.step_rules import Directions, Preconditioned, StepRule


def descend(
    gradient: Callable[[Vector], Vector],
    start: Vector,
    *,
    steps: int,
    rule: StepRule,
    average: Average,
    ridge: float,
    penalty: Penalty | None = None,
    momentum: float = 0.0,
) -> Vector:
    r"""Follow gradients, and return an average of the path.

    A step starts from :math:`w + \beta (w - w')`, w' the point before w; without momentum from w.
    From there, call it w again, a step with stiffness s goes to the minimiser of
    :math:`\langle g, u \rangle + s \|u - w\|^2/2 + \Lambda \|u\|^2/2 + P(u)`. The ridge and the
    penalty are public, so they are taken as they are; the penalty of a constraint projects.

    Parameters
    ----------
    gradient
        Returns a gradient at a point, noisy and public.
    start
        Where the path begins.
    steps
        How many steps; at least one.
    rule
        How far each of them goes.
    average
        Which of the points on the path is the answer.
    ridge
        :math:`\Lambda`, the strength of the ridge; positive.
    penalty
        :math:`P`, a further penalty or a constraint; None for neither. Preconditioned steps take
        none.
    momentum
        :math:`\beta`, from zero up to but not one.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.penalties import Indicator
    >>> from discreet.solvers import Adaptive, LastPoint
    >>> slope = np.array([-30.0, -40.0])
    >>> descend(lambda w: slope, np.zeros(2), steps=20, rule=Adaptive(4.0), average=LastPoint(),
    ...         ridge=1e-6, penalty=Indicator(L2Ball(2.0))).round(3)
    array([1.2, 1.6])
    """
    _checks.whole(steps=steps, at_least=1)
    _checks.positive(ridge=ridge)
    if not 0 <= momentum < 1:
        raise InputError(f"momentum must be from 0 up to but not 1; got {momentum}.")
    if penalty is not None and isinstance(rule, Preconditioned):
        raise InputError("Preconditioned steps know no penalty; use Adaptive.")
    stiffness_of = rule.start()
    point = np.array(start, dtype=np.float64)
    answer = before = point
    for taken in range(1, steps + 1):
        ahead = point + momentum * (point - before) if momentum else point
        before = point
        slope = gradient(ahead)
        stiffness = stiffness_of(slope)
        if isinstance(stiffness, Directions):
            point = stiffness.step(ahead, slope, ridge)
        else:
            step = 1 / (stiffness + ridge)
            point = (stiffness * ahead - slope) * step
            if penalty is not None:
                point = penalty.prox(point, step)
        answer = average.fold(answer, point, taken, steps)
    return answer


class Average(ABC):
    """A public rule that makes one point of the points on a path.

    Examples
    --------
    >>> def along(average: Average, points: list[float]) -> float:
    ...     total = np.zeros(1)
    ...     for i, point in enumerate(points):
    ...         share = average.share(i + 1, len(points))
    ...         total += share * (np.array([point]) - total)
    ...     return float(total[0])
    >>> path = [0.0, 3.0, 6.0, 9.0]
    >>> [along(rule, path) for rule in (LastPoint(), SuffixAverage(0.5), PolynomialAverage(0))]
    [9.0, 7.5, 4.5]
    """

    @abstractmethod
    def share(self, taken: int, steps: int) -> float:
        """Return how much of the average so far is replaced by the point after ``taken`` steps."""

    def fold(self, so_far: Vector, point: Vector, taken: int, steps: int) -> Vector:
        """Return the average of a path that goes one point further.

        Parameters
        ----------
        so_far
            The average of the path before.
        point
            The next point.
        taken
            How many steps lead to it; at least one.
        steps
            How many steps the whole path will have.
        """
        share = self.share(taken, steps)
        return so_far + share * (point - so_far) if share < 1 else np.array(point)


@dataclass(frozen=True)
class LastPoint(Average):
    """The end of the path.

    Examples
    --------
    >>> LastPoint().share(3, steps=10)
    1.0
    """

    def share(self, taken: int, steps: int) -> float:
        return 1.0


@dataclass(frozen=True)
class SuffixAverage(Average):
    """The mean of the last part of the path.

    Parameters
    ----------
    part
        How much of the path counts, up to all of it.

    Examples
    --------
    >>> [round(SuffixAverage(0.3).share(taken, steps=10), 3) for taken in (7, 8, 9, 10)]
    [1.0, 1.0, 0.5, 0.333]
    """

    part: float = 0.5

    def __post_init__(self) -> None:
        _checks.positive(part=self.part)
        _checks.fraction(part=self.part)

    def share(self, taken: int, steps: int) -> float:
        skipped = steps - max(1, round(self.part * steps))
        return 1.0 / max(1, taken - skipped)


@dataclass(frozen=True)
class PolynomialAverage(Average):
    """A mean whose weights grow like a power of the number of steps taken.

    Parameters
    ----------
    power
        Zero for the plain mean, one for weights in proportion to the number of steps, and so on.

    References
    ----------
    Shamir, Zhang (2013), Stochastic gradient descent for non-smooth optimization.

    Examples
    --------
    >>> PolynomialAverage(1).share(2, steps=10) == 2 / 3
    True
    """

    power: int = 1

    def __post_init__(self) -> None:
        _checks.whole(power=self.power, at_least=0)

    def share(self, taken: int, steps: int) -> float:
        return (self.power + 1) / (taken + self.power)

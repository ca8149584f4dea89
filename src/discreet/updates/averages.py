"""Which of the points on a path is the answer.

Iterate averaging: the last point, suffix averages, polynomial weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from discreet import _checks
from discreet._types import Vector


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

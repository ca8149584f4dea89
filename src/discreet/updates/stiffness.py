r"""How far steps go.

A step from w along the gradient g minimises :math:`\langle g, u \rangle + s \|u - w\|^2 / 2` plus
whatever else is known of the objective; s is its *stiffness*, the inverse of a step size. A rule
sees public gradients only.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from discreet import _checks
from discreet._types import Vector

Stiffness = Callable[[Vector], float]


class StepRule(ABC):
    """A public rule for the stiffness of each step."""

    @abstractmethod
    def fresh(self) -> Stiffness:
        """Return a function from one gradient after the other to the stiffness of each step."""


@dataclass(frozen=True)
class Decreasing(StepRule):
    r"""For convex sums of known size: steps :math:`D / (S \sqrt t)`.

    Parameters
    ----------
    diameter
        D, of the set that is searched.
    gradient
        S, the root of the mean squared norm of a noisy gradient.

    References
    ----------
    Bassily, Smith, Thakurta (2014), theorem II.4.

    Examples
    --------
    >>> import numpy as np
    >>> stiffness = Decreasing(diameter=2.0, gradient=10.0).fresh()
    >>> [stiffness(np.ones(3)) for _ in range(4)][::3]
    [5.0, 10.0]
    """

    diameter: float
    gradient: float

    def __post_init__(self) -> None:
        _checks.positive(diameter=self.diameter, gradient=self.gradient)

    def fresh(self) -> Stiffness:
        taken = 0

        def stiffness(gradient: Vector) -> float:
            nonlocal taken
            taken += 1
            return self.gradient * math.sqrt(taken) / self.diameter

        return stiffness


@dataclass(frozen=True)
class Growing(StepRule):
    r"""For strongly convex sums: stiffness :math:`m (t - 1) / 2`.

    Together with a ridge m taken exactly, these are the steps :math:`2 / (m (t + 1))` along the
    gradient of everything.

    Parameters
    ----------
    strong_convexity
        m, of the whole objective.

    References
    ----------
    Lacoste-Julien, Schmidt, Bach (2012); Bassily, Smith, Thakurta (2014), theorem II.4.

    Examples
    --------
    >>> import numpy as np
    >>> stiffness = Growing(strong_convexity=4.0).fresh()
    >>> [stiffness(np.ones(3)) for _ in range(3)]
    [0.0, 2.0, 4.0]
    """

    strong_convexity: float

    def __post_init__(self) -> None:
        _checks.positive(strong_convexity=self.strong_convexity)

    def fresh(self) -> Stiffness:
        taken = 0

        def stiffness(gradient: Vector) -> float:
            nonlocal taken
            taken += 1
            return self.strong_convexity * (taken - 1) / 2

        return stiffness


@dataclass(frozen=True)
class Adaptive(StepRule):
    r"""For convex sums of unknown size: steps :math:`D / \sqrt{2 \sum_s \|g_s\|^2}`.

    The noisy gradients themselves say how large they are, so nobody has to know how many rows there
    are. With D the diameter the regret is at most :math:`D \sqrt{2 \sum_s \|g_s\|^2}`.

    Parameters
    ----------
    diameter
        D, of the set that is searched, or how far the answer is expected to be.

    References
    ----------
    Streeter, McMahan (2010), Less regret via online conditioning.

    Examples
    --------
    >>> import numpy as np
    >>> stiffness = Adaptive(diameter=1.0).fresh()
    >>> [stiffness(np.array([2.0])) for _ in range(2)]
    [2.8284271247461903, 4.0]
    """

    diameter: float

    def __post_init__(self) -> None:
        _checks.positive(diameter=self.diameter)

    def fresh(self) -> Stiffness:
        squares = 0.0

        def stiffness(gradient: Vector) -> float:
            nonlocal squares
            squares += float(gradient @ gradient)
            return math.sqrt(2 * squares) / self.diameter

        return stiffness

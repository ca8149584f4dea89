r"""How far steps go.

Step sizes (learning rates): constant, decreasing, for strong convexity, adaptive (AdaGrad),
preconditioned.

A step from w along the gradient g minimises :math:`\langle g, u \rangle + s \|u - w\|^2 / 2` plus
whatever else is known of the objective; s is its *stiffness*, the inverse of a step size. A rule
sees public gradients only.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector


@dataclass(frozen=True, eq=False)
class Directions:
    """A stiffness of its own along each of some orthogonal directions, the columns of a matrix."""

    columns: Array
    values: Vector

    def step(self, point: Vector, gradient: Vector, ridge: float) -> Vector:
        """Return where a step goes that counts in a ridge."""
        along, slopes = point @ self.columns, gradient @ self.columns
        return np.asarray(self.columns @ ((self.values * along - slopes) / (self.values + ridge)))


Stiffness = Callable[[Vector], "float | Directions"]

_RENEWAL = 16
"""Directions are worked out anew when the steps taken have grown by a share of one in so many."""

_FLATTEST = 1e-12
"""The least sum of squares along a direction, over the largest."""


class StepRule(ABC):
    """A public rule for the stiffness of each step.

    Examples
    --------
    >>> def first_two(rule: StepRule) -> list[float]:
    ...     stiffness = rule.start()
    ...     return [float(stiffness(np.ones(1))) for _ in range(2)]
    >>> first_two(Decreasing(diameter=1.0, gradient=2.0))
    [2.0, 2.8284271247461903]
    """

    @abstractmethod
    def start(self) -> Stiffness:
        """Return a function from one gradient after the other to the stiffness of each step."""


@dataclass(frozen=True)
class Constant(StepRule):
    """For sums whose curvature is known: all steps alike.

    Parameters
    ----------
    stiffness
        About the largest curvature that the path meets.

    Examples
    --------
    >>> stiffness = Constant(30.0).start()
    >>> [stiffness(np.ones(3)) for _ in range(2)]
    [30.0, 30.0]
    """

    stiffness: float

    def __post_init__(self) -> None:
        _checks.positive(stiffness=self.stiffness)

    def start(self) -> Stiffness:
        return lambda gradient: self.stiffness


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
    >>> stiffness = Decreasing(diameter=2.0, gradient=10.0).start()
    >>> [stiffness(np.ones(3)) for _ in range(4)][::3]
    [5.0, 10.0]
    """

    diameter: float
    gradient: float

    def __post_init__(self) -> None:
        _checks.positive(diameter=self.diameter, gradient=self.gradient)

    def start(self) -> Stiffness:
        taken = count(1)
        return lambda gradient: self.gradient * math.sqrt(next(taken)) / self.diameter


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
    >>> stiffness = Growing(strong_convexity=4.0).start()
    >>> [stiffness(np.ones(3)) for _ in range(3)]
    [0.0, 2.0, 4.0]
    """

    strong_convexity: float

    def __post_init__(self) -> None:
        _checks.positive(strong_convexity=self.strong_convexity)

    def start(self) -> Stiffness:
        taken = count()
        return lambda gradient: self.strong_convexity * next(taken) / 2


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
    >>> stiffness = Adaptive(diameter=1.0).start()
    >>> [stiffness(np.array([2.0])) for _ in range(2)]
    [2.8284271247461903, 4.0]
    """

    diameter: float

    def __post_init__(self) -> None:
        _checks.positive(diameter=self.diameter)

    def start(self) -> Stiffness:
        squares = 0.0

        def stiffness(gradient: Vector) -> float:
            nonlocal squares
            squares += float(gradient @ gradient)
            return math.sqrt(2 * squares) / self.diameter

        return stiffness


@dataclass(frozen=True)
class Preconditioned(StepRule):
    r"""As :class:`Adaptive`, along every direction by itself: for features of unlike sizes.

    The stiffness is :math:`(\sqrt{2 p}/D) (T s^2 I + \sum_r g_r g_r^T)^{1/2}`, s being the noise of
    one coordinate: what T steps of noise will add is there from the first, so that no direction
    is taken for flat before anything is known about it.

    Parameters
    ----------
    diameter
        D, of the set that is searched, or how far the answer is expected to be.
    noise
        The standard deviation of the noise in one coordinate of a gradient.
    steps
        T, how many gradients there will be.

    References
    ----------
    Duchi, Hazan, Singer (2011), Adaptive subgradient methods.

    Examples
    --------
    >>> stiffness_of = Preconditioned(diameter=1.0, noise=1.0, steps=4).start()
    >>> stiffness_of(np.array([6.0, 0.0])).values.round(2).tolist()
    [4.0, 12.65]
    """

    diameter: float
    noise: float
    steps: int

    def __post_init__(self) -> None:
        _checks.positive(diameter=self.diameter)
        _checks.not_negative(noise=self.noise)
        _checks.whole(steps=self.steps, at_least=1)

    def start(self) -> Stiffness:
        taken, due = 0, 1
        total: Array = np.zeros((0, 0))
        known: Directions | None = None

        def stiffness(gradient: Vector) -> Directions:
            nonlocal taken, due, total, known
            taken += 1
            width = gradient.size
            if total.size == 0:
                total = self.steps * self.noise**2 * np.eye(width)
            total += np.outer(gradient, gradient)
            if known is None or taken >= due:
                due = taken + 1 + taken // _RENEWAL
                values, columns = np.linalg.eigh(total)
                floor = _FLATTEST * max(float(values[-1]), 1e-200)
                values = np.sqrt(2 * width * np.maximum(values, floor)) / self.diameter
                known = Directions(columns, values)
            return known

        return stiffness

r"""Proximal steps of size :math:`1/(\Psi t)`, each solved to a certified error.

Implicit online gradient descent. In terms of the sum, with :math:`c = \Psi (t + 1)`,

.. math:: S_t = \arg\min_{\|S\| \le c B} \tfrac12 \|S - S_{t-1}\|^2 + c \, \ell_t(S / c),

a proximal map, which brings no two sums further apart, for losses with kinks too. A loss of one
margin makes it :math:`S_t = \Pi(S_{t-1} - a x)` with one unknown number a.

That number is the slope of the loss at the point that the slope itself leads to: it solves
:math:`a \in \partial\ell(z(a))`, with :math:`z(a)` the margin after the step: it does not grow with
a, so :math:`\ell'(z(a)) - a` falls by at least one for each one, and has one root. Bisection keeps
a bracket around it, which is the certificate; the secant through its ends is followed as far as
that takes no more steps than bisection alone (ITP).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from discreet._types import Vector
from discreet.geometry.limits import UNIT
from discreet.losses import Hinge, Loss, Pinball
from discreet.mechanisms.base import Verdict
from discreet.mechanisms.streaming.online_algorithm import (
    SLOPE_ERROR,
    OnlineAlgorithm,
    accepts_domain,
    subtract,
)
from discreet.questions.problem import Problem

STOPPING = 2.0**-12
"""What stopping early may add in all steps together, as a share of a record."""

NOTHING = 2.0**-60
"""A row this much shorter than the longest is passed over."""


@dataclass(frozen=True)
class ProximalSteps(OnlineAlgorithm):
    """Implicit gradient steps, within a ball or anywhere.

    If a loss is smooth, the step is the minimiser within the ball. If it has kinks, the step is
    taken without the ball and then projected back: as steady, and as certain near a kink.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.geometry import L2Ball
    >>> from discreet.questions import Bounds, LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=2, labels=LabelSet([-1, 1]))
    >>> steps = ProximalSteps(Problem(Hinge(), bounds, ridge=0.25), horizon=100)
    >>> total = steps.step(np.zeros(2), 1, np.array([0.6, 0.8]), 1.0, np.zeros(2))
    >>> steps.iterate(total, 1).round(3)  # its margin is in the kink
    array([0.6, 0.8])
    """

    offset = 1

    @staticmethod
    def accepts(problem: Problem) -> Verdict:
        if not problem.loss.is_smooth and not isinstance(problem.loss, Hinge | Pinball):
            return Verdict(
                False,
                f"{problem.loss!r} is not smooth, and has no proximal step here; use a smooth one.",
            )
        return accepts_domain(problem)

    @cached_property
    def tolerance(self) -> float:
        """How near the slope of a step is found."""
        return self.problem.lipschitz * STOPPING / self.horizon

    @cached_property
    def error(self) -> float:
        problem = self.problem
        slope = self.tolerance + (SLOPE_ERROR + NOTHING) * problem.lipschitz
        return self.horizon * slope * problem.row_norm + self._through_margins + self.adding_error()

    @property
    def _through_margins(self) -> float:
        """Bound what the rounding of margins does to all steps."""
        problem = self.problem
        if not problem.loss.is_smooth:
            squares = (problem.width + 4) * self.horizon * problem.row_lipschitz
            return UNIT * (8 * self._lengths() + squares)
        reach = problem.row_norm * (self.radius + problem.row_lipschitz / problem.ridge)
        curvature = problem.loss.smoothness(reach)
        return self.horizon * problem.row_norm * curvature * self.margin_error()

    def step(self, total: Vector, seen: int, row: Vector, label: float, played: Vector) -> Vector:
        square = float(row @ row)
        if square <= self._least_square:
            return total
        slope = implicit_slope(
            self.problem.loss,
            label,
            self._margin_after(total, seen, row, square),
            tolerance=self.tolerance,
        )
        return self.keep_inside(subtract(total, slope, row), seen)

    @cached_property
    def _steepest(self) -> float:
        return self.problem.lipschitz

    @cached_property
    def _least_square(self) -> float:
        return (NOTHING * self.problem.row_norm) ** 2

    def _margin_after(
        self, total: Vector, seen: int, row: Vector, square: float
    ) -> Callable[[float], float]:
        """Return the margin after a step as a function of how many rows are taken away."""
        stiffness = self.stiffness(seen)
        margin, bend = self._product(total, row) / stiffness, square / stiffness
        if not self._meets_domain(total, seen, square):
            return lambda slope: margin - slope * bend

        def after(slope: float) -> float:
            there = self.keep_inside(total - slope * row, seen)
            return float(there @ row) / stiffness

        return after

    def _product(self, total: Vector, row: Vector) -> float:
        """Return an inner product; near a kink every rounding shows, so there are few."""
        if self.problem.loss.is_smooth:
            return float(total @ row)
        return math.fsum((total * row).tolist())

    def _meets_domain(self, total: Vector, seen: int, square: float) -> bool:
        """Say whether this step may have to be brought back, and the loss lets it know."""
        if not (self.binds and self.problem.loss.is_smooth):
            return False
        longest = math.sqrt(total @ total) + self._steepest * math.sqrt(square)
        return longest * (1 + 1e-9) > self.stiffness(seen) * self.domain


_SHARE = 0.2
"""Of the bracket, times its width relative to the first: how far a guess is drawn to the middle."""


def implicit_slope(
    loss: Loss, label: float, margin_after: Callable[[float], float], *, tolerance: float
) -> float:
    r"""Return a number within ``tolerance`` of the slope at the margin that it leads to.

    Examples
    --------
    Half the squared residual, from the margin 1 and with a row of norm one:

    >>> from discreet.losses import Hinge, Squared
    >>> round(implicit_slope(Squared(1.0), 0.0, lambda a: 1.0 - a, tolerance=1e-9), 6)
    0.5

    A step that ends in the kink of a hinge:

    >>> round(implicit_slope(Hinge(), 1.0, lambda a: 0.75 - a, tolerance=1e-9), 6)
    -0.25
    """

    def excess(slope: float) -> float:
        return float(loss.slope(label, margin_after(slope))) - slope  # type: ignore[arg-type]

    # Where the step begins the slope is steepest: it, and zero, are on either side of the root.
    start = excess(0.0)
    if start == 0:
        return 0.0
    end = excess(start)
    if end == 0:
        return start
    low, above, high, below = (0.0, start, start, end) if start > 0 else (start, end, 0.0, start)
    return _shrink(excess, low, above, high, below, tolerance)


def _shrink(
    excess: Callable[[float], float],
    low: float,
    above: float,
    high: float,
    below: float,
    tolerance: float,
) -> float:
    """Return the middle of a bracket no wider than twice the tolerance: ITP.

    Whatever the floats are, nothing here raises: no logarithm, no power, no division by zero.
    """
    width = high - low
    room = (
        2 * width
    )  # half of a bracket after a step, at most: bisection gets there two steps sooner
    while high - low > 2 * tolerance:
        middle = low + (high - low) / 2
        secant = (low * below - high * above) / (below - above) if below < above else middle
        pull = _SHARE * (high - low) * ((high - low) / width)
        towards = 1.0 if middle > secant else -1.0
        guess = middle if pull > abs(middle - secant) else secant + towards * pull
        reach = max(room - (high - low) / 2, 0.0)
        if abs(guess - middle) > reach:
            guess = middle - towards * reach
        if not low < guess < high:
            guess = middle
            if not low < guess < high:  # two neighbouring floats
                break
        found = excess(guess)
        if found > 0:
            low, above = guess, found
        elif found < 0:
            high, below = guess, found
        else:
            return guess
        room /= 2
    return low + (high - low) / 2

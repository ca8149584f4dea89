r"""Online algorithms whose iterate one record moves by at most a constant over the records seen.

All are written for the *sum* of slopes, :math:`S_t`, instead of the iterate,
:math:`\theta_{t+1} = S_t / (\Psi (t + o))`: a record adds minus its gradient to the sum, and what
later records do brings two sums no further apart. So one record moves the sum by at most
a G + 2 Xi, G the largest norm of a gradient, a = 1 if it is zeroed out and 2 if it is replaced,
and Xi what rounding and an early stop may add in all steps together.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet._types import Vector
from discreet.errors import CalibrationError
from discreet.geometry import L2Ball
from discreet.geometry.limits import LARGEST, SMALLEST, UNIT
from discreet.mechanisms.base import YES, Verdict, accepts_slopes
from discreet.penalties import Indicator
from discreet.privacy import Unit
from discreet.questions.problem import Problem

MOST_ERROR = 0.125
"""The largest share of a record's gradient that rounding may add to it, over a whole stream."""

SLOPE_ERROR = 16 * UNIT
"""What rounding may do to a slope, as a share of the largest."""

_UP = 1 + 2.0**-20


@dataclass(frozen=True)
class OnlineAlgorithm(ABC):
    """A public rule from records, one after the other, to a secret sum and its iterates."""

    problem: Problem
    horizon: int

    offset: ClassVar[int] = 0
    """o: after t records the sum is divided by t + o times the ridge."""

    listens: ClassVar[bool] = False
    """Whether a step depends on what was released before."""

    def __post_init__(self) -> None:
        problem, steep = self.problem, self.problem.row_lipschitz
        sizes = problem.row_norm, steep, self.horizon * steep, problem.ridge, steep / problem.ridge
        if not all(SMALLEST <= size <= LARGEST for size in sizes):
            raise CalibrationError(
                "sums of slopes would overflow or vanish; declare ordinary magnitudes."
            )
        if not self.error <= MOST_ERROR * self.problem.row_lipschitz:
            raise CalibrationError(
                "rounding would add up to more than a record over so long a horizon; declare a "
                "shorter one, or use a smooth loss."
            )

    @staticmethod
    @abstractmethod
    def accepts(problem: Problem) -> Verdict:
        """Say whether the proof covers this problem."""

    @property
    @abstractmethod
    def error(self) -> float:
        """Xi: how far all steps together may be from ideal ones, in the sum."""

    @abstractmethod
    def step(self, total: Vector, seen: int, row: Vector, label: float, played: Vector) -> Vector:
        """Return the sum after another record; ``total`` may be overwritten."""

    @property
    def first(self) -> int:
        """The first record that counts; what is released before is the origin."""
        return 1

    def iterate(self, total: Vector, seen: int) -> Vector:
        """Return the iterate after so many records."""
        return total / self.stiffness(seen)

    def stiffness(self, seen: int) -> float:
        """Return what a sum is divided by after so many records."""
        return self.problem.ridge * (seen + self.offset)

    def sensitivity(self, unit: Unit) -> float:
        """Bound how far one record moves the sum, as it is computed."""
        return (unit.spread(self.problem.row_lipschitz) + 2 * self.error) * (1 + 1e-14)

    @cached_property
    def radius(self) -> float:
        """Bound the norm of an iterate."""
        return self.domain * _UP if self.binds else self.free_radius

    @property
    def free_radius(self) -> float:
        """Bound the norm of an iterate without a domain."""
        # No sum is longer than all slopes together, and the rounding of it is within the error.
        return self.problem.row_lipschitz / self.problem.ridge * (1 + MOST_ERROR)

    @cached_property
    def binds(self) -> bool:
        """Whether the domain can be in the way of a step."""
        return self.domain < self.free_radius

    @cached_property
    def domain(self) -> float:
        """The largest norm of coefficients in the domain."""
        return self.problem.domain_radius

    def keep_inside(self, total: Vector, seen: int) -> Vector:
        """Return the nearest sum whose iterate is in the domain; ``total`` may be overwritten."""
        if self.binds:
            limit = self.stiffness(seen) * self.domain
            length = math.sqrt(total @ total)
            if length > limit:
                total *= limit / length
        return total

    def adding_error(self) -> float:
        """Bound what adding, the way back into the domain, and one division err in all steps."""
        roundings = 2 + (self.problem.width + 10 if self.binds else 0)
        divided = self.horizon * self.problem.row_lipschitz
        return UNIT * (roundings * self._lengths() + 2 * divided) * _UP

    def _lengths(self) -> float:
        """Bound the lengths of all sums together, each with one record more."""
        steps, problem = self.horizon, self.problem
        free = steps * (steps + 3) / 2 * problem.row_lipschitz
        if not self.binds:
            return free
        inside = problem.ridge * self.domain * steps * (steps + 3) / 2
        return min(free, inside + steps * problem.row_lipschitz)

    def margin_error(self) -> float:
        """Bound what rounding does to a margin, at the largest."""
        problem, labels = self.problem, self.problem.bounds.labels
        size = 0.0 if labels is None else labels.magnitude
        reach = problem.row_norm * (self.radius + problem.row_lipschitz / problem.ridge)
        return UNIT * ((2 * problem.width + 20) * reach + 2 * size) * _UP


def accepts_domain(problem: Problem) -> Verdict:
    """Say whether slopes are bounded, and the domain is none or a ball around the origin."""
    verdict = accepts_slopes(problem)
    if not verdict:
        return verdict
    penalty = problem.penalty
    if penalty is None:
        return YES
    if isinstance(penalty, Indicator) and isinstance(penalty.region, L2Ball):
        return YES
    return Verdict(
        False, "online steps stay within a ball or go anywhere; use Indicator(L2Ball(...))."
    )


def subtract(total: Vector, times: float, row: Vector) -> Vector:
    """Return the sum less so many times a row, in place."""
    total -= times * row
    return total


def own_margin(row: Vector, point: Vector) -> float:
    """Return a margin as a function of the two vectors alone: sums of fresh vectors."""
    return float(np.add.reduce(row * point))

r"""Losses seen from their slopes: what a dual method and its certificate need to know of each row.

With :math:`v_i \in \partial\ell_i(f_i)` the minimiser in a kernel's space is
:math:`-\frac1\Lambda \sum v_i \phi(x_i)`. The gap of Fenchel and Young,
:math:`\ell(f) + \ell^*(v) - f v \ge 0`, vanishes where v is a slope at f, and is convex in f.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlogy

from discreet._types import Integers, Vector
from discreet.errors import InputError
from discreet.losses import (
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    Loss,
    MarginLogistic,
    Pinball,
    SmoothedHinge,
    SmoothedPinball,
)

HALVINGS = 200

SOLVED: tuple[type[Loss], ...] = (
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    MarginLogistic,
    Pinball,
    SmoothedHinge,
    SmoothedPinball,
)
"""The losses that can be minimised in a kernel's space."""


class Dual(ABC):
    """One loss a row, by its slopes; arrays have one entry a row."""

    lower: Vector
    upper: Vector

    @abstractmethod
    def pick(self, rows: Integers) -> Dual:
        """Return the losses of some rows."""

    @abstractmethod
    def gaps(self, slopes: Vector, margins: Vector) -> Vector:
        """Return the gap of Fenchel and Young of each row, never negative."""

    @abstractmethod
    def respond(self, margins: Vector) -> Vector:
        """Return a slope of the loss at each margin."""

    @abstractmethod
    def curvatures(self, margins: Vector) -> Vector:
        """Return the curvature of the loss at each margin, zero at kinks."""

    @abstractmethod
    def best_slope(self, row: int, slope: float, margin: float, share: float) -> float:
        """Return the best slope of one row if all others stay."""


@dataclass(frozen=True)
class QuadraticDual(Dual):
    r"""Losses with :math:`\ell^*(v) = c v^2/2 + t v` between limits: hinges, Huber's, quantiles."""

    lower: Vector
    upper: Vector
    width: Vector
    turn: Vector

    def pick(self, rows: Integers) -> QuadraticDual:
        return QuadraticDual(self.lower[rows], self.upper[rows], self.width[rows], self.turn[rows])

    def gaps(self, slopes: Vector, margins: Vector) -> Vector:
        """The slope u at the margin is at a limit or at (f - t) / c, so both terms are positive."""
        best = self.respond(margins)
        away = best - slopes
        found: Vector = away * (margins - self.turn - self.width * best)
        found = np.maximum(found, 0.0)
        found += self.width * away * away / 2
        return found

    def respond(self, margins: Vector) -> Vector:
        excess = margins - self.turn
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            free = np.where(self.width > 0, excess / self.width, np.sign(excess) * np.inf)
        return np.clip(np.where(excess == 0, 0.0, free), self.lower, self.upper)

    def curvatures(self, margins: Vector) -> Vector:
        excess = margins - self.turn
        is_free = (excess >= self.width * self.lower) & (excess <= self.width * self.upper)
        is_free &= (self.width > 0) & (self.upper > self.lower)
        return np.divide(1.0, self.width, out=np.zeros_like(excess), where=is_free)

    def best_slope(self, row: int, slope: float, margin: float, share: float) -> float:
        stiffness = float(self.width[row]) + share
        excess = margin - float(self.turn[row]) - float(self.width[row]) * slope
        lower, upper = float(self.lower[row]), float(self.upper[row])
        if not stiffness > 0:
            return upper if excess > 0 else lower
        return min(max(slope + excess / stiffness, lower), upper)


@dataclass(frozen=True)
class LogisticDual(Dual):
    r"""Logistic losses, :math:`s \log(1 + e^{m - y f})`, whose slopes are shares p of -ys."""

    labels: Vector
    weights: Vector
    margin: float

    @property
    def lower(self) -> Vector:  # type: ignore[override]
        """The least slope of each row."""
        return np.where(self.labels > 0, -self.weights, 0.0)

    @property
    def upper(self) -> Vector:  # type: ignore[override]
        """The largest slope of each row."""
        return np.where(self.labels > 0, 0.0, self.weights)

    def pick(self, rows: Integers) -> LogisticDual:
        return LogisticDual(self.labels[rows], self.weights[rows], self.margin)

    def _excess(self, margins: Vector) -> Vector:
        return self.labels * margins - self.margin

    def gaps(self, slopes: Vector, margins: Vector) -> Vector:
        """The divergence of two coins: of p, and of the chance that belongs to the margin."""
        safe = np.where(self.weights > 0, self.weights, 1.0)
        share = np.clip(-self.labels * slopes / safe, 0.0, 1.0)
        excess = self._excess(margins)
        entropy = xlogy(share, share) + xlogy(1 - share, 1 - share)
        found: Vector = np.logaddexp(0.0, -excess) + entropy + share * excess
        return np.maximum(found, 0.0) * self.weights

    def respond(self, margins: Vector) -> Vector:
        return -self.labels * self.weights * expit(-self._excess(margins))

    def curvatures(self, margins: Vector) -> Vector:
        excess = self._excess(margins)
        return self.weights * expit(excess) * expit(-excess)

    def best_slope(self, row: int, slope: float, margin: float, share: float) -> float:
        """By halving: the margin that a slope leads to responds with a slope that falls with it."""
        one = self.pick(np.array([row]))
        low, high = float(one.lower[0]), float(one.upper[0])
        for _ in range(HALVINGS):
            middle = low + (high - low) / 2
            if not low < middle < high:
                break
            moved = np.array([margin - share * (middle - slope)])
            if float(one.respond(moved)[0]) > middle:
                low = middle
            else:
                high = middle
        return low + (high - low) / 2


def dual_of(loss: Loss, labels: Vector, weights: Vector | None = None) -> Dual:
    """Return losses of rows by their slopes, refusing losses that no method here can minimise."""
    ones = np.ones_like(labels)
    often = ones if weights is None else np.asarray(weights, dtype=np.float64)
    match loss:
        case Logistic():
            return LogisticDual(labels, often, 0.0)
        case MarginLogistic():
            return LogisticDual(labels, often, loss.margin)
        case Hinge():
            width, turn = 0.0, labels
        case SmoothedHinge():
            width, turn = loss.width, labels
        case HuberHinge():
            width, turn = 2 * loss.width, (1 + loss.width) * labels
        case Huber():
            width, turn = 1.0, labels
        case Pinball():
            width, turn = 0.0, labels
        case SmoothedPinball():
            width, turn = loss.width, labels + loss.width * (loss.quantile - 0.5)
        case _:
            raise InputError(
                f"{loss!r} has no solver for kernels; a hinge, logistic or Huber loss has."
            )
    lower, upper = _limits(loss, labels)
    counted = np.divide(width, often, out=np.zeros_like(often), where=often > 0)
    return QuadraticDual(lower * often, upper * often, counted, turn * ones)


def _limits(loss: Loss, labels: Vector) -> tuple[Vector, Vector]:
    """Return the least and the largest slope of each row."""
    if loss.is_classifier:
        return np.where(labels > 0, -1.0, 0.0), np.where(labels > 0, 0.0, 1.0)
    if isinstance(loss, Pinball | SmoothedPinball):
        low, high = -loss.quantile, 1 - loss.quantile
    else:
        high = loss.lipschitz(np.inf)
        low = -high
    return np.full_like(labels, low), np.full_like(labels, high)

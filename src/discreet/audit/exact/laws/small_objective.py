"""A few records, as a mechanism sees them, and the objective they make.

Empirical risk with a ridge: value, gradient and curvatures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.audit.exact.laws.base import ROUNDING
from discreet.errors import InputError
from discreet.questions.problem import Problem


class Record(NamedTuple):
    """A record as a mechanism sees it.

    Parameters
    ----------
    row
        The features, clipped, and the intercept's constant if there is one.
    label
        Within the declared labels.
    times
        How often the record is there, or its weight.

    Examples
    --------
    >>> Record((1.0,), -1.0)
    Record(row=(1.0,), label=-1.0, times=1.0)
    """

    row: tuple[float, ...]
    label: float
    times: float = 1.0


@dataclass(frozen=True, eq=False)
class SmallObjective:
    """The sum of losses over a few records plus the ridge, without a linear term."""

    problem: Problem
    records: tuple[Record, ...]

    def __post_init__(self) -> None:
        _checks.instance(Problem, problem=self.problem)
        object.__setattr__(self, "records", tuple(Record(*record) for record in self.records))
        if self.problem.penalty is not None:
            raise InputError("the exact law is that of problems without a penalty.")
        if not self.problem.loss.is_smooth or not math.isfinite(self.problem.lipschitz):
            raise InputError("the exact law needs a loss of bounded slope and curvature.")
        width = self.problem.bounds.width
        for record in self.records:
            if len(record.row) != width:
                raise InputError(f"rows must have {width} columns; got {len(record.row)}.")
            _checks.finite(
                label=record.label, **{f"column_{i}": x for i, x in enumerate(record.row)}
            )
            _checks.not_negative(times=record.times)

    @cached_property
    def rows(self) -> Array:
        width = self.problem.bounds.width
        return np.array([r.row for r in self.records], dtype=np.float64).reshape(-1, width)

    @cached_property
    def labels(self) -> Vector:
        return np.array([r.label for r in self.records], dtype=np.float64)

    @cached_property
    def times(self) -> Vector:
        return np.array([r.times for r in self.records], dtype=np.float64)

    @property
    def steepest(self) -> float:
        """A bound on the norm of the losses' gradient."""
        return float(self.times @ np.linalg.norm(self.rows, axis=1)) * self.problem.lipschitz

    def value(self, points: Array) -> Vector:
        """Return the objective at each point."""
        losses = self.problem.loss.value(self.labels, points @ self.rows.T) @ self.times
        value: Vector = losses + 0.5 * self.problem.ridge * (points**2).sum(axis=1)
        return value

    def slopes(self, points: Array) -> tuple[Array, Array]:
        """Return the gradient at each point, and the curvature of each record there."""
        slopes, bends = self.problem.loss.slope_and_curvature(self.labels, points @ self.rows.T)
        return (slopes * self.times) @ self.rows + self.problem.ridge * points, bends * self.times

    @property
    def bends(self) -> Vector:
        """Coefficients, on a line, around which the losses bend: margins near zero or the label."""
        near = np.linspace(-6, 6, 97)[:, None]
        moves = self.rows[:, 0] != 0
        rows, labels = self.rows[moves, 0], self.labels[moves]
        with np.errstate(over="ignore"):
            found = np.concatenate([(near + 0 * labels) / rows, (near + labels) / rows])
        return found.ravel()

    def rounding(self, points: Vector) -> Vector:
        """Bound the rounding error of the gradient on a line."""
        rows, margins = self.rows[:, 0], points[:, None] * self.rows[:, 0]
        slopes, bends = self.problem.loss.slope_and_curvature(self.labels, margins)
        through = np.abs(slopes) + bends * (1 + np.abs(margins) + np.abs(self.labels))
        size = through @ (self.times * np.abs(rows)) + self.problem.ridge * np.abs(points)
        error: Vector = (24 + len(self.records)) * ROUNDING * size
        return error


def objective_of(problem: Problem, records: Sequence[Record], width: int) -> SmallObjective:
    """Return the objective of records, for coefficients of a given width."""
    objective = SmallObjective(problem, tuple(records))
    if problem.bounds.width != width:
        raise InputError(
            f"this law is for {width} columns, intercept included; the bounds declare "
            f"{problem.bounds.width}."
        )
    return objective

r"""Noise on a grid: the true data set is the one for which what must have been drawn lies on it.

Objective perturbation releases the minimiser of a sum of losses, a ridge and a linear term b. The
minimiser gives b away, up to a candidate data set:

.. math:: b = -\Big(\sum_i \ell'(y_i, \langle x_i, w \rangle) x_i + \Lambda w\Big)

Whatever the step of b's grid, only the mask on the minimiser hides which data set fits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.audit.scores.base import Score
from discreet.audit.scores.bits import orient
from discreet.data import Rows
from discreet.errors import InputError
from discreet.ledger import NoLedger
from discreet.privacy import Guarantee, NoPrivacy
from discreet.questions.problem import Problem

MARGINS_AT_ONCE = 2**22


class Lattice(ABC):
    """Numbers that noise can be."""

    @abstractmethod
    def distance(self, values: Array) -> Array:
        """Return how far values are from the lattice, in steps: between 0 and 1/2."""


@dataclass(frozen=True)
class EvenSteps(Lattice):
    """All ``step * (integer + offset)``, the points of a grid.

    Parameters
    ----------
    step
        Between neighbours; positive.
    offset
        In steps; the default is that of the middle of cells.

    Examples
    --------
    >>> EvenSteps(0.5).distance([0.25, 0.5, 0.6]).round(3).tolist()
    [0.0, 0.5, 0.3]
    """

    step: float
    offset: float = 0.5

    def __post_init__(self) -> None:
        _checks.positive(step=self.step)
        _checks.finite(offset=self.offset)

    def distance(self, values: Array) -> Array:
        units = np.asarray(values, dtype=np.float64) / self.step - self.offset
        distances: Array = np.abs(units - np.rint(units))
        return distances


@dataclass(frozen=True)
class SinglePrecision(Lattice):
    """The floats of 32 bits.

    Examples
    --------
    >>> SinglePrecision().distance([1.5, 1.0 + 2.0**-24]).tolist()
    [0.0, 0.5]
    """

    def distance(self, values: Array) -> Array:
        values = np.asarray(values, dtype=np.float64)
        with np.errstate(all="ignore"):  # values beyond the largest such float are far from it
            nearest = values.astype(np.float32)
            steps = np.abs(values - nearest) / np.abs(np.spacing(nearest))
        distances: Array = np.nan_to_num(steps.astype(np.float64), nan=0.5, posinf=0.5)
        return distances


@dataclass(frozen=True, eq=False)
class ImpliedNoise:
    """The linear term that makes a point the minimiser of a problem on given records.

    Parameters
    ----------
    problem
        A smooth loss and a ridge, without a further penalty and without weights.
    X, y
        The records of a candidate data set; they are clipped as the mechanism clips them.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]))
    >>> implied = ImpliedNoise(Problem(Logistic(), bounds, ridge=3.0), [[1.0, 0.0]], [1])
    >>> implied(np.zeros((1, 2))).tolist()
    [[0.5, -0.0]]
    """

    problem: Problem
    X: Any
    y: Any

    def __post_init__(self) -> None:
        _checks.instance(Problem, problem=self.problem)
        if self.problem.penalty is not None or self.problem.bounds.has_weights:
            raise InputError(
                "implied noise is for problems without a further penalty and without weights."
            )

    def __call__(self, points: Array) -> Array:
        return np.concatenate([self._implied_term(some) for some in self._pieces(points)])

    def _pieces(self, points: Array) -> list[Array]:
        rows, _ = self.clipped
        size = max(1, MARGINS_AT_ONCE // max(1, len(rows)))
        return [points[k : k + size] for k in range(0, max(1, len(points)), size)]

    def _implied_term(self, points: Array) -> Array:
        rows, labels = self.clipped
        slopes = self.problem.loss.slope(labels, points @ rows.T)
        implied: Array = -(slopes @ rows + self.problem.ridge * points)
        return implied

    @cached_property
    def clipped(self) -> tuple[Array, Vector]:
        sealed = Rows(self.X, self.y, bounds=self.problem.bounds)
        receipt = NoLedger().charge(Guarantee(NoPrivacy(), sealed.unit), purpose="audit")
        matrix, labels = sealed.open(receipt).gather()
        dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        return np.asarray(dense), np.asarray(labels)


def implied_noise(problem: Problem, X: Any, y: Any, points: Array) -> Array:
    """Return, for each point, the linear term that makes it the minimiser on these records.

    Parameters
    ----------
    problem
        A smooth loss and a ridge, without a further penalty and without weights.
    X, y
        The records of a candidate data set; they are clipped as the mechanism clips them.
    points
        Released coefficients, one vector a row.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]))
    >>> problem = Problem(Logistic(), bounds, ridge=3.0)
    >>> implied_noise(problem, [[1.0, 0.0]], [1], np.ones((1, 2))).round(3).tolist()
    [[-2.731, -3.0]]
    """
    return ImpliedNoise(problem, X, y)(points)


@dataclass(frozen=True, eq=False)
class GridAlignment(Score):
    """How far off the lattice the noise must be if the first data set was used, less the second.

    Parameters
    ----------
    lattice
        Of the noise.
    implied_first, implied_second
        From released values to the noise that either data set implies, such as
        :class:`ImpliedNoise`.

    Examples
    --------
    >>> score = GridAlignment(EvenSteps(1.0), lambda v: v, lambda v: v - 0.25)
    >>> distances = score.learn(np.zeros((1, 1)), np.zeros((1, 1)))
    >>> distances(np.array([[0.5], [3.75]])).tolist()
    [-0.25, 0.25]
    """

    lattice: Lattice
    implied_first: Callable[[Array], Array]
    implied_second: Callable[[Array], Array]

    name = "which data set's noise is on the grid"

    def learn(self, first: Array, second: Array) -> Callable[[Array], Vector]:
        return self._measure

    def _measure(self, released: Array) -> Vector:
        from_first = self.lattice.distance(self.implied_first(released)).mean(axis=1)
        from_second = self.lattice.distance(self.implied_second(released)).mean(axis=1)
        return np.asarray(from_first - from_second)


@dataclass(frozen=True)
class OutputAlignment(Score):
    """How far the released values themselves are from a lattice: forgotten snaps show here.

    Parameters
    ----------
    lattice
        That released values should lie on.

    Examples
    --------
    >>> score = OutputAlignment(EvenSteps(1.0))
    >>> distances = score.learn(np.array([[0.5]]), np.array([[0.8]]))
    >>> distances(np.array([[2.5], [2.75]])).tolist()
    [0.0, 0.25]
    """

    lattice: Lattice

    name = "distance from the grid"

    def learn(self, first: Array, second: Array) -> Callable[[Array], Vector]:
        return orient(self._measure, first, second)

    def _measure(self, released: Array) -> Vector:
        return np.asarray(self.lattice.distance(released).mean(axis=1))

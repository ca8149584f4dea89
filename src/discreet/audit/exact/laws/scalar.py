"""Laws of one number whose cumulative distribution is known: masses of cells are differences."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.audit.exact.laws.base import ROUNDING, CellMasses, OutputLaw, kind_mismatch
from discreet.audit.exact.laws.small_objective import Record, SmallObjective, objective_of
from discreet.audit.exact.laws.standard import StandardNoise, noise_named, noise_of
from discreet.mechanisms.minimising.linear_term import LinearTerm
from discreet.questions.problem import Problem

ROUGHLY = np.linspace(-1.0, 1.0, 65)


class ScalarLaw(OutputLaw):
    """The law of one number.

    The cells of a pair are those between the edges that suit either law, and two tails. Their
    masses are exact, so more edges only bring the profile nearer to the true one, from below.

    Examples
    --------
    >>> law: ScalarLaw = MovedNoise(0.0, 1.0, "laplace")
    >>> law.masses(np.array([0.0]))[0]
    array([0.5, 0.5])
    """

    @property
    @abstractmethod
    def edges(self) -> Vector:
        """Where cells should end for this law."""

    @abstractmethod
    def masses(self, edges: Vector) -> tuple[Vector, Vector]:
        """Return the masses between edges, and of both tails, with bounds on their errors."""

    def cell_masses(self, other: OutputLaw) -> CellMasses:
        if not isinstance(other, ScalarLaw):
            raise kind_mismatch(self, other)
        edges = np.union1d(self.edges, other.edges)
        (first, first_error), (second, second_error) = self.masses(edges), other.masses(edges)
        return CellMasses(first, second, first_error, second_error)


@dataclass(frozen=True)
class MovedNoise(ScalarLaw):
    """A number plus noise: a sum, a count, output perturbation; by its ideal, continuous law.

    Parameters
    ----------
    centre
        What noise is added to.
    scale
        Of the noise: the standard deviation of Gaussian, the mean absolute value of Laplace noise.
    law
        ``"gaussian"`` or ``"laplace"``; ``"radial"`` is the same on the line.
    cells
        How many cells the bulk is cut into.

    Examples
    --------
    >>> from discreet.audit.exact import true_deltas
    >>> float(true_deltas(MovedNoise(0, 1), MovedNoise(1, 1), [1.0])[0].round(5))
    0.12694
    """

    centre: float
    scale: float
    law: str = "gaussian"
    cells: int = 4000

    def __post_init__(self) -> None:
        _checks.finite(centre=self.centre)
        _checks.positive(scale=self.scale)
        _checks.whole(cells=self.cells, at_least=1)
        noise_named(self.law)

    @property
    def edges(self) -> Vector:
        reach = noise_named(self.law).reach
        return self.centre + self.scale * np.linspace(-reach, reach, self.cells + 1)

    def masses(self, edges: Vector) -> tuple[Vector, Vector]:
        slack = 4 * ROUNDING * (np.abs(edges) + abs(self.centre)) / self.scale
        return noise_named(self.law).masses((edges - self.centre) / self.scale, slack)


@dataclass(frozen=True, eq=False)
class ScalarMinimiser(ScalarLaw):
    r"""The minimiser of an objective of one coefficient with a random linear term.

    .. math:: \theta = \arg\min_w \sum_i f(x_i w; y_i) + \tfrac\Lambda2 w^2 + b w

    The gradient without the linear term grows with w and equals minus b at the minimiser, so that
    :math:`P(\theta \le t)` is the distribution of the noise at the gradient of t.

    It is the ideal law. The mechanism adds a mask, which is post-processing, and refuses, in
    public, points that are farther out than any draw in practice.

    Parameters
    ----------
    problem
        A smooth loss and a ridge without a further penalty, of one column, intercept included.
    term
        The random linear term.
    records
        Those of one data set.
    cells
        How many cells the bulk is cut into.

    Examples
    --------
    >>> from discreet.audit.exact import true_deltas
    >>> from discreet.questions.bounds import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.mechanisms.minimising.linear_term import GaussianTerm
    >>> problem = Problem(Logistic(), Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1])), ridge=1.0)
    >>> empty = ScalarMinimiser(problem, GaussianTerm(20.0), [])
    >>> one = ScalarMinimiser(problem, GaussianTerm(20.0), [Record((1.0,), 1.0)])
    >>> float(true_deltas(empty, one, [0.1])[0].round(4))  # Gaussian(1 / 20) would be 0.0004
    0.0067
    """

    problem: Problem
    term: LinearTerm
    records: Sequence[Record]
    cells: int = 1500

    def __post_init__(self) -> None:
        _checks.whole(cells=self.cells, at_least=1)
        _ = self._noise, self._objective

    @cached_property
    def _noise(self) -> StandardNoise:
        return noise_of(self.term)

    @cached_property
    def _objective(self) -> SmallObjective:
        return objective_of(self.problem, self.records, 1)

    def _gradient(self, points: Vector) -> Vector:
        gradient: Vector = self._objective.slopes(points[:, None])[0][:, 0]
        return gradient

    @cached_property
    def edges(self) -> Vector:
        reach = self._noise.reach * self.term.scale
        far = (reach + self._objective.steepest) / self.problem.ridge
        # Each round looks up, in a table of the gradient, where it would take evenly spaced values.
        points, few = far * ROUGHLY, reach * ROUGHLY
        for values in (few, few, few, few, few, np.linspace(-reach, reach, self.cells + 1)):
            table = np.maximum.accumulate(self._gradient(points))
            points = np.sort(np.concatenate([points, np.interp(values, table, points)]))
        bends = self._objective.bends
        return np.union1d(points, bends[np.abs(bends) <= far])

    def masses(self, edges: Vector) -> tuple[Vector, Vector]:
        scale = self.term.scale
        slack = self._objective.rounding(edges) / scale
        ends = np.maximum.accumulate(self._gradient(edges) / scale)
        return self._noise.masses(ends, slack)

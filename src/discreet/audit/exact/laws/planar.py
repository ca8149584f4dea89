"""Laws of two numbers whose density is known: masses of cells are quadratures."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.audit.exact.laws.base import ROUNDING, CellMasses, OutputLaw, kind_mismatch
from discreet.audit.exact.laws.small_objective import Record, SmallObjective, objective_of
from discreet.audit.exact.laws.standard import StandardNoise, noise_named, noise_of
from discreet.errors import InputError
from discreet.mechanisms.minimising.linear_term import LinearTerm
from discreet.questions.problem import Problem

COARSER = (1.47, 2.1)
"""How much longer cells are on the grids that tell the error of a quadrature."""

MOST_REFINED = 4
_DIRECTIONS = 64
_STEPS = 60
_HALVINGS = 30


class PlanarLaw(OutputLaw):
    """The law of two numbers, by its density at the middles of the cells of a grid.

    A mass is a quadrature. Profiles on coarser grids say how far off it is, and what lies outside
    the grid is left out, which can only lower the profile.

    Examples
    --------
    >>> law: PlanarLaw = PlanarMovedNoise((0.0, 0.0), 1.0, "gaussian")
    >>> law.log_density(np.zeros((1, 2))).round(3)
    array([-1.838])
    """

    cells: int

    @property
    @abstractmethod
    def box(self) -> tuple[Vector, Vector]:
        """The corners of a box outside which masses do not matter."""

    @abstractmethod
    def log_density(self, points: Array) -> Vector:
        """Return the logarithm of the density at each point."""

    def cell_masses(self, other: OutputLaw) -> CellMasses:
        if not isinstance(other, PlanarLaw):
            raise kind_mismatch(self, other)
        coarser = tuple(_grid_masses(self, other, factor, ()) for factor in COARSER)
        return _grid_masses(self, other, 1.0, coarser)


def _grid_edges(first: PlanarLaw, second: PlanarLaw, axis: int, factor: float) -> Vector:
    """Return evenly spaced edges that cover both boxes, as near as the finer law asks for."""
    boxes = [(law.box[0][axis], law.box[1][axis], law.cells) for law in (first, second)]
    low, high = min(box[0] for box in boxes), max(box[1] for box in boxes)
    step = factor * min((box[1] - box[0]) / box[2] for box in boxes)
    most = int(MOST_REFINED * max(first.cells, second.cells) / factor)
    return np.linspace(low, high, min(math.ceil((high - low) / step), most) + 1)


def _grid_masses(
    first: PlanarLaw, second: PlanarLaw, factor: float, coarser: tuple[CellMasses, ...]
) -> CellMasses:
    axes = [_grid_edges(first, second, axis, factor) for axis in (0, 1)]
    middles = np.meshgrid(*[(edges[1:] + edges[:-1]) / 2 for edges in axes], indexing="ij")
    areas = np.outer(*[np.diff(edges) for edges in axes]).ravel()
    points = np.stack([middle.ravel() for middle in middles], axis=1)
    masses, errors = [], []
    for law in (first, second):
        log_density = law.log_density(points)
        masses.append(np.exp(log_density) * areas)
        errors.append(64 * ROUNDING * (1 + np.abs(log_density)) * masses[-1])
    return CellMasses(masses[0], masses[1], errors[0], errors[1], coarser)


@dataclass(frozen=True)
class PlanarMovedNoise(PlanarLaw):
    """Two numbers plus noise, such as the radial noise of output perturbation.

    Parameters
    ----------
    centre
        What noise is added to.
    scale
        Of the noise: the standard deviation of Gaussian, the mean absolute value of Laplace noise
        in each number; radial noise has a density that falls like exp(-norm/scale).
    law
        ``"radial"``, ``"gaussian"`` or ``"laplace"``.
    cells
        How many cells each side of the bulk is cut into.

    Examples
    --------
    >>> from discreet.audit.exact import largest_loss
    >>> near, far = PlanarMovedNoise((0, 0), 2.0), PlanarMovedNoise((1, 0), 2.0)
    >>> round(largest_loss(near, far), 2)
    0.5
    """

    centre: tuple[float, float]
    scale: float
    law: str = "radial"
    cells: int = 240

    def __post_init__(self) -> None:
        if len(self.centre) != 2:
            raise InputError("centre must be two numbers.")
        _checks.finite(**{f"centre_{i}": x for i, x in enumerate(self.centre)})
        _checks.positive(scale=self.scale)
        _checks.whole(cells=self.cells, at_least=2)
        noise_named(self.law)

    @property
    def box(self) -> tuple[Vector, Vector]:
        centre = np.asarray(self.centre, dtype=np.float64)
        reach = self.scale * noise_named(self.law).planar_reach
        return centre - reach, centre + reach

    def log_density(self, points: Array) -> Vector:
        moved = (points - np.asarray(self.centre, dtype=np.float64)) / self.scale
        return noise_named(self.law).planar_log_density(moved) - 2 * math.log(self.scale)


@dataclass(frozen=True, eq=False)
class PlanarMinimiser(PlanarLaw):
    r"""The minimiser of an objective of two coefficients with a random linear term.

    By change of variables its density is that of the linear term which explains a point, times the
    determinant of the Hessian there. As with :class:`~discreet.audit.exact.laws.ScalarMinimiser`,
    the mask and the refusal of far points are left out.

    Parameters
    ----------
    problem
        A smooth loss and a ridge without a further penalty, of two columns, intercept included.
    term
        The random linear term.
    records
        Those of one data set.
    cells
        How many cells each side of the bulk is cut into.

    Examples
    --------
    >>> from discreet.audit.exact import largest_loss
    >>> from discreet.questions.bounds import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.mechanisms.minimising.linear_term import RadialTerm
    >>> problem = Problem(Logistic(), Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1])), ridge=1.0)
    >>> empty = PlanarMinimiser(problem, RadialTerm(1.0), [])
    >>> one = PlanarMinimiser(problem, RadialTerm(1.0), [Record((1.0, 0.0), 1.0)])
    >>> 0.9 < largest_loss(empty, one) <= 1.0
    True
    """

    problem: Problem
    term: LinearTerm
    records: Sequence[Record]
    cells: int = 160

    def __post_init__(self) -> None:
        _checks.whole(cells=self.cells, at_least=2)
        _ = self._noise, self._objective

    @cached_property
    def _noise(self) -> StandardNoise:
        return noise_of(self.term)

    @cached_property
    def _objective(self) -> SmallObjective:
        return objective_of(self.problem, self.records, 2)

    def log_density(self, points: Array) -> Vector:
        gradient, bends = self._objective.slopes(points)
        noise = self._noise.planar_log_density(gradient / self.term.scale)
        volume: Vector = np.log(_determinant(self._hessian(bends)))
        return noise - 2 * math.log(self.term.scale) + volume

    def _hessian(self, bends: Array) -> tuple[Vector, Vector, Vector]:
        """Return the entries (1, 1), (1, 2) and (2, 2) at each point."""
        first, second = self._objective.rows.T
        ridge = self.problem.ridge
        return ridge + bends @ first**2, bends @ (first * second), ridge + bends @ second**2

    @cached_property
    def box(self) -> tuple[Vector, Vector]:
        # The minimiser is a homeomorphic image of the linear term: the image of a large circle
        # encloses whatever the circle does.
        angles = np.linspace(0, 2 * np.pi, _DIRECTIONS, endpoint=False)
        circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        rim = self._minimisers(self._noise.planar_reach * self.term.scale * circle)
        low, high = rim.min(axis=0), rim.max(axis=0)
        return low - 0.01 * (high - low), high + 0.01 * (high - low)

    def _minimisers(self, linear: Array) -> Array:
        """Return the minimisers by a damped Newton method, to the little accuracy a box needs."""
        points = -linear / self.problem.ridge

        def value(at: Array) -> Vector:
            total: Vector = self._objective.value(at) + (linear * at).sum(axis=1)
            return total

        for _ in range(_STEPS):
            gradient, bends = self._objective.slopes(points)
            gradient = gradient + linear
            if np.abs(gradient).max() <= 1e-6 * self.term.scale:
                break
            a, b, c = self._hessian(bends)
            step = (
                np.stack(
                    [
                        c * gradient[:, 0] - b * gradient[:, 1],
                        a * gradient[:, 1] - b * gradient[:, 0],
                    ],
                    axis=1,
                )
                / _determinant((a, b, c))[:, None]
            )
            length, start = np.ones(len(points)), value(points)
            fall = 0.1 * (step * gradient).sum(axis=1)
            for _ in range(_HALVINGS):
                is_short = value(points - length[:, None] * step) <= start - length * fall
                length = np.where(is_short, length, length / 2)
            points = points - length[:, None] * step
        return points


def _determinant(hessian: tuple[Vector, Vector, Vector]) -> Vector:
    a, b, c = hessian
    return a * c - b * b

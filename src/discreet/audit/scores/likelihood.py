r"""The exact likelihood ratio of objective perturbation: no score can do better.

The released point w is the minimiser for one linear term b alone, so its density is that of the
noise at the implied term times the volume element:

.. math:: p(w) = \nu(b(w)) \det\Big(\sum_i \ell''(y_i, \langle x_i, w \rangle) x_i x_i^T
          + \Lambda I\Big), \quad
          b(w) = -\Big(\sum_i \ell'(y_i, \langle x_i, w \rangle) x_i + \Lambda w\Big)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.audit.scores.base import Matrix, Score, Scorer
from discreet.audit.scores.grid_alignment import ImpliedNoise
from discreet.questions.problem import Problem

LAWS = ("gaussian", "laplace", "radial")


@dataclass(frozen=True, eq=False)
class ObjectiveLikelihood(Score):
    """The logarithm of the density on the second data set over that on the first.

    Parameters
    ----------
    problem
        A smooth loss and a ridge, without a further penalty and without weights.
    first, second
        The two data sets, as (X, y).
    scale, law
        Of the linear term: ``"gaussian"``, ``"laplace"`` in each coordinate, or ``"radial"``.

    Examples
    --------
    >>> from discreet.data import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]))
    >>> problem = Problem(Logistic(), bounds, ridge=0.01)
    >>> pair = ([[0.0]], [1]), ([[1.0]], [1])
    >>> score = ObjectiveLikelihood(problem, *pair, scale=20.0, law="radial")
    >>> float(score.learn(None, None)(np.array([[0.0]]))[0].round(2))
    3.23
    """

    problem: Problem
    first: tuple[Any, Any]
    second: tuple[Any, Any]
    scale: float
    law: str

    name = "likelihood ratio"

    def __post_init__(self) -> None:
        _checks.positive(scale=self.scale)
        _checks.one_of(LAWS, law=self.law)

    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        one, other = (self._log_density(*records) for records in (self.first, self.second))
        return lambda points: other(points) - one(points)

    def _log_density(self, X: Any, y: Any) -> Scorer:
        implied = ImpliedNoise(self.problem, X, y)

        def density(points: Matrix) -> Vector:
            bends = np.concatenate([self._log_volume(implied, some) for some in _pieces(points)])
            log: Vector = bends - self._cost(implied(points))
            return log

        return density

    def _cost(self, noise: Array) -> Vector:
        """Return minus the logarithm of the noise's density, up to a constant."""
        scaled = noise / self.scale
        if self.law == "gaussian":
            cost: Vector = 0.5 * np.square(scaled).sum(axis=1)
            return cost
        return np.asarray(np.linalg.norm(scaled, 1 if self.law == "laplace" else 2, axis=1))

    def _log_volume(self, implied: ImpliedNoise, points: Array) -> Vector:
        rows, labels = implied.clipped
        curvatures = self.problem.loss.curvature(labels, points @ rows.T)
        hessians = np.einsum("ti,ij,ik->tjk", curvatures, rows, rows, optimize=True)
        hessians += self.problem.ridge * np.eye(rows.shape[1])
        return np.asarray(np.linalg.slogdet(hessians)[1])


def _pieces(points: Array, size: int = 4096) -> list[Array]:
    return [points[k : k + size] for k in range(0, max(1, len(points)), size)]

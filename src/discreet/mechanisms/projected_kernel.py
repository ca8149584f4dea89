"""A kernel model seen from public landmarks, with noise; proof in ``projected_kernel.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.geometry import limits
from discreet.kernels.landmark_span import MOST_LANDMARKS, gram_of, span_landmarks
from discreet.mechanisms.base import YES, Mechanism, Plan, Verdict, grid_tolerances, public_facts
from discreet.mechanisms.minimising.kernel_minimiser import KernelMinimiser, accepts_kernel
from discreet.mechanisms.minimising.mask import solver_tolerance
from discreet.noise import Grid, Noise, distance_of_gaussian, gaussian_grid, release_gaussian
from discreet.privacy import (
    Budget,
    Gaussian,
    Guarantee,
    NoPrivacy,
    Unit,
    gaussian_multiplier,
    within,
)
from discreet.questions import KernelQueries, Question
from discreet.record import Tolerance

LEAST_SHARE = 1e-8
"""Directions in which the landmarks spread less, of the largest, are left out: W enlarges errors
of evaluation by up to one over the root of this."""


@dataclass(frozen=True, eq=False)
class LandmarkBasis:
    r"""A basis of the span of landmarks' feature vectors, orthonormal but for rounding.

    .. math:: K_{ZZ} = U S U^\top, \qquad W = U_r S_r^{-1/2}
    """

    landmarks: Array
    matrix: Array
    stretch: float
    size: float

    @property
    def width(self) -> int:
        """How many coordinates there are."""
        return int(self.matrix.shape[1])


@lru_cache(maxsize=16)
def basis_of(question: KernelQueries) -> LandmarkBasis:
    r"""Return the basis of a question's points.

    With E the error of a computed matrix, :math:`\lambda_{max}(W^\top K W) \le
    \lambda_{max}(W^\top \hat K W) + \|E\| \|W\|^2`, and norms of errors are at most their Frobenius
    norms.
    """
    landmarks = question.accept(np.array(question.points))
    count = len(landmarks)
    matrix = span_landmarks(question.kernel, landmarks, LEAST_SHARE)
    gram = gram_of(question.kernel, landmarks)
    weight = float(np.linalg.norm(matrix)) ** 2  # of Frobenius
    entry = question.kernel.error(question.bounds)
    rounding = 4 * count * limits.UNIT * float(np.linalg.norm(gram))
    square = (
        float(np.linalg.norm(matrix.T @ gram @ matrix))
        if matrix.shape[1] == 1
        else float(np.linalg.eigvalsh(matrix.T @ gram @ matrix)[-1])
    )
    size = float(np.linalg.norm(matrix, 2)) * (1 + 1e-9)
    square += count * entry * size * size + rounding * weight + 1e-12 * max(square, 0.0)
    return LandmarkBasis(landmarks, matrix, limits.round_up(math.sqrt(square)), size)


@dataclass(frozen=True, eq=False)
class ProjectedKernelPlan(Plan):
    """How exactly to solve, the basis, and the grid of the noise on coordinates in it."""

    minimiser: KernelMinimiser
    basis: LandmarkBasis
    grid: Grid | None  # None without noise
    sensitivity: float
    guarantee: Guarantee

    holds_rows = True

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return (
            solver_tolerance(self.minimiser.radius),
            Tolerance("factor by which the basis is not orthonormal", self.basis.stretch),
            *grid_tolerances(self.grid),
        )

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self._hide(self._coordinates(rows), noise)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Any:
        point = self._coordinates(rows)
        return self._hide(np.tile(point, draws), noise).reshape(draws, -1)

    def _coordinates(self, rows: OpenRows) -> Vector:
        fit = self.minimiser.solve(rows)
        found: Vector = fit.evaluate(self.basis.landmarks) @ self.basis.matrix
        return found

    def _hide(self, points: Vector, noise: Noise) -> Vector:
        return points if self.grid is None else release_gaussian(points, self.grid, noise)


class ProjectedKernel(Mechanism):
    """The projection of a kernel model on the span of public landmarks, with Gaussian noise.

    What is released is its coordinates in a basis of that span; ``expand`` makes coefficients
    of the landmarks of them. The noise of a prediction does not grow with the number of landmarks.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF, BoundedKernel
    >>> from discreet.losses import Hinge
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import Bounds, LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=1, labels=LabelSet([-1, 1]), max_rows=1000)
    >>> kernel, points = BoundedKernel(RBF(2.0), 1.0), ((-1.0,), (0.0,), (1.0,))
    >>> question = KernelQueries(Hinge(), bounds, 20.0, kernel, max_answers=3, points=points)
    >>> plan = ProjectedKernel().plan(question, Budget(1.0, 1e-6), AddRemoveOne())
    >>> plan.basis.width, round(plan.grid.scale, 2)
    (3, 0.21)
    """

    name: ClassVar[str] = "projected_kernel"

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, KernelQueries):
            return Verdict(False, "projected_kernel answers KernelQueries about public points.")
        if not 1 <= len(question.points) <= MOST_LANDMARKS:
            return Verdict(
                False, f"projected_kernel needs 1 to {MOST_LANDMARKS:,} public points as landmarks."
            )
        return accepts_kernel(question) and YES

    def _plan(self, question: KernelQueries, budget: Budget, unit: Unit) -> ProjectedKernelPlan:
        minimiser, basis = KernelMinimiser(question), basis_of(question)
        if not budget.is_private:
            return ProjectedKernelPlan(minimiser, basis, None, 0.0, Guarantee(NoPrivacy(), unit))
        if not budget.delta > 0:
            raise CalibrationError("Gaussian noise needs delta > 0; allow a small delta.")
        apart, width = basis.stretch * minimiser.apart(unit), basis.width
        error = _coordinate_error(minimiser, basis)
        distance = distance_of_gaussian(width)
        grid = gaussian_grid(
            multiplier=gaussian_multiplier(budget, distance=distance),
            sensitivity=apart,
            dimension=width,
            bound=basis.stretch * question.norm_bound + error,
            error=error,
        )
        total = limits.round_up(apart + 2 * error + grid.spread_l2(width))
        guarantee = Guarantee(
            within(Gaussian(total / grid.scale * (1 + 1e-15)), distance),
            unit,
            (
                *public_facts(question.bounds, unit),
                "the landmarks",
                "that the kernel is positive semidefinite",
                *question.kernel.assumed,
                *question.assumed,
            ),
            quoted_delta=budget.delta,
        )
        return ProjectedKernelPlan(minimiser, basis, grid, total, guarantee)


def _coordinate_error(minimiser: KernelMinimiser, basis: LandmarkBasis) -> float:
    """Bound how far computed coordinates are from those of the fitted model, in l2."""
    count, question = len(basis.landmarks), minimiser.question
    values = math.sqrt(count) * basis.size * minimiser.evaluation_error
    product = (count + 2) * limits.UNIT * math.sqrt(count * basis.width) * basis.size
    return 1.01 * (values + product * (question.reach + minimiser.evaluation_error))


def expand(basis: LandmarkBasis, value: Vector) -> Vector:
    """Return the coefficients of landmarks that belong to released coordinates."""
    coefficients: Vector = basis.matrix @ value
    return coefficients

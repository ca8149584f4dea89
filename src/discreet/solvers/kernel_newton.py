"""Newton's method in a kernel's space, for losses whose slope is continuous."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular

from discreet._types import Array, Vector
from discreet.solvers.kernel_duals import Dual
from discreet.solvers.kernel_matrix import KernelMatrix, SquareMatrix

LANDMARKS = 1000
DENSE = 2000
STEPS = 60
INNER_STEPS = 60
SHORTEST = 2.0**-30


class LowRank:
    """A matrix of low rank below that of a kernel, from some of its columns.

    Parameters
    ----------
    matrix
        The kernel of the rows.
    count
        How many columns, evenly spaced.
    """

    def __init__(self, matrix: KernelMatrix, count: int) -> None:
        chosen = np.unique(np.linspace(0, matrix.size - 1, count).astype(np.int64))
        columns = matrix.columns(chosen)
        corner = columns[chosen]
        corner[np.diag_indices_from(corner)] += 1e-9 * max(float(np.trace(corner)), 1e-300)
        root = np.linalg.cholesky(corner)
        self.factor: Array = solve_triangular(root, columns.T, lower=True, check_finite=False).T

    def multiply(self, coefficients: Vector) -> Vector:
        """Return the product with a vector."""
        product: Vector = self.factor @ (coefficients @ self.factor)
        return product

    def preconditioner(self, weights: Vector, ridge: float) -> Callable[[Vector], Vector]:
        """Return the inverse of the identity plus this matrix between roots of weights."""
        scaled = np.sqrt(weights)[:, None] * self.factor
        inner = scaled.T @ scaled / ridge
        inner[np.diag_indices_from(inner)] += 1.0
        root = cho_factor(inner, check_finite=False)

        def apply(vector: Vector) -> Vector:
            inside = cho_solve(root, vector @ scaled, check_finite=False)
            found: Vector = vector - scaled @ inside / ridge
            return found

        return apply


def minimise_smooth(dual: Dual, matrix: KernelMatrix, *, ridge: float, distance: float) -> Vector:
    """Return slopes of a model near the minimiser, as near as steps lead.

    Up to a few thousand rows systems are solved as they are; for more, by conjugate gradients with
    a preconditioner of low rank, from the minimiser of that low rank.

    Parameters
    ----------
    dual
        The losses, by their slopes.
    matrix
        The kernel of the rows.
    ridge
        Lambda.
    distance
        How near, in the kernel's norm.
    """
    start = np.zeros(matrix.size)
    if matrix.size <= DENSE:
        solve = _dense_solver(matrix.whole(), ridge)
        return _iterate(dual, matrix, start, solve, ridge, distance)
    low_rank = LowRank(matrix, LANDMARKS)
    coarse = _iterate(
        dual, low_rank, start, _woodbury_solver(low_rank, ridge), ridge, max(distance, 1e-300)
    )
    solve = _conjugate_solver(matrix, low_rank, ridge)
    return _iterate(dual, matrix, -coarse / ridge, solve, ridge, distance)


Solver = Callable[[Vector, Vector, float], Vector]
"""Solves (I + S K S / ridge) x = b, given the squares of S, b and a relative accuracy."""


def _iterate(
    dual: Dual,
    matrix: SquareMatrix,
    coefficients: Vector,
    solve: Solver,
    ridge: float,
    distance: float,
) -> Vector:
    """Take Newton steps on coefficients a: (Lambda + H K) d = -(Lambda a + slopes)."""
    margins = matrix.multiply(coefficients) if coefficients.any() else np.zeros(len(coefficients))
    slopes = dual.respond(margins)
    for _ in range(STEPS):
        residual = ridge * coefficients + slopes
        image = matrix.multiply(residual)
        away = math.sqrt(max(float(residual @ image), 0.0)) / ridge
        if away <= distance:
            break
        weights = dual.curvatures(margins)
        roots = np.sqrt(weights)
        accuracy = max(min(0.1, 0.3 * distance / away), 1e-12)
        inside = solve(weights, roots * image, accuracy)
        step = (roots * inside / ridge - residual) / ridge
        along = matrix.multiply(step)
        length = _search(dual, coefficients, margins, step, along, ridge)
        if length is None:
            break
        coefficients = coefficients + length * step
        margins = margins + length * along
        slopes = dual.respond(margins)
    return slopes


def _search(
    dual: Dual, coefficients: Vector, margins: Vector, step: Vector, along: Vector, ridge: float
) -> float | None:
    """Return how far to go: the derivative of a convex function tells where it turns."""

    def derivative(length: float) -> float:
        slopes = dual.respond(margins + length * along)
        return float(slopes @ along + ridge * (coefficients + length * step) @ along)

    begin = derivative(0.0)
    if not begin < 0:
        return None
    if derivative(1.0) <= 0.5 * abs(begin):
        return 1.0
    low, high = 0.0, 1.0
    while high - low > SHORTEST:
        middle = (low + high) / 2
        value = derivative(middle)
        if abs(value) <= 0.3 * abs(begin):
            return middle
        low, high = (middle, high) if value < 0 else (low, middle)
    return high


def _dense_solver(matrix: Array, ridge: float) -> Solver:
    def solve(weights: Vector, vector: Vector, accuracy: float) -> Vector:
        used = np.flatnonzero(weights)
        found = vector.copy()
        if used.size:
            roots = np.sqrt(weights[used])
            system = matrix[np.ix_(used, used)] * roots[:, None] * (roots / ridge)
            system[np.diag_indices_from(system)] += 1.0
            try:
                root = cho_factor(system, check_finite=False)
            except LinAlgError:
                return found
            found[used] = cho_solve(root, vector[used], check_finite=False)
        return found

    return solve


def _woodbury_solver(low_rank: LowRank, ridge: float) -> Solver:
    def solve(weights: Vector, vector: Vector, accuracy: float) -> Vector:
        return low_rank.preconditioner(weights, ridge)(vector)

    return solve


def _conjugate_solver(matrix: SquareMatrix, low_rank: LowRank, ridge: float) -> Solver:
    def solve(weights: Vector, vector: Vector, accuracy: float) -> Vector:
        roots, precondition = np.sqrt(weights), low_rank.preconditioner(weights, ridge)
        found, residual = np.zeros_like(vector), vector.copy()
        direction = image = precondition(residual)
        size = begin = float(residual @ image)
        for _ in range(INNER_STEPS):
            if not size > accuracy * accuracy * begin:
                break
            product = direction + roots * matrix.multiply(roots * direction) / ridge
            length = size / float(direction @ product)
            found = found + length * direction
            residual = residual - length * product
            image = precondition(residual)
            last, size = size, float(residual @ image)
            direction = image + size / last * direction
        return found

    return solve

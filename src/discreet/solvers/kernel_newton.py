"""Newton's method in a kernel's space, for losses whose slope is continuous."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular

from discreet._types import Array, Integers, Vector
from discreet.solvers.kernel_duals import Dual, QuadraticDual
from discreet.solvers.kernel_matrix import KernelMatrix

LANDMARKS, LANDMARK_SHARE = 1000, 6
"""At most so many columns, and one in so many, make a matrix of low rank."""

AT_ONCE = 2048
"""Rows of a factor that are multiplied at a time: new memory costs more than products do."""

DENSE = 2000
STEPS = 60
LEAST_ACCURACY = 1e-6
"""Of a step, relative: products may be rough; what is left is taken up by the next step."""
INNER_STEPS = 60
SHORTEST = 2.0**-30
NEARLY = 10.0
"""How much farther from the minimiser the coarse stages may stop."""

SHARES = (1e-9, 1e-6, 1e-3, 1.0)
"""What is added to the diagonal of a matrix that has no root, as parts of its trace."""

WIDTHS = (0.5, 0.1, 0.02, 0.01)
"""How far kinks are rounded, in units of the margins at which they are."""


Product = Callable[[Vector], Vector]
"""Multiplies with a symmetric, positive semidefinite matrix."""

Solver = Callable[[Vector, Vector, float], Vector]
"""Solves (I + S K S / ridge) x = b, given the squares of S, b and a relative accuracy."""


class LowRank:
    """A matrix of low rank below that of a kernel, from some of its columns."""

    def __init__(self, matrix: KernelMatrix, count: int) -> None:
        chosen = np.unique(np.linspace(0, matrix.size - 1, count).astype(np.int64))
        root = _root_of(matrix.block(chosen))
        self.factor: Array = np.empty((matrix.size, len(chosen)))
        for here, part in matrix.column_parts(chosen):
            found = solve_triangular(root, part.T, lower=True, check_finite=False, overwrite_b=True)
            self.factor[here] = found.T

    def multiply(self, coefficients: Vector) -> Vector:
        """Return the product with a vector."""
        product: Vector = self.factor @ (coefficients @ self.factor)
        return product

    def preconditioner(self, weights: Vector, ridge: float) -> Callable[[Vector], Vector]:
        """Return the inverse of the identity plus this matrix between roots of weights."""
        used, roots = np.flatnonzero(weights), np.sqrt(weights)
        width = self.factor.shape[1]
        if used.size < width:
            scaled = roots[used, None] * self.factor[used]
            return _few_solver(scaled @ scaled.T / ridge, used)
        inner = np.eye(width)
        for start in range(0, used.size, AT_ONCE):
            some = used[start : start + AT_ONCE]
            part = roots[some, None] * self.factor[some]
            inner += part.T @ part / ridge
        root = cho_factor(inner, check_finite=False, overwrite_a=True)

        def apply(vector: Vector) -> Vector:
            inside = cho_solve(root, (roots * vector) @ self.factor, check_finite=False)
            found: Vector = vector - roots * (self.factor @ inside) / ridge
            return found

        return apply


def _root_of(corner: Array) -> Array:
    """Return the root of a matrix, of which rounding may have made one with negative values."""
    diagonal, size = np.diag_indices_from(corner), max(float(np.trace(corner)), 1e-300)
    for share in SHARES:
        corner[diagonal] += share * size
        try:
            found: Array = np.linalg.cholesky(corner).astype(np.float64, copy=False)
            return found
        except LinAlgError:
            continue
    return np.eye(len(corner)) * math.sqrt(size)


def minimise_smooth(dual: Dual, matrix: KernelMatrix, *, ridge: float, distance: float) -> Vector:
    """Return slopes of a model near the minimiser, as near as steps lead.

    Up to a few thousand rows systems are solved as they are; for more, by conjugate gradients with
    a preconditioner of low rank, from the minimiser of that low rank.
    """
    *coarse, (multiply, solve) = _ways(matrix, ridge)
    start = np.zeros(matrix.size)
    for rough, solve_roughly in coarse:
        start = -_iterate(dual, rough, start, solve_roughly, ridge, NEARLY * distance) / ridge
    return _iterate(dual, multiply, start, solve, ridge, distance)


def approach_kinks(dual: QuadraticDual, matrix: KernelMatrix, *, ridge: float) -> Vector:
    """Return slopes near the best ones of losses with kinks: those of kinks that are rounded.

    Less and less, each time from where the last one led; the last time with the kernel itself, in
    half as many digits.
    """
    ways, start = _ways(matrix, ridge), np.zeros(matrix.size)
    reach, spread = float(np.abs(dual.turn).max(initial=0.0)) or 1.0, _spread(dual)
    for width in WIDTHS:
        multiply, solve = ways[-1 if len(ways) == 1 else 1] if width == WIDTHS[-1] else ways[0]
        rounded = replace(dual, width=np.maximum(dual.width, width * reach / spread))
        near = math.sqrt(0.1 * width * reach * spread * matrix.size / ridge)
        start = -_iterate(rounded, multiply, start, solve, ridge, near) / ridge
    return -start * ridge


def least_width(dual: Dual) -> float:
    """Return one over the largest curvature of any row, kinks rounded as far as they are here."""
    if not isinstance(dual, QuadraticDual):  # of a logistic loss, a quarter of its weight
        return 4 / max(float((dual.upper - dual.lower).max(initial=0.0)), 1e-300)
    reach = float(np.abs(dual.turn).max(initial=0.0)) or 1.0
    return max(float(dual.width.min(initial=np.inf)), WIDTHS[-1] * reach / _spread(dual))


def _spread(dual: Dual) -> float:
    """Return the largest distance of two slopes of one row."""
    return float((dual.upper - dual.lower).max(initial=0.0)) or 1.0


def _ways(matrix: KernelMatrix, ridge: float) -> list[tuple[Product, Solver]]:
    """Return products with matrices, the coarse one first, each with what solves its systems."""
    if matrix.size <= DENSE:
        return [(matrix.multiply, _direct_solver(matrix, ridge))]
    low_rank = LowRank(matrix, min(LANDMARKS, matrix.size // LANDMARK_SHARE))
    exactly = _conjugate_solver(matrix, low_rank, ridge)
    return [
        (low_rank.multiply, _woodbury_solver(low_rank, ridge)),
        (matrix.multiply_roughly, exactly),
        (matrix.multiply, exactly),
    ]


def _iterate(
    dual: Dual,
    multiply: Product,
    coefficients: Vector,
    solve: Solver,
    ridge: float,
    distance: float,
) -> Vector:
    """Take Newton steps on coefficients a: (Lambda + H K) d = -(Lambda a + slopes)."""
    margins = multiply(coefficients) if coefficients.any() else np.zeros(len(coefficients))
    slopes = dual.respond(margins)
    for _ in range(STEPS):
        residual = ridge * coefficients + slopes
        image = multiply(residual)
        away = math.sqrt(max(float(residual @ image), 0.0)) / ridge
        if away <= distance:
            break
        weights = dual.curvatures(margins)
        roots = np.sqrt(weights)
        accuracy = max(min(0.1, 0.3 * distance / away), LEAST_ACCURACY)
        inside = solve(weights, roots * image, accuracy)
        step = (roots * inside / ridge - residual) / ridge
        along = multiply(step)
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


def _few_solver(system: Array, used: Integers) -> Callable[[Vector], Vector]:
    """Return what solves (I + system) x = b for the rows in use, and leaves others as they are."""
    system[np.diag_indices_from(system)] += 1.0
    root = cho_factor(system, check_finite=False, overwrite_a=True)

    def apply(vector: Vector) -> Vector:
        found = vector.copy()
        found[used] = cho_solve(root, vector[used], check_finite=False)
        return found

    return apply


def _direct_solver(matrix: KernelMatrix, ridge: float) -> Solver:
    def solve(weights: Vector, vector: Vector, accuracy: float) -> Vector:
        used = np.flatnonzero(weights)
        roots = np.sqrt(weights[used])
        system = matrix.block(used) * roots[:, None] * (roots / ridge)
        return _few_solver(system, used)(vector)

    return solve


def _woodbury_solver(low_rank: LowRank, ridge: float) -> Solver:
    def solve(weights: Vector, vector: Vector, accuracy: float) -> Vector:
        return low_rank.preconditioner(weights, ridge)(vector)

    return solve


def _conjugate_solver(matrix: KernelMatrix, low_rank: LowRank, ridge: float) -> Solver:
    direct = _direct_solver(matrix, ridge)

    def solve(weights: Vector, vector: Vector, accuracy: float) -> Vector:
        if np.count_nonzero(weights) <= DENSE:
            return direct(weights, vector, accuracy)
        roots, precondition = np.sqrt(weights), low_rank.preconditioner(weights, ridge)
        found, residual = np.zeros_like(vector), vector.copy()
        direction = image = precondition(residual)
        size = begin = float(residual @ image)
        for _ in range(INNER_STEPS):
            if not size > accuracy * accuracy * begin:
                break
            product = direction + roots * matrix.multiply_roughly(roots * direction) / ridge
            length = size / float(direction @ product)
            found = found + length * direction
            residual = residual - length * product
            image = precondition(residual)
            last, size = size, float(residual @ image)
            direction = image + size / last * direction
        return found

    return solve

"""One problem with many linear terms: all solved in the same few passes over narrow rows.

Newton's method on all of them at once, for studies that draw thousands of releases.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from discreet._parallel import SINGLE_PRODUCTS
from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.data.summation import FloatTotal
from discreet.mechanisms.minimising.minimiser import Minimiser
from discreet.mechanisms.minimising.rows_objective import CAREFUL_ROWS
from discreet.questions.problem import Problem

WIDEST = 40
"""Beyond, one Hessian a term costs more than it saves."""

MOST_STEPS = 15
GOOD_PROGRESS = 1e-3
AT_ONCE = 64
"""Linear terms worked on together: their slopes at a block of rows stay in a near cache."""


def solve_many(minimiser: Minimiser, rows: OpenRows, linears: Array, threads: int = 2) -> Array:
    """Return, for each linear term, a point within the minimiser's radius.

    Those that Newton's method does not bring there in a few steps are solved one by one.
    """
    try:
        points, norms = _solve_together(minimiser, rows, linears, threads)
    except np.linalg.LinAlgError:  # a matrix that rounding made singular
        points, norms = np.zeros(linears.shape), np.full(len(linears), np.inf)
    is_near = np.linalg.norm(points, axis=1) <= minimiser.far
    for k in np.flatnonzero(~(is_near & (norms <= minimiser.tolerance))):
        points[k] = minimiser.solve(rows, linears[k])
    return points


def _solve_together(
    minimiser: Minimiser, rows: OpenRows, linears: Array, threads: int
) -> tuple[Array, Vector]:
    """Return points that Newton's method finds, and the norms of their gradients."""
    batch = _Batch(minimiser.problem, rows)
    pieces = [slice(k, k + AT_ONCE) for k in range(0, len(linears), AT_ONCE)]
    # Each thread's products are small: a pool of threads below them would only get in the way.
    with SINGLE_PRODUCTS, ThreadPoolExecutor(threads) as pool:
        nothing = np.zeros((1, linears.shape[1]))
        (first,), _ = batch.minimise(nothing, nothing, 1e-3 * minimiser.problem.ridge)
        _, bend = batch.slopes_and_curvatures(first[None], nothing)
        starts = first - np.linalg.solve(bend[0], linears.T).T

        def solve(piece: slice) -> tuple[Array, Vector]:
            return batch.minimise(starts[piece], linears[piece], minimiser.tolerance)

        solved = list(pool.map(solve, pieces))
    points = np.concatenate([points for points, _ in solved])
    return points, np.concatenate([norms for _, norms in solved])


class _Batch:
    """All clipped rows as one array, and sums over them for many points at once."""

    def __init__(self, problem: Problem, rows: OpenRows) -> None:
        matrix, labels = rows.gather()
        self._problem, self._labels = problem, np.asarray(labels)[:, None]
        self._rows = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
        self._first, self._second = np.triu_indices(self._rows.shape[1])
        self._products = self._rows[:, self._first] * self._rows[:, self._second]

    def minimise(self, points: Array, linears: Array, tolerance: float) -> tuple[Array, Vector]:
        """Return points and the norms of their gradients."""
        points = points.copy()
        norms = np.full(len(points), np.inf)
        left = np.arange(len(points))
        gradients, hessians = self.slopes_and_curvatures(points, linears)
        for _ in range(MOST_STEPS):
            before = norms[left]
            norms[left] = np.linalg.norm(gradients, axis=1)
            is_left = ~(norms[left] <= tolerance)
            progress = float((norms[left] / before).max())
            left, gradients, hessians = left[is_left], gradients[is_left], hessians[is_left]
            if not left.size:
                break
            points[left] -= np.linalg.solve(hessians, gradients[:, :, None])[:, :, 0]
            if progress < GOOD_PROGRESS:  # the curvature has settled
                gradients = self.slopes(points[left], linears[left])
            else:
                gradients, hessians = self.slopes_and_curvatures(points[left], linears[left])
        return points, norms

    def slopes(self, points: Array, linears: Array) -> Array:
        """Return the gradient at each point, summed a few rows at a time."""
        slopes = FloatTotal(np.zeros(points.shape))
        for block, labels, _ in self._blocks():
            slopes.add(self._problem.loss.slope(labels, block @ points.T).T @ block)
        return slopes.value() + self._problem.ridge * points + linears

    def slopes_and_curvatures(self, points: Array, linears: Array) -> tuple[Array, Array]:
        """Return the gradient and the Hessian at each point, summed a few rows at a time."""
        loss, width = self._problem.loss, self._rows.shape[1]
        slopes = FloatTotal(np.zeros(points.shape))
        bends = np.zeros((len(points), self._first.size))
        for block, labels, products in self._blocks():
            slope, curvature = loss.slope_and_curvature(labels, block @ points.T)
            slopes.add(slope.T @ block)
            bends += curvature.T @ products
        hessians = np.empty((len(points), width, width))
        hessians[:, self._first, self._second] = bends
        hessians[:, self._second, self._first] = bends
        ridge = self._problem.ridge
        hessians[:, np.arange(width), np.arange(width)] += ridge
        return slopes.value() + ridge * points + linears, hessians

    def _blocks(self) -> Iterator[tuple[Array, Array, Array]]:
        for start in range(0, len(self._rows), CAREFUL_ROWS):
            rows = slice(start, start + CAREFUL_ROWS)
            yield self._rows[rows], self._labels[rows], self._products[rows]

"""One problem with many linear terms: all solved in the same few passes over narrow rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.data.total import FloatTotal
from discreet.mechanisms._minimiser import Minimiser
from discreet.mechanisms._objective import CAREFUL_ROWS
from discreet.problem import Problem

WIDEST = 40
"""Beyond, one Hessian a term costs more than it saves."""

MOST_STEPS = 12
AT_ONCE = 64
"""Linear terms worked on together: their slopes at a block of rows stay in a near cache."""


def solve_many(minimiser: Minimiser, rows: OpenRows, linears: Array, threads: int = 2) -> Array:
    """Return, for each linear term, a point within the minimiser's radius.

    Those that Newton's method does not bring there in a few steps are solved one by one.
    """
    problem = minimiser.problem
    first = minimiser.solve(rows, np.zeros(problem.bounds.width))
    batch = _Batch(problem, rows)
    _, bend = batch.slopes_and_curvatures(first[None], np.zeros((1, first.size)))
    starts = first - np.linalg.solve(bend[0], linears.T).T
    pieces = [slice(k, k + AT_ONCE) for k in range(0, len(linears), AT_ONCE)]

    def solve(piece: slice) -> tuple[Array, Array]:
        return batch.minimise(starts[piece], linears[piece], minimiser.tolerance)

    with ThreadPoolExecutor(threads) as pool:
        solved = list(pool.map(solve, pieces))
    points = np.concatenate([points for points, _ in solved])
    norms = np.concatenate([norms for _, norms in solved])
    is_near = np.linalg.norm(points, axis=1) <= minimiser.far
    for k in np.flatnonzero(~(is_near & (norms <= minimiser.tolerance))):
        points[k] = minimiser.solve(rows, linears[k])
    return points


class _Batch:
    """All clipped rows as one array, and sums over them for many points at once."""

    def __init__(self, problem: Problem, rows: OpenRows) -> None:
        matrix, labels = rows.gather()
        self._problem, self._labels = problem, np.asarray(labels)[:, None]
        self._rows = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
        self._first, self._second = np.triu_indices(self._rows.shape[1])

    def minimise(self, points: Array, linears: Array, tolerance: float) -> tuple[Array, Array]:
        """Return points and the norms of their gradients."""
        points = points.copy()
        norms = np.full(len(points), np.inf)
        left = np.arange(len(points))
        for _ in range(MOST_STEPS):
            gradients, hessians = self.slopes_and_curvatures(points[left], linears[left])
            norms[left] = np.linalg.norm(gradients, axis=1)
            is_left = ~(norms[left] <= tolerance)
            left, gradients, hessians = left[is_left], gradients[is_left], hessians[is_left]
            if not left.size:
                break
            points[left] -= np.linalg.solve(hessians, gradients[:, :, None])[:, :, 0]
        return points, norms

    def slopes_and_curvatures(self, points: Array, linears: Array) -> tuple[Array, Array]:
        """Return the gradient and the Hessian at each point, summed a few rows at a time."""
        loss, width = self._problem.loss, self._rows.shape[1]
        slopes = FloatTotal(np.zeros((len(points), width)))
        bends = np.zeros((len(points), self._first.size))
        for start in range(0, len(self._rows), CAREFUL_ROWS):
            block = self._rows[start : start + CAREFUL_ROWS]
            labels = self._labels[start : start + CAREFUL_ROWS]
            slope, curvature = loss.slope_and_curvature(labels, block @ points.T)
            slopes.add(slope.T @ block)
            bends += curvature.T @ (block[:, self._first] * block[:, self._second])
        hessians = np.empty((len(points), width, width))
        hessians[:, self._first, self._second] = bends
        hessians[:, self._second, self._first] = bends
        ridge = self._problem.ridge
        hessians[:, np.arange(width), np.arange(width)] += ridge
        gradients: Vector = slopes.value() + ridge * points + linears
        return gradients, hessians

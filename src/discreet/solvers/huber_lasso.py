r"""Sparse regression with Huber's loss: a point with a certificate, for every table.

.. math:: J(\theta) = \sum_i \psi_h(y_i - \langle x_i, \theta \rangle)
          + \frac\mu2 \|\theta\|_2^2 + \Lambda \|\theta\|_1, \qquad \mu > 0,

where the coefficient of a constant may be left out of the last sum.

*Certificate.* Let R be the subgradient of J at :math:`\theta` that is least in every entry, and
:math:`\rho = \|R\|`. With :math:`\alpha_i = \psi_h'(r_i)` and :math:`\theta^*` the minimiser,
monotone slopes give :math:`\|\alpha - \alpha^*\|^2 + \mu \|\theta - \theta^*\|^2 \le
\langle R, \theta - \theta^* \rangle`, hence

.. math:: \|\theta - \theta^*\| \le \rho/\mu, \qquad \|\alpha - \alpha^*\| \le \rho/(2\sqrt\mu).

*Rounding.* With q coefficients that are not zero a residual errs by at most
:math:`(q + 4) u (1 + \|\theta\|_1)`, a product of a column and the slopes, summed in blocks of 2048
rows, by :math:`\gamma = (2052 + n/2048) u` times the product of absolute values, so that
the norm of all errors is at most :math:`\|X\|_F \sqrt n ((q + 4) u (1 + \|\theta\|_1) + \gamma h)`
and a few roundings of the sum itself; what :meth:`HuberLasso.bound` returns includes them.

*It ends.* Columns whose products exceed the penalty are taken in, and the problem of those alone is
solved by Newton's method, until the certificate holds. Should floats stand still before,
:func:`~discreet.solvers.exact_steps.minimise_exactly` goes on in whole numbers: its steps shrink by
a factor each, whatever the rows are. Nothing ends on time, on a count, or without a certificate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from discreet._types import Array, Integers, Vector
from discreet.geometry.limits import UNIT
from discreet.penalties import L1
from discreet.solvers.exact_steps import minimise_exactly
from discreet.solvers.gradient import accelerated_proximal_gradient, iterations_needed
from discreet.solvers.proximal_newton_method import proximal_newton

BLOCK = 2048
"""Rows whose products are summed by one call."""

DENSE = 1200
"""Up to this many columns at once, Newton's method solves for them."""

FIRST = 32
"""Columns taken in at first, and at least in every round."""

AIM = 0.1
"""The share of the tolerance at which a solver of some columns stops."""

_UP = 1 + 2.0**-20


@dataclass(frozen=True, eq=False, repr=False)
class HuberLasso:
    """What is minimised.

    Examples
    --------
    >>> X = np.eye(4)
    >>> problem = HuberLasso(X, np.array([1.0, 0.5, 0.0, 0.0]), 1.0, ridge=1.0, weight=0.6)
    >>> problem.minimise(1e-9).round(6)
    array([0.2, 0. , 0. , 0. ])
    """

    X: Any
    y: Vector
    threshold: float
    ridge: float
    weight: float
    spares_last: bool = False

    @cached_property
    def weights(self) -> Vector:
        """What each coefficient costs."""
        weights = np.full(self.X.shape[1], self.weight)
        if self.spares_last:
            weights[-1] = 0.0
        return weights

    @cached_property
    def squares(self) -> Vector:
        """The sum of squares of each column."""
        if isinstance(self.X, np.ndarray):
            return np.asarray(np.einsum("ij,ij->j", self.X, self.X))
        return np.asarray(self.X.multiply(self.X).sum(axis=0)).reshape(-1)

    def columns(self, places: Integers) -> Array:
        """Return some columns, dense."""
        some = self.X[:, places]
        return some if isinstance(some, np.ndarray) else np.asarray(some.toarray())

    def residuals(self, point: Vector) -> Vector:
        """Return what labels are above what the point predicts."""
        used = np.flatnonzero(point)
        return self.y - self.columns(used) @ point[used]

    def slopes(self, residuals: Vector) -> Vector:
        """Return the slope of the loss of each row."""
        return np.clip(residuals, -self.threshold, self.threshold)

    def products(self, slopes: Vector) -> Vector:
        """Return the sum of products of each column with the slopes."""
        parts = [
            np.asarray(self.X[start : start + BLOCK].T @ slopes[start : start + BLOCK])
            for start in range(0, slopes.size, BLOCK)
        ]
        return np.asarray(np.sum(parts, axis=0)) if parts else np.zeros(self.X.shape[1])

    def bound(self, point: Vector, products: Vector) -> float:
        """Return a number that the norm of the least subgradient surely does not exceed.

        ``products`` are those of the slopes at the point, as computed.
        """
        wanted = self.weights * np.sign(point) + self.ridge * point
        beyond = np.maximum(np.abs(products) - self.weights, 0.0)
        least = np.where(point != 0.0, wanted - products, beyond)
        rows, width = self.X.shape
        size = math.sqrt(float(self.squares.sum()) * rows) * _UP
        used = int(np.count_nonzero(point))
        in_rows = (used + 4) * UNIT * (1 + float(np.abs(point).sum()))
        in_sums = (BLOCK + rows / BLOCK + 4) * UNIT * self.threshold
        largest = float(np.abs(products).max(initial=0.0)) + float(np.abs(wanted).max(initial=0.0))
        last = 8 * UNIT * math.sqrt(width) * (largest + self.weight)
        return float((np.linalg.norm(least) + size * (in_rows + in_sums) + last) * _UP)

    def minimise(self, tolerance: float) -> Vector:
        """Return a point where some subgradient surely has a norm of at most ``tolerance``."""
        for point, norm in self._try_floats(tolerance):
            if norm <= tolerance:
                return point
        return self._minimise_exactly(tolerance)

    def minimise_unless(
        self, tolerance: float, is_ruled_out: Callable[[Vector, float], bool]
    ) -> Vector | None:
        """Return such a point, or None where what is known of the minimiser is enough."""
        for point, norm in self._try_floats(tolerance):
            if norm <= tolerance:
                return point
            if is_ruled_out(point, norm / self.ridge * _UP):
                return None
        return self._minimise_exactly(tolerance)

    def _try_floats(self, tolerance: float) -> Iterator[tuple[Vector, float]]:
        """Yield what solvers find, with a number that the norm of a subgradient does not exceed."""
        for solve in (self._take_in_columns, self._accelerate):
            try:
                point = solve(tolerance)
            except np.linalg.LinAlgError:  # a matrix that rounding spoilt
                continue
            if np.isfinite(point).all():
                yield point, self.bound(point, self.products(self.slopes(self.residuals(point))))

    def _minimise_exactly(self, tolerance: float) -> Vector:
        table = self.X if isinstance(self.X, np.ndarray) else self.X.toarray()
        return minimise_exactly(
            table, self.y, threshold=self.threshold, ridge=self.ridge, weight=self.weight,
            tolerance=tolerance, spares_last=self.spares_last,
        )  # fmt: skip

    def _take_in_columns(self, tolerance: float) -> Vector:
        """Solve for more and more columns, until the certificate holds or all are taken in."""
        width = self.X.shape[1]
        point, taken = np.zeros(width), self.weights == 0.0
        while True:
            products = self.products(self.slopes(self.residuals(point)))
            if taken.all() or self.bound(point, products) <= tolerance:
                return point
            excess = np.where(taken, 0.0, np.abs(products) - self.weights)
            fresh = np.flatnonzero(excess > 0.0)
            if fresh.size == 0:  # those that were taken in are not solved for well enough
                fresh = np.flatnonzero(~taken)
            room = max(FIRST, int(taken.sum()))
            taken[fresh[np.argsort(-excess[fresh], kind="stable")[:room]]] = True
            if taken.sum() > DENSE:
                taken[:] = True
            places = np.flatnonzero(taken)
            point = np.zeros(width)
            point[places] = self._solve_for(places, tolerance)
            if not np.isfinite(point).all():
                return point

    def _solve_for(self, places: Integers, tolerance: float) -> Vector:
        """Return what a solver makes of some columns alone."""
        if places.size > DENSE:
            return self._accelerate(tolerance)
        some = _SmoothPart(self, self.columns(places))
        largest = float(eigvalsh(some.gram, check_finite=False)[-1])
        smoothness = max(largest, 0.0) * (1 + 1e-6) + self.ridge
        penalty, start = L1(self.weight, self.spares_last), np.zeros(places.size)
        return proximal_newton(
            some, penalty, start, smoothness=smoothness, tolerance=AIM * tolerance
        ).point

    def _accelerate(self, tolerance: float) -> Vector:
        """Return what a method without a Hessian makes of all columns."""
        whole = _SmoothPart(self, self.X)
        penalty, start = L1(self.weight, self.spares_last), np.zeros(whole.dimension)
        smoothness = whole.find_smoothness()
        first = self.threshold * math.sqrt(float(self.squares.sum()) * self.y.size)
        steps = iterations_needed(smoothness, self.ridge, max(first, tolerance), AIM * tolerance)
        return accelerated_proximal_gradient(
            whole, penalty, start, smoothness=smoothness, tolerance=AIM * tolerance,
            most_steps=2 * steps,
        ).point  # fmt: skip


class _SmoothPart:
    """The smooth part of the problem of some columns, or of all."""

    def __init__(self, problem: HuberLasso, columns: Any) -> None:
        self._problem, self._columns = problem, columns
        self.dimension = columns.shape[1]
        self.strong_convexity = problem.ridge

    def value_and_gradient(self, point: Vector) -> tuple[float, Vector]:
        ridge, residuals = self._problem.ridge, self._problem.y - self._columns @ point
        slopes = self._problem.slopes(residuals)
        value = float(slopes @ (residuals - slopes / 2)) + ridge / 2 * float(point @ point)
        return value, ridge * point - np.asarray(self._columns.T @ slopes)

    def find_smoothness(self) -> float:
        """Estimate the largest curvature of all columns from above; only time depends on it."""
        table = self._columns
        vector = np.sqrt(self._problem.squares) + 1.0
        size = 0.0
        for _ in range(30):
            vector = np.asarray(table.T @ (table @ (vector / np.linalg.norm(vector))))
            size = float(np.linalg.norm(vector))
            if size == 0.0:
                break
        return 1.2 * size + self._problem.ridge

    @cached_property
    def gram(self) -> Array:
        return np.asarray(self._columns.T @ self._columns)

    def hessian(self, point: Vector) -> Array:
        residuals = self._problem.y - self._columns @ point
        steep = np.abs(residuals) > self._problem.threshold
        beyond = self._columns[steep]
        curved = self.gram - beyond.T @ beyond if 2 * beyond.shape[0] < steep.size else None
        if curved is None:
            inside = self._columns[~steep]
            curved = inside.T @ inside
        return np.asarray(curved + self._problem.ridge * np.eye(self.dimension))

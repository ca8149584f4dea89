"""The interface of a positive semidefinite kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Array, Vector
from discreet.errors import InputError
from discreet.geometry import limits

ELEMENTARY = 4 * limits.UNIT
"""Relative error of NumPy's exponential and square root, with room to spare."""

MOST_TESTED = 2000
"""So many public points are enough to refute a kernel; their eigenvalues take seconds."""


class Domain(Protocol):
    """What is declared about points: how many columns they have, and how large they are.

    :class:`discreet.questions.Bounds` is one.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF
    >>> from discreet.questions import Bounds
    >>> RBF(gamma=1.0).error(Bounds(L2Ball(1.0), n_features=5)) < 1e-13
    True
    """

    @property
    def n_features(self) -> int:
        """How many columns there are."""
        ...

    def row_norm(self, order: float = 2) -> float:
        """Bound the norm of a point."""
        ...


class Kernel(ABC):
    r"""A positive semidefinite kernel :math:`K(x, z) = \langle \phi(x), \phi(z) \rangle`.

    Notes
    -----
    A kernel is a public value: frozen, hashable, printable. An entry is a function of its two
    points. Which float it becomes may depend on the shape of a whole block; ``error`` bounds how
    far it is from the truth, whatever the block. A diagonal is, to the last bit, a function of
    its point alone, since it decides how a point is clipped.

    Examples
    --------
    >>> from discreet.kernels import RBF, Linear
    >>> def alike(kernel: Kernel) -> list[list[float]]:
    ...     return kernel.evaluate([[1.0]], [[1.0], [3.0]]).round(3).tolist()
    >>> alike(Linear()), alike(RBF(1.0))
    ([[1.0, 3.0]], [[1.0, 0.018]])
    """

    def evaluate(self, X: ArrayLike, Z: ArrayLike) -> Array:
        """Return K(x, z) for each row x of ``X`` and each row z of ``Z``."""
        rows, points = as_points(X), as_points(Z)
        if rows.shape[1] != points.shape[1]:
            raise InputError(
                "the points of a kernel must have as many columns as one another; "
                f"got {rows.shape[1]} and {points.shape[1]}."
            )
        return self._evaluate(rows, points)

    works_by_entries: ClassVar[bool] = False
    """Whether a block is computed entry by entry, each from its two points alone."""

    def evaluate_alone(self, X: ArrayLike, Z: ArrayLike, largest: float) -> Array:
        """Return K(x, z); each line is, to the last bit, a function of its x and of Z alone.

        For features of private rows: there one record must not change how others are rounded.

        Parameters
        ----------
        X
            Finite points, one a row.
        Z
            Public points.
        largest
            A public bound on the entries of ``X``.
        """
        rows, points = as_points(X), as_points(Z)
        if self.works_by_entries:
            return self.evaluate(rows, points)
        return self._evaluate_alone(rows, points, largest)

    def _evaluate_alone(self, rows: Array, points: Array, largest: float) -> Array:
        """One row at a time: a block may be computed in an order of its own."""
        return np.concatenate([self.evaluate(row[None, :], points) for row in rows])

    def evaluate_roughly(self, rows: Array, points: Array) -> Any:
        """Return K(x, z) in half as many digits, for searches whose outcome is checked.

        Nothing bounds how far an entry is from the truth.

        Parameters
        ----------
        rows, points
            Finite points, one a row.
        """
        return self.evaluate(rows, points).astype(np.float32)

    def diagonal(self, X: ArrayLike) -> Vector:
        """Return K(x, x) for each row x, NaN or infinite where the kernel is not defined."""
        rows = as_points(X)
        with np.errstate(all="ignore"):
            found = self._diagonal(rows)
        return np.where(np.isfinite(rows).all(axis=1), found, np.nan)

    def error(self, bounds: Domain) -> float:
        """Bound how far a computed entry is from the exact one, for points within the bounds.

        Parameters
        ----------
        bounds
            What is declared about points; :class:`discreet.questions.Bounds` will do.

        Returns
        -------
        float
            An absolute error, never rounded below; infinite if entries may overflow.
        """
        with np.errstate(all="ignore"):
            return limits.round_up(float(self._error(bounds)))

    def error_within(self, bounds: Domain, radius: float) -> float:
        """Bound the error of an entry once feature vectors are clipped to a radius.

        Parameters
        ----------
        bounds
            What is declared about points.
        radius
            What the norms of feature vectors are clipped to.
        """
        return self.error(bounds)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is taken on trust about this kernel, in words; a guarantee says it."""
        return ()

    def check_semidefinite(self, points: ArrayLike, tolerance: float = 1e-8) -> None:
        """Refuse a kernel that is not symmetric and positive semidefinite on public points.

        Points that pass prove nothing about others. Never use rows that are to be protected.

        Parameters
        ----------
        points
            Public points, one a row, at most 2,000.
        tolerance
            How far below zero an eigenvalue may be, as a part of the largest diagonal entry.

        Raises
        ------
        InputError
            If entries are not finite, not symmetric, or an eigenvalue is negative.
        """
        _checks.positive(tolerance=tolerance)
        some = as_points(points)
        if not 1 <= len(some) <= MOST_TESTED:
            raise InputError(f"give 1 to {MOST_TESTED:,} points to test; got {len(some):,}.")
        check_gram(self.evaluate(some, some), tolerance)

    @abstractmethod
    def _evaluate(self, rows: Array, points: Array) -> Array: ...

    @abstractmethod
    def _diagonal(self, rows: Array) -> Vector: ...

    @abstractmethod
    def _error(self, bounds: Domain) -> float: ...


@dataclass(frozen=True)
class UnitKernel(Kernel):
    """A kernel that is one where two points are the same, and falls as fast as ``gamma`` says."""

    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", limits.size(gamma=self.gamma))

    def _diagonal(self, rows: Array) -> Vector:
        return np.ones(len(rows))


def as_points(given: ArrayLike) -> Array:
    """Return points as a matrix of numbers, refusing other shapes."""
    points = np.asarray(given, dtype=np.float64)
    if points.ndim != 2:
        raise InputError(f"points must be a matrix, one point a row; got shape {points.shape}.")
    return points


def check_gram(gram: Array, tolerance: float) -> None:
    """Refuse a matrix that is not finite, symmetric and positive semidefinite."""
    if not np.isfinite(gram).all():
        raise InputError("the entries of a kernel must be finite numbers.")
    slack = tolerance * float(np.abs(np.diag(gram)).max(initial=0.0))
    if not np.abs(gram - gram.T).max(initial=0.0) <= slack:
        raise InputError("a kernel must be symmetric: K(x, z) = K(z, x).")
    if np.linalg.eigvalsh((gram + gram.T) / 2).min(initial=0.0) < -slack:
        raise InputError("a kernel must be positive semidefinite; it has a negative eigenvalue.")

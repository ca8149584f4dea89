"""The interface of a closed convex set."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from numbers import Real
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Array, Booleans, Vector
from discreet.errors import InputError
from discreet.geometry.norms import Csr, as_rows, check_dense, check_sparse


class Uniforms(Protocol):
    """A supply of uniformly distributed numbers; this package makes no randomness of its own.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> class Midpoints:
    ...     def uniform(self, count):
    ...         return np.full(count, 0.5)
    >>> LinfBall(1.0).uniform(Midpoints(), dimension=2)
    array([0., 0.])
    """

    def uniform(self, count: int) -> Vector:
        """Return ``count`` numbers, each strictly between 0 and 1."""
        ...


class ConvexSet(ABC):
    """A closed convex set of points, in one dimension or in any.

    Notes
    -----
    A set is a public value: frozen, hashable, printable. Methods that take points accept one point
    of shape (p,) or many of shape (m, p), give back the same shape, and expect finite numbers.
    Messages mention shapes and declared sizes, never an entry of a point.

    Examples
    --------
    >>> from discreet.geometry import Box, L2Ball
    >>> def farthest(region: ConvexSet) -> float:
    ...     return region.reach(dimension=2, order=math.inf)
    >>> [farthest(L2Ball(1.0)), farthest(Box([0, 0], [2, 3]))]
    [1.0, 3.0]
    """

    @property
    def words(self) -> str:
        """Say what lies in the set, as in "points of Euclidean norm at most 1"."""
        return repr(self)

    @property
    @abstractmethod
    def norm_order(self) -> float | None:
        """Order (1, 2 or infinity) of the norm whose ball this is; None for other sets."""

    @property
    def shrinks_rows(self) -> bool:
        """Whether clipping multiplies whole rows by a factor and changes nothing else."""
        return self.norm_order in (1, 2)

    @property
    @abstractmethod
    def dimension(self) -> int | None:
        """Dimension the set lives in; None if it makes sense in any."""

    def project(self, points: ArrayLike) -> Array:
        """Return the nearest point of the set, in Euclidean distance, as a new array."""
        rows = self._as_rows("points", points)
        return self._project(rows).reshape(np.shape(points))

    def projection_error(self, size: float, dimension: int) -> float:
        """Bound, in Euclidean distance, the rounding error of projecting one point.

        The bound holds for every float64 point of Euclidean norm at most ``size``; it is the
        distance to the exact projection of that very point.

        Examples
        --------
        >>> from discreet.geometry import LinfBall, L2Ball
        >>> LinfBall(1.0).projection_error(size=100.0, dimension=10)
        0.0
        >>> L2Ball(1.0).projection_error(size=100.0, dimension=10) <= 1e-15
        True
        """
        _checks.not_negative(size=size)
        self._check_dimension(dimension)
        return self._projection_error(size, dimension)

    def projection_derivative(self, point: ArrayLike) -> Array:
        """Return the Jacobian of :meth:`project` at one point, one of them where there are several.

        It is symmetric with eigenvalues between 0 and 1: the identity well inside the set, and
        zero along what the boundary holds fixed.

        Examples
        --------
        >>> from discreet.geometry import Simplex
        >>> Simplex().projection_derivative([0.5, 0.4])
        array([[ 0.5, -0.5],
               [-0.5,  0.5]])
        """
        rows = self._as_rows("point", point)
        if np.ndim(point) != 1:
            raise InputError(f"point must be one point, shape (p,); got shape {np.shape(point)}.")
        return self._projection_derivative(rows[0])

    def contains(self, points: ArrayLike, tolerance: float = 1e-9) -> bool | Booleans:
        """Say whether points lie in the set, up to ``tolerance`` times the size of the set."""
        _checks.not_negative(tolerance=tolerance)
        rows = self._as_rows("points", points)
        inside = self._contains(rows, tolerance)
        return inside if np.ndim(points) == 2 else bool(inside[0])

    def reach(self, dimension: int, order: float = 2) -> float:
        """Return the largest norm of a point of the set, never rounded below the truth."""
        self._check_dimension(dimension)
        _check_order(order)
        return self._reach(dimension, order)

    def diameter(self, dimension: int, order: float = 2) -> float:
        """Return the largest distance of two points of the set, never rounded below the truth."""
        self._check_dimension(dimension)
        _check_order(order)
        return self._diameter(dimension, order)

    def vertex(self, direction: ArrayLike) -> Array:
        """Return a point of the set whose inner product with ``direction`` is smallest."""
        rows = self._as_rows("direction", direction)
        return self._vertex(rows).reshape(np.shape(direction))

    def uniform(self, source: Uniforms, dimension: int) -> Vector:
        """Return a uniformly distributed point, for use as a public start.

        This is not a privacy mechanism: its floating-point output hides nothing.
        """
        self._check_dimension(dimension)
        return self._uniform(source, dimension)

    def fixed_point(self, dimension: int) -> Vector:
        """Return the point nearest to the origin, which stands in for rows that are not finite."""
        self._check_dimension(dimension)
        return self._project(np.zeros((1, dimension))).ravel()

    def holds_surely(self, rows: Array) -> bool:
        """Say whether it is plain to see that clipping would leave all rows as they are.

        False says nothing; so does a row with a NaN or an infinity.
        """
        return False

    def clip_rows(self, rows: Array) -> tuple[Array, Vector]:
        """Bring rows of private data into the set.

        Parameters
        ----------
        rows : float64 array of shape (m, p)
            Finite numbers; the caller has replaced rows that are not.

        Returns
        -------
        rows : array of shape (m, p)
            The very array that was passed in, unless its entries had to change.
        scale : array of shape (m,)
            The clipped row i is ``scale[i] * rows[i]``.

        Notes
        -----
        Rounding can leave the norm of a clipped row above the declared radius, by a relative
        (p + 3) 2^-53 at most. Only the balls of order 1 and 2 shrink whole rows; they map a row
        to zero if its norm is more than 4e307 times the radius.
        """
        check_dense(rows)
        self._check_dimension(rows.shape[1])
        return self._clip_rows(rows)

    def clip_sparse(self, matrix: Csr) -> tuple[Csr, Vector]:
        """Bring the rows of a sparse matrix into the set, as :meth:`clip_rows` does.

        Only for sets that contain the origin; others would fill the matrix.
        """
        check_sparse(matrix)
        self._check_dimension(matrix.shape[1])
        return self._clip_sparse(matrix)

    def _as_rows(self, name: str, points: ArrayLike) -> Array:
        rows = as_rows(name, points)
        self._check_dimension(rows.shape[1])
        return rows

    def _check_dimension(self, dimension: int) -> None:
        if type(dimension) is not int or dimension < 1:
            _checks.whole(at_least=1, dimension=dimension)
        if self.dimension not in (None, dimension):
            raise InputError(f"dimension must be {self.dimension}, as in the set; got {dimension}.")

    @abstractmethod
    def _project(self, rows: Array) -> Array: ...

    @abstractmethod
    def _projection_error(self, size: float, dimension: int) -> float: ...

    @abstractmethod
    def _projection_derivative(self, point: Vector) -> Array: ...

    @abstractmethod
    def _contains(self, rows: Array, tolerance: float) -> Booleans: ...

    @abstractmethod
    def _reach(self, dimension: int, order: float) -> float: ...

    def _diameter(self, dimension: int, order: float) -> float:
        """Of a set that is its own mirror image; others say it themselves."""
        return 2 * self._reach(dimension, order)

    @abstractmethod
    def _vertex(self, directions: Array) -> Array: ...

    @abstractmethod
    def _uniform(self, source: Uniforms, dimension: int) -> Vector: ...

    @abstractmethod
    def _clip_rows(self, rows: Array) -> tuple[Array, Vector]: ...

    @abstractmethod
    def _clip_sparse(self, matrix: Csr) -> tuple[Csr, Vector]: ...


def _check_order(order: object) -> None:
    if not isinstance(order, Real) or order not in (1, 2, math.inf):
        raise InputError(f"order must be 1, 2 or math.inf; got {order}.")

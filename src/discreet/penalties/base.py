"""The interface of a penalty."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from discreet import _checks
from discreet._types import Array, Vector
from discreet.errors import InputTypeError


class Penalty(ABC):
    r"""A closed convex function P of the coefficients.

    Notes
    -----
    A penalty is a public value: frozen, hashable, printable. It is a total, never divided by the
    number of records. Methods expect finite float64 coefficients and return new arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.penalties import L1, L2
    >>> def shrunk(penalty: Penalty) -> list[float]:
    ...     return penalty.prox(np.array([2.0, -0.5]), step=1.0).tolist()
    >>> [shrunk(L2(1.0)), shrunk(L1(1.0))]
    [[1.0, -0.25], [1.0, 0.0]]
    """

    @abstractmethod
    def value(self, w: Vector) -> float:
        """Return P(w), which may be infinite."""

    def gradient(self, w: Vector) -> Vector:
        """Return the gradient, if the penalty is smooth."""
        raise InputTypeError(f"{self} has no gradient everywhere. Use prox.")

    def prox(self, w: Vector, step: float) -> Vector:
        r"""Return the best compromise between a small penalty and a small move.

        .. math:: \arg\min_u \; P(u) + \lVert u - w \rVert^2 / (2 \, \text{step})
        """
        _checks.positive(step=step)
        return self._prox(w, step)

    def radius(self, dimension: int) -> float:
        """Return the largest norm of coefficients with a finite penalty."""
        return math.inf

    def nearest(self, w: Vector) -> Vector:
        """Return the nearest coefficients with a finite penalty."""
        return w

    @abstractmethod
    def prox_error(self, size: float, dimension: int, step_error: float = 0.0) -> float:
        """Bound, in Euclidean distance, the rounding error of :meth:`prox`.

        The bound holds for weights at most 1e100 and steps between 1e-100 and 1e100. It is the
        distance to the exact prox of the same coefficients.

        Parameters
        ----------
        size
            A bound on the Euclidean norm of the coefficients, which are float64.
        dimension
            How many coefficients there are.
        step_error
            The relative error of the step that is used.

        Examples
        --------
        >>> from discreet.penalties import L1
        >>> L1(1.0).prox_error(size=1.0, dimension=10) == 3 * 2**-53
        True
        """

    def prox_derivative(self, w: Vector, step: float) -> Array:
        """Return the Jacobian of :meth:`prox`, one of them where there are several.

        It is symmetric, with eigenvalues between 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> from discreet.penalties import L1
        >>> L1(1.0).prox_derivative(np.array([3.0, 0.5]), step=1.0)
        array([[1., 0.],
               [0., 0.]])
        """
        _checks.positive(step=step)
        return self._prox_derivative(w, step)

    @property
    @abstractmethod
    def strong_convexity(self) -> float:
        r"""The largest m for which :math:`P(w) - m \lVert w \rVert^2 / 2` is known to be convex."""

    @property
    def is_smooth(self) -> bool:
        """Whether the penalty has a gradient everywhere."""
        return False

    @abstractmethod
    def _prox(self, w: Vector, step: float) -> Vector: ...

    @abstractmethod
    def _prox_derivative(self, w: Vector, step: float) -> Array: ...


def underflow(dimension: int) -> float:
    """Bound the length of a vector whose entries are each lost to underflow a few times."""
    return math.sqrt(dimension) * 2.0**-1070

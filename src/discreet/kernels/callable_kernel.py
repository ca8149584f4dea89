"""Kernels that a user writes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.errors import InputError, InputTypeError
from discreet.geometry import limits
from discreet.kernels.base import Domain, Kernel


@dataclass(frozen=True, repr=False)
class CallableKernel(Kernel):
    r"""A kernel by a function of the user's.

    Nobody can check a function on all points: that it is a kernel is the user's word, and part of
    what a guarantee rests on. It must be positive semidefinite, compute each entry from its two
    points alone, and never fail; entries that are not finite count as zero. Such a kernel cannot
    be stored in a file.

    Parameters
    ----------
    function
        Takes two matrices, n and m points, one a row, and returns the n x m matrix of entries.
    name
        What to call it.
    entry_error
        How far a computed entry may be from that of an exact kernel, as a part of
        :math:`\sqrt{K(x, x) K(z, z)}`.

    Examples
    --------
    >>> cosine = CallableKernel(lambda X, Z: np.cos(X - Z.T), name="cosine")
    >>> cosine
    CallableKernel(name='cosine')
    >>> cosine.evaluate([[0.0]], [[0.0], [1.0]]).round(4)
    array([[1.    , 0.5403]])
    >>> cosine.check_semidefinite([[0.0], [0.3], [2.0]])
    """

    function: Callable[[Array, Array], Array]
    name: str
    entry_error: float = 1e-12

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputTypeError("function must be callable with two matrices of points.")
        _checks.instance(str, name=self.name)
        _checks.positive(entry_error=self.entry_error)

    def __repr__(self) -> str:
        return f"CallableKernel(name={self.name!r})"

    def _evaluate(self, rows: Array, points: Array) -> Array:
        shape = (len(rows), len(points))
        if not all(shape):
            return np.zeros(shape)
        found = np.array(self.function(rows, points), dtype=np.float64)
        if found.shape != shape:
            raise InputError(
                f"the function of {self!r} must return one entry for each pair of points."
            )
        found[~np.isfinite(found)] = 0.0
        return found

    def _diagonal(self, rows: Array) -> Vector:
        """Each point by itself: a function may compute blocks in an order of its own."""
        return np.array([self._entry(rows[index : index + 1]) for index in range(len(rows))])

    def _entry(self, row: Array) -> float:
        return float(np.asarray(self.function(row, row), dtype=np.float64).reshape(()))

    def _error(self, bounds: Domain) -> float:
        """Nothing is known of its size until it is clipped."""
        return math.inf

    def error_within(self, bounds: Domain, radius: float) -> float:
        return limits.round_up(self.entry_error * radius * radius)

    @property
    def assumed(self) -> tuple[str, ...]:
        return (
            f"that {self!r} computes each entry from its two points alone, to within "
            f"{self.entry_error:g} of a positive semidefinite kernel, and never fails",
        )

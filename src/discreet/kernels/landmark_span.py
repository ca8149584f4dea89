"""Directions in which public points spread in a kernel's space: one decomposition for all users."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from discreet._types import Array
from discreet.errors import InputError
from discreet.kernels.base import Kernel

MOST_LANDMARKS = 4096
"""The eigenvectors of so many points take a minute."""


def span_landmarks(
    kernel: Kernel, landmarks: Array, least_share: float, n_components: int | None = None
) -> Array:
    r"""Return a basis of the span of points' feature vectors, orthonormal but for rounding.

    .. math:: K_{ZZ} = U S U^\top, \qquad W = U_r S_r^{-1/2}

    Examples
    --------
    >>> from discreet.kernels import Linear
    >>> span_landmarks(Linear(), np.array([[2.0, 0.0], [0.0, 0.0]]), 1e-8).round(2)
    array([[0.5],
           [0. ]])
    """
    points = np.ascontiguousarray(landmarks, dtype=np.float64)
    return _decompose(kernel, points.tobytes(), points.shape, least_share, n_components)


@lru_cache(maxsize=8)
def _decompose(
    kernel: Kernel,
    points: bytes,
    shape: tuple[int, int],
    least_share: float,
    n_components: int | None,
) -> Array:
    values, vectors = np.linalg.eigh(gram_of(kernel, np.frombuffer(points).reshape(shape)))
    values, vectors = values[::-1], vectors[:, ::-1]
    if not values[0] > 0:
        raise InputError(f"{kernel!r} has no direction on these landmarks; are they all alike?")
    kept = values > least_share * values[0]
    if n_components is not None:
        kept[n_components:] = False
    basis: Array = np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))
    basis.setflags(write=False)
    return basis


def gram_of(kernel: Kernel, points: Array) -> Array:
    """Return the kernel's matrix of public points, exactly symmetric."""
    gram = kernel.evaluate(points, points)
    if not np.isfinite(gram).all():
        raise InputError("the entries of a kernel on landmarks must be finite numbers.")
    return (gram + gram.T) / 2


def longest_landmark(kernel: Kernel, landmarks: Array) -> float:
    """Return the largest norm of public points' feature vectors."""
    largest = float(kernel.diagonal(landmarks).max())
    if not (math.isfinite(largest) and largest > 0):
        raise InputError(f"K(z, z) must be positive at a landmark; {kernel!r} is not.")
    return math.sqrt(largest)

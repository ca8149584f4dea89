"""Nystroem features: a kernel seen from public points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Array, Booleans
from discreet.errors import InputError
from discreet.geometry import L2Ball
from discreet.kernels import Kernel
from discreet.kernels.exact_products import AT_ONCE, multiply_alone
from discreet.kernels.landmark_span import MOST_LANDMARKS, longest_landmark, span_landmarks
from discreet.preprocessing.row_map import RowMap

LEAST_SHARE = 1e-10
"""Directions in which the landmarks spread less, of the largest, are left out."""


@dataclass(frozen=True, eq=False)
class LandmarkMap(RowMap):
    r"""The coordinates of a row's feature vector in the span of public landmarks.

    .. math:: \psi(x) = S_r^{-1/2} U_r^T K(Z, x), \qquad K(Z, Z) = U S U^T

    The norm of :math:`\psi(x)` is that of the projection of the feature vector of x, at most the
    root of K(x, x); whatever the kernel is, it is clipped to ``clipped_to``, each row by itself.

    References
    ----------
    Williams & Seeger (2001), Using the Nystroem method to speed up kernel machines.

    Examples
    --------
    >>> from discreet.kernels import RBF
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> features = LandmarkMap(RBF(1.0), points).apply(points)
    >>> (features @ features.T).round(4)  # on landmarks the kernel itself
    array([[1.    , 0.3679, 0.3679],
           [0.3679, 1.    , 0.1353],
           [0.3679, 0.1353, 1.    ]])
    """

    kernel: Kernel
    landmarks: Array
    clipped_to: float | None = None
    n_components: int | None = None
    largest: float = 1.0
    components: Array | None = None

    def __post_init__(self) -> None:
        _checks.instance(Kernel, kernel=self.kernel)
        _checks.positive(largest=self.largest)
        points = np.array(self.landmarks, dtype=np.float64)
        if points.ndim != 2 or not 1 <= len(points) <= MOST_LANDMARKS or not points.shape[1]:
            raise InputError(
                f"landmarks must be 1 to {MOST_LANDMARKS:,} points of one column or more, one a "
                f"row; got shape {points.shape}."
            )
        if not np.isfinite(points).all():
            raise InputError("landmarks must be finite numbers.")
        if self.n_components is not None:
            _checks.whole(n_components=self.n_components, at_least=1)
        object.__setattr__(self, "landmarks", points)
        if self.components is not None:
            self._check_components(self.components)
        else:
            found = span_landmarks(self.kernel, points, LEAST_SHARE, self.n_components)
            object.__setattr__(self, "components", found)

    def _check_components(self, components: Array) -> None:
        is_matrix = isinstance(components, np.ndarray) and components.ndim == 2
        if not is_matrix or len(components) != len(self.landmarks) or not components.size:
            raise InputError("components must be a matrix with a line for each landmark.")
        if not np.isfinite(components).all():
            raise InputError("components must be finite numbers.")

    @property
    def radius(self) -> float:
        if self.clipped_to is not None:
            return _checks.positive_number(radius=self.clipped_to)
        return longest_landmark(self.kernel, self.landmarks)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, LandmarkMap)
            and self.kernel == other.kernel
            and (self.largest, self.radius) == (other.largest, other.radius)
            and np.array_equal(self.landmarks, other.landmarks)
            and np.array_equal(self.matrix, other.matrix)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def matrix(self) -> Array:
        """What entries K(Z, x) are multiplied by: a line for each landmark."""
        return np.asarray(self.components)

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def words(self) -> str:
        return (
            f"Nystroem features of {self.kernel!r} on {len(self.landmarks):,} public landmarks, "
            f"clipped to norm {self.radius:.6g}"
        )

    def names(self) -> list[str]:
        return [f"direction{place}" for place in range(self.width)]

    def apply(self, rows: Any) -> Array:
        if rows.shape[1] != self.landmarks.shape[1]:
            raise InputError(
                f"landmarks must have the {rows.shape[1]} columns of the rows, encoded; got "
                f"{self.landmarks.shape[1]}."
            )
        features, ball, most = (
            np.empty((rows.shape[0], self.width)),
            L2Ball(self.radius),
            self._most,
        )
        for start in range(0, rows.shape[0], AT_ONCE):
            part = np.asarray(rows[start : start + AT_ONCE], dtype=np.float64)
            odd: Booleans = np.logical_or.reduce(~np.isfinite(part), axis=1)
            sound = np.where(odd[:, None], 0.0, part)
            with np.errstate(all="ignore"):
                entries = self.kernel.evaluate_alone(sound, self.landmarks, self.largest)
                found = multiply_alone(entries, self.matrix, most)
            clipped, factors = ball.clip_rows(found)
            found = clipped * factors[:, None]
            found[odd] = np.nan
            features[start : start + AT_ONCE] = found
        return features

    @property
    def _most(self) -> float:
        """A public number that K(z, x) is clipped to: a multiple of what landmarks have."""
        return ROOM * self.radius * math.sqrt(float(self.kernel.diagonal(self.landmarks).max()))


ROOM = 8.0
"""Entries of a kernel are read up to so many times the largest that clipped features can have."""

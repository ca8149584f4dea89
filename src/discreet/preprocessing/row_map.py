"""From encoded rows to features of another space: a public function of each row by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from discreet._types import Array


class RowMap(ABC):
    """A public map of rows to features of bounded norm; frozen, and compared by value.

    Nothing that it is made of may come from rows that are to be protected.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.preprocessing.fourier_map import FourierMap
    >>> features = FourierMap(columns=2, gamma=1.0, n_components=3).apply(np.zeros((1, 2)))
    >>> features.shape, round(float(np.linalg.norm(features)), 4)
    ((1, 6), 1.0)
    """

    @property
    @abstractmethod
    def width(self) -> int:
        """How many features there are."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """What the Euclidean norm of features is clipped to."""

    @property
    def largest_feature(self) -> float:
        """A bound on a single feature."""
        return self.radius

    @property
    @abstractmethod
    def words(self) -> str:
        """What the features are, for a reader."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return a name for each feature."""

    @abstractmethod
    def apply(self, rows: Any) -> Array:
        """Return the features of rows: each line, to the last bit, a function of its row alone.

        A row with an entry that is not finite becomes one of NaN, which a fit replaces.
        """

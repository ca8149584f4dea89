"""What an attacker computes from a released value.

The interface of a test statistic that is learned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

from discreet._types import Array, Vector

Matrix: TypeAlias = Array
"""Released values, one a row."""

Scorer: TypeAlias = Callable[[Matrix], Vector]
"""Turns released values into numbers."""


class Score(ABC):
    """A number for each released value; large values speak for the second data set.

    A test statistic.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.audit.scores import BestCoordinate
    >>> def classify(score: Score, value: float) -> str:
    ...     scorer = score.learn(np.array([[0.0], [1.0]]), np.array([[2.0], [3.0]]))
    ...     return "second" if scorer(np.array([[value]]))[0] > 1.5 else "first"
    >>> classify(BestCoordinate(), 2.5)
    'second'
    """

    name: str

    @abstractmethod
    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        """Learn, from values released on each data set, how to score values."""

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
    """

    name: str

    @abstractmethod
    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        """Learn, from values released on each data set, how to score values."""

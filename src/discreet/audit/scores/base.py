"""What an audit makes of a released value: one number, for which data set it speaks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from discreet._types import Array, Vector


class Score(ABC):
    """A number for each released value; large values speak for the second data set."""

    name: str

    @abstractmethod
    def learn(self, first: Array, second: Array) -> Callable[[Array], Vector]:
        """Return a function from released values (trials x width) to scores.

        Parameters
        ----------
        first, second
            Released values on the two data sets, trials x width: the training half.
        """

"""How much the records of one person may say together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from discreet import _checks
from discreet.errors import InputError

MOST_ROWS_OF_PERSON = 1000
"""Of a person, at most so many records may count in full."""


LARGEST_SHARED = 2.0**20
"""Weights up to here are whole numbers of units of 2**-32 that floats hold exactly."""


class Contributions(ABC):
    """What becomes of the records of one person, by a rule that reads no other person's.

    Examples
    --------
    >>> def of_one(contributions: Contributions) -> float:
    ...     return contributions.unit_weight(1.0)
    >>> of_one(Share()), of_one(Cap(3))
    (1.0, 3.0)
    """

    @abstractmethod
    def unit_weight(self, max_weight: float) -> float:
        """Return how much the records of a person weigh together, at most."""

    @abstractmethod
    def row_weight(self, max_weight: float) -> float:
        """Return how much one record weighs, at most."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What becomes of a person's records, as a sentence about everybody."""

    @abstractmethod
    def rank(self, width: int) -> int:
        """Return in how many directions the records of a person can point, of ``width``."""


@dataclass(frozen=True)
class Share(Contributions):
    """All records of a person weigh so much together; none is dropped.

    Of a person with n records each weighs ``min(1, weight / n)``.

    Parameters
    ----------
    weight
        How much they weigh together, at most.

    Examples
    --------
    >>> Share().unit_weight(1.0), Share().rank(7)
    (1.0, 7)
    """

    weight: float = 1.0

    def __post_init__(self) -> None:
        _checks.positive(weight=self.weight)
        if self.weight > LARGEST_SHARED:
            raise InputError(f"weight must be at most 2**20; got {self.weight:g}.")
        object.__setattr__(self, "weight", float(self.weight))

    @property
    def words(self) -> str:
        often = "once" if self.weight == 1 else f"{self.weight:g} times at most"
        return f"each person counts {often}, shared among their records"

    def unit_weight(self, max_weight: float) -> float:
        return self.weight

    def row_weight(self, max_weight: float) -> float:
        return min(max_weight, self.weight)

    def rank(self, width: int) -> int:
        return width


@dataclass(frozen=True)
class Cap(Contributions):
    """At most so many records of a person count, each in full; chosen by a keyed hash.

    Parameters
    ----------
    rows
        How many records of a person count, at most.

    Examples
    --------
    >>> Cap(3).unit_weight(2.0), Cap(3).rank(7), Cap(3).rank(2)
    (6.0, 3, 2)
    """

    rows: int

    def __post_init__(self) -> None:
        _checks.whole(rows=self.rows, at_least=1, at_most=MOST_ROWS_OF_PERSON)
        object.__setattr__(self, "rows", int(self.rows))

    @property
    def words(self) -> str:
        if self.rows == 1:
            return "one record of each person is used"
        return f"at most {self.rows:,} records of a person are used"

    def unit_weight(self, max_weight: float) -> float:
        return self.rows * max_weight

    def row_weight(self, max_weight: float) -> float:
        return max_weight

    def rank(self, width: int) -> int:
        return min(self.rows, width)


ONE_EACH = Cap(1)
"""One record of each person, so that a person is a record."""

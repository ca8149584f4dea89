"""What tables that are stored elsewhere have in common: columns that are found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet._types import Vector
from discreet.data.kinds import Kind, check_kind
from discreet.data.source import Source
from discreet.errors import InputError


@dataclass(frozen=True)
class Wanted:
    """A column to read: as numbers, or as values to compare with declared ones."""

    name: str
    labels: tuple[Any, ...] | None = None
    meant: Callable[[Any], Any] | None = None
    """Which declared value a cell means, by itself; cells are compared as they are without it."""

    @property
    def is_number(self) -> bool:
        """Whether it is read as numbers."""
        return self.labels is None

    def check(self, place: str, kind: Kind) -> None:
        """Refuse a column whose type does not go with what is declared.

        Parameters
        ----------
        place
            Where the column is.
        kind
            What its type can hold.
        """
        check_kind(place, self.name, self.labels, kind, is_spelt=self.meant is not None)


@dataclass(frozen=True, eq=False, repr=False)
class Encoding:
    """How some rows of a table become a matrix, labels and weights, each row by itself.

    Parameters
    ----------
    features
        The columns of the features; None if rows are an array.
    encode
        Makes a matrix of them.
    width
        How many columns that matrix has.
    target, label
        The column of labels, and what makes numbers of it.
    weight
        The column of weights; None for none.
    is_sparse
        Whether the matrix is sparse.
    """

    features: tuple[Wanted, ...] | None
    encode: Callable[[Any], Any]
    width: int
    target: Wanted | None = None
    label: Callable[[Any], Vector] | None = None
    weight: Wanted | None = None
    is_sparse: bool = False

    @property
    def wanted(self) -> list[Wanted]:
        """All columns that are read."""
        extra = [column for column in (self.target, self.weight) if column is not None]
        return [*(self.features or ()), *extra]


class StoredTable(ABC):
    """A table whose rows are read only after they are paid for."""

    @property
    @abstractmethod
    def names(self) -> list[str] | None:
        """The columns that can be features, None if rows are an array."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many columns can be features."""

    @abstractmethod
    def check_same_names(self) -> None:
        """Refuse parts that are known to have other columns than the first."""

    @abstractmethod
    def source(self, encoding: Encoding) -> Source:
        """Return the rows, after every check that needs none of them."""


def check_apart(features: Sequence[Wanted], target: Wanted | None, weight: Wanted | None) -> None:
    """Refuse a target or weight that is a feature as well."""
    for column in (target, weight):
        if column is not None and any(column.name == feature.name for feature in features):
            raise InputError(
                f"the column {column.name!r} is declared as a feature, so it cannot be the target "
                "or the weight as well."
            )

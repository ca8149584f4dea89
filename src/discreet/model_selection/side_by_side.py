"""Several maps of one table, their features side by side: what candidates learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from discreet._types import Array
from discreet.data.stored import OpenedTable, Wanted
from discreet.errors import InputError
from discreet.estimators.features import (
    COLUMNS_FOUND,
    Accepted,
    Columns,
    FeatureMap,
    Product,
    matrix_product,
)
from discreet.geometry import ConvexSet, LinfBall
from discreet.record import Fact

WIDEST = 1e100
"""Entries are clipped to this before each candidate clips its own to what it declares."""


@dataclass(frozen=True, eq=False)
class SideBySide(FeatureMap):
    """The features of several maps, those that are encoded alike only once."""

    maps: tuple[FeatureMap, ...]
    constant: float = 0.0
    facts: tuple[Fact, ...] = (COLUMNS_FOUND,)

    @property
    def region(self) -> ConvexSet:  # type: ignore[override]
        return LinfBall(WIDEST)

    @property
    def places(self) -> tuple[int, ...]:
        """Which of the different maps each candidate has."""
        different: list[FeatureMap] = []
        return tuple(_place_among(different, each) for each in self.maps)

    @property
    def different(self) -> tuple[FeatureMap, ...]:
        """Maps that are encoded differently, in the order in which they come."""
        return tuple(self.maps[self.places.index(place)] for place in sorted(set(self.places)))

    def starts(self, columns: int) -> tuple[int, ...]:
        """Return the first feature of each candidate, given how many columns the table has."""
        widths = [each.width_of(columns) for each in self.different]
        ends = np.cumsum([0, *widths]).tolist()
        return tuple(ends[place] for place in self.places)

    def accept(self, model: Any, X: Any) -> Accepted:
        names = _SameNames(model)
        accepted = [names.check(each.accept(model, X)) for each in self.different]
        count = accepted[0].shape[0]
        width = sum(one.shape[1] for one in accepted)
        is_sparse = all(one.is_sparse for one in accepted)
        return Accepted(
            (count, width), is_sparse, lambda: join_features([one.encode() for one in accepted])
        )

    def find(self, model: Any, table: OpenedTable) -> Columns:
        names = _SameNames(model)
        found = [names.check(each.find(model, table)) for each in self.different]
        if any(one.wanted != found[0].wanted for one in found):
            raise InputError(
                "candidates read different columns, or levels, of a stored table; read it into "
                "memory, or declare the same columns and levels for all of them."
            )
        return Columns(
            found[0].wanted,
            _JoinedEncoding(tuple(one.encode for one in found)),
            sum(one.width for one in found),
            all(one.is_sparse for one in found),
        )

    def find_again(self, model: Any) -> tuple[Wanted, ...]:
        return self.maps[0].find_again(model)

    def names(self, columns: list[str]) -> list[str]:
        return [name for each in self.different for name in each.names(columns)]

    def fold(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        raise InputError("features side by side have no model of their own.")

    def margins(self, model: Any, X: Any, product: Product = matrix_product) -> Array:
        raise InputError("features side by side have no model of their own.")


Made = TypeVar("Made")


class _SameNames:
    """Refuses candidates that read other columns than the first of them."""

    def __init__(self, model: Any) -> None:
        self._model: Any = model
        self._first: Any = None

    def check(self, made: Made) -> Made:
        """Return what was made, if the columns that the model now knows are the first ones."""
        model = self._model
        seen: Any = model.n_features_in_, list(getattr(model, "feature_names_in_", ()))
        if self._first is not None and seen != self._first:
            raise InputError(
                "all candidates must read the same columns in the same order; only what is "
                "declared about them may differ."
            )
        self._first = seen
        return made


@dataclass(frozen=True, eq=False)
class _JoinedEncoding:
    """What makes features of stored rows; it can be sent to workers."""

    encodings: tuple[Any, ...]

    def __call__(self, rows: Any) -> Any:
        return join_features([encode(rows) for encode in self.encodings])


def join_features(parts: Sequence[Any]) -> Any:
    """Return features side by side: sparse if all are, dense otherwise.

    Examples
    --------
    >>> join_features([np.ones((2, 1)), sparse.csr_array(np.zeros((2, 2)))]).tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    if len(parts) == 1:
        return parts[0]
    if all(sparse.issparse(part) for part in parts):
        return sparse.hstack(parts, format="csr")
    return np.column_stack([_as_dense(part) for part in parts])


def _as_dense(part: Any) -> Array:
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part)


def _place_among(different: list[FeatureMap], one: FeatureMap) -> int:
    """Return the place of a map among different ones, adding it if it is new."""
    for place, other in enumerate(different):
        if one.encodes_as(other):
            return place
    different.append(one)
    return len(different) - 1

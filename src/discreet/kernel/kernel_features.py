"""Features of another space, made of encoded columns by a public map of each row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Booleans
from discreet.data.stored import OpenedTable, Wanted
from discreet.errors import InputError
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import (
    Accepted,
    Columns,
    Entries,
    FeatureMap,
    PlainFeatures,
    Product,
    matrix_product,
    read_rows,
)
from discreet.estimators.fields import with_fields
from discreet.estimators.linear import INTERCEPT_SHARE, LinearEstimator
from discreet.geometry import ConvexSet, L2Ball
from discreet.policy.task import Standardising
from discreet.preprocessing.row_map import RowMap
from discreet.record import Fact, Origin

NUMBERS_AT_ONCE, MOST_ROWS = 2**23, 2**12
"""How many numbers, and rows, are mapped at a time."""

MOST_CENTRED = 2047
"""Features up to which they are standardised: they are dense as they come."""


@dataclass(frozen=True, eq=False)
class MappedFeatures(FeatureMap):
    """What a map of rows makes of columns that are encoded, or clipped to a ball, first."""

    inner: PlainFeatures | DeclaredFeatures
    make_map: Callable[[int | None], RowMap]
    constant: float

    def __post_init__(self) -> None:
        if self.inner.sought is not None:
            raise InputError(
                "features of a kernel are made of columns within declared ranges, and none is "
                "found by the fit; declare low and high in place of public_bounds."
            )

    @property
    def entries(self) -> Entries:
        return Entries(self._map.largest_feature, centred_width=MOST_CENTRED)

    @property
    def of_columns(self) -> FeatureMap:
        return self.inner

    @property
    def region(self) -> ConvexSet:  # type: ignore[override]
        return L2Ball(self._map.radius)

    @property
    def _map(self) -> RowMap:
        """The map, as far as it is known before a table is seen."""
        inner = self.inner
        return self.make_map(inner.width_of(0) if isinstance(inner, DeclaredFeatures) else None)

    @property
    def facts(self) -> tuple[Fact, ...]:  # type: ignore[override]
        told = tuple(fact for fact in self.inner.facts if fact.what != "features")
        return (*told, Fact("features", self._map.words, Origin.CHOSEN))

    def width_of(self, columns: int) -> int:
        return self.make_map(self.inner.width_of(columns)).width

    def encodes_as(self, other: FeatureMap) -> bool:
        if not isinstance(other, MappedFeatures) or not self.inner.encodes_as(other.inner):
            return False
        return self._map == other._map and self._ball == other._ball

    @property
    def _ball(self) -> ConvexSet | None:
        """What rows of plain numbers are clipped to before they are mapped."""
        return self.inner.region if isinstance(self.inner, PlainFeatures) else None

    def accept(self, model: Any, X: Any) -> Accepted:
        accepted = self.inner.accept(model, X)
        count, columns = accepted.shape
        encoding = _MappedRows(_as_they_are, self.make_map(columns), self._ball)
        shape = (count, encoding.mapping.width)
        return Accepted(shape, False, lambda: encoding(accepted.encode()))

    def find(self, model: Any, table: OpenedTable) -> Columns:
        found = self.inner.find(model, table)
        encoding = _MappedRows(found.encode, self.make_map(found.width), self._ball)
        return Columns(found.wanted, encoding, encoding.mapping.width, False)

    def find_again(self, model: Any) -> tuple[Wanted, ...]:
        return self.inner.find_again(model)

    def names(self, columns: list[str]) -> list[str]:
        return self.make_map(self.inner.width_of(len(columns))).names()

    def fold(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        return coef, intercept

    def margins(self, model: Any, X: Any, product: Product = matrix_product) -> Array:
        if isinstance(self.inner, DeclaredFeatures):
            encoded = self.inner.scaler_of(model).transform(X)
        else:
            encoded = read_rows(model, X)
        mapping = self.make_map(self.inner.width_of(model.n_features_in_))
        features = _MappedRows(_as_they_are, mapping, self._ball)(encoded)
        return np.asarray(product(features, model.coef_) + model.intercept_)


def _as_they_are(rows: Any) -> Any:
    return rows


@dataclass(frozen=True, eq=False)
class _MappedRows:
    """What makes features of rows, a few at a time; it can be sent to workers."""

    encode: Callable[[Any], Any]
    mapping: RowMap
    ball: ConvexSet | None

    def __call__(self, rows: Any) -> Array:
        encoded = self.encode(rows)
        count = encoded.shape[0]
        features = np.empty((count, self.mapping.width))
        step = max(1, min(MOST_ROWS, NUMBERS_AT_ONCE // encoded.shape[1]))
        for start in range(0, count, step):
            part: Any = encoded[start : start + step]
            dense = part.toarray() if hasattr(part, "toarray") else part
            features[start : start + step] = self.mapping.apply(self._clip(dense))
        return features

    def _clip(self, rows: Array) -> Array:
        """Return rows within the ball; one that is not finite is a row of zeros."""
        odd: Booleans = np.logical_or.reduce(~np.isfinite(rows), axis=1)
        sound = np.where(odd[:, None], 0.0, rows)
        if self.ball is None:
            return sound
        clipped, factors = self.ball.clip_rows(sound)
        return clipped * factors[:, None]


RULE = 1.0
"""Times one over the number of declared columns: how fast a kernel falls if nobody says it."""


@with_fields
class KernelEstimator(LinearEstimator):
    """A linear model whose features a public map makes of encoded rows."""

    max_weight: float | None = None

    domain: ClassVar[None] = None  # type: ignore[misc]
    """Coefficients of features are not the user's, so nothing is declared about them."""

    @abstractmethod
    def row_map(self, width: int | None) -> RowMap:
        """Return the map of encoded rows of so many entries; None if that is not known yet."""

    def column_map(self) -> PlainFeatures | DeclaredFeatures:
        """Return what encodes the columns, before features are made of them."""
        if self.columns is not None:
            return DeclaredFeatures(self.columns)
        return PlainFeatures(L2Ball(_checks.positive_number(data_norm=self.data_norm)))

    def feature_map(self) -> FeatureMap:
        return self._map_features(self.row_map, self.row_map(None).radius)

    def _map_features(
        self, make_map: Callable[[int | None], RowMap], radius: float
    ) -> MappedFeatures:
        return MappedFeatures(self.column_map(), make_map, INTERCEPT_SHARE * radius)

    def _check_features(self, features: FeatureMap) -> None:
        _ = features.region

    def fitted_row_map(self) -> RowMap:
        """Return the map of a fitted model."""
        return self.row_map(self.encoded_width())

    def encoded_width(self) -> int:
        """Return how many entries an encoded row of a fitted model has."""
        return self.column_map().width_of(self.n_features_in_)

    def fitted_map(self) -> MappedFeatures:
        mapping = self.fitted_row_map()
        return self._map_features(lambda width: mapping, mapping.radius)

    def _standardising(self, features: FeatureMap) -> Standardising:
        """Features are dense: noise for the l1 norm of a pure budget would be far too much."""
        how = super()._standardising(features)
        return replace(how, is_usual=how.is_usual and bool(self.delta > 0))

    def row_region(self, width: int) -> ConvexSet:
        """Return what rows are clipped to before features are made of them."""
        return self.column_map().region

    def largest_entry(self) -> float:
        """Return a public bound on the entries of encoded rows."""
        return (
            1.0 if self.columns is not None else _checks.positive_number(data_norm=self.data_norm)
        )

    def usual_gamma(self) -> float:
        """Return how fast a kernel falls where nobody says it, from what is declared.

        One over the number of declared columns, which lie between -1 and 1; of rows of numbers,
        one over the square of the largest norm.
        """
        if self.columns is not None:
            return RULE / len(DeclaredFeatures(self.columns).columns)
        return RULE / _checks.positive_number(data_norm=self.data_norm) ** 2

"""Linear models of features of a kernel: what they declare, and how fast a kernel falls by rule."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from discreet import _checks
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import FeatureMap, PlainFeatures
from discreet.estimators.fields import with_fields
from discreet.estimators.linear import INTERCEPT_SHARE, LinearEstimator
from discreet.estimators.mapped_features import MappedFeatures
from discreet.estimators.task import Standardising
from discreet.geometry import ConvexSet, L2Ball
from discreet.preprocessing.row_map import RowMap

RULE = 1.0
"""Times one over the number of declared columns: how fast a kernel falls if nobody says it."""


@with_fields
class KernelEstimator(LinearEstimator):
    """A linear model whose features a public map makes of encoded rows."""

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

    def _check(self) -> None:
        super()._check()
        _ = self.feature_map().region

    def fitted_row_map(self) -> RowMap:
        """Return the map of a fitted model."""
        return self.row_map(self.encoded_width())

    def encoded_width(self) -> int:
        """Return how many entries an encoded row of a fitted model has."""
        return self.column_map().width_of(self.n_features_in_)

    def fitted_map(self) -> MappedFeatures:
        mapping = self.fitted_row_map()
        return self._map_features(lambda width: mapping, mapping.radius)

    def _standardising(self) -> Standardising:
        """Features are dense: noise for the l1 norm of a pure budget would be far too much."""
        how = super()._standardising()
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

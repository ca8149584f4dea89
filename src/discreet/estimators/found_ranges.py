"""Estimators of declared columns, some of whose ranges a fit may have to find."""

from __future__ import annotations

from typing import Any

from discreet._types import Array
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.linear import LinearEstimator
from discreet.estimators.task import Asked
from discreet.mechanisms import PrivateRanges

RANGES = frozenset(["ranges_"])
"""What a fit leaves beside the coefficients."""


class RangeFindingEstimator(LinearEstimator):
    """A linear model that keeps the ranges which its fit found, and predicts with them."""

    columns: Any
    ranges_: Array | None

    def _coefficients(self, asked: Asked, origin: float = 0.0) -> tuple[Array, Array]:
        features, mechanism = self.feature_map(), asked.mechanism
        self.ranges_ = None
        if isinstance(features, DeclaredFeatures) and isinstance(mechanism, PrivateRanges):
            self.ranges_ = features.ranges_of(mechanism.ranges(self.release_.value))
        return super()._coefficients(asked, origin)

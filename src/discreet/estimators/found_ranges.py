"""Estimators of declared columns, some of whose ranges a fit may have to find."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from discreet._types import Array
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.fields import with_fields
from discreet.estimators.linear import LinearEstimator
from discreet.estimators.task import Asked
from discreet.mechanisms import PrivateRanges

RANGES = frozenset(["ranges_"])
"""What a fit leaves beside the coefficients."""


@with_fields
class RangeFindingEstimator(LinearEstimator):
    """A linear model that keeps the ranges which its fit found, and predicts with them."""

    finds_ranges = True

    intercept_: Any = field(init=False)
    ranges_: Array | None = field(init=False)

    def _coefficients(self, asked: Asked, origin: float = 0.0) -> tuple[Array, Array]:
        features, mechanism = self.feature_map(), asked.mechanism
        self.ranges_ = None
        if isinstance(features, DeclaredFeatures) and isinstance(mechanism, PrivateRanges):
            self.ranges_ = features.ranges_of(mechanism.ranges(self.release_.value))
        return super()._coefficients(asked, origin)

    def released_model(self) -> Array:
        value = super().released_model()
        if self.ranges_ is None:
            return value
        vectors, model = len(np.atleast_1d(self.intercept_)), value[: -self.ranges_.size]
        return model if vectors == 1 else model.reshape(vectors, -1)

"""What estimators of location do alike: a point in the middle of the rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from discreet._types import Vector
from discreet.errors import InputError
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.features import COLUMNS_FOUND, FeatureMap, PlainFeatures, vector_as_table
from discreet.estimators.fields import with_fields
from discreet.estimators.fit import Fit
from discreet.geometry import Box, ConvexSet, WholeSpace
from discreet.mechanisms import ExponentialSampling, Mechanism
from discreet.policy.task import Asked
from discreet.privacy import Budget, Unit
from discreet.questions import Bounds, ColumnQuantiles, Question


class LocationEstimator(PrivateEstimator):
    """A point in the middle of the rows."""

    learns = frozenset(["location_"])
    _has_labels = False

    location_: Vector

    @abstractmethod
    def _choose(
        self, width: int, max_rows: int, budget: Budget, unit: Unit
    ) -> tuple[Mechanism, Question]:
        """Return what is asked of rows of this width, and who answers."""

    def _as_table(self, X: Any) -> Any:
        return vector_as_table(X)

    def feature_map(self) -> FeatureMap:
        return PlainFeatures(WholeSpace())

    def _ask(self, fit: Fit) -> Asked:
        mechanism, question = self._choose(
            fit.shape.n_features, fit.shape.max_rows, fit.budget, fit.unit
        )
        return Asked(question, mechanism, (COLUMNS_FOUND,))

    def _keep(self, asked: Asked, fit: Fit) -> None:
        self.location_ = np.array(self.release_.value)


@with_fields
class ColumnEstimator(LocationEstimator):
    """A point of each column."""

    bounds: Any = (-1.0, 1.0)

    def _check(self) -> None:
        limits_of(self.bounds)

    def row_region(self, width: int) -> ConvexSet:
        return Box(*limits_for(self.bounds, width))


@with_fields
class QuantileEstimator(ColumnEstimator):
    """A quantile of each column."""

    steps: int = 2**20

    @abstractmethod
    def _quantile(self) -> float:
        """Return which quantile is asked for."""

    def _choose(
        self, width: int, max_rows: int, budget: Budget, unit: Unit
    ) -> tuple[Mechanism, Question]:
        declared = Bounds(self.row_region(width), n_features=width, max_rows=max_rows)
        return ExponentialSampling(), ColumnQuantiles(declared, self._quantile(), self.steps)


def limits_of(bounds: Any) -> tuple[Vector, Vector]:
    """Return the declared limits: two numbers, or two numbers for each column."""
    try:
        lower, upper = (np.array(limit, dtype=np.float64) for limit in bounds)
    except (TypeError, ValueError):
        lower = upper = np.array(np.nan)
    if not (
        np.isfinite(lower).all() and np.isfinite(upper).all() and max(lower.ndim, upper.ndim) < 2
    ):
        raise InputError(
            "bounds must be two finite numbers, low and high, or two lists with one number for "
            f"each column; got {bounds!r}. Choose them without looking at the data."
        )
    if not np.all(lower < upper):
        raise InputError(f"bounds must be a low number below a high one; got {bounds!r}.")
    return lower, upper


def limits_for(bounds: Any, width: int) -> tuple[list[float], list[float]]:
    """Return the declared limits of each column."""
    lower, upper = limits_of(bounds)
    return _for_each(lower, width), _for_each(upper, width)


def _for_each(limit: Vector, width: int) -> list[float]:
    """Return one limit for each column."""
    if limit.ndim == 1 and limit.size != width:
        raise InputError(f"bounds name {limit.size} columns; X has {width}.")
    return [float(number) for number in np.broadcast_to(limit, (width,))]

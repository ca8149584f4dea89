"""What estimators of location do alike: read a table, release, keep what is public."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.data import Bounds, Rows
from discreet.errors import InputError
from discreet.estimators.linear import COLUMNS_FOUND, silent, table_for
from discreet.estimators.storing import Storable
from discreet.estimators.task import is_told, noise_from
from discreet.gate import release
from discreet.geometry import Box
from discreet.ledger import AbstractLedger
from discreet.mechanisms import ExponentialSampling, Mechanism
from discreet.privacy import Budget, Guarantee, Unit, unit_named
from discreet.questions import ColumnQuantiles, Question
from discreet.record import Release


class LocationEstimator(Storable):
    """A point in the middle of the rows, released once, through the gate."""

    epsilon: float
    delta: float
    unit: str | Unit
    ledger: AbstractLedger | None
    max_rows: int
    rehearsal: int | None
    verbose: int

    location_: Vector
    release_: Release
    privacy_: Guarantee

    @abstractmethod
    def _check(self) -> None:
        """Refuse parameters that are wrong whatever the table."""

    @abstractmethod
    def _asked(
        self, width: int, most_rows: int, budget: Budget, unit: Unit
    ) -> tuple[Mechanism, Question]:
        """Return what is asked of rows of this width, and who answers."""

    @silent
    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the location; the ledger is charged before a row is read.

        Parameters
        ----------
        X
            Rows: an array, a SciPy sparse matrix, or a pandas or Polars data frame.
        y
            Not used.
        """
        budget, unit = Budget(self.epsilon, self.delta), unit_named(self.unit)
        noise = noise_from(self.rehearsal)
        if not isinstance(self.verbose, bool):
            _checks.whole(verbose=self.verbose, at_least=0)
        self._check()
        table = table_for(self, X, reset=True)
        count, width = table.shape
        most_rows = count if is_told(budget, unit, self.ledger) else self.max_rows
        mechanism, question = self._asked(width, most_rows, budget, unit)
        self.release_ = release(
            mechanism,
            question,
            Rows(table, bounds=question.bounds, unit=unit),
            budget=budget,
            ledger=self.ledger,
            noise=noise,
            purpose=type(self).__name__,
            facts=(COLUMNS_FOUND,),
        )
        self.privacy_ = self.release_.guarantee
        if self.verbose > 0:
            print(self.privacy_.sentence())
        self.location_ = np.asarray(self.release_.value)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # such rows count as a fixed row
        tags.non_deterministic = self.rehearsal is None
        return tags


class ColumnEstimator(LocationEstimator):
    """A point of each column."""

    bounds: Any

    def _check(self) -> None:
        limits_of(self.bounds)


class QuantileEstimator(ColumnEstimator):
    """A quantile of each column."""

    steps: int

    @abstractmethod
    def _quantile(self) -> float:
        """Return which quantile is asked for."""

    def _asked(
        self, width: int, most_rows: int, budget: Budget, unit: Unit
    ) -> tuple[Mechanism, Question]:
        region = Box(*limits_for(self.bounds, width))
        declared = Bounds(region, n_features=width, max_rows=most_rows)
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

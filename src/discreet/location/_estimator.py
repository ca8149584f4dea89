"""What estimators of location do alike: read a table, release, keep what is public."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from discreet import _checks
from discreet._types import Vector
from discreet.data import Bounds, Rows
from discreet.errors import InputError
from discreet.geometry import Box
from discreet.ledger import Ledger
from discreet.linear_model._estimator import unquoted
from discreet.linear_model._fitting import noise_from
from discreet.mechanisms import ExponentialSampling
from discreet.privacy import Budget, Guarantee, Unit, unit_named
from discreet.question import ColumnQuantiles
from discreet.release import Release, release


class LocationEstimator(BaseEstimator):  # type: ignore[misc]
    """A quantile of each column, released once, through the gate."""

    epsilon: float
    delta: float
    bounds: Any
    unit: str | Unit
    ledger: Ledger | None
    steps: int
    max_rows: int
    random_state: int | None
    verbose: int

    location_: Vector
    release_: Release
    privacy_: Guarantee

    @abstractmethod
    def _quantile(self) -> float:
        """Return which quantile is asked for."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the location of each column; the ledger is charged before a row is read.

        Parameters
        ----------
        X
            Rows: an array, a SciPy sparse matrix, or a pandas or Polars data frame.
        y
            Not used.
        """
        budget, unit = Budget(self.epsilon, self.delta), unit_named(self.unit)
        noise = noise_from(self.random_state)
        if not isinstance(self.verbose, bool):
            _checks.whole(verbose=self.verbose, at_least=0)
        lower, upper = _limits(self.bounds)
        table = unquoted(
            validate_data,
            self,
            X,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite=False,
        )
        count, width = table.shape
        declared = Bounds(
            Box(_for_each(lower, width), _for_each(upper, width)),
            n_features=width,
            max_rows=count if unit.count_is_public else self.max_rows,
        )
        question = ColumnQuantiles(declared, self._quantile(), self.steps)
        self.release_ = release(
            ExponentialSampling(),
            question,
            Rows(table, bounds=declared, unit=unit),
            budget=budget,
            ledger=self.ledger,
            noise=noise,
            purpose=type(self).__name__,
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
        tags.non_deterministic = self.random_state is None
        return tags


def _limits(bounds: Any) -> tuple[Vector, Vector]:
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


def _for_each(limit: Vector, width: int) -> list[float]:
    """Return one limit for each column."""
    if limit.ndim == 1 and limit.size != width:
        raise InputError(f"bounds name {limit.size} columns; X has {width}.")
    return [float(number) for number in np.broadcast_to(limit, (width,))]

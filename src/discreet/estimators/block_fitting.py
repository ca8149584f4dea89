"""Numbers that a scikit-learn estimator or a function computes on a block of rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from discreet._private_part import silence
from discreet._types import Array, Vector
from discreet.errors import InputError, InputTypeError
from discreet.estimators.block_estimator import FEWEST, MOST, prepare_for_blocks
from discreet.mechanisms.noisy_aggregate import LEVELS, QUARTILES_SHARE
from discreet.privacy import Budget, gaussian_multiplier

NOISE_SHARE = 0.05
"""The noise of an average, as a share of half the width of its limits, that blocks are for."""

NATS_OF_QUARTILES = math.log(2**10) + math.log(100)
"""A quartile is drawn a thousandth of the limits wide, with a chance of a miss of one in 100."""

TRIED_ROWS, TRIED_WIDTH = 48, 6
"""Invented rows on which it is tried whether an estimator has coefficients."""


@dataclass(frozen=True, eq=False)
class FittedCoefficients:
    """The coefficients and intercepts of a clone that is fitted to a block."""

    estimator: Any
    classes: Any = None

    @property
    def has_intercept(self) -> bool:
        """Whether intercepts are among the numbers."""
        return bool(getattr(self.estimator, "fit_intercept", True))

    @property
    def vectors(self) -> int:
        """How many vectors of coefficients there are: one for each of three or more classes."""
        return 1 if self.classes is None or self.classes.size == 2 else int(self.classes.size)

    def outputs(self, features: int) -> int:
        """Return how many numbers there are."""
        return self.vectors * (features + self.has_intercept)

    def split(self, numbers: Vector, features: int) -> tuple[Array, Vector]:
        """Return vectors of coefficients, and an intercept for each; zero where there is none."""
        coef, intercepts = np.split(numbers, [self.vectors * features])
        if not self.has_intercept:
            intercepts = np.zeros(self.vectors)
        return coef.reshape(self.vectors, features), intercepts

    def __call__(self, X: Any, y: Any) -> Vector:
        """Return all coefficients, and then the intercepts."""
        fresh = clone(self.estimator).fit(X, y)
        if self.classes is not None and not np.array_equal(fresh.classes_, self.classes):
            raise ValueError("a block without one of the classes has no coefficients.")
        is_sparse = sparse.issparse(fresh.coef_)
        numbers = [np.ravel(fresh.coef_.toarray() if is_sparse else fresh.coef_)]
        if self.has_intercept:
            numbers.append(np.broadcast_to(np.ravel(fresh.intercept_), (self.vectors,)))
        return np.concatenate(numbers).astype(np.float64)

    def try_out(self) -> None:
        """Refuse what has no coefficients after a fit, or others than are expected.

        The rows are invented; whether a fit to them fails says nothing.
        """
        X = np.cos(np.arange(TRIED_ROWS * TRIED_WIDTH) ** 2).reshape(TRIED_ROWS, TRIED_WIDTH)
        y = X[:, 0]
        if self.classes is not None:
            y = self.classes[np.arange(TRIED_ROWS) % self.classes.size]
        with silence():
            try:
                numbers = self(X, y)
            except AttributeError as error:
                found = None if "coef_" in str(error) or "intercept_" in str(error) else -1
            except Exception:
                return
            else:
                found = numbers.size
        if found is None:
            raise InputError(
                f"{type(self.estimator).__name__} has no coef_ after a fit; pass a linear model, "
                "or a function that returns the numbers to be averaged."
            )
        if found not in (-1, self.outputs(TRIED_WIDTH)):
            raise InputError(
                f"{type(self.estimator).__name__} has {found} coefficients and intercepts where "
                f"{self.outputs(TRIED_WIDTH)} were expected; pass a function that returns the "
                "numbers to be averaged."
            )


def computation_of(given: Any, classes: Any = None) -> FittedCoefficients | Callable[..., Any]:
    """Return what is computed on a block; refuse what pays for itself.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> computation_of(Ridge()).outputs(features=3)
    4
    """
    prepared = prepare_for_blocks(given)
    if isinstance(given, BaseEstimator):
        return FittedCoefficients(prepared, classes)
    if isinstance(given, type) or not callable(given):
        raise InputTypeError(
            "estimator must be one of scikit-learn's or a function of the rows and labels of a "
            f"block; got a value of type {type(given).__name__}."
        )
    return given  # type: ignore[no-any-return]


def blocks_for_average(budget: Budget, outputs: int, aggregate: str) -> int:
    """Return so many blocks that the noise of an average is small beside its limits.

    That of a mean is a twentieth of half their width; of a winsorised one quartiles are drawn with
    room to spare.

    Examples
    --------
    >>> blocks_for_average(Budget(1.0), 1, "mean"), blocks_for_average(Budget(1.0), 1, "winsorised")
    (57, 370)
    """
    if not budget.is_private:
        return FEWEST
    if aggregate == "mean":
        noise = 2 * math.sqrt(2) * outputs / budget.epsilon
        if budget.delta > 0:
            noise = min(noise, 2 * math.sqrt(outputs) * gaussian_multiplier(budget))
        needed = noise / NOISE_SHARE
    else:
        draws = len(LEVELS) * outputs
        span = QUARTILES_SHARE * budget.epsilon / draws
        if budget.delta > 0:
            wide = math.sqrt(4 * QUARTILES_SHARE / draws) / gaussian_multiplier(budget)
            span = max(span, wide)
        needed = 8 / span * NATS_OF_QUARTILES
    return int(np.clip(math.ceil(needed), FEWEST, MOST))

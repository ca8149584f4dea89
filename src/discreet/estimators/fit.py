"""One fit: what is accepted for it, and what is settled once and handed to every step."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from discreet.data.given_column import GivenColumn, column_of, family
from discreet.data.matrix import columns_of, hold_table
from discreet.data.source import Source
from discreet.errors import InputError, InputTypeError
from discreet.estimators.features import FeatureMap
from discreet.estimators.targets import LearningTarget
from discreet.ledger import AbstractLedger, NoLedger
from discreet.noise import Noise, RehearsalNoise, SystemNoise
from discreet.policy.task import Shape
from discreet.privacy import Budget, Unit


@dataclass(frozen=True, eq=False)
class Table:
    """Rows that were accepted and not read, and what is declared of their labels."""

    rows: Source
    target: LearningTarget | None = None


@dataclass(frozen=True, eq=False)
class Fit:
    """What is public of one fit, before anything is asked of its rows."""

    features: FeatureMap
    target: LearningTarget | None
    shape: Shape
    budget: Budget
    unit: Unit

    def need_target(self) -> LearningTarget:
        """Return what is learnt from, of an estimator that learns from labels."""
        if self.target is None:
            raise InputError("this estimator learns from labels; pass them.")
        return self.target


def accept_target(model: Any, y: Any) -> GivenColumn:
    """Return labels or targets, of which nothing is read but their type."""
    if y is None:
        raise InputError(
            f"{type(model).__name__} requires y to be passed, but the target y is None."
        )
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) != 2 or shape[1] != 1 or family(y) == "dask" or sparse.issparse(y):
        return column_of(y, "y")
    columns = columns_of(y)
    if columns is None:
        held = np.asarray(y) if isinstance(y, np.matrix) else hold_table(y, "y")
        columns = [held[:, 0]]
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; use y.ravel().",
        DataConversionWarning,
        stacklevel=6,
    )
    return column_of(columns[0], "y")


def check_lengths(rows: int, labels: int) -> None:
    """Refuse rows and labels of different number, without saying which."""
    if rows != labels:
        raise InputError("X and y must have as many rows as one another.")


def is_count_told(budget: Budget, unit: Unit, ledger: AbstractLedger | None) -> bool:
    """Say whether the number of rows may be used before anything is paid.

    An infinite budget promises nothing. But a ledger refuses it, and what is said until then must
    tell nothing of the rows.
    """
    return unit.count_is_public or is_free(budget, ledger)


def is_free(budget: Budget, ledger: AbstractLedger | None) -> bool:
    """Say whether nothing is promised and no ledger will refuse that."""
    return not budget.is_private and (ledger is None or isinstance(ledger, NoLedger))


def noise_from(rehearsal: Any) -> Noise:
    """Return the operating system's noise, or seeded noise for a simulation."""
    if rehearsal is None:
        return SystemNoise()
    if isinstance(rehearsal, bool) or not isinstance(rehearsal, Integral):
        raise InputTypeError(
            "rehearsal must be None (private) or a whole number (the seed of a simulation)."
        )
    return RehearsalNoise(int(rehearsal))

"""The rows that a fit sees: the base, and what the coins plant.

A coin decides about membership: in or out (add/remove), or one of two rows (replace).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Booleans
from discreet.errors import InputError
from discreet.privacy import Guarantee


@dataclass(frozen=True)
class PlantedRows:
    """Rows, with or without labels."""

    X: Any
    y: Any = None

    @classmethod
    def of(cls, table: Any, name: str) -> PlantedRows:
        X, y = table if isinstance(table, tuple) and len(table) == 2 else (table, None)
        X = np.asarray(X)
        if X.ndim != 2 or X.size == 0:
            raise InputError(f"{name} must be a table with two axes, or a pair (X, y).")
        if y is not None:
            y = np.asarray(y)
            if y.shape != (len(X),):
                raise InputError(f"{name} must have one label for each row.")
        return cls(X, y)

    @property
    def count(self) -> int:
        return len(self.X)

    def check_fits(self, canaries: PlantedRows, name: str) -> PlantedRows:
        """Return these rows if they can stand beside the canaries."""
        if self.X.shape[1] != canaries.X.shape[1]:
            raise InputError(f"{name} must have as many columns as the canaries.")
        if (self.y is None) != (canaries.y is None):
            raise InputError(f"{name} must have labels exactly if the canaries do.")
        return self

    def mix(
        self, coins: Booleans, instead: PlantedRows | None, always: PlantedRows | None
    ) -> PlantedRows:
        """Return the base, and below it what the coins plant."""
        X, y = self.X, self.y
        if instead is None:
            X, y = X[coins], None if y is None else y[coins]
        else:
            X = np.where(coins[:, None], X, instead.X)
            y = None if y is None else np.where(coins, y, instead.y)
        if always is not None:
            X = np.concatenate([always.X, X])
            y = None if y is None else np.concatenate([always.y, y])
        return PlantedRows(X, y)


def stand_ins(alternatives: Any, planted: PlantedRows, guarantee: Guarantee) -> PlantedRows | None:
    if guarantee.unit.rows_are_public:
        if alternatives is None:
            raise InputError(
                "the guarantee is about replacing a record: give alternatives=, the rows that "
                "stand in place of canaries that are not planted."
            )
        instead = PlantedRows.of(alternatives, "alternatives").check_fits(planted, "alternatives")
        if instead.count != planted.count:
            raise InputError("alternatives must have one row for each canary.")
        return instead
    if alternatives is not None:
        raise InputError(
            "the guarantee is about adding or removing a record, so canaries that are not planted "
            "are left out; drop alternatives=."
        )
    return None

"""Estimators that take tables as they are: columns declared, coefficients in the user's units."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Array
from discreet.data.frame import Frame
from discreet.data.given_column import GivenColumn
from discreet.data.stored import Wanted, is_table
from discreet.errors import InputError
from discreet.estimators.linear import LinearEstimator, check_lengths, target_for
from discreet.estimators.stored_rows import Stored
from discreet.geometry import ConvexSet, L1L2Ball, L2Ball
from discreet.preprocessing import BoundedScaler, Category, Column
from discreet.record import Fact, Origin

Columns = Mapping[str, Column] | Sequence[Column] | None


class DeclaredColumns(LinearEstimator):
    """Rows come as declared columns, or as numbers with a declared norm."""

    columns: Columns

    def _scaler(self) -> BoundedScaler | None:
        if self.columns is None:
            return None
        return BoundedScaler(self.columns, centre_categories=self._centres())

    def _centres(self) -> bool:
        """Say whether levels are centred; not if noise is made for the l1 norm, which doubles."""
        return True

    def _kept_share(self) -> float:
        """Return the share of the l1 norm of numbers that is kept; rows beyond are shortened."""
        return 1.0

    def _features(self) -> ConvexSet:
        scaler = self._scaler()
        if scaler is None:
            _checks.positive(data_norm=self.data_norm)
            return L2Ball(self.data_norm)
        if self._centres():
            return L2Ball(scaler.row_norm())
        numeric = sum(not isinstance(column, Category) for column in self._listed())
        total = scaler.row_norm(order=1) - (1 - self._kept_share()) * numeric
        if self._kept_share() == 1:
            return L1L2Ball(total, scaler.row_norm())
        return L1L2Ball(total, min(scaler.row_norm(), math.sqrt(total)))

    def _facts(self) -> tuple[Fact, ...]:
        columns = self.columns
        if columns is None:
            return super()._facts()
        rest = tuple(fact for fact in super()._facts() if fact.what != "columns")
        named = columns.items() if isinstance(columns, Mapping) else enumerate(columns, start=1)
        return (
            Fact("columns", f"{len(columns):,}, each declared by itself", Origin.DECLARED),
            Fact("features", f"encoded columns: {self._features().words}", Origin.CHOSEN),
            *(Fact(f"column {name}", column.words, Origin.DECLARED) for name, column in named),
            *rest,
        )

    def _listed(self) -> list[Column]:
        columns = self.columns
        if columns is None:
            return []
        return list(columns.values() if isinstance(columns, Mapping) else columns)

    def _indicators(self) -> tuple[bool, ...] | None:
        """Say which features are levels of a category."""
        if self.columns is None:
            return None
        return tuple(
            isinstance(column, Category) for column in self._listed() for _ in range(column.width)
        )

    def _constant(self) -> float | None:
        if not self.fit_intercept:
            return None
        return super()._constant() if self.columns is None else 1.0

    def _table(self, X: Any, y: Any) -> tuple[Any, GivenColumn]:
        scaler = self._scaler()
        if scaler is None:
            return super()._table(X, y)
        scaler.fit(X)
        self.n_features_in_ = scaler.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(scaler, "feature_names_in_"):
            self.feature_names_in_ = scaler.feature_names_in_
        encoded, labels = scaler.transform(X), target_for(self, y)
        check_lengths(encoded, labels)
        return encoded, labels

    def _encoding(
        self, stored: Stored
    ) -> tuple[tuple[Wanted, ...] | None, Callable[[Any], Any], int, bool]:
        scaler = self._scaler()
        if scaler is None:
            return super()._encoding(stored)
        columns, width = self._listed(), scaler.n_features_out
        by_name = isinstance(self.columns, Mapping)
        names = list(self.columns) if isinstance(self.columns, Mapping) else stored.names
        if by_name and stored.names is None:
            raise InputError("columns are declared by name, and arrays have none; declare a list.")
        found = stored.table.width if names is None else len(names)
        if found != len(columns):
            raise InputError(
                f"the table must have {len(columns)} columns beside the target, one for each "
                f"declared; got {found}. Declare a dict to choose columns by name."
            )
        if not by_name:
            stored.table.check_same_names()
        self._name_columns(names, len(columns))
        # A stored entry of a sparse row takes half as much again as one of a dense row.
        is_sparse = not scaler.centre_categories and 3 * len(columns) < 2 * width
        if is_sparse:
            scaler.sparse_output = True
        wanted = self._wanted(names or [f"column {place}" for place in range(len(columns))])
        return wanted, scaler.transform, width, is_sparse

    def _wanted(self, names: Iterable[str]) -> tuple[Wanted, ...]:
        return tuple(
            Wanted(name, column.levels if isinstance(column, Category) else None)
            for name, column in zip(names, self._listed(), strict=True)
        )

    def _columns_read(self) -> tuple[Wanted, ...]:
        return (
            super()._columns_read()
            if self.columns is None
            else self._wanted(self.feature_names_in_)
        )

    def _frame_margins(self, frame: Frame) -> Array:
        return super()._frame_margins(frame) if self.columns is None else self._margins(frame)

    def _keep(self, coef: Array, intercept: Any) -> None:
        scaler = self._scaler()
        if scaler is not None:
            coef, intercept = scaler.fold(coef, intercept)
        super()._keep(coef, intercept)

    def _margins(self, X: Any) -> Array:
        scaler = self._scaler()
        if scaler is None or is_table(X):
            return super()._margins(X)
        check_is_fitted(self, "coef_")
        if hasattr(self, "feature_names_in_"):
            scaler.feature_names_in_ = self.feature_names_in_  # columns listed keep their order
        coef = np.atleast_2d(self.coef_)
        linear = scaler.plain(X) @ coef.T
        if self._kept_share() == 1:
            return np.asarray(linear + self.intercept_)
        # Rows that were shortened in the fit are shortened here, about the middle of each range.
        factors = self._features().clip_rows(np.asarray(scaler.transform(X)))[1][:, None]
        origin = np.concatenate([column.origin() for column in self._listed()])
        middle = origin @ coef.T
        return np.asarray(middle + factors * (linear - middle) + self.intercept_)

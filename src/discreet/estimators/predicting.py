"""Predictions, row by row: for rows in memory, in files, or with the workers of Dask."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from discreet.data.stored import is_table, map_rows
from discreet.estimators.features import series_as_table

Method = TypeVar("Method", bound=Callable[..., Any])


def row_by_row(method: Method) -> Method:
    """Let a method that speaks of each row by itself speak of stored rows as well.

    Files are read a few rows at a time; of Dask's rows it speaks lazily, on the workers.
    """

    @wraps(method)
    def speak(self: Any, X: Any) -> Any:
        check_is_fitted(self, "release_")
        X = series_as_table(X)
        if not is_table(X):
            return method(self, X)
        is_named = hasattr(self, "feature_names_in_")
        travelling = copy(self)
        travelling.ledger = None  # workers have no business with the ledger
        columns = self.feature_map().find_again(self) if is_named else None
        return map_rows(partial(method, travelling), X, columns)

    return speak  # type: ignore[return-value]

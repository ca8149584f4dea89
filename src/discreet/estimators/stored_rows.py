"""Methods that speak of each row by itself, of tables in memory and of Dask's."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from discreet.data.stored import OpenedTable as Stored
from discreet.data.stored import Wanted, map_rows
from discreet.data.stored import is_table as are_stored
from discreet.data.stored.dask import DaskTable

__all__ = ["Stored", "are_stored", "by_partition"]

Method = TypeVar("Method", bound=Callable[..., Any])


def by_partition(method: Method) -> Method:
    """Let a method that speaks of each row by itself speak of Dask's rows as well, lazily."""

    @wraps(method)
    def speak(self: Any, X: Any) -> Any:
        if not DaskTable.owns(X):
            return method(self, X)
        check_is_fitted(self, "coef_")
        names = getattr(self, "feature_names_in_", None)
        model = copy(self)
        model.ledger = None  # workers have no business with the books
        columns = None if names is None else [Wanted(name) for name in names.tolist()]
        return map_rows(partial(method, model), X, columns)

    return speak  # type: ignore[return-value]

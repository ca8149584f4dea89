"""Predictions, row by row: for rows in memory, in files, or with the workers of Dask."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from copy import copy
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet.data import ParquetTable
from discreet.data.stored.dask import is_dask, lazily
from discreet.data.stored.parquet import PREDICTED_AT_ONCE, is_stored
from discreet.errors import InputError

Method = TypeVar("Method", bound=Callable[..., Any])


def row_by_row(method: Method) -> Method:
    """Let a method that speaks of each row by itself speak of stored rows as well.

    Files are read a few rows at a time; of Dask's rows it speaks lazily, on the workers.
    """

    @wraps(method)
    def speak(self: Any, X: Any) -> Any:
        check_is_fitted(self, "release_")
        if is_stored(X):
            return _over_files(method, self, X)
        return _over_partitions(method, self, X) if is_dask(X) else method(self, X)

    return speak  # type: ignore[return-value]


def _over_files(method: Callable[..., Any], model: Any, X: Any) -> Any:
    if not hasattr(model, "feature_names_in_"):
        raise InputError("columns of files are found by name; this model knows no names.")
    table = ParquetTable.open(X)
    wanted = model.feature_map().find_again(model)
    table.check(wanted)
    with closing(table.frames(wanted, PREDICTED_AT_ONCE)) as frames:
        answers = [method(model, frame) for frame in frames]
    if not answers:
        raise InputError("the files have no row.")
    return np.concatenate(answers)


def _over_partitions(method: Callable[..., Any], model: Any, X: Any) -> Any:
    names = getattr(model, "feature_names_in_", None)
    if names is not None and hasattr(X, "columns"):
        missing = [name for name in names if name not in list(X.columns)]
        if missing:
            raise InputError(f"the column {missing[0]!r}, which the model knows, is missing.")
        X = X[names.tolist()]
    travelling = copy(model)
    travelling.ledger = None  # workers have no business with the books
    return lazily(partial(method, travelling), X)

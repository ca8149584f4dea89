"""One column given by itself, as a table of one column; no cell is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.data.given_column import family

FRAMES = ("pandas", "polars")
"""Libraries whose columns have a name, and become a frame by themselves."""


def series_as_table(X: Any) -> Any:
    """Return a series as a frame of one column, and anything else as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> series_as_table(pd.Series([30, 40], name="age")).columns.tolist()
    ['age']
    """
    if family(X) in FRAMES and len(getattr(X, "shape", ())) == 1:
        return X.to_frame()
    return X


def vector_as_table(X: Any) -> Any:
    """Return a series, a vector or a list of numbers as a table of one column.

    Where there is one number a record, as for a median, nothing else could be meant.

    Examples
    --------
    >>> vector_as_table([30, 40]), vector_as_table([[30], [40]])
    ([[30], [40]], [[30], [40]])
    """
    if isinstance(X, np.ndarray) and X.ndim == 1:
        return X[:, None]
    if isinstance(X, list | tuple) and 2 * sum(map(_is_record, X)) < len(X):  # not one decides
        return [[cell] for cell in X]
    return series_as_table(X)


def _is_record(cell: Any) -> bool:
    kind = type(cell)
    is_cell = issubclass(kind, str | bytes | np.generic) and not issubclass(kind, np.void)
    return not is_cell and (hasattr(kind, "__iter__") or hasattr(kind, "__array__"))

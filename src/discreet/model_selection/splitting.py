"""Rows split for training and testing, each record by itself."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from discreet import _checks
from discreet._private_part import silence
from discreet._types import Booleans
from discreet.data.frame import Coded, Frame, refuse_lazy
from discreet.data.given_column import family
from discreet.data.record_sides import RecordSides
from discreet.data.stored import is_table
from discreet.data.stored.dask import is_dask
from discreet.data.stored.file_table import FileTable
from discreet.data.stored.sources import look_at
from discreet.errors import InputError, InputTypeError
from discreet.estimators.fit import check_lengths
from discreet.model_selection.split_dask import split_collection
from discreet.model_selection.split_files import split_into_files
from discreet.noise.words import fresh_key


def split_rows(
    X: Any,
    y: Any = None,
    *,
    test: float = 0.25,
    key: bytes | str | int | None = None,
    groups: Any = None,
    target: str | None = None,
    out: tuple[str | Path, str | Path] | None = None,
) -> Any:
    """Split rows for training and testing; which side a record falls on depends on it alone.

    The side is a keyed hash of the record: of all its cells and its target, or of its group. So
    under ``unit="add_remove"`` one record more or fewer changes one of the two parts, by that
    record, and moves no other. A split by position does not have this property
    (``train_test_split``, ``X[:1000]``, ``KFold``): one record fewer moves another across the cut,
    and the other part changes by a replaced record, for which no charge was made.

    Parts have *about* the share that was asked for, and how many rows each has is as private as the
    rows. Equal records fall on one side, in every container: arrays, sparse matrices, data frames
    and files agree. Their order is kept.

    **Not for** ``unit="replace"``: a replaced record may change sides, and with it the numbers of
    rows, which that unit takes as public. Split by position there.

    Parameters
    ----------
    X
        Rows: a list, an array, a sparse matrix, a data frame of pandas, Polars or Arrow; a Dask
        collection, which is split where it is; or the path of Parquet files, with ``out``.
    y
        One target for each row, or a table of several. None if there is none, or if it is a column
        of a stored table.
    test
        The share of records for testing, between 0 and 1.
    key
        What records are hashed with: a text, bytes or a whole number, chosen without looking at the
        rows. The same key gives the same parts again, also of a table that has grown. None for a
        secret key that is fresh each time and kept nowhere; then nobody who may add records can
        choose their side.
    groups
        Whose row each is: all rows of a group fall on one side, which is that of its name or
        number; or, of a stored table, the name of such a column.
    target
        The column of a stored table that holds the targets.
    out
        Two names of new Parquet files, for training and for testing; for Parquet files.

    Returns
    -------
    X_train, X_test, y_train, y_test
        In the containers that came in; without ``y`` the first two.

    Examples
    --------
    >>> X, y = np.arange(4000).reshape(2000, 2), np.arange(2000) % 2
    >>> X_train, X_test, y_train, y_test = split_rows(X, y, test=0.25, key="patients 2026")
    >>> len(X_train) == len(y_train), 0.2 < len(X_test) / 2000 < 0.3
    (True, True)
    >>> without_first = split_rows(X[1:], y[1:], test=0.25, key="patients 2026")
    >>> bool(np.isin(without_first[1], X_test).all())
    True
    """
    sides = sides_of(test, key)
    refuse_lazy(X)
    if not is_table(X):
        if target is not None or out is not None:
            raise InputError("target and out are for stored tables; pass y with arrays.")
        return _split_held(X, y, groups, sides)
    if is_dask(X):
        if out is not None:
            raise InputError("out is for files; a Dask collection is split where it is.")
        return split_collection(X, y, groups, target, sides)
    table = look_at(X)
    if not isinstance(table, FileTable):
        raise InputTypeError("only files and Dask collections are split where they are.")
    if y is not None:
        raise InputError("files bring their labels with them; leave y out, and pass target.")
    if out is None:
        raise InputError("files are split into two new files; pass out=(train, test).")
    return split_into_files(table, groups, target, sides, out)


def sides_of(test: float, key: bytes | str | int | None) -> RecordSides:
    """Return what says on which side a record is, with a fresh key if there is none.

    Examples
    --------
    >>> sides_of(0.5, "a") == sides_of(0.5, b"a"), sides_of(0.5, None) == sides_of(0.5, None)
    (True, False)
    """
    _checks.positive(test=test)
    if not test < 1:
        raise InputError(f"test must be a share between 0 and 1; got {test}.")
    if key is None:
        return RecordSides(float(test), fresh_key())
    if isinstance(key, bool) or not isinstance(key, bytes | str | int | np.integer):
        raise InputTypeError(
            "key must be a text, bytes or a whole number; got a value of type "
            f"{type(key).__name__}."
        )
    said = key if isinstance(key, bytes) else str(key).encode("utf-8", "surrogatepass")
    if not said:
        raise InputError("key must not be empty; pass None for a fresh one.")
    return RecordSides(float(test), blake2b(said, digest_size=32).digest())


def _split_held(X: Any, y: Any, groups: Any, sides: RecordSides) -> list[Any]:
    count = _count(X)
    if y is not None:
        check_lengths(count, _count(y))
    if groups is None:
        is_test = sides.of(X, y)
    else:
        check_lengths(count, _count(groups))
        is_test = sides.of(Frame({"group": groups}))
    parts = []
    for rows in (X,) if y is None else (X, y):
        parts += [pick_rows(rows, ~is_test), pick_rows(rows, is_test)]
    return parts


def _count(rows: Any) -> int:
    if isinstance(rows, Frame):
        return _count(rows[rows.columns[0]]) if rows.columns else 0
    if isinstance(rows, Coded):
        return len(rows.places)
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


@silence()
def pick_rows(rows: Any, chosen: Booleans) -> Any:
    """Return some rows of a table or a column, in the container that they came in."""
    if isinstance(rows, Frame):
        return Frame({name: pick_rows(rows[name], chosen) for name in rows.columns})
    if isinstance(rows, Coded):
        return Coded(rows.distinct, rows.places[chosen])
    if sparse.issparse(rows):
        held: Any = rows
        return held.tocsr()[np.flatnonzero(chosen)]
    match family(rows):
        case "pandas":
            return rows[chosen] if not hasattr(rows, "loc") else rows.loc[chosen]
        case "polars" | "pyarrow":
            return rows.filter(_as_its_own(rows, chosen))
    if isinstance(rows, list | tuple):
        return [row for row, is_chosen in zip(rows, chosen, strict=True) if is_chosen]
    return rows[chosen]


def _as_its_own(rows: Any, chosen: Booleans) -> Any:
    """Return truth values as a column of the library that the rows are of."""
    if family(rows) == "polars":
        import polars

        return polars.Series(chosen)
    import pyarrow

    return pyarrow.array(chosen)

"""Dask collections split where they are; what is computed is computed later, with one key."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from discreet.data.frame import Frame
from discreet.data.kinds import OTHER, kind_of
from discreet.data.record_sides import RecordSides
from discreet.data.stored.dask import DaskTable, is_dask
from discreet.errors import InputError, InputTypeError


def split_collection(
    X: Any, y: Any, groups: Any, target: str | None, sides: RecordSides
) -> list[Any]:
    """Return both sides of a Dask collection, and of the targets beside it."""
    table = DaskTable.open(X).attach(y, groups if is_dask(groups) else None, are_several=True)
    named = [name for name in (target, groups) if isinstance(name, str)]
    if groups is not None and not is_dask(groups) and not isinstance(groups, str):
        raise InputTypeError("groups of a Dask collection must be one, or the name of a column.")
    if named and table.names is None:
        raise InputError("a Dask array has no names; pass y and groups as arrays.")
    for name in named:
        if name not in (table.names or ()):
            raise InputError(f"the Dask data frame: the column {name!r} is missing.")
    given = [one for one in (table.labels, table.weights) if one is not None]
    find = partial(
        _find_side,
        sides=sides,
        target=target,
        groups=groups if isinstance(groups, str) else None,
        has_labels=table.labels is not None,
        has_groups=table.weights is not None,
    )
    rows = table.rows
    if table.names is None:
        return _split_dask_arrays(rows, given, find, y is not None)
    import pandas

    is_test = rows.map_partitions(
        find, *given, meta=pandas.Series(dtype=bool), align_dataframes=False
    )
    parts = []
    for held in (rows,) if y is None else (rows, table.labels):
        for side in (False, True):
            pick = partial(_pick_side, side=side)
            parts.append(
                held.map_partitions(pick, is_test, meta=held._meta, align_dataframes=False)
            )
    return parts


def _split_dask_arrays(rows: Any, given: list[Any], find: Any, has_y: bool) -> list[Any]:
    import dask.array as untyped

    arrays: Any = untyped
    columns = [one if one.ndim == 2 else one[:, None] for one in given]
    is_test = arrays.map_blocks(find, rows, *columns, dtype=bool, drop_axis=1)
    parts = []
    for held in (rows, given[0]) if has_y else (rows,):
        parts += [held[~is_test], held[is_test]]
    return parts


def _find_side(
    rows: Any,
    *given: Any,
    sides: RecordSides,
    target: str | None,
    groups: str | None,
    has_labels: bool,
    has_groups: bool,
) -> Any:
    """Return the side of each row of one partition; nothing here raises because of a cell."""
    is_frame = hasattr(rows, "columns")
    labels = given[0] if has_labels else None
    whose = given[-1] if has_groups else None
    if groups is not None:
        whose = rows[groups]
    if whose is not None:
        is_test = sides.of(Frame({"group": _column(whose)}))
    elif not is_frame:
        is_test = sides.of(rows, labels)
    else:
        features = {name: _column(rows[name]) for name in rows.columns if name != target}
        if target is not None:
            labels = rows[target]
        is_test = sides.of(Frame(features), None if labels is None else _targets(labels))
    if not is_frame:
        return is_test
    import pandas

    return pandas.Series(is_test, index=rows.index)


def _targets(labels: Any) -> Any:
    if labels.ndim == 1:
        return _column(labels)
    return Frame({name: _column(labels[name]) for name in labels.columns})


def _column(cells: Any) -> Any:
    """Return a column of a partition, cell by cell where its type is none that tables have."""
    if getattr(cells, "ndim", 1) == 2:  # of a Dask array
        cells = cells[:, 0]
    return np.asarray(cells, dtype=object) if kind_of(cells.dtype).holds == OTHER else cells


def _pick_side(rows: Any, is_test: Any, *, side: bool) -> Any:
    return rows[is_test.to_numpy() == side]

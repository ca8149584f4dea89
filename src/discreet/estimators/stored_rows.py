"""Tables that are somewhere else: in files, or with the workers of Dask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet import _checks
from discreet.data import ParquetTable
from discreet.data.stored.dask import DaskTable, is_dask
from discreet.data.stored.parquet import is_stored
from discreet.data.stored.table import StoredTable
from discreet.data.stored.worker import LABELS
from discreet.errors import InputError


def are_stored(X: object) -> bool:
    """Say whether rows are somewhere else: in files, or with the workers of Dask."""
    return is_stored(X) or is_dask(X) or isinstance(X, StoredTable)


@dataclass(frozen=True, eq=False)
class Stored:
    """A table that is somewhere else, and which of its columns are no features."""

    table: StoredTable
    target: str
    weight: str | None

    @classmethod
    def open(cls, X: Any, y: Any, target: Any, weight: Any) -> Stored:
        """Look at a table without its rows, and refuse what does not go with it."""
        if target is not None:
            _checks.instance(str, target=target)
        if is_dask(X) or isinstance(X, DaskTable):
            return cls._of_dask(X, y, target, weight)
        if y is not None:
            raise InputError("files bring their labels with them; leave y out, and pass target.")
        if target is None:
            raise InputError("which column holds the labels? Pass target with its name.")
        if weight is not None:
            _checks.instance(str, sample_weight=weight)
        return cls(ParquetTable.open(X), target, weight)

    @classmethod
    def _of_dask(cls, X: Any, y: Any, target: str | None, weight: Any) -> Stored:
        if (target is None) == (y is None):
            raise InputError(
                "where are the labels? Pass target with the name of a column of the Dask data "
                "frame, or y with a Dask array or column."
            )
        is_name = isinstance(weight, str)
        table = DaskTable.open(X, y, None if is_name else weight)
        if table.names is None and (target is not None or is_name):
            raise InputError("a Dask array has no names; pass y and sample_weight as arrays.")
        return cls(table, LABELS if target is None else target, weight if is_name else None)

    @property
    def names(self) -> list[str] | None:
        """The columns that can be features; None if they have no names."""
        names = self.table.names
        if names is None:
            return None
        return [name for name in names if name not in (self.target, self.weight)]

"""A table whose rows become cells: outputs of models and a label, joined row by row.

Accepted by types and shapes; cells are read after the charge, each row by itself.

Rows have coins, of which nobody knows anything: one for each, from a secret key and its place.
A part of a table that is computed again has the same coins; rows that are alike have different
ones, so that their rounding averages out. Places shift when a record is taken away, and with them
who has which coin; as the key is fresh and secret, coins are independent of all rows either way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np

from discreet._types import Array, Vector
from discreet.data.arrays import EncodedSource
from discreet.data.frame import Frame
from discreet.data.given_column import GivenColumn
from discreet.data.matrix import hold_table
from discreet.data.source import Source
from discreet.data.stored import Encoding, OpenedTable, RowPlace, Wanted, is_table, open_table
from discreet.errors import InputError
from discreet.estimators.fit import accept_target, check_lengths, noise_from
from discreet.estimators.targets import ClassTarget, LabelTarget, encode_labels
from discreet.metrics.row_outputs import ModelOutputs, ReadableRows

Join = Callable[[Array, Vector, RowPlace], Array]
"""Makes cells of rows, a line for each, of outputs, labels, and where the first row is."""


class ScoredTable(ABC):
    """Rows with outputs and labels, not yet read."""

    @property
    @abstractmethod
    def count(self) -> int | None:
        """The number of rows if it is known without reading; private unless the unit says not."""

    @abstractmethod
    def source(self, join: Join, width: int) -> Source:
        """Return the rows as cells: ``width`` numbers for each."""


@dataclass(frozen=True, eq=False, repr=False)
class TableInMemory(ScoredTable):
    """Arrays, lists, frames, Arrow."""

    rows: tuple[ReadableRows, ...]
    labels: GivenColumn
    target: LabelTarget

    @property
    def count(self) -> int:
        return self.rows[0].count

    def source(self, join: Join, width: int) -> Source:
        def encode() -> tuple[Any, Any, Any]:
            with np.errstate(all="ignore"):
                outputs = np.hstack([rows.read() for rows in self.rows])
                labels = read_labels(self.target, self.labels)
                return join(outputs, labels, RowPlace()), None, None

        return EncodedSource((self.count, width), encode)


@dataclass(frozen=True, eq=False, repr=False)
class StoredElsewhere(ScoredTable):
    """Parquet files, Dask."""

    count: ClassVar[None] = None

    models: tuple[ModelOutputs, ...]
    table: OpenedTable
    target: LabelTarget

    def source(self, join: Join, width: int) -> Source:
        columns = [model.columns(self.table) for model in self.models]
        named = [column for listed in columns if listed is not None for column in listed]
        wanted = tuple({column.name: column for column in named}.values())
        models, target = self.models, self.target

        def encode(rows: Any) -> Array:
            with np.errstate(all="ignore"):
                pairs = zip(models, columns, strict=True)
                return np.hstack([_read(model, listed, rows) for model, listed in pairs])

        encoding = Encoding(
            wanted if named else None,
            encode,
            width,
            label=lambda cells: read_labels(target, cells),
            labels=target.values,
            join=join,
        )
        return self.table.source(encoding)


def _read(model: ModelOutputs, columns: Sequence[Wanted] | None, rows: Any) -> Array:
    if isinstance(rows, Frame) and columns is not None:
        return model.read(rows.only(column.name for column in columns))
    return model.read(rows) if len(rows) else np.zeros((0, model.width))


def read_labels(target: LabelTarget, cells: Any) -> Vector:
    """Return labels, each by itself: places among the classes, or numbers; NaN for no label."""
    if isinstance(target, ClassTarget):
        return encode_labels(cells, target.classes)
    return target.read(cells)


def accept_table(
    models: tuple[ModelOutputs, ...], label: LabelTarget, X: Any, y: Any, target: str | None
) -> ScoredTable:
    """Accept a table by its types and shape, for every model; no cell is read."""
    if is_table(X):
        return StoredElsewhere(models, open_table(X, y, target=target), label)
    if target is not None:
        raise InputError("target names a column of stored tables; pass y with arrays.")
    held = hold_table(X)
    rows = tuple(model.accept(held) for model in models)
    labels = accept_target(models[0].model, y)
    check_lengths(rows[0].count, len(labels))
    label.check(labels)
    return TableInMemory(rows, labels, label)


COIN_BITS = 53
TOGETHER = 8
"""Coins of one hash: 64 bits for each of so many neighbouring rows."""


@dataclass(frozen=True)
class RowCoins:
    """Numbers between zero and one.

    Examples
    --------
    >>> coins = RowCoins.fresh(None)
    >>> bool((coins.toss(RowPlace(0, 5), 20)[10:] == coins.toss(RowPlace(0, 15), 10)).all())
    True
    """

    key: bytes = field(repr=False)

    @classmethod
    def fresh(cls, rehearsal: int | None) -> RowCoins:
        """Return coins with a key of their own; the same for the same rehearsal."""
        return cls(noise_from(rehearsal).below(1 << 64, 4).tobytes())

    def toss(self, place: RowPlace, count: int) -> Vector:
        """Return the coins of as many rows, the first of which is at this place."""
        first, last = place.row // TOGETHER, -(-(place.row + count) // TOGETHER)
        part = place.part.to_bytes(8, "little")
        hashed = [
            blake2b(part + number.to_bytes(8, "little"), key=self.key).digest()
            for number in range(first, last)
        ]
        words = np.frombuffer(b"".join(hashed), dtype="<u8") >> np.uint64(64 - COIN_BITS)
        skipped = place.row - first * TOGETHER
        return np.asarray(words[skipped : skipped + count] * 2.0**-COIN_BITS)

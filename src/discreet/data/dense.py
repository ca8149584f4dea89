"""Rows in a NumPy array; the array is never copied as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Array, Booleans, Integers, Vector
from discreet.data.block import DenseBlock, lies_by_columns
from discreet.data.given_column import GivenColumn
from discreet.data.labels import (
    accept_labels,
    accept_weights,
    as_floats,
    clean_labels,
    clean_weights,
)
from discreet.data.matrix import GivenMatrix
from discreet.data.source import PreparedMatrix, Source, join_owners, join_vectors, pick
from discreet.errors import InputError
from discreet.questions.bounds import Bounds

ABSURD = 2.0**-300
"""A row that would have to shrink by more than this is replaced: its products may overflow."""

NO_ROWS = "X must have at least one row; got none."

FEWEST_ROWS, MOST_ROWS = 256, 2**13
BLOCK_NUMBERS = 2**20
"""How many numbers a block should hold: they fit a cache."""


@dataclass(frozen=True, eq=False, repr=False)
class ArraySource(Source):
    """A table of numbers that fits into memory; what is no array yet becomes one when opened."""

    given: GivenMatrix
    column: GivenColumn | None
    weights: GivenColumn | None

    @classmethod
    def accept(
        cls, X: GivenMatrix, y: Any, weights: Any, bounds: Bounds, *, may_be_empty: bool = False
    ) -> ArraySource:
        """Take a table by its shape and type; reads no value."""
        count = X.shape[0]
        labels, weighted = accept_labels(y, count, bounds), accept_weights(weights, count, bounds)
        source = cls(X, labels, weighted)
        check_shape(source.shape, bounds, may_be_empty=may_be_empty)
        return source

    @property
    def shape(self) -> tuple[int, int]:
        return self.given.shape

    def check(self, bounds: Bounds) -> None:
        check_shape(self.shape, bounds)

    def block_rows(self) -> int:
        return rows_of_width(self.width)

    def prepare(self, bounds: Bounds) -> PreparedArray:
        matrix = np.asarray(self.given.numbers())
        labels, unknown = clean_labels(self.column, bounds)
        step = self.block_rows()
        spoilt = np.zeros(self.count, dtype=np.bool_) if unknown is None else unknown
        scale = np.ones(self.count)
        shrinks = bounds.features.shrinks_rows
        for start in range(0, self.count, step):
            rows = slice(start, start + step)
            block = as_floats(matrix[rows])
            spoilt[rows] |= _find_not_finite(block)
            if shrinks:
                sound = _replace_spoilt(block, spoilt[rows], bounds)
                scale[rows] = bounds.features.clip_rows(sound)[1]
                spoilt[rows] |= scale[rows] < ABSURD
        scale[scale < ABSURD] = 1.0  # those rows are replaced, and the fixed point is inside
        return PreparedArray(
            bounds=bounds,
            matrix=matrix,
            labels=labels,
            weights=clean_weights(self.weights, self.count, bounds),
            scale=scale if shrinks and (scale != 1).any() else None,
            spoilt=spoilt if spoilt.any() else None,
            shrinks=shrinks,
        )


@dataclass(frozen=True, eq=False, repr=False)
class PreparedArray(PreparedMatrix):
    """An array with a factor for each row, and the rows that are replaced by a fixed point."""

    spoilt: Booleans | None
    shrinks: bool

    def block(self, start: int, stop: int) -> DenseBlock:
        rows = slice(start, stop)
        matrix = as_floats(self.matrix[rows])
        if self.spoilt is not None:
            matrix = _replace_spoilt(matrix, self.spoilt[rows], self.bounds)
        if not self.shrinks:
            matrix, _ = self.bounds.features.clip_rows(matrix)
        return DenseBlock(
            matrix,
            pick(self.scale, rows),
            pick(self.labels, rows),
            pick(self.weights, rows),
            self.bounds.intercept,
        )

    def take(self, positions: Integers) -> PreparedArray:
        return self._pick(_take_rows(self.matrix, positions), positions)

    def part(self, start: int, stop: int) -> PreparedArray:
        return self._pick(self.matrix[start:stop], slice(start, stop))

    def _pick(self, matrix: Any, rows: Integers | slice) -> PreparedArray:
        return PreparedArray(
            self.bounds,
            matrix,
            pick(self.labels, rows),
            pick(self.weights, rows),
            pick(self.scale, rows),
            None if self.spoilt is None else self.spoilt[rows],
            self.shrinks,
            owners=None if self.owners is None else self.owners[rows],
        )

    def transform(self, change: Callable[[Any], Any]) -> Any:
        # A few rows at a time, so that there is never more than one copy of all.
        if self.count <= MOST_ROWS:
            return change(self.block(0, self.count).rows())
        whole: Array | None = None
        for start in range(0, self.count, MOST_ROWS):
            part = change(self.block(start, start + MOST_ROWS).rows())
            if whole is None:
                whole = np.empty((self.count, part.shape[1]))
            whole[start : start + MOST_ROWS] = part
        return whole

    @classmethod
    def join(cls, parts: Sequence[PreparedArray]) -> PreparedArray:
        """Return the rows of all parts, which were clipped alike."""
        counts = [part.count for part in parts]
        spoilt = [np.zeros(p.count, np.bool_) if p.spoilt is None else p.spoilt for p in parts]
        whole = np.concatenate(spoilt)
        return cls(
            parts[0].bounds,
            np.concatenate([part.matrix for part in parts]),
            join_vectors([part.labels for part in parts], counts, 0.0),
            join_vectors([part.weights for part in parts], counts, 1.0),
            join_vectors([part.scale for part in parts], counts, 1.0),
            whole if whole.any() else None,
            parts[0].shrinks,
            owners=join_owners(parts),
        )

    def gather(self) -> tuple[Array, Vector | None]:
        block = self.block(0, self.count)
        return block.rows(), None if self.labels is None else self.labels.copy()


def bring_inside(block: Array, unknown: Booleans | None, bounds: Bounds) -> Array:
    """Return rows clipped to the bounds, to the last bit as :class:`PreparedArray` clips them."""
    spoilt = _find_not_finite(block) if unknown is None else _find_not_finite(block) | unknown
    sound = _replace_spoilt(block, spoilt, bounds)
    clipped, scale = bounds.features.clip_rows(sound)
    if not bounds.features.shrinks_rows:
        return clipped
    absurd = scale < ABSURD
    if absurd.any():
        sound, scale = _replace_spoilt(sound, absurd, bounds), np.where(absurd, 1.0, scale)
    return sound * scale[:, None]


def rows_of_width(width: int) -> int:
    """Return how many rows of this width a block should have.

    A power of two: blocks of wide rows then begin where those of narrow ones, and pieces, do, so
    that sums are the same whichever way rows came.
    """
    fitting = max(BLOCK_NUMBERS // width, 1)
    return int(np.clip(2 ** (int(fitting).bit_length() - 1), FEWEST_ROWS, MOST_ROWS))


def check_shape(shape: tuple[int, ...], bounds: Bounds, *, may_be_empty: bool = False) -> None:
    """Raise unless there are rows, or may be none, with the declared number of columns.

    How many there are decides nothing: their number is private.
    """
    count, width = shape
    if count == 0 and not may_be_empty:
        raise InputError(NO_ROWS)
    if width != bounds.n_features:
        raise InputError(f"X must have {bounds.n_features} columns, as declared; got {width}.")


def _take_rows(matrix: Any, positions: Integers) -> Any:
    """Return some rows, laid out as they are; faster than an index."""
    if lies_by_columns(matrix):
        return matrix.T.take(positions, axis=1).T
    return matrix.take(positions, axis=0)


def _find_not_finite(block: Array) -> Booleans:
    """Say which rows hold a NaN or an infinity."""
    with np.errstate(all="ignore"):
        suspect = ~np.isfinite(block @ np.ones(block.shape[1]))
    found = np.zeros(block.shape[0], dtype=np.bool_)
    if suspect.any():  # a row of huge finite numbers may overflow too: look again
        found[suspect] = ~np.isfinite(block[suspect]).all(axis=1)
    return found


def _replace_spoilt(block: Array, spoilt: Booleans, bounds: Bounds) -> Array:
    """Put a fixed point in the place of spoilt rows, in a copy if there are any."""
    if not spoilt.any():
        return block
    sound = block.copy()
    sound[spoilt] = bounds.features.fixed_point(bounds.n_features)
    return sound

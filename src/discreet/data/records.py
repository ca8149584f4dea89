"""Records of a stream as they arrive: taken by type and shape, clipped each by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet._types import Array, Vector
from discreet.data.arrays import accept_rows
from discreet.data.block_types import loosen_labels, loosen_rows
from discreet.data.dense import bring_inside
from discreet.data.given_column import GivenColumn
from discreet.data.kinds import TEXT
from discreet.data.source import Prepared, Source
from discreet.errors import InputTypeError
from discreet.questions.bounds import Bounds

Given = Source | tuple[Array, Vector | None]
"""Records that were accepted: stored or odd ones as a source, plain arrays as they are."""


Ready = Prepared | tuple[Array, Vector | None]
"""Records that may be clipped."""


def accept_records(X: Any, y: Any, bounds: Bounds) -> Given:
    """Take records by their shape, whatever the types of their cells.

    Arrays of floats, which most records come in, take a short way.
    """
    if _is_plain(X, 2) and X.shape[1] == bounds.n_features and len(X):
        if y is None and bounds.labels is None:
            return X, None
        if _is_plain(y, 1) and len(y) == len(X) and bounds.labels is not None:
            return X, y
    return accept_rows(loosen_rows(X), loosen_labels(y, _refuse_text), None, bounds)


def _refuse_text(given: GivenColumn) -> None:
    if given.kind == TEXT:
        raise InputTypeError("labels must be numbers.")


def _is_plain(values: Any, axes: int) -> bool:
    return type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == axes


def count_records(given: Given) -> int | None:
    """Return how many records there are, which is public; None if they must be read for that."""
    if isinstance(given, Source):
        return given.count if given.knows_count else None
    return len(given[0])


def prepare_records(given: Given, bounds: Bounds) -> Ready:
    """Read records, and work out how each is clipped."""
    return given.prepare(bounds) if isinstance(given, Source) else given


def clip_records(ready: Ready, bounds: Bounds, size: int) -> Iterator[tuple[Array, Vector | None]]:
    """Yield up to ``size`` clipped records and their labels at a time, in order.

    They are, to the last bit, what opened rows are. Arrays that were given may be yielded as they
    are, and must not be overwritten.
    """
    if isinstance(ready, Prepared):
        for make in ready.blocks(size):
            block = make()
            yield block.rows(), block.labels
        return
    X, y = ready
    for start in range(0, len(X), size):
        yield _clip(X[start : start + size], None if y is None else y[start : start + size], bounds)


def _clip(X: Array, y: Vector | None, bounds: Bounds) -> tuple[Array, Vector | None]:
    labels, unknown = (None, None) if bounds.labels is None or y is None else bounds.labels.clean(y)
    is_inside = unknown is None and bounds.features.holds_surely(X)
    rows = X if is_inside else bring_inside(X, unknown, bounds)
    if bounds.intercept is None:
        return rows, labels
    whole = np.empty((len(rows), bounds.width))
    whole[:, :-1] = rows
    whole[:, -1] = bounds.intercept
    return whole, labels

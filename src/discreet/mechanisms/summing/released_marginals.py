"""Marginals that agree with one another, made of released numbers alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Booleans, Integers, Vector
from discreet.errors import InputError
from discreet.mechanisms.summing.dyadic_splits import SplitLayout
from discreet.mechanisms.summing.projected_counts import project_counts
from discreet.mechanisms.summing.standard_frame import FEWEST
from discreet.questions import Interval

CLEARLY = 3.0
"""Missing values, or values of no declared level, are there if they are so many deviations."""


@dataclass(frozen=True, eq=False)
class ColumnShares:
    """The shares of the cells of a column, which sum to one.

    The last cell is that of missing values, or of anything else; ``shows_last`` says whether its
    count stands out of the noise.
    """

    shares: Vector
    shows_last: bool

    @property
    def known(self) -> Vector:
        """The shares among known values; even, if there are none."""
        known = self.shares[:-1]
        total = float(known.sum())
        return known / total if total > 1e-6 else np.full(known.size, 1 / known.size)


@dataclass(frozen=True, eq=False)
class ReleasedMarginals:
    """What a release of splits says of rows: how many, and of each column how they are spread.

    ``label`` has the shares of labels, or of the cells of a target; None without labels.
    ``count_noise`` is the deviation of the noise of a count.
    """

    rows: float
    columns: tuple[ColumnShares, ...]
    label: Vector | None
    count_noise: float


def read_marginals(layout: SplitLayout, released: Vector, deviations: Vector) -> ReleasedMarginals:
    """Return shares that are not negative and sum to one, and one number of rows for all."""
    question, noise = layout.question, float(deviations[0])
    depth, _ = layout.depths
    if question.by is not None:
        raise InputError("marginals of several groups are read group by group.")
    lines, label = layout.parts(released)
    parts = [line[0] for line in lines]
    flat = [part for count, part in zip(question.levels, parts, strict=True) if count is not None]
    flat.append(label[: layout.label_counts])
    weights = np.array([1 / part.size for part in flat])
    total = float(weights @ np.array([part.sum() for part in flat]) / weights.sum())
    fewest = FEWEST if noise else 1.0
    rows = max(total, fewest)
    numbers = [part for count, part in zip(question.levels, parts, strict=True) if count is None]
    spread = _spread_numbers(numbers, layout.leaves, rows, deviations[: 1 + depth], fewest)
    columns = list[ColumnShares]()
    for count, part in zip(question.levels, parts, strict=True):
        if count is None:
            columns.append(next(spread))
        else:
            shows = bool(part[-1] > CLEARLY * noise)
            columns.append(ColumnShares(project_counts(part, rows) / rows, shows))
    found: Vector | None = None
    if isinstance(question.labels, Interval):
        found = join_splits(label[1:], rows, deviations[1 + depth :]) / rows
    elif question.labels is not None:
        found = project_counts(label, rows) / rows
    return ReleasedMarginals(rows, tuple(columns), found, noise)


def _spread_numbers(
    parts: list[Vector], leaves: list[Integers], rows: float, deviations: Vector, fewest: float
) -> Iterator[ColumnShares]:
    """Yield the shares of each column of numbers, worked out together."""
    if not parts:
        return
    together = np.stack(parts)
    missing = np.where(together[:, 0] > CLEARLY * deviations[0], together[:, 0], 0.0)
    can_hold = np.zeros((len(parts), 2 ** (deviations.size - 1)), dtype=bool)
    for line, places in zip(can_hold, leaves, strict=True):
        line[places] = True
    totals = np.maximum(rows - missing, fewest)
    known = join_splits(together[:, 1:], totals, deviations[1:], can_hold)
    for found, places, absent in zip(known, leaves, missing, strict=True):
        cells = np.append(found[places], absent)
        yield ColumnShares(cells / cells.sum(), bool(absent > 0))


def join_splits(
    splits: Array, total: float | Vector, deviations: Vector, can_hold: Booleans | None = None
) -> Array:
    r"""Return counts of cells that are not negative and have this total, from noisy splits.

    From the whole range downwards, of one column or of several, a line each. Of t rows in a node,
    a left share that could be anything between 0 and 1 has the variance :math:`t^2/3` as a
    difference, so the best linear estimate of the difference is
    :math:`c \, t^2/(t^2 + 3 \sigma^2)`: where noise dominates halves are equal, and stretches
    without rows stay empty. Where ``can_hold`` says that some cells hold nothing whatever the rows,
    a share of the cells that may hold something is the middle instead, and all goes where there is
    but one side.

    Examples
    --------
    >>> join_splits(np.array([4.0, 4.0, -2.0]), 8.0, np.zeros(2)).tolist()
    [5.0, 1.0, 0.0, 2.0]
    """
    counts, start = np.expand_dims(np.asarray(total, dtype=np.float64), -1), 0
    places = np.ones(2**deviations.size, dtype=bool) if can_hold is None else can_hold
    for deviation in deviations:
        cells = counts.shape[-1]
        found = splits[..., start : start + cells]
        sides = places.reshape(*places.shape[:-1], cells, 2, -1).sum(axis=-1)
        left = sides[..., 0] / np.maximum(sides.sum(axis=-1), 1)
        middle, squared = (2 * left - 1) * counts, 4 * left * (1 - left) * counts**2
        shrunk = (found - middle) * squared
        shrunk /= np.maximum(squared + 3 * deviation**2, np.finfo(float).tiny)
        kept = np.clip(middle + shrunk, -counts, counts)
        start += cells
        halves = np.stack([counts + kept, counts - kept], axis=-1) / 2
        counts = halves.reshape(*counts.shape[:-1], 2 * cells)
    return counts

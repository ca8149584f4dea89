"""What one column adds to a score: a value for each of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Array, Booleans, Json, Vector
from discreet.additive.cell_features import count_whole, edges_of
from discreet.errors import InputError
from discreet.preprocessing import Category, Column, Numeric

LEAST_SHARE = 1e-4
"""Cells of a smaller share of rows, as far as the noisy marginal tells, hold no data."""

LEAST_EFFECT = 0.01
"""What adds a smaller part of its column's importance adds nothing worth telling."""

DRAWN_PARTS = 64
"""Of a range, on a card."""

ALMOST_ALL = 0.99
"""Of rows: values that are rarer are not told of."""


@dataclass(frozen=True, eq=False)
class ColumnShape:
    """What a column adds to the score, value by value, and how its values are spread.

    The intercept aside, a score is the sum of what all columns add. Of three or more classes
    ``values`` has a line for each class, and ``missing`` and ``importance`` a number.

    Parameters
    ----------
    column
        What is declared.
    values
        What is added by each cell, by each whole number, or by each level.
    missing
        What is added where a number is missing, or by anything but a declared level.
    shares
        How large a share of rows is in each cell, as the noisy marginal has it; the last is that
        of missing numbers, or of anything else.
    band
        How far noise for privacy may have moved each value, up or down: 95 % of the time not
        farther, in each cell by itself. None unless the model was fitted with ``bands=True``.

    Examples
    --------
    >>> shape = ColumnShape(Numeric(0, 256), np.zeros(256), 0.0, np.full(257, 1 / 257))
    >>> shape.edges[:3].tolist(), bool(shape.has_data.all()), shape.importance
    ([0.0, 1.0, 2.0], True, 0.0)
    """

    column: Column
    values: Array
    missing: Any
    shares: Vector
    band: Array | None = None

    @property
    def edges(self) -> Vector:
        """Where cells of a column of numbers begin and end, in its own units.

        Those of whole numbers meet half way between them.
        """
        if not isinstance(self.column, Numeric):
            raise InputError("the cells of a category have no edges; see its levels.")
        return edges_of(self.column)

    @property
    def is_whole(self) -> bool:
        """Whether each cell is one whole number."""
        return count_whole(self.column) is not None

    @property
    def middles(self) -> Vector:
        """What number stands for each cell of a column of numbers: a whole one, or its middle."""
        edges = self.edges
        if isinstance(self.column, Numeric) and self.is_whole:
            return self.column.low + np.arange(edges.size - 1.0)
        return np.asarray((edges[:-1] + edges[1:]) / 2)

    @property
    def drawn_edges(self) -> Vector:
        """Where cells begin and end in a picture: those of whole numbers are all of one width."""
        return (
            np.append(self.middles - 0.5, self.middles[-1] + 0.5) if self.is_whole else self.edges
        )

    @property
    def levels(self) -> tuple[str | float, ...]:
        """The declared levels of a category."""
        if not isinstance(self.column, Category):
            raise InputError("a column of numbers has no levels; see its edges.")
        return self.column.levels

    @property
    def has_data(self) -> Booleans:
        """Which cells have rows in them, as far as the noisy marginal tells."""
        return np.asarray(self.shares[:-1] > LEAST_SHARE)

    @property
    def shows_missing(self) -> bool:
        """Whether missing numbers, or anything else, are there and add something of their own."""
        least = LEAST_EFFECT * self.importance
        return bool(self.shares[-1] > LEAST_SHARE and np.any(np.abs(self.missing) > least))

    @property
    def importance(self) -> Any:
        """The standard deviation of what is added to a row, under the noisy marginal."""
        every = np.append(self.values, np.reshape(self.missing, (*self.values.shape[:-1], 1)), -1)
        found = np.sqrt((self.shares * every**2).sum(axis=-1))
        return float(found) if found.ndim == 0 else found

    def to_json(self) -> Json:
        """Return the shape for a card: numbers are in 64 parts of the range, or whole."""
        if self.values.ndim > 1:
            raise InputError("a card draws one curve for each column, not one for each class.")
        values, shares = self.values, self.shares[:-1]
        if isinstance(self.column, Numeric) and not self.is_whole:
            parts = (DRAWN_PARTS, -1)
            weights = (shares + np.finfo(float).tiny).reshape(parts)
            values = (values.reshape(parts) * weights).sum(axis=1) / weights.sum(axis=1)
            shares = shares.reshape(parts).sum(axis=1)
        is_category = isinstance(self.column, Category)
        return {
            "importance": self.importance,
            "ends": None if is_category else self.drawn_edges[[0, -1]].tolist(),
            "is_whole": self.is_whole,
            "levels": [str(level) for level in self.levels] if is_category else None,
            "values": [float(f"{value:.4g}") for value in values.tolist()],
            "shares": [float(f"{min(share, 1.0):.3g}") for share in shares.tolist()],
            "missing": float(f"{float(self.missing):.4g}") if self.shows_missing else None,
        }

    def extremes(self) -> tuple[str, str, str]:
        """Say where least and most is added, and how much where a value is missing.

        Among the cells that hold all rows but one in a hundred.
        """
        order = np.argsort(-self.shares[:-1], kind="stable")
        reached = np.cumsum(self.shares[order]) - self.shares[order]
        lines, known = np.atleast_2d(self.values), order[reached < ALMOST_ALL]
        found = []
        for choose in (np.argmin, np.argmax):
            line, place = np.unravel_index(choose(lines[:, known]), (len(lines), known.size))
            cell = int(known[place])
            found.append(f"{lines[line, cell]:+.3g} at {self._name_of(cell)}")
        missing = ", ".join(f"{value:+.3g}" for value in np.atleast_1d(self.missing))
        return found[0], found[1], missing if self.shows_missing else ""

    def _name_of(self, cell: int) -> str:
        if isinstance(self.column, Category):
            return str(self.levels[cell])
        return f"{self.middles[cell]:.{10 if self.is_whole else 4}g}"

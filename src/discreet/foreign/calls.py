"""What is asked of foreign code, and how its answer is read, where it runs.

Few imports: a process that runs them is forked for each row or block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Vector

NO_COLUMN: tuple[int, ...] = ()
"""What a block has chosen on which nothing sensible came out."""


@dataclass(frozen=True, eq=False)
class AskedModel:
    """What a model says of one row."""

    model: Any
    method: str
    width: int

    def __call__(self, row: Any) -> Vector:
        """Return the outputs for a row."""
        said = np.asarray(getattr(self.model, self.method)(row), dtype=np.float64).ravel()
        return said[1:] if self.method == "predict_proba" and self.width == 1 else said


@dataclass(frozen=True, eq=False)
class NamedClasses:
    """A procedure that is given classes by their names, and not by their codes."""

    procedure: Callable[[Any, Any], Any]
    classes: Any = None

    def __call__(self, X: Any, y: Vector) -> Any:
        """Run the procedure on the rows of a block."""
        if self.classes is None:
            return self.procedure(X, y)
        places = (y > 0).astype(np.int64) if self.classes.size == 2 else y.astype(np.int64)
        return self.procedure(X, self.classes[places])


@dataclass(frozen=True, eq=False)
class Choosing:
    """The columns that a procedure chooses on a block."""

    procedure: Callable[[Any, Any], Any]
    features: int
    widths: tuple[int, ...] = ()
    most: int | None = None

    def __call__(self, X: Any, y: Vector | None) -> tuple[int, ...]:
        """Return the places of the chosen columns; none on an empty block."""
        return NO_COLUMN if X.shape[0] == 0 else self._read(self.procedure(X, y))

    def _read(self, said: Any) -> tuple[int, ...]:
        """Return the columns of a mask or of places; no column if it is neither, or too many."""
        given = np.asarray(said)
        if given.dtype.kind == "b" and given.shape == (self.features,):
            given = np.flatnonzero(given)
        if given.dtype.kind not in "iu" or given.ndim != 1:
            return NO_COLUMN
        places = np.unique(given.astype(np.int64))
        if places.size and not 0 <= places[0] <= places[-1] < self.features:
            return NO_COLUMN
        if self.widths:
            ends = np.cumsum(self.widths)
            places = np.unique(np.searchsorted(ends, places, side="right"))
        if self.most is not None and places.size > self.most:
            return NO_COLUMN
        return tuple(places.tolist())


@dataclass(frozen=True, eq=False)
class Estimating:
    """The numbers that a procedure computes on a block."""

    procedure: Callable[[Any, Any], Any]
    centre: tuple[float, ...]

    def __call__(self, X: Any, y: Vector | None) -> Vector:
        """Return the numbers of a block."""
        centre = np.array(self.centre)
        if X.shape[0] == 0:
            return centre
        numbers = np.array(self.procedure(X, y), dtype=np.float64).ravel()
        is_answer = numbers.size == centre.size and bool(np.isfinite(numbers).all())
        return numbers if is_answer else centre

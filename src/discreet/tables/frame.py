"""Rows of a file, with labels where they were asked for."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.data.frame import Cells, Frame

__all__ = ["Cells", "Frame", "Table"]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows, and a label for each where labels were asked for."""

    X: Frame
    y: Cells | None

    def __repr__(self) -> str:
        return f"<rows of {self.X!r}>"

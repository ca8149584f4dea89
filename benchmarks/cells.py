"""Scores of many fits, cell by cell, in a file of lines; a run that was stopped goes on from there.

A cell is what was fitted: a table, a model, an epsilon and a setting. Scores are accuracy, AUC and
log loss, or R2 alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

OUTPUT = Path(__file__).parent / "output"
"""Where cells are kept; git ignores it."""


def write_lines(file: Path, content: dict[str, Any]) -> None:
    """Write JSON with a line for each name."""
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in content.items())
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


class Cell(NamedTuple):
    """What was fitted; epsilon is infinite without privacy."""

    table: str
    model: str
    epsilon: float
    setting: str = ""


class Measured(NamedTuple):
    """A mean over fits with its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Measured:
        numbers = np.asarray(list(values), dtype=np.float64)
        spread = numbers.std(ddof=1) if numbers.size > 1 else 0.0
        return cls(float(numbers.mean()), float(spread / math.sqrt(numbers.size)))


@dataclass
class Cells:
    """Lists of scores by cell, kept in ``file``."""

    file: Path
    found: dict[Cell, list[list[float]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for line in self.file.read_text().splitlines() if self.file.exists() else ():
            about = json.loads(line)
            self.found.setdefault(Cell(*about["cell"]), []).extend(about["scores"])

    def fill(self, cell: Cell, fits: int, fit: Callable[[int], Iterable[float]]) -> np.ndarray:
        """Return the scores of so many fits, a line each; those that are missing are made."""
        known = self.found.setdefault(cell, [])
        if missing := range(len(known), fits):
            new = [[float(score) for score in fit(seed)] for seed in missing]
            self.file.parent.mkdir(exist_ok=True)
            with self.file.open("a") as file:
                file.write(json.dumps({"cell": cell, "scores": new}) + "\n")
            known += new
        return np.array(known[:fits])

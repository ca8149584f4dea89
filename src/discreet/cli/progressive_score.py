"""How well a learner predicted the records of a stream before it learnt from them.

Exact, so it is only for simulations on synthetic records: nothing of it is private.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from discreet._types import Array
from discreet.cli.model_folder import Learner
from discreet.data.frame import Coded
from discreet.schema import CLASSIFICATION, Target
from discreet.tables import RowsAndLabels

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 30
"""How many bars a plot has at most."""


class ProgressiveScore:
    """The share of right classes, or the mean absolute error, as records come in.

    Examples
    --------
    >>> from discreet.schema import Target
    >>> ProgressiveScore(Target("ill", "classification", ("no", "yes"))).name
    'accuracy'
    """

    def __init__(self, target: Target) -> None:
        self._is_class = target.task == CLASSIFICATION
        self._sums: list[float] = []
        self._counts: list[int] = []

    @property
    def name(self) -> str:
        """What is measured."""
        return "accuracy" if self._is_class else "mean absolute error"

    @property
    def value(self) -> float | None:
        """The score so far; None before there is one."""
        return sum(self._sums) / sum(self._counts) if sum(self._counts) else None

    def add(self, model: Learner, rows: RowsAndLabels) -> None:
        """Predict rows that the model has not learnt from; their labels are known."""
        truth = rows.y.expand() if isinstance(rows.y, Coded) else np.asarray(rows.y)
        found = _score_each(model.predict(rows.X), truth, self._is_class)
        if found.size:
            self._sums.append(float(found.sum()))
            self._counts.append(found.size)

    def draw(self) -> str:
        """Return the course of the score as a line of bars, the newest at the right."""
        edges = np.linspace(0, len(self._sums), min(WIDTH, len(self._sums)) + 1).astype(int)
        parts = [
            sum(self._sums[start:stop]) / sum(self._counts[start:stop])
            for start, stop in pairwise(edges)
        ]
        return draw_bars(parts)


def _score_each(predicted: Array, truth: Array, is_class: bool) -> Array:
    """Return one for a right class and zero for a wrong one, or the distance of a number."""
    if is_class:
        known = np.array([label is not None for label in truth], dtype=bool)
        return np.asarray(predicted[known] == truth[known], dtype=np.float64)
    return np.abs(predicted - truth)[np.isfinite(truth)]


def draw_bars(values: list[float]) -> str:
    """Return numbers as bars between the least and the largest.

    Examples
    --------
    >>> draw_bars([0.5, 0.75, 1.0])
    '▁▄█'
    """
    if not values:
        return ""
    low, span = min(values), max(values) - min(values)
    return "".join(BARS[int((len(BARS) - 1) * (v - low) / span) if span else 0] for v in values)

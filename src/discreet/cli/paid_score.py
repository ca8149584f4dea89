"""A private score of a stream: how well records were predicted before they were learnt from."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from discreet._types import Array
from discreet.cli.model_folder import Learner
from discreet.data import Bounds, Rows
from discreet.data.frame import Coded
from discreet.gate import release
from discreet.geometry import Box
from discreet.ledger import AbstractLedger
from discreet.mechanisms import LaplaceSum
from discreet.privacy import Budget, ReplaceOne
from discreet.questions import VectorMean
from discreet.schema import CLASSIFICATION, Target
from discreet.tables import RowsAndLabels

MISSES = 0.05
"""The chance that the noise is larger than what is said of it."""


class Paid(NamedTuple):
    """A released score and how far noise alone may have moved it, but for one time in twenty."""

    name: str
    value: float
    noise: float


class PaidScore:
    """The share of right classes, or the mean absolute error, released once, at the end.

    A record's guess is made by a public answer, so given all answers it is a function of that
    record alone: one record moves the mean of n guesses by one n-th of their range. Blocks that are
    guessed at once are cut by place, so that those of neighbours have the same shapes and rounding
    is the same. Learner and score are charged beside one another, and every record is in both. A
    missing label counts as a wrong guess, and a missing number as the largest error.
    """

    def __init__(self, target: Target, epsilon: float, books: AbstractLedger | None) -> None:
        self._is_class = target.task == CLASSIFICATION
        low, high = (0.0, 1.0) if target.range is None else target.range
        self._widest = float(high) - float(low)
        self._budget, self._books = Budget(epsilon), books
        self._found: list[Array] = []

    def add(self, model: Learner, rows: RowsAndLabels) -> None:
        """Predict rows that the model has not learnt from, and keep what came of each: private."""
        truth = rows.y.expand() if isinstance(rows.y, Coded) else np.asarray(rows.y)
        self._found.append(self._judge(model.predict(rows.X), truth))

    def _judge(self, predicted: Array, truth: Array) -> Array:
        if self._is_class:
            pairs = zip(predicted.tolist(), truth.tolist(), strict=True)
            return np.array([guess == label for guess, label in pairs], dtype=np.float64)
        off = np.abs(predicted - truth.astype(np.float64))
        return np.nan_to_num(np.minimum(off, self._widest), nan=self._widest)

    def release(self, purpose: str) -> Paid | None:
        """Pay, and return the score; None if nothing was predicted."""
        guesses = np.concatenate([*self._found, np.empty(0)])[:, None]
        count = len(guesses)
        if count == 0:
            return None
        bounds = Bounds(Box([0.0], [self._widest]), n_features=1, max_rows=count)
        rows = Rows(guesses, bounds=bounds, unit=ReplaceOne())
        said: Any = release(
            LaplaceSum(), VectorMean(bounds), rows, budget=self._budget, ledger=self._books,
            purpose=purpose,
        )  # fmt: skip
        noise = math.log(1 / MISSES) * self._widest / (self._budget.epsilon * count)
        name = "accuracy" if self._is_class else "mean absolute error"
        return Paid(name, float(np.clip(said.value[0], 0.0, self._widest)), noise)

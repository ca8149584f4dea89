"""Errors of released models on rows that they were not fitted to, in whole units.

How far one record moves them is proved in ``train_and_choose.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows
from discreet.geometry.norms import pairwise_sums
from discreet.mechanisms.base import Mechanism, Plan, labels_of
from discreet.mechanisms.sampling.whole_weights import EACH_ONCE, WholeWeights
from discreet.noise import Noise
from discreet.questions.bounds import Bounds, Interval, Labels, LabelSet
from discreet.questions.model_choice import ERROR_STEPS, ModelCandidate, ModelChoice

ENTRIES_AT_ONCE = 2**16

WEIGHT_BITS = 16
"""Weights of errors are no finer, so that noise can be told from none."""


@dataclass(frozen=True, eq=False)
class PlannedModel:
    """A candidate, who learns it, and how that is planned."""

    candidate: ModelCandidate
    mechanism: Mechanism
    plan: Plan
    final: Plan

    def fit(self, rows: OpenRows, noise: Noise) -> Any:
        """Fit the model to a part of the rows, privately; what comes out is public."""
        return self.plan.run(self._own(rows, self.candidate.question.bounds), noise)

    def fit_in_the_end(self, rows: OpenRows, noise: Noise) -> Any:
        """Fit the model to the final part of the rows, privately; what comes out is public."""
        return self.final.run(self._own(rows, self.candidate.in_the_end.bounds), noise)

    def count_errors(self, rows: OpenRows, value: Any, weights: WholeWeights = EACH_ONCE) -> int:
        """Return the errors of a fitted model on other rows, in whole weights: private."""
        bounds = self.candidate.question.bounds
        seen = self.plan.rows_of_model(self._own(rows, bounds), value)
        coefficients = self.plan.coefficients_of_model(value)
        if coefficients is None:
            coefficients = self.mechanism.coefficients(value)
        return count_errors(seen, np.atleast_2d(coefficients), bounds.labels, weights)

    def _own(self, rows: OpenRows, bounds: Bounds) -> OpenRows:
        start, stop = self.candidate.start, self.candidate.stop
        return rows.transform(partial(_take_columns, start=start, stop=stop), bounds)


def _take_columns(rows: Any, start: int, stop: int) -> Any:
    return rows[:, start:stop]


def error_weights(question: ModelChoice) -> WholeWeights:
    """Return what rows count in whole numbers, where their errors are counted."""
    return WholeWeights.of(question.bounds, question.steps, finest=WEIGHT_BITS)


def count_errors(
    rows: OpenRows,
    coefficients: Array,
    labels: Labels | None,
    weights: WholeWeights = EACH_ONCE,
) -> int:
    """Return the sum of errors over rows, each of which is one whole number of its row alone."""

    def kernel(block: Block) -> Integers:
        errors, whole = _errors_of(block, coefficients, labels), weights.of_block(block)
        total = errors.sum() if whole is None else errors @ whole
        return np.array([total], dtype=np.int64)

    width = max(1, coefficients.shape[1])
    total: Integers = rows.sum(kernel, block_rows=max(1, ENTRIES_AT_ONCE // width))
    return int(total[0])


@np.errstate(all="ignore")
def _errors_of(block: Block, coefficients: Array, labels: Labels | None) -> Integers:
    truth, table = labels_of(block), block.rows()
    width = table.shape[1]
    margins = np.stack([pairwise_sums(table * vector[:width]) for vector in coefficients], axis=1)
    if isinstance(labels, LabelSet):
        return np.asarray(_class_of(margins, labels) != truth, dtype=np.int64)
    if not isinstance(labels, Interval):
        raise TypeError("errors are counted of classes or of numbers.")
    return _distances(truth, margins[:, 0], labels)


def _class_of(margins: Array, labels: LabelSet) -> Vector:
    """Return the label that is predicted: of two the second if the margin is above zero."""
    values = np.asarray(labels.values)
    if margins.shape[1] == 1:
        return np.asarray(np.where(margins[:, 0] > 0, values.max(), values.min()))
    return np.asarray(values[margins.argmax(axis=1)])


def _distances(truth: Vector, predicted: Vector, labels: Interval) -> Integers:
    inside = np.clip(np.where(np.isnan(predicted), labels.low, predicted), labels.low, labels.high)
    spread = max(labels.high - labels.low, 1e-300)
    steps = np.rint(np.abs(truth - inside) / spread * ERROR_STEPS)
    return np.asarray(np.clip(steps, 0, ERROR_STEPS), dtype=np.int64)

"""Quantiles drawn by the exponential mechanism: their laws are finite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.audit.exact.laws.finite import exponential_selection
from discreet.questions import ColumnQuantiles
from support.cases.base import Case


@dataclass(frozen=True)
class QuantileCase(Case):
    """A draw of quantiles on a grid."""

    def silent_answer(self, plan, data):
        values = clip_to_box(self, data)
        if data.counted(self) is not data:  # many rows weigh a little less than one: no ties
            _, first, rows = np.unique(data.persons, return_index=True, return_counts=True)
            weights = (rows * np.floor(2.0**32 / rows))[np.argsort(first)]
            q, method = self.question.q, "inverted_cdf"
            return np.quantile(values, q, axis=0, method=method, weights=weights)
        return np.quantile(values, self.question.q, axis=0, method="averaged_inverted_cdf")


def clip_to_box(case, data):
    box = case.question.bounds.features
    rows = np.asarray(data.counted(case).X, dtype=np.float64)
    return np.clip(rows, box.lower, box.upper)


def rank_scores(places, steps, q):
    """Count, point by point, by how many ranks the quantile misses each grid point."""
    n = len(places)
    return np.array(
        [
            max((places < t).sum() - q * n, q * n - (places <= t).sum(), 0.0)
            for t in range(steps + 1)
        ]
    )


def law_of(places, steps, q, rate):
    """The exact law of a draw, from its definition; ``rate`` is for each rank."""
    return exponential_selection(-rank_scores(np.asarray(places), steps, q), rate)


def laws_of(case, plan, pair=None):
    """The laws of the first column under two data sets."""
    rate = float(plan.rate)
    return tuple(
        law_of(
            plan.places(0, clip_to_box(case, data)[:, 0]),
            plan.question.steps,
            plan.question.q,
            rate,
        )
        for data in pair or case.worst_pair
    )


def frequencies(values, plan):
    """How often each grid point was drawn."""
    places = plan.places(0, np.asarray(values))
    return np.bincount(places, minlength=plan.question.steps + 1)


KINDS = {
    ("exponential_sampling", ColumnQuantiles): QuantileCase,
}

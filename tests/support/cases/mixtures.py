"""Mixtures learnt by draws: their laws are finite, and counts of draws can be enumerated."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from discreet.audit.exact.laws import FiniteLaw
from support.cases.base import Case


@dataclass(frozen=True)
class MixtureCase(Case):
    """Draws from an entropic minimiser."""

    def silent_answer(self, plan, data):
        counted = clip_to_bounds(self.question, data.counted(self))
        return best_shares(self.question, *counted)


def clip_to_bounds(question, data):
    radius, labels = question.bounds.features.radius, question.bounds.labels
    X = np.clip(np.asarray(data.X, dtype=np.float64), -radius, radius)
    return X, np.clip(np.asarray(data.y, dtype=np.float64), labels.low, labels.high)


def best_shares(question, X, y):
    """Minimise the sum of losses on the simplex with somebody else's solver."""
    p, loss, total = X.shape[1], question.loss, question.total

    def value(w):
        return float(loss.value(y, X @ w).sum())

    def gradient(w):
        return X.T @ loss.slope(y, X @ w)

    found = minimize(
        value,
        np.full(p, total / p),
        jac=gradient,
        bounds=[(0, None)] * p,
        constraints={"type": "eq", "fun": lambda w: w.sum() - total, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return found.x


def law_of_one(plan, rows):
    """The law of one draw, from the integers that it follows."""
    return softmax(-plan.solver.step * plan.scores(rows))


def law_of_counts(shares, draws):
    """The exact law of the histogram of draws."""
    outcomes = [
        counts
        for counts in itertools.product(range(draws + 1), repeat=len(shares))
        if sum(counts) == draws
    ]
    ways = [math.factorial(draws) / math.prod(map(math.factorial, c)) for c in outcomes]
    return outcomes, FiniteLaw(ways * np.prod(shares ** np.array(outcomes), axis=1))


KINDS = {
    "simplex_sampling": MixtureCase,
}

"""Supports of a LASSO, released if they withstand enough records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import ElasticNet

from discreet.data import Bounds, Interval
from discreet.geometry import LinfBall
from discreet.mechanisms import StabilityRelease
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import LassoSupport
from support.cases.base import Case, Data, hostile_row


def coefficients_of(X, y, question):
    """Work the minimiser out by scikit-learn, for rows in [-1, 1] whose residuals are small."""
    weights = np.array([question.penalty, question.ridge]) / len(X)
    model = ElasticNet(
        weights.sum(), l1_ratio=weights[0] / weights.sum(), tol=1e-12, max_iter=10**6,
        fit_intercept=question.has_constant,
    )  # fmt: skip
    return model.fit(X, y).coef_


@dataclass(frozen=True)
class LassoCase(Case):
    """The columns that are used, and before them that there is an answer."""

    def silent_answer(self, plan, data):
        used = np.flatnonzero(coefficients_of(data.X, data.y, self.question))
        return np.array([1.0, *used])


def _cases():
    draw = np.random.default_rng(3)
    X = draw.uniform(-1, 1, (120, 3))
    y = 0.5 * X[:, 1] + 0.01 * draw.standard_normal(120)
    bounds = Bounds(LinfBall(1.0), 3, labels=Interval(-1, 1), max_rows=2**16)
    for unit in (AddRemoveOne(), ReplaceOne()):
        first = Data(X[:-1], y[:-1])
        if unit.count_is_public:
            first = Data(X, np.append(y[:-1], -y[-1]))
        for threshold, kind in ((0.5, "Huber"), (None, "squares")):
            question = LassoSupport(
                bounds, 2, 5.0, 4.0, 150.0, threshold, has_constant=threshold is None
            )
            yield LassoCase(f"stability release, LASSO, {kind}, {unit.name}", StabilityRelease(),
                            question, unit, Budget(1.0, 1e-6), (first, Data(X, y)),
                            hostile_row(3, [-1, 0.5, 1]))  # fmt: skip


CASES = tuple(_cases())

"""Answers of blocks of rows, tests of stability, and models chosen among private fits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.linear_model import ElasticNet

from discreet.questions import ColumnVotes, LassoSupport
from support.cases.base import Case
from support.silent import SilentNoise


@dataclass(frozen=True)
class VoteCase(Case):
    """All blocks of the second data set but one choose the second column."""

    def silent_answer(self, plan, data):
        return np.array([1.0]) if isinstance(self.question, ColumnVotes) else np.array([1.0, 1.0])


@dataclass(frozen=True)
class AggregateCase(Case):
    """An average of blocks, with noise."""

    def silent_answer(self, plan, data):
        exact = plan
        if self.question.aggregate == "winsorised":
            without = tuple(replace(one, rate=None) for one in plan.quartiles)
            exact = replace(plan, quartiles=without)
        return exact.run(data.open(self), SilentNoise())


@dataclass(frozen=True)
class ProposalCase(Case):
    """A median, if it is stable."""

    def silent_answer(self, plan, data):
        """Without noise and without a test."""
        return np.array([1.0, np.sort(data.X[:, 0])[(len(data.X) - 1) // 2]])


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


@dataclass(frozen=True)
class SearchCase(Case):
    """Both candidates make the same errors without noise, so the first is chosen."""

    def silent_answer(self, plan, data):
        return np.zeros(3)

    def solver_error(self, plan, data):
        return 1e-9


KINDS = {
    "stability_release": VoteCase,
    ("stability_release", LassoSupport): LassoCase,
    ("peeling", ColumnVotes): VoteCase,
    "noisy_aggregate": AggregateCase,
    "propose_test_release": ProposalCase,
    "train_and_choose": SearchCase,
    "repeat_and_select": SearchCase,
}

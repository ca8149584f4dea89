"""Models chosen among private fits: by parts of their own, by a shared one, and by trials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.audit.cases.votes import choice_of_columns
from discreet.mechanisms import OutputPerturbation, RepeatAndSelect, TrainAndChoose
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne, TrialLaw
from support.cases.base import Case, Data, hostile_row

RIDGE = 1e6
"""So strong that coefficients without noise are nearly zero, whoever is in which part."""

LEARNERS = (OutputPerturbation("gaussian"),) * 2
PURE = (OutputPerturbation("laplace"),) * 2


@dataclass(frozen=True)
class SearchCase(Case):
    """Both candidates make the same errors without noise, so the first is chosen."""

    def silent_answer(self, plan, data):
        return np.zeros(3)

    def solver_error(self, plan, data):
        return 1e-9


def _cases():
    delta, pure = Budget(1.0, 1e-6), Budget(1.0)
    mechanisms = [
        ("split", TrainAndChoose(LEARNERS), delta),
        ("split, pure, fitted again", TrainAndChoose(PURE, refits=True), pure),
        ("shared", TrainAndChoose(LEARNERS, is_shared=True), delta),
        ("repeated", RepeatAndSelect(LEARNERS), delta),
        ("repeated, pure", RepeatAndSelect(PURE, TrialLaw.with_mean(3, 0.0)), pure),
    ]
    rows, more = np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])
    for unit in (AddRemoveOne(), ReplaceOne()):
        other = Data(more, np.array([1.0, -1.0]))
        pair = other if unit.count_is_public else Data(rows, np.ones(1)), Data(more, np.ones(2))
        for label, mechanism, budget in mechanisms:
            yield SearchCase(f"search, {label}, {unit.name}", mechanism, choice_of_columns(RIDGE),
                             unit, budget, pair, hostile_row(2, [-1, 1]))  # fmt: skip


CASES = tuple(_cases())

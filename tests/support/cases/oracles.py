"""Oracles: answers to public points, where the loss is straight as far as minimisers go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from discreet.data import Bounds, LabelSet
from discreet.geometry import L2Ball
from discreet.kernels import RBF, BoundedKernel
from discreet.losses import Hinge
from discreet.mechanisms import BoundedUpdates, GaussianProcess
from discreet.mechanisms.private_predictor import PrivatePredictor
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import KernelQueries
from support.cases.base import Case, Data, hostile_row, l2
from support.cases.staged import Part, StagedCase

POINTS = ((0.6, 0.0, 0.0), (0.6001, 0.0, 0.0), (0.0, 0.3, 0.0), (0.6, 0.0, 1e-5))
"""The place of the record that differs, near duplicates of it, and another place."""


def factor_of(plan, points):
    """Return the factor C that a plan makes of points; it depends on points alone."""
    transcript = plan.start()
    factor = np.zeros((len(points), len(points)))
    for place, point in enumerate(plan.question.accept(np.array(points))):
        row = transcript.extend(point)
        factor[place, : place + 1] = row
        transcript.append(_blank(point, row))
    return factor


def _blank(point, row):
    from discreet.mechanisms.query_answering import ANSWERED, TranscriptEntry

    return TranscriptEntry(point, row, 0.0, 0.0, ANSWERED, 0.0)


def predictions_of(question, data, case):
    """Return what the private model predicts at the declared points."""
    model = PrivatePredictor.of(question, data.open(case))
    return np.array([model.predict(point) for point in question.accept(question.points)])


@dataclass(frozen=True)
class PathCase(StagedCase):
    """All answers, in the frame in which their noises are independent and of one size."""

    attained = 0.995  # the solver's tolerance is a thousandth of what one record moves, twice

    def parts(self, plan):
        factor = factor_of(plan, plan.question.points)

        def run(rows, noise):
            answers = plan.run(rows, noise)
            return solve_triangular(factor, answers, lower=True) / plan.scale

        def run_together(rows, noise, draws):
            answers = plan.run_many(rows, noise, draws)
            return solve_triangular(factor, answers.T, lower=True).T / plan.scale

        return [Part(run, plan.sensitivity / plan.scale, run_together)]

    def silent_answer(self, plan, data):
        return predictions_of(self.question, data, self)

    def solver_error(self, plan, data):
        return 100 * plan.tolerance.solver


@dataclass(frozen=True)
class UpdatesCase(Case):
    """Answers and statuses of a public model that is updated."""

    def silent_answer(self, plan, data):
        return predictions_of(self.question, data, self)

    def solver_error(self, plan, data):
        return 100 * plan.tolerance.solver


def straight_pair(unit):
    """One record where nobody else is: there or not, or of the one class or the other."""
    others, place = np.array([[-0.5, 0.1, 0.0]]), np.array([POINTS[0]])
    both = np.vstack([others, place])
    if unit.count_is_public:
        return Data(both, np.array([1.0, 1.0])), Data(both, np.array([1.0, -1.0]))
    return Data(others, np.array([1.0])), Data(both, np.array([1.0, 1.0]))


def queries(**changes):
    bounds = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]), max_rows=1000)
    kernel = BoundedKernel(RBF(2.0), 1.0)
    facts = {"ridge": 200.0, "max_answers": len(POINTS), "points": POINTS} | changes
    return KernelQueries(Hinge(), bounds, kernel=kernel, **facts)


def _cases():
    budget, rows = Budget(1.0, 1e-6), hostile_row(3, [-1, 1])
    for unit in (AddRemoveOne(), ReplaceOne()):
        pair = straight_pair(unit)
        yield PathCase(f"gaussian process, {unit.name}", GaussianProcess(), queries(), unit,
                       budget, pair, rows, l2)  # fmt: skip
        yield UpdatesCase(f"bounded updates, {unit.name}", BoundedUpdates(updates=2), queries(),
                          unit, budget, pair, rows)  # fmt: skip


CASES = tuple(_cases())

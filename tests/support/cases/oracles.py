"""Oracles: answers to public points, where the loss is straight as far as minimisers go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from discreet.mechanisms.private_predictor import PrivatePredictor
from support.cases.base import Case
from support.cases.staged import Part, StagedCase


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


@dataclass(frozen=True)
class NetCase(Case):
    """One round on a net, for rows within the bounds and a linear kernel."""

    def silent_answer(self, plan, data):
        """Slopes are one: the model is the sum of rows times labels, over the ridge."""
        weights = np.asarray(data.y, float) @ np.asarray(data.X, float) / self.question.ridge
        predictions = np.array(self.question.points) @ weights
        place = int(np.argmax(np.abs(predictions)))
        return np.array([[place, predictions[place]]])

    def solver_error(self, plan, data):
        return 2 * plan.minimiser.radius + plan.grid.step


KINDS = {
    "gaussian_process": PathCase,
    "bounded_updates": UpdatesCase,
    "net_updates": NetCase,
}

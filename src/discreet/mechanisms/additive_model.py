"""Marginals first, then a model of functions made of them; proof in ``additive_model.md``."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.geometry import L2Ball
from discreet.mechanisms.additive_objectives import AdditiveObjective, objective_of
from discreet.mechanisms.base import YES, Mechanism, Plan, Verdict, grid_tolerances
from discreet.mechanisms.marginal_splits import SplitNoise
from discreet.mechanisms.objective_perturbation import (
    ExactMinimiser,
    ObjectivePerturbation,
    ObjectivePerturbationPlan,
)
from discreet.mechanisms.summing.additive_tables import (
    AdditiveFrame,
    make_frame,
    widest_frame,
)
from discreet.mechanisms.summing.dyadic_splits import SplitLayout
from discreet.mechanisms.summing.released_marginals import ReleasedMarginals, read_marginals
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, Unit, gaussian_multiplier
from discreet.questions import AdditiveProblem, Problem, Question
from discreet.questions.bounds import Bounds
from discreet.record import Tolerance

MARGINAL_SHARE = 0.09
"""The share of mu squared that goes into the marginals."""


@dataclass(frozen=True, eq=False)
class AdditiveModelPlan(Plan):
    """Noisy marginals, then coefficients of functions in the frame that they give.

    What is released: the marginals' numbers, then what they settled, then coefficients in the frame
    (the constant's last), followed by zeros up to the most there can be.
    """

    question: AdditiveProblem
    noise: SplitNoise
    second: ObjectivePerturbationPlan | ExactMinimiser
    guarantee: Guarantee
    reason: str = ""

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return (*grid_tolerances(self.noise.grid, "the noise on counts"), *self.second.tolerances)

    @property
    def widest(self) -> int:
        """The most coefficients that there can be."""
        return widest_frame(self.question.marginals.levels)

    @property
    def objective(self) -> AdditiveObjective[Any]:
        """What is minimised, by the kind of labels."""
        return objective_of(self.question)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        released = self.noise.hide(self.noise.layout.count(rows), noise)[0]
        frame, settings = self.settle_from(released)  # public: made of noisy numbers alone
        coefficients = self.run_in(frame, settings, rows, noise)
        padding = np.zeros(self.widest - coefficients.size)
        return np.concatenate([released, astuple(settings), coefficients, padding])

    def run_in(self, frame: AdditiveFrame, settings: Any, rows: OpenRows, noise: Noise) -> Vector:
        """Return coefficients in a frame that is public, with noise."""
        objective, width = self.objective, frame.width + 1
        plan = self.second.settle(objective.loss(settings), settings.ridge)
        placed = objective.place(rows, settings)
        framed = placed.transform(frame.apply, frame_bounds(self.question, width))
        return np.asarray(plan.narrow(width).run(framed, noise))

    def marginals(self, released: Vector) -> ReleasedMarginals:
        """Return what the first numbers of a release say of rows: public."""
        layout = self.noise.layout
        return read_marginals(layout, released[: layout.kinds.size], self.noise.deviations)

    def settle_from(self, released: Vector) -> tuple[AdditiveFrame, Any]:
        """Return the frame and the objective's settings that noisy marginals give: public."""
        question, marginals = self.question.marginals, self.marginals(released)
        objective, sigma = self.objective, self.second.objective_noise
        singles = sum(1 if count is None else count for count in question.levels)
        signal = marginals.rows / (sigma * singles) if sigma else math.inf
        parts = math.sqrt(len(question.levels) + 1)
        floor_noise = parts * marginals.count_noise
        frame = make_frame(question, marginals, objective.terms(signal, marginals), floor_noise)
        settings = objective.settle_in(frame, marginals, sigma)
        return replace(frame, length=settings.length), settings

    def shapes(self, released: Vector) -> tuple[tuple[Vector, ...], float]:
        """Return what each cell of every column adds to a score, and the constant: public.

        For a target in its own units, which may lead out of its range.
        """
        frame, settings = self.settle_from(released)
        start = self.noise.layout.kinds.size + self.objective.settled
        shapes, constant = frame.shapes(released[start : start + frame.width + 1])
        unit, centre = self.objective.to_units(settings)
        return tuple(unit * shape for shape in shapes), unit * constant + centre


def frame_bounds(question: AdditiveProblem, width: int) -> Bounds:
    """Return what is declared about rows in a frame of so many features."""
    labels = objective_of(question).labels
    return Bounds(L2Ball(1.0), width, labels=labels, max_rows=question.bounds.max_rows)


@dataclass(frozen=True)
class AdditiveModel(Mechanism):
    """A small part of the budget for marginals, the rest for one function of each column.

    Parameters
    ----------
    share
        The share of mu squared that goes into the marginals.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import LabelSet, Marginals
    >>> marginals = Marginals([None, None, 5], LabelSet([-1, 1]), max_rows=10**6)
    >>> question = AdditiveProblem(marginals, ridge=1.4)
    >>> plan = AdditiveModel().plan(question, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(1e-6), 3), plan.widest
    (1.0, 25)
    """

    name: ClassVar[str] = "additive_model"

    share: float = MARGINAL_SHARE

    def __post_init__(self) -> None:
        _checks.positive(share=self.share)
        _checks.fraction(share=self.share)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, AdditiveProblem):
            return YES
        return Verdict(False, "additive_model adds functions of columns; use "
                              "objective_perturbation for linear models.")  # fmt: skip

    def _plan(self, question: AdditiveProblem, budget: Budget, unit: Unit) -> AdditiveModelPlan:
        if budget.is_private and budget.delta == 0:
            raise CalibrationError("an additive model needs delta > 0; use a linear one without.")
        layout = SplitLayout(question.marginals)
        noise = SplitNoise(layout, unit)
        if budget.is_private:
            multiplier = gaussian_multiplier(budget) / math.sqrt(self.share)
            noise = SplitNoise.gaussian(layout, unit, multiplier)
        widest = widest_frame(question.marginals.levels)
        problem = Problem(
            objective_of(question).planned, frame_bounds(question, widest), question.ridge
        )
        second = ObjectivePerturbation(settles_later=True).plan_beside(
            problem, budget, unit, beside=noise.profile if budget.is_private else None
        )
        if not isinstance(second, ObjectivePerturbationPlan | ExactMinimiser):
            raise CalibrationError("the second stage has to be objective perturbation.")
        reason = f"{self.share:.0%} of the budget for marginals, then {second.reason}"
        return AdditiveModelPlan(question, noise, second, second.guarantee, reason)

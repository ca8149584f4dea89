"""What is chosen for least squares, from public facts: the mechanism, and how strong a lasso is."""

from __future__ import annotations

import math
from dataclasses import replace

from discreet.errors import CalibrationError, DiscreetError, NotAccepted
from discreet.mechanisms import Plan
from discreet.mechanisms.objective_perturbation import ObjectivePerturbationPlan
from discreet.mechanisms.sufficient_statistics import SufficientStatisticsPlan
from discreet.policy.stating import VANISHING, choose_mechanism, state_question
from discreet.policy.task import LinearTask

CANDIDATES = ("sufficient_statistics", "objective_perturbation")


def choose_least_error(task: LinearTask) -> tuple[LinearTask, str]:
    """Return the task with the mechanism whose slopes are expected to err least, and say why."""
    errors: dict[str, float] = {}
    refusal: DiscreetError = CalibrationError("no mechanism meets this budget; use a larger one.")
    for name in CANDIDATES:
        try:
            errors[name] = _predict_error(replace(task, mechanism=name))
        except (CalibrationError, NotAccepted) as error:
            refusal = error
    if not errors:
        raise refusal
    best, *rest = sorted(errors, key=lambda name: errors[name])
    against = f" against {errors[rest[0]]:.3g} of {rest[0]}" if rest else ""
    why = f"its slopes are expected to err by {errors[best]:.3g}{against}"
    return replace(task, mechanism=best), why


def _predict_error(task: LinearTask) -> float:
    """Predict the error of a coordinate of the slope, noise and ridge, at the domain's edge."""
    if task.absolute is not None and task.absolute.alpha is None:
        task = replace(task, absolute=None)
    plan, width = _plan(task)
    radius = math.inf if task.domain is None else task.domain.reach(width)
    if isinstance(plan, SufficientStatisticsPlan):
        return math.hypot(plan.slope_noise(radius), plan.ridge * radius / math.sqrt(width))
    if not isinstance(plan, ObjectivePerturbationPlan):
        raise CalibrationError("this plan predicts no error.")
    ridge = plan.minimiser.problem.ridge
    return math.hypot(plan.term.size(width), ridge * radius / math.sqrt(width))


def match_noise(task: LinearTask) -> float:
    r"""Return a strength of absolute values that few coefficients of nothing but noise survive.

    Of p such coefficients the largest slope is about :math:`\sqrt{2 \ln p}` deviations of the
    noise, so that much is taken off. An infinite budget takes off a trace of one record's pull.
    """
    bounds = task.bounds
    largest = 0.0 if bounds.labels is None else bounds.labels.magnitude
    pull = bounds.row_norm() * max(largest, 1e-100)
    if not task.budget.is_private:
        return VANISHING * pull
    plan, width = _plan(task)
    noise = pull
    if isinstance(plan, SufficientStatisticsPlan):
        noise = plan.slope_noise(0.0)
    elif isinstance(plan, ObjectivePerturbationPlan):
        noise = plan.term.size(width)
    return math.sqrt(2 * math.log(bounds.n_features + 1)) * noise


def _plan(task: LinearTask) -> tuple[Plan, int]:
    """Plan what the task asks for, and say how many coefficients that is."""
    question = state_question(task)
    plan = choose_mechanism(task, question).plan(question, task.budget, task.unit)
    return plan, question.bounds.width

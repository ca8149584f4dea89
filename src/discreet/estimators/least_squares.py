"""What is chosen for least squares, from public facts: the mechanism, and how strong a lasso is."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.errors import CalibrationError, DiscreetError, NotAccepted
from discreet.mechanisms import Plan
from discreet.mechanisms.objective_perturbation import ObjectivePerturbationPlan
from discreet.mechanisms.sufficient_statistics import SufficientStatisticsPlan

if TYPE_CHECKING:
    from discreet.estimators.task import Task

CANDIDATES = ("sufficient_statistics", "objective_perturbation")


def least_error(task: Task, n_features: int, count: int) -> tuple[Task, str]:
    """Return the task with the mechanism whose slopes are expected to err least, and say why."""
    errors: dict[str, float] = {}
    refusal: DiscreetError = CalibrationError("no mechanism can keep this budget.")
    for name in CANDIDATES:
        try:
            errors[name] = _predicted(replace(task, mechanism=name), n_features, count)
        except (CalibrationError, NotAccepted) as error:
            refusal = error
    if not errors:
        raise refusal
    best, *rest = sorted(errors, key=lambda name: errors[name])
    against = f" against {errors[rest[0]]:.3g} of {rest[0]}" if rest else ""
    why = f"; its slopes are expected to err by {errors[best]:.3g}{against}"
    return replace(task, mechanism=best), why


def _predicted(task: Task, n_features: int, count: int) -> float:
    """Predict the error of a coordinate of the slope, noise and ridge, at the domain's edge."""
    if task.lasso is not None and task.lasso.alpha is None:
        task = replace(task, lasso=None)
    plan, width = _plan(task, n_features, count)
    radius = math.inf if task.domain is None else task.domain.reach(width)
    if isinstance(plan, SufficientStatisticsPlan):
        return math.hypot(plan.slope_noise(radius), plan.ridge * radius / math.sqrt(width))
    if not isinstance(plan, ObjectivePerturbationPlan):
        raise CalibrationError("this plan predicts no error.")
    ridge = plan.minimiser.problem.ridge
    return math.hypot(plan.term.size(width), ridge * radius / math.sqrt(width))


def as_strong_as_noise(task: Task, n_features: int, count: int) -> float:
    r"""Return a strength of absolute values that few coefficients of nothing but noise survive.

    Of p such coefficients the largest slope is about :math:`\sqrt{2 \ln p}` deviations of the
    noise, so that much is taken off. An infinite budget takes off the pull of one record.
    """
    bounds = task.question(n_features, count).bounds
    pull = bounds.row_norm() * max(task.labels.magnitude, 1e-100)
    if not task.budget.is_private:
        return pull
    plan, width = _plan(task, n_features, count)
    noise = pull
    if isinstance(plan, SufficientStatisticsPlan):
        noise = plan.slope_noise(0.0)
    elif isinstance(plan, ObjectivePerturbationPlan):
        noise = plan.term.size(width)
    return math.sqrt(2 * math.log(n_features + 1)) * noise


def _plan(task: Task, n_features: int, count: int) -> tuple[Plan, int]:
    """Plan what the task asks for, and say how many coefficients that is."""
    question = task.question(n_features, count)
    plan = task.chosen(question).plan(question, task.budget, task.unit)
    return plan, question.bounds.width

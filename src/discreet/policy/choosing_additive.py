"""What an additive model asks, and who answers: from public facts alone."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import InputError
from discreet.losses import Loss
from discreet.mechanisms import AdditiveModel
from discreet.mechanisms.additive_model import MARGINAL_SHARE
from discreet.policy.penalty_strength import free_ridge
from discreet.policy.task import Asked
from discreet.privacy import Budget, Unit
from discreet.questions import AdditiveProblem, Marginals
from discreet.questions.bounds import CLIPPING_SLACK


@dataclass(frozen=True)
class AdditiveTask:
    """Everything public about one fit of an additive model."""

    marginals: Marginals
    loss: Loss
    budget: Budget
    unit: Unit
    margin: float | None = None
    assumed: tuple[str, ...] = ()


def choose_additive(task: AdditiveTask) -> Asked:
    """State the question of a task, and choose who answers it."""
    if task.budget.is_private and task.budget.delta == 0:
        raise InputError(
            "an additive model needs delta > 0: its noise is Gaussian. Declare a small delta, or "
            "use a linear model, which has a form without."
        )
    ridge = free_ridge(task.loss, CLIPPING_SLACK, task.budget, task.unit, beside=MARGINAL_SHARE)
    problem = AdditiveProblem(task.marginals, ridge, margin=task.margin, assumed=task.assumed)
    return Asked(problem, AdditiveModel())

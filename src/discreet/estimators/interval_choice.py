"""Which fits can have confidence intervals, and who answers them; refusals cost nothing."""

from __future__ import annotations

from discreet.errors import InputError
from discreet.estimators.task import LinearTask
from discreet.mechanisms import (
    Learner,
    Mechanism,
    ObjectivePerturbation,
    PrivateStandardisation,
    SandwichMoments,
    SufficientStatistics,
)

RESIDUAL_SHARE = 0.15
"""The share of mu squared for squared residuals, if least squares come from their statistics."""

WITHOUT = "Leave it out, or fit with intervals=False."


def check_intervals(task: LinearTask) -> None:
    """Refuse what no interval is derived for, before anything is paid."""
    if task.budget.is_private and task.budget.delta == 0:
        raise InputError(
            "intervals are derived for Gaussian noise, which needs delta > 0; declare a small "
            "delta, or fit with intervals=False."
        )
    if task.classes > 2:
        raise InputError(
            f"intervals are for two classes; got {task.classes}, whose models share one budget. "
            "Fit one-vs-rest models yourself, or fit with intervals=False."
        )
    if task.domain is not None:
        raise InputError(f"a domain biases coefficients in ways that no interval covers. {WITHOUT}")
    if task.absolute is not None:
        raise InputError(f"a lasso biases coefficients in ways that no interval covers. {WITHOUT}")


def add_intervals(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism followed by what standard errors are made of."""
    if isinstance(mechanism, PrivateStandardisation):
        second = add_intervals(mechanism.second)
        if isinstance(second, Learner):
            return mechanism.with_second(second)
    if isinstance(mechanism, SandwichMoments):
        return mechanism
    if isinstance(mechanism, ObjectivePerturbation):
        is_open = mechanism.law is None
        return SandwichMoments(ObjectivePerturbation("gaussian") if is_open else mechanism)
    if isinstance(mechanism, SufficientStatistics):
        return SandwichMoments(mechanism, outer_share=RESIDUAL_SHARE)
    raise InputError(
        f"no intervals are derived for {mechanism.name}; use mechanism='auto', or fit with "
        "intervals=False."
    )

"""From the facts of a fit to its question, and to the mechanism that answers it."""

from __future__ import annotations

from dataclasses import replace

from discreet.errors import InputError
from discreet.mechanisms import (
    EachAgainstTheRest,
    ExponentialSampling,
    Learner,
    Mechanism,
    PrivateStandardisation,
    mechanism_named,
)
from discreet.penalties import L1, Indicator, L1Within, Penalty
from discreet.policy.penalty_strength import choose_ridge
from discreet.policy.task import LinearTask
from discreet.questions import LabelSet, OneVsRest, Problem


def state_question(task: LinearTask) -> Problem | OneVsRest:
    """State the learning problem, one-vs-rest for three or more classes."""
    classes, bounds = task.classes, task.bounds
    if classes:
        bounds = replace(bounds, labels=LabelSet([-1, 1]))
    problem = Problem(
        task.loss,
        bounds,
        choose_ridge(task, bounds, times=classes if classes > 2 and not task.is_softmax else 1),
        penalty=_penalty_of(task),
        assumed=task.assumed,
    )
    return OneVsRest(problem, classes) if classes > 2 else problem


def _penalty_of(task: LinearTask) -> Penalty | None:
    inside = None if task.domain is None else Indicator(task.domain)
    absolute = task.absolute
    if absolute is None or absolute.alpha is None or absolute.share == 0:
        return inside
    weight = absolute.alpha * absolute.share
    values = L1(weight, spares_last=task.bounds.intercept is not None)
    return values if task.domain is None else L1Within(values, task.domain)


def choose_mechanism(task: LinearTask, question: Problem | OneVsRest) -> Mechanism:
    """Return the mechanism asked for, or the one whose predicted error is smallest.

    Objective perturbation divides its noise by the curvature of data and ridge together,
    output perturbation by the ridge alone, so the first is never worse where it has a proof.
    The squared loss has no bounded slope without a domain; its statistics say all there is. A
    loss with a kink has gradients, which need a delta; without one its coefficients, if they
    are few and in a domain, are drawn.
    """
    mechanism = task.mechanism
    if mechanism == "auto":
        mechanism = _usual(task, question)
    if isinstance(mechanism, str):
        mechanism = mechanism_named(mechanism)
    if task.is_softmax or not isinstance(question, OneVsRest):
        return mechanism
    if isinstance(mechanism, PrivateStandardisation):
        return mechanism.with_second(EachAgainstTheRest(mechanism.second))
    if not isinstance(mechanism, Learner):
        raise InputError(f"{mechanism.name} is not for several classes; use mechanism='auto'.")
    return EachAgainstTheRest(mechanism)


def _usual(task: LinearTask, question: Problem | OneVsRest) -> str:
    if task.uses_statistics:
        return "sufficient_statistics"
    if task.loss.is_smooth:
        return "objective_perturbation"
    if task.budget.delta == 0 and task.budget.is_private:
        one = question.problem if isinstance(question, OneVsRest) else question
        if ExponentialSampling().accepts(one, task.unit):
            return "exponential_sampling"
    return "noisy_gradient"

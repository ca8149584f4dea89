"""From the facts of a fit to its question, its penalty, and the mechanism that answers it."""

from __future__ import annotations

import math
from dataclasses import replace

from discreet import _checks
from discreet.errors import InputError
from discreet.kernels import BoundedKernel
from discreet.losses import Loss
from discreet.mechanisms import (
    EachAgainstTheRest,
    ExponentialSampling,
    Learner,
    Mechanism,
    PrivateStandardisation,
    SandwichMoments,
    mechanism_named,
)
from discreet.penalties import L1, Indicator, L1Within, Penalty
from discreet.policy.task import AbsoluteValues, LinearTask
from discreet.privacy import Budget, Unit, gaussian_multiplier
from discreet.questions import Bounds, Interval, LabelSet, OneVsRest, Problem


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


BEND_SHARE = 0.1
"""What the curvature of one row may cost, in epsilons, if its loss is not jointly smooth."""

RIDGE_IS_FREE = ("noisy_gradient", "exponential_sampling")
"""Mechanisms whose noise does not depend on the ridge."""

ROOMS = ((0.04, 1.2, 2.4), (0.10, 1.4, 2.8), (0.16, 1.6, 3.2), (0.27, 2.2, 4.4), (0.3, 2.4, 4.4))
"""Free ridges of a jointly smooth loss times epsilon, if records are added or removed and if they
are replaced, by the share of mu squared that Gaussian releases beside have at most. With a smaller
one the noise is larger; the guarantee holds for any."""

LEAST_RIDGE = 2.0**-40
"""A trace of ridge, over the square of the row norm, where none is asked for and none needed."""

VANISHING = 2.0**-10
"""What is left of a penalty, over one row's curvature, as epsilon grows beyond all bounds."""


def choose_ridge(task: LinearTask, bounds: Bounds, times: int) -> float:
    """Return the ridge of a problem that is solved ``times`` over within the task's budget."""
    if task.absolute is not None:
        return _beside_absolute(task, task.absolute, bounds, times)
    if task.ridge is not None:
        return _at_least(task, task.ridge, bounds, times)
    if task.uses_statistics:  # they need none, beside what the noise on them asks for
        return bounds.row_norm() ** 2 * min(max(1 / task.budget.epsilon, VANISHING), 1.0)
    norm, budget, beside = bounds.row_norm(), task.budget, 0.0
    if task.sought is not None and budget.is_private:
        if budget.delta == 0:
            budget = Budget((1 - task.sought.share) * budget.epsilon)
        else:
            beside += task.sought.share
    if isinstance(task.mechanism, PrivateStandardisation):
        norm = 1.0 + 2.0**-19  # rows have norm one then
        beside += task.mechanism.share_beside
        budget = task.mechanism.budget_for_second(budget)
    elif times == 1 and not task.has_intervals and _pure_is_less(task, bounds):
        budget = Budget(budget.epsilon)  # that law will be chosen, and needs less ridge
    if task.has_intervals:
        beside += SandwichMoments().share_beside
    return free_ridge(
        task.loss,
        norm,
        budget,
        task.unit,
        weight=bounds.unit_weight,
        rank=bounds.rank,
        times=times,
        beside=beside,
    )


def _beside_absolute(
    task: LinearTask, absolute: AbsoluteValues, bounds: Bounds, times: int
) -> float:
    """Return the rest of the penalty, or as much ridge as the mechanism cannot do without."""
    if task.uses_statistics:
        return max(absolute.ridge, LEAST_RIDGE * bounds.row_norm() ** 2)
    alone = replace(task, absolute=None, ridge=absolute.ridge or None)
    return choose_ridge(alone, bounds, times)


def _pure_is_less(task: LinearTask, bounds: Bounds) -> bool:
    """Say whether Laplace or radial noise is smaller than Gaussian, for objectives."""
    norm, budget = bounds.row_norm(), task.budget
    if not (budget.is_private and budget.delta > 0):
        return False
    pure = min(math.sqrt(2) * bounds.row_norm(1), math.sqrt(bounds.width + 1) * norm)
    sides = 1 if task.loss.is_one_signed else 2
    gaussian = norm * gaussian_multiplier(Budget(budget.epsilon, budget.delta / sides))
    return pure / budget.epsilon < gaussian


def _at_least(task: LinearTask, asked: float, bounds: Bounds, times: int) -> float:
    """Return the ridge asked for, or the least at which the curvature of one fits the budget."""
    if not task.raises_ridge or task.uses_statistics or not task.budget.is_private:
        return asked
    if not task.loss.is_smooth or task.mechanism in RIDGE_IS_FREE:
        return asked
    bend = task.loss.smoothness(math.inf) * bounds.unit_weight * bounds.row_norm() ** 2
    return max(asked, ridge_at_cost(bend, 0.5 * task.budget.epsilon / times, bounds.rank))


MOST_EPSILONS = 300.0
"""Beyond, the ridge at which one row costs so much would vanish."""


def ridge_at_cost(smoothness: float, epsilons: float, rank: int = 1) -> float:
    """Return the ridge at which curvature, in so many directions, costs so many epsilons."""
    return smoothness / (rank * math.expm1(min(epsilons / rank, MOST_EPSILONS)))


def free_ridge(
    loss: Loss,
    row_norm: float,
    budget: Budget,
    unit: Unit,
    *,
    weight: float = 1.0,
    rank: int = 1,
    times: int = 1,
    beside: float = 0.0,
) -> float:
    r"""Return a ridge from public facts: no number of rows is in it.

    For a jointly smooth loss :math:`\kappa R^2/\epsilon`, twice that if records are replaced; with
    some room, at which the noise is that of a Gaussian mechanism to 0.2 % (margin losses, delta
    up to 1e-6, computed for epsilon 0.1 to 8), and more room the larger the share of mu squared
    ``beside``, which other Gaussian releases of the fit have. For other losses the ridge at which
    the curvature of one row costs a tenth of epsilon. K problems that share a budget have a K-th of
    epsilon each, or, if it is not pure, the larger share that Gaussian noise leaves them:
    :math:`\mu/\sqrt K`, if the whole is :math:`\mu`-Gaussian private. Where persons are protected,
    their rows have ``weight`` together and point in ``rank`` directions. As epsilon grows, a
    thousandth of one row's curvature is left, and so it is with an infinite budget.

    Examples
    --------
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> free_ridge(Logistic(), 2.0, Budget(0.5, 1e-9), AddRemoveOne())
    9.6
    """
    squared = weight * row_norm**2
    if not loss.is_smooth:
        return squared  # noise on its gradients does not depend on the ridge
    bend = loss.smoothness(math.inf) if loss.joint_smoothness is None else loss.joint_smoothness
    if not budget.is_private:
        return VANISHING * bend * squared
    epsilon = budget.epsilon / times
    if loss.joint_smoothness is None:
        share = ridge_at_cost(1.0, BEND_SHARE * epsilon, rank)
    elif budget.delta == 0:
        share = (2.04 if unit.is_replace else 1.02) / epsilon
    elif times == 1:
        share = _room_beside(beside)[unit.is_replace] / epsilon
    else:
        gaussian = 1 / (gaussian_multiplier(budget) * math.sqrt(times))
        share = (3.0 if unit.is_replace else 2.0) / max(epsilon, gaussian)
    return max(share, VANISHING) * bend * squared


def _room_beside(share: float) -> tuple[float, float]:
    """Return the free ridges times epsilon, if records are added or removed, and if replaced."""
    for most, added, replaced in ROOMS:
        if share <= most:
            return added, replaced
    return ROOMS[-1][1:]


BEST_RIDGE, USUAL_NORM = 1.79, 10.0
"""The ridge is 1.79 L R sqrt(n / mu) over the norm of a good model: the least bound on what ridge
and noise cost together, for a norm of ten times the size of labels."""


def usual_kernel_ridge(
    loss: Loss, kernel: BoundedKernel, bounds: Bounds, budget: Budget, expected_rows: int | None
) -> float:
    """Return the ridge at which it and the noise cost least together, from public facts.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF
    >>> from discreet.losses import Hinge
    >>> from discreet.questions import LabelSet
    >>> bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=10_000)
    >>> kernel = BoundedKernel(RBF(1.0), 1.0)
    >>> round(usual_kernel_ridge(Hinge(), kernel, bounds, Budget(1.0, 1e-6), None))
    37
    """
    rows = bounds.max_rows if expected_rows is None else expected_rows
    _checks.whole(expected_rows=rows, at_least=1)
    noise = gaussian_multiplier(budget) if budget.is_private and budget.delta > 0 else 1.0
    slope = loss.lipschitz(math.inf) * kernel.reach
    size = bounds.labels.magnitude if isinstance(bounds.labels, Interval) else 1.0
    return BEST_RIDGE * slope * math.sqrt(rows * noise) / (USUAL_NORM * (size or 1.0))

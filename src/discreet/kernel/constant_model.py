"""Kernel models that would publish a constant: told from public numbers, before anything is paid.

A public model begins at zero and is corrected where a noisy prediction lies beyond a threshold. How
often that happens depends on rows, and is not looked at; but from the number of rows that are
expected, the penalty and the noise it follows how likely a first correction is at best.
"""

from __future__ import annotations

import numpy as np

from discreet.errors import InputError
from discreet.mechanisms.bounded_updates import BoundedUpdatesPlan
from discreet.mechanisms.net_updates import NetUpdatesPlan
from discreet.policy.task import Asked, Shape
from discreet.privacy import Budget, Unit
from discreet.questions import Interval, KernelQueries, LabelSet

AGREEING = 0.1
"""The share of rows that are taken to lie at one point and to agree, which is much."""

HALVINGS = 60


def refuse_constant(
    asked: Asked, shape: Shape, expected_rows: int | None, budget: Budget, unit: Unit
) -> None:
    """Refuse a fit whose model will most likely stay zero, whatever is asked."""
    plan = asked.mechanism.plan(asked.question, budget, unit)
    if not isinstance(plan, BoundedUpdatesPlan | NetUpdatesPlan) or not budget.is_private:
        return
    question = asked.question
    if not isinstance(question, KernelQueries):
        return
    rows = shape.max_rows if expected_rows is None else min(expected_rows, shape.max_rows)
    most = predict_where_agreed(question, AGREEING * rows)
    if plan.chance_of_update(most) >= 0.5:
        return
    raise InputError(
        f"with this budget and {rows:,} rows it will most likely answer 0 to everything: the "
        f"public model is corrected beyond a gap of {plan.threshold:.3g}, and where a tenth of all "
        f"rows lie at one point and agree the private model predicts {most:.2g}. Nothing was paid. "
        "Use GaussianProcessOracle, or method='projected' for public points; or pass "
        "may_be_constant=True."
    )


def predict_where_agreed(question: KernelQueries, rows: float) -> float:
    """Return what a model predicts at a point where so many rows lie, and no others, that agree.

    There the objective is that of one number f: rows * loss(y, f) + ridge / 2 * (f / R)^2.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF, BoundedKernel
    >>> from discreet.losses import Hinge
    >>> from discreet.questions import Bounds
    >>> bounds = Bounds(L2Ball(1.0), n_features=1, labels=LabelSet([-1, 1]), max_rows=1000)
    >>> question = KernelQueries(Hinge(), bounds, 20.0, BoundedKernel(RBF(2.0), 1.0), 1)
    >>> round(predict_where_agreed(question, 5), 6), round(predict_where_agreed(question, 100), 6)
    (0.25, 1.0)
    """
    labels = question.bounds.labels
    if isinstance(labels, LabelSet):
        ends = [float(value) for value in labels.values]
    else:
        ends = [labels.low, labels.high] if isinstance(labels, Interval) else []
    return max((abs(_predict_one(question, rows, end)) for end in ends), default=question.reach)


def _predict_one(question: KernelQueries, rows: float, label: float) -> float:
    low, high = -question.reach, question.reach
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        slope = float(question.loss.slope(np.array([label]), np.array([middle]))[0])
        if rows * slope + question.ridge * middle / question.row_norm**2 > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2

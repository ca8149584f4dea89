"""What an additive model asks, and who answers: from public facts alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.errors import InputError
from discreet.losses import Loss
from discreet.mechanisms import AdditiveModel
from discreet.policy.choosing import has_rows_to_count
from discreet.policy.stating import free_ridge
from discreet.policy.task import Asked
from discreet.privacy import Budget, Unit
from discreet.questions import AdditiveProblem, LabelSet, Marginals
from discreet.questions.bounds import CLIPPING_SLACK

FITS_OF_BANDS = 4
"""Bands come from so many fits with noise of their own, which share the budget."""

RIDGES_OF_BANDS = 6.0
"""So many times the ridge of one fit: what the bends of all of them cost together stays small."""


@dataclass(frozen=True)
class AdditiveTask:
    """Everything public about one fit of an additive model."""

    marginals: Marginals
    loss: Loss
    budget: Budget
    unit: Unit
    margin: float | None = None
    max_weight: float | None = None
    has_bands: bool = False
    interactions: bool = False
    monotone: tuple[tuple[int, bool], ...] = ()
    counts_scores: bool = False
    expected_rows: int | None = None
    assumed: tuple[str, ...] = ()

    @property
    def classes(self) -> int:
        """How many classes there are; zero if labels are numbers."""
        labels = self.marginals.labels
        return len(labels.values) if isinstance(labels, LabelSet) else 0


def choose_additive(task: AdditiveTask) -> Asked:
    """State the question of a task, and choose who answers it."""
    if task.budget.is_private and task.budget.delta == 0 and task.classes > 2:
        raise InputError(
            "an additive model of three or more classes needs delta > 0: its noise is Gaussian. "
            "Declare a small delta, or use a linear model, which has a form without."
        )
    if task.has_bands and task.budget.is_private and task.budget.delta == 0:
        raise InputError(
            "bands need delta > 0: without one, four fits have four times the noise. Declare a "
            "small delta, or fit with bands=False."
        )
    most, reasons = task.marginals.bounds.max_rows, tuple[str, ...]()
    wants_counts = task.counts_scores and task.classes == 2
    expected = most if task.expected_rows is None else min(task.expected_rows, most)
    counts = wants_counts and has_rows_to_count(
        expected, task.marginals.bounds, task.budget, task.unit
    )
    if wants_counts and not counts:
        reasons = ("scores not counted: too few rows for this budget",)
    mechanism = AdditiveModel(fits=FITS_OF_BANDS if task.has_bands else 1, counts_scores=counts)
    ridge = free_ridge(
        task.loss,
        CLIPPING_SLACK,
        mechanism.budget_for_second(task.budget),
        task.unit,
        weight=replace(task.marginals.bounds, max_weight=task.max_weight).unit_weight,
        beside=mechanism.share_beside,
    )
    problem = AdditiveProblem(
        task.marginals,
        RIDGES_OF_BANDS * ridge if task.has_bands else ridge,
        margin=task.margin,
        max_weight=task.max_weight,
        interactions=task.interactions,
        monotone=task.monotone,
        assumed=task.assumed,
    )
    return Asked(problem, mechanism, reasons=reasons)

"""Which question is asked, and which mechanism answers it: policy, from public facts alone.

Everything that an estimator leaves to ``"auto"`` is decided here, once for each fit: whether
columns are standardised privately first, whether scores are counted for probabilities, whether
least squares use sufficient statistics, how strong a lasso is. How strong a ridge is stands in
``penalty_strength.py``.
"""

from __future__ import annotations

import math
from dataclasses import replace

from discreet.estimators.interval_choice import add_intervals, check_intervals
from discreet.estimators.least_squares import choose_least_error, match_noise
from discreet.estimators.stating import choose_mechanism, state_question
from discreet.estimators.task import Asked, LinearTask
from discreet.losses import Squared
from discreet.mechanisms import (
    AcceleratedGradient,
    Learner,
    Mechanism,
    NoisyGradient,
    PrivateStandardisation,
)
from discreet.mechanisms.private_standardisation import CENTRED_WIDTH
from discreet.mechanisms.summing.score_counts import COUNTED_SHARE, ScoreCounts
from discreet.mechanisms.summing.step_policy import MOST_DIRECTIONS
from discreet.questions import OneVsRest


def choose(task: LinearTask) -> Asked:
    """Settle what the task leaves open, state its question, and choose who answers it."""
    if task.has_intervals:
        check_intervals(task)
    task = replace(task, mechanism=choose_first_stage(task))
    settled, reasons = _settle(task)
    question = state_question(settled)
    problem = question.problem if isinstance(question, OneVsRest) else question
    if not (task.ridge is None or problem.ridge == task.ridge):
        reasons += (f"the penalty was raised to {problem.ridge:.3g}, the least for this budget",)
    asked = 0.0 if settled.absolute is None else settled.absolute.ridge
    if task.absolute is not None and not settled.uses_statistics and problem.ridge > asked:
        reasons += (f"a ridge of {problem.ridge:.3g} is needed for this budget",)
    mechanism = choose_mechanism(settled, question)
    reasons += _explain_probabilities(task)
    if task.has_intervals:
        mechanism = add_intervals(mechanism)
    return Asked(question, mechanism, reasons=reasons, is_softmax=settled.is_softmax)


def choose_first_stage(task: LinearTask) -> str | Mechanism:
    """Return the private standardisation that comes first, or what was asked for if none does.

    It needs an intercept to centre with; a domain would be one of standardised coefficients; wide
    rows are mostly sparse, and would fill up. Softmax of many coefficients does without it there,
    unless columns are declared: rows are dense then.
    """
    how, bounds = task.standardising, task.bounds
    is_auto = task.mechanism == "auto"
    together = _learn_at_once(task) if is_auto and how.learns_at_once else None
    most = CENTRED_WIDTH
    if isinstance(together, AcceleratedGradient) and how.is_dense:
        most = MOST_CENTRED
    can = bounds.intercept is not None and task.domain is None and bounds.n_features <= most
    if task.mechanism != "private_standardisation" and not (is_auto and can and how.is_usual):
        return together if isinstance(together, AcceleratedGradient) else task.mechanism
    first = PrivateStandardisation(
        entry_bound=how.entry_bound,
        indicators=how.indicators,
        counts_scores=is_worth_counting(task),
        centred_width=CENTRED_WIDTH if most == CENTRED_WIDTH else most + 1,
    )
    return first if together is None else first.with_second(together)


ROWS_A_DEVIATION = 500 * math.sqrt(COUNTED_SHARE)
"""Scores are counted if there are this many rows to a standard deviation of the noise in a count.

If records are added or removed, and delta is not zero, that is n mu = 500. Measured on compas and
credit_default, where a curve of noisier counts was no better than none.
"""


def is_worth_counting(task: LinearTask) -> bool:
    """Say whether scores are counted: if asked to, of two classes, expecting enough rows."""
    how = task.standardising
    if not how.counts_scores or task.classes != 2:
        return False
    most = task.bounds.max_rows
    expected = most if how.n_hint is None else min(how.n_hint, most)
    counts = ScoreCounts.within_budget(task.budget, task.unit, most)
    return expected >= ROWS_A_DEVIATION * math.sqrt(counts.variance)


def _explain_probabilities(task: LinearTask) -> tuple[str, ...]:
    """Say why scores are not counted though they were to be."""
    if not task.standardising.counts_scores or task.classes != 2:
        return ()
    first = task.mechanism
    if isinstance(first, PrivateStandardisation):
        return () if first.counts_scores else ("scores not counted: too few rows for this budget",)
    return ("scores not counted: columns are not standardised",)


MOST_CENTRED = 2047
"""Dense columns up to which classes are learnt at once from standardised rows."""

MOST_AT_ONCE = 100_000
"""Coefficients of all classes together up to which they are learnt at once."""


def _learn_at_once(task: LinearTask) -> Learner | None:
    """Return how three or more classes are learnt at once, None if they are not.

    As long as directions can be told apart, each has steps of its own; otherwise all have the same.
    """
    coefficients = task.classes * task.bounds.width
    if task.classes <= 2 or task.budget.delta == 0 or task.domain is not None:
        return None
    if coefficients <= MOST_DIRECTIONS:
        return NoisyGradient()
    return AcceleratedGradient() if coefficients <= MOST_AT_ONCE else None


def _settle(task: LinearTask) -> tuple[LinearTask, tuple[str, ...]]:
    """Settle what least squares leave open, and say why."""
    settled, reasons = task, tuple[str, ...]()
    if task.mechanism == "auto" and isinstance(task.loss, Squared) and task.domain is not None:
        if not math.isfinite(task.domain.reach(task.bounds.width)):
            settled = replace(task, mechanism="sufficient_statistics")
        elif task.budget.is_private:
            settled, why = choose_least_error(task)
            reasons = (why,)
    if task.absolute is not None and task.absolute.alpha is None:
        alpha = match_noise(replace(settled, absolute=None))
        settled = replace(settled, absolute=replace(task.absolute, alpha=alpha))
    return settled, reasons

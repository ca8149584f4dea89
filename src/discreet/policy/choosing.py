"""Which question is asked, and which mechanism answers it: policy, from public facts alone.

Everything that an estimator leaves to ``"auto"`` is decided here, once for each fit: whether
columns are standardised privately first, whether scores are counted for probabilities, whether
least squares use sufficient statistics, how strong a lasso is. Ranges that have to be found come
before all of it. How strong a ridge is stands in ``stating.py``.
"""

from __future__ import annotations

import math
from dataclasses import replace

from discreet.errors import InputError
from discreet.losses import Squared
from discreet.mechanisms import (
    AcceleratedGradient,
    Learner,
    Mechanism,
    NoisyGradient,
    ObjectivePerturbation,
    PrivateRanges,
    PrivateStandardisation,
    SandwichMoments,
    SufficientStatistics,
)
from discreet.mechanisms.private_ranges import RANGES_SHARE
from discreet.mechanisms.private_standardisation import CENTRED_WIDTH
from discreet.mechanisms.sampling.range_draws import RangeDraws
from discreet.mechanisms.signal_rules import SignalRules, WideRules
from discreet.mechanisms.summing.score_counts import COUNTED_SHARE, ScoreCounts
from discreet.mechanisms.summing.step_policy import MOST_DIRECTIONS
from discreet.policy.least_squares import choose_least_error, match_noise
from discreet.policy.stating import choose_mechanism, state_question
from discreet.policy.task import Asked, LinearTask
from discreet.privacy import Budget, Unit
from discreet.questions import OneVsRest, Problem
from discreet.questions.bounds import Bounds
from discreet.questions.sought_ranges import SoughtRanges


def choose(task: LinearTask) -> Asked:
    """Settle what the task leaves open, state its question, and choose who answers it."""
    if task.has_intervals:
        check_intervals(task)
    task = replace(task, mechanism=choose_first_stage(task), sought=_settle_search(task))
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
    if task.sought is not None:
        question, mechanism = find_ranges_first(task.sought, question, mechanism)
        if task.sought.share == 0:
            reasons += ("ranges not sought: too few rows for this budget",)
    return Asked(question, mechanism, reasons=reasons, is_softmax=settled.is_softmax)


LEAST_NATS = 0.3
"""Ranges are sought if points beyond the expected rows are less likely by this, in logarithms.

Measured on adult and credit_default: with less, ends were so often drawn amid the rows that a model
lost more than it gained, whatever the declared bounds.
"""


def _settle_search(task: LinearTask) -> SoughtRanges | None:
    """Say how much goes into the search for ranges: nothing if too few rows are expected."""
    if task.sought is None:
        return None
    draws = RangeDraws.within_budget(
        task.sought.columns, task.bounds, RANGES_SHARE, task.budget, task.unit
    )
    is_worth = draws.expect_nats(expect_rows(task)) >= LEAST_NATS
    return replace(task.sought, share=RANGES_SHARE if is_worth else 0.0)


def expect_rows(task: LinearTask) -> int:
    """Return how many rows are expected: as declared, or as many as there may be."""
    most, hint = task.bounds.max_rows, task.standardising.expected_rows
    return most if hint is None else min(hint, most)


def find_ranges_first(
    sought: SoughtRanges, question: Problem | OneVsRest, mechanism: Mechanism
) -> tuple[Problem | OneVsRest, PrivateRanges]:
    """Return the question about rows as they are before ranges are found, and who finds them."""
    if not isinstance(mechanism, Learner):
        raise InputError(
            f"{mechanism.name} cannot share its budget with the search for ranges; declare ranges "
            "in place of public_bounds, or use mechanism='auto'."
        )
    bounds = question.bounds
    first = PrivateRanges(
        mechanism,
        columns=sought.columns,
        inside=bounds,
        vectors=question.classes if isinstance(question, OneVsRest) else 1,
        share=sought.share,
    )
    return question.restate(replace(bounds, features=sought.outside)), first


def choose_first_stage(task: LinearTask) -> str | Mechanism:
    """Return the private standardisation that comes first, or what was asked for if none does.

    It needs an intercept to centre with; a domain would be one of standardised coefficients; wide
    rows are mostly sparse, and would fill up, so that they are only counted. Softmax of many
    coefficients does without either there, unless columns are declared: rows are dense then.
    """
    how, bounds = task.standardising, task.bounds
    is_auto = task.mechanism == "auto"
    together = _learn_at_once(task) if is_auto and how.learns_at_once else None
    most = CENTRED_WIDTH if how.centred_width is None else how.centred_width
    if isinstance(together, AcceleratedGradient) and how.is_dense:
        most = MOST_CENTRED
    can = bounds.intercept is not None and task.domain is None and bounds.n_features <= most
    if is_auto and bounds.n_features > most and _is_counted_first(task):
        return _count_first(task)
    if task.mechanism != "private_standardisation" and not (is_auto and can and how.is_usual):
        return together if isinstance(together, AcceleratedGradient) else task.mechanism
    first = PrivateStandardisation(
        entry_bound=how.entry_bound,
        indicators=how.indicators,
        counts_scores=is_worth_counting(task),
        share=how.share,
        centred_width=CENTRED_WIDTH if most == CENTRED_WIDTH else most + 1,
    )
    if together is not None:
        return first.with_second(together)
    if how.rules is None or task.budget.delta == 0 or task.has_intervals:
        return first
    second = ObjectivePerturbation(settles_later=True)
    return replace(first, second=second, share=share_of_sums(task), rules=how.rules)


ROWS_SHARE = 0.001
"""The share of mu squared for the number of rows, where columns are left as they are."""


def _is_counted_first(task: LinearTask) -> bool:
    """Say whether the number of rows settles the objective, where columns are left as they are.

    Of two classes, with Gaussian noise, an intercept and no penalty that somebody stated: what the
    rule was found for. Features of kernels are as many as are standardised.
    """
    how, bounds, budget = task.standardising, task.bounds, task.budget
    is_plain = task.classes == 2 and task.domain is None and not task.has_intervals
    is_open = how.is_usual and how.rules is not None and how.centred_width is None
    is_gaussian = budget.is_private and budget.delta > 0
    return is_plain and is_open and is_gaussian and task.ridge is None and bool(bounds.intercept)


def _count_first(task: LinearTask) -> PrivateStandardisation:
    """Return what learns from rows as they are, their number first."""
    rules = task.standardising.rules or SignalRules()
    return PrivateStandardisation(
        ObjectivePerturbation(settles_later=True),
        counts_scores=is_worth_counting(task),
        share=ROWS_SHARE,
        rules=WideRules(rules.settles_margin, rules.settles_ridge),
        scales=False,
    )


RULED_SHARE, SMALL_SHARE = 0.06, 0.12
"""The share of mu squared for noisy sums that settle an objective; and if rows are few."""

FEW_ROWS = 3000.0
"""Rows are few if there are at most this many, times epsilon: the largest tables of those that
gained by the larger share."""


def share_of_sums(task: LinearTask) -> float:
    """Return what noisy sums are worth, from the number of rows that is expected."""
    return SMALL_SHARE if expect_rows(task) * task.budget.epsilon <= FEW_ROWS else RULED_SHARE


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
    return has_rows_to_count(expect_rows(task), task.bounds, task.budget, task.unit)


def has_rows_to_count(expected: int, bounds: Bounds, budget: Budget, unit: Unit) -> bool:
    """Say whether so many expected rows are enough for counts of scores."""
    counts = ScoreCounts.within_budget(budget, unit, bounds)
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

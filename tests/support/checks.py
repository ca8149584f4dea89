"""Checks that hold for every mechanism; mutants must fail at least one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.stats import beta, norm

from discreet.privacy import Composition
from discreet.questions import VectorProblem
from discreet.questions.problem import Problem


def check_sensitivity(case, plan, pairs):
    """Without noise, neighbours are no further apart than the plan declares."""
    for first, second in pairs:
        apart = case.silent_total(plan, first) - case.silent_total(plan, second)
        assert case.distance(apart) <= plan.sensitivity


def check_exact_audit(case, plan):
    """The worst pair's true profile stays below the declared one.

    The released law is a copy of the noise, moved from one total to the other.
    """
    first, second = case.worst_pair
    apart = case.silent_total(plan, first) - case.silent_total(plan, second)
    profile, true = plan.guarantee.profile, case.true_profile(plan, apart)
    for epsilon in np.linspace(0, 3, 31):
        assert true.delta(epsilon) <= profile.delta(epsilon) * (1 + 1e-6)


def is_pure(plan):
    """Whether the ideal mechanism has a pure epsilon."""
    return math.isfinite(plan.guarantee.profile.ideal.pure_epsilon)


def rates(first, second, *, events=40, confidence=0.999):
    """Bounds on the chances of threshold events under two samples of scores.

    Returns, over thresholds and both orders, lower bounds on the chance under one and upper bounds
    under the other; all of them hold together with the given confidence.
    """
    trials = len(first)
    tail = (1 - confidence) / (8 * events)
    thresholds = np.quantile(np.concatenate([first, second]), np.linspace(0.02, 0.98, events))
    lows, highs = [], []
    for one, other in ((first, second), (second, first)):
        for sign in (1, -1):
            hits = (sign * one[:, None] > sign * thresholds).sum(axis=0)
            misses = (sign * other[:, None] > sign * thresholds).sum(axis=0)
            low = np.where(hits == 0, 0.0, beta.ppf(tail, hits, trials - hits + 1))
            high = np.where(
                misses == trials,
                1.0,
                beta.ppf(1 - tail, misses + 1, np.maximum(trials - misses, 1)),
            )
            lows.append(low)
            highs.append(high)
    return np.concatenate(lows), np.concatenate(highs)


def certified_level(plan, first, second):
    """A lower bound on mu (for Gaussian guarantees) or on epsilon (for pure ones)."""
    low, high = rates(first, second)
    if is_pure(plan):
        return float(np.log(np.maximum(low, 1e-300) / high).max())
    return float(np.max(norm.ppf(low) - norm.ppf(high)))


def claimed_level(plan):
    """What the guarantee claims, in the same currency as :func:`certified_level`."""
    ideal = plan.guarantee.profile.ideal
    if is_pure(plan):
        return ideal.pure_epsilon
    # Objective perturbation, for a loss that is linear where it matters, is Gaussian too; under
    # replacement its profile counts one record's norm and the pair differs by two.
    parts = ideal.parts if isinstance(ideal, Composition) else (ideal,)
    twice = [2 if getattr(part, "is_replace", False) else 1 for part in parts]
    return math.hypot(*(factor * part.mu for factor, part in zip(twice, parts, strict=True)))


def scores(case, plan, noise, trials):
    """Released values of the worst pair, projected on the line between their true totals.

    Coefficients with pure noise are scored by the ratio of their densities instead.
    """
    centres = [case.silent_total(plan, data) for data in case.worst_pair]
    length, watched = case.noise_norm(plan), watch(plan)

    def score(value):
        if isinstance(case.question, Problem | VectorProblem) and is_pure(plan):
            return length(value - centres[0]) - length(value - centres[1])
        return value @ (centres[1] - centres[0])

    def sample(data):
        opened = data.open(case)
        return np.array([score(watched(opened, noise)) for _ in range(trials)])

    return sample(case.worst_pair[0]), sample(case.worst_pair[1])


def watch(plan):
    """Return a run of the plan that answers with the noisy total itself."""
    if hasattr(plan, "moments"):
        return plan.release_statistics
    if not hasattr(plan, "totals"):
        return lambda rows, noise: np.atleast_1d(np.float64(plan.run(rows, noise)))

    class Watched(type(plan.totals)):
        def answer(self, total, rows):
            return total

    totals = Watched(**vars(plan.totals))
    return replace(plan, totals=totals).run

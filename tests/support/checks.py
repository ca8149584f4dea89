"""Checks that hold for every mechanism; mutants must fail at least one.

The first are about one release (:class:`~support.cases.additive.AdditiveCase`), the joint ones
about several (:class:`~support.cases.staged.StagedCase`).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import beta, norm

from discreet.privacy import Composition, Gaussian


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
    if is_pure(plan):
        return certified_epsilon(first, second, 0.0)
    return certified_mu(first, second)


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
    length, run_many = case.noise_norm(plan), case.watch(plan)

    def score(value):
        if case.has_densities and is_pure(plan):
            return length(value - centres[0]) - length(value - centres[1])
        return value @ (centres[1] - centres[0])

    def sample(data):
        released = np.asarray(run_many(data.open(case), noise, trials), dtype=np.float64)
        return np.array([score(value) for value in released.reshape(trials, -1)])

    return sample(case.worst_pair[0]), sample(case.worst_pair[1])


def check_joint_sensitivity(case, plan, pairs):
    """Without noise, the releases of neighbours are no further apart than the plan declares."""
    for pair in pairs:
        assert case.apart(plan, pair) <= case.sensitivity(plan)


def check_joint_audit(case, plan):
    """The worst pair's true profile stays below the declared one.

    Gaussian noise in all parts is one Gaussian. Of pure parts only the epsilons are compared.
    """
    shift, profile = case.apart(plan, case.worst_pair), plan.guarantee.profile
    if case.is_pure:
        assert shift <= profile.pure_epsilon
        return
    true = Gaussian(shift)
    for epsilon in np.linspace(0, 3, 31):
        assert true.delta(epsilon) <= profile.delta(epsilon) * (1 + 1e-6)


def certified_mu(first, second):
    """A lower bound on the shift of Gaussian noise; false once in a thousand."""
    low, high = rates(first, second)
    return float(np.max(norm.ppf(low) - norm.ppf(high)))


def certified_epsilon(first, second, delta):
    """A lower bound on epsilon at a delta, from two samples of scores; false once in a thousand."""
    low, high = rates(first, second)
    return float(np.log(np.maximum(low - delta, 1e-300) / high).max())

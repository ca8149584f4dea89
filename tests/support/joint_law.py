"""The joint law of a few answers on a line, by quadrature: no sampling, and no composition.

Each answer is a Gaussian around a mean that may depend on all answers before it. Delta is an
integral over all answers but the last, for which it is a formula.
"""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
from scipy.special import log_ndtr

from support.opened import open_rows

REACH, CELLS = 8.0, 40
"""Deviations on either side, and cells: of a Gaussian the trapezoidal rule sees every digit."""


def means(plan, record_after):
    """Return the mean of the next answer as a function of those before it.

    ``record_after`` says which record comes after some answers: an adversary may look at them.
    """
    algorithm = plan.algorithm

    @cache
    def mean(past):
        total, played = np.zeros(1), np.zeros(1)
        for seen in range(1, len(past) + 2):
            row, label = record_after(past[: seen - 1])
            total = algorithm.step(total, seen, np.array([row]), label, played)
            if seen <= len(past):
                played = np.array([past[seen - 1]])
        return float(algorithm.iterate(total, len(past) + 1)[0])

    return mean


def scales(plan):
    """Return the deviation of each answer; zero if it has no noise."""
    schedule, updates = plan.schedule, plan.question.updates
    return [schedule.grid(j).scale if j >= schedule.first else 0.0 for j in range(1, updates + 1)]


def joint_delta(one, other, deviations, epsilons):
    """Return delta at each epsilon, of the first law against the second."""
    *before, last = deviations
    total = np.zeros(len(epsilons))
    offsets = np.linspace(-REACH, REACH, CELLS + 1)
    weights = np.exp(-(offsets**2) / 2) / math.sqrt(2 * math.pi) * (offsets[1] - offsets[0])
    choices = [range(CELLS + 1) if deviation else [None] for deviation in before]
    for nodes in itertools.product(*choices):
        past, weight, log_ratio = (), 1.0, 0.0  # log of the density of the other over that of one
        for node, deviation in zip(nodes, before, strict=True):
            mean, apart = one(past), other(past)
            if node is None:
                assert mean == apart
                past = (*past, mean)
                continue
            z, shift = offsets[node], (mean - apart) / deviation
            weight *= weights[node]
            log_ratio += -z * shift - shift**2 / 2
            past = (*past, mean + deviation * z)
        if weight > 1e-18:
            shift = abs(one(past) - other(past)) / last
            total += weight * gaussian_tail(np.asarray(epsilons) + log_ratio, shift)
    return total


def gaussian_tail(epsilon, shift):
    """Return delta of two Gaussians at any epsilon, negative ones too."""
    if shift == 0:
        return np.maximum(-np.expm1(epsilon), 0.0)
    return np.exp(log_ndtr(shift / 2 - epsilon / shift)) - np.exp(
        epsilon + log_ndtr(-shift / 2 - epsilon / shift)
    )


def transcript(plan, X, y, noise):
    """Return all answers to a short table."""
    unit = plan.guarantee.unit
    return plan.run(open_rows(X, y, bounds=plan.question.bounds, unit=unit), noise)

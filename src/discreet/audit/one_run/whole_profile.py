"""How likely so many correct guesses are under a whole privacy profile.

The bound is the value of a linear programme, by weak duality: whatever the solver returns is only
a proposal, from which :func:`certified_p_value` computes a bound that holds; the proof is in
``docs/auditing.md``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from discreet import _checks
from discreet._types import Array, Vector
from discreet.audit.one_run.p_value import one_run_p_value
from discreet.audit.statistical.certify import Claim
from discreet.privacy import Guarantee

POINTS = 8
"""At so many epsilons a profile is looked at; twice as many gain a few percent of a p-value."""

FARTHEST = 1e3
"""The deltas looked at lie within this factor below the level."""

NEAREST = 10.0
"""And within this factor above it."""

MOST_GUESSES = 1000
"""With more guesses the programme takes seconds, and the best single point must do."""

LARGEST_EPSILON = 30.0
"""Points beyond this are left out of the programme: they would only upset the solver."""

ROUNDING = 1e-12
"""A relative error far above that of a sum of products of so few numbers."""


class DualProposal(NamedTuple):
    """What epsilons weigh, and a test function for each of them (epsilons x guesses).

    Variables of the dual linear programme.
    """

    weights: Vector
    tests: Array


def claim_of(guarantee: Guarantee, level: float) -> Claim:
    """Look at a guarantee where it matters for p-values about a level.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Gaussian
    >>> claim = claim_of(Guarantee(Gaussian(0.2), AddRemoveOne(), quoted_delta=1e-6), 0.001)
    >>> claim.epsilons.round(2).tolist()
    [0.26, 0.34, 0.43, 0.51, 0.59, 0.67, 0.75, 0.83]
    """
    quoted = guarantee.epsilon()
    if guarantee.quoted_delta == 0:
        return Claim(np.array([quoted]), np.array([0.0]))
    ends = (guarantee.epsilon(delta) for delta in (min(NEAREST * level, 0.5), level / FARTHEST))
    near, far = (end if math.isfinite(end) else quoted for end in ends)
    epsilons = np.unique([quoted, *np.linspace(near, far, POINTS)])
    return Claim(epsilons, guarantee.profile.deltas(epsilons))


def scale_claim(claim: Claim, share: float) -> Claim:
    """Scale the privacy loss of a claim, rounded up."""
    return Claim(claim.epsilons * (share * (1 + 1e-15)), claim.deltas)


def best_point_p_value(correct: int, guesses: int, canaries: int, claim: Claim) -> float:
    """Return the smallest p-value of a single point of the claim."""
    points = zip(claim.epsilons.tolist(), claim.deltas.tolist(), strict=True)
    return min(one_run_p_value(correct, guesses, canaries, *point) for point in points)


def profile_p_value(correct: int, guesses: int, canaries: int, claim: Claim) -> float:
    """Bound the chance of so many correct guesses if all points of a claim are true.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Gaussian
    >>> claim = claim_of(Guarantee(Gaussian(0.2), AddRemoveOne(), quoted_delta=1e-6), 0.001)
    >>> quoted = one_run_p_value(75, 100, 300, claim.epsilons[-1], 1e-6)
    >>> single = best_point_p_value(75, 100, 300, claim)
    >>> [round(p, 4) for p in (quoted, single, profile_p_value(75, 100, 300, claim))]
    [0.1489, 0.0091, 0.004]
    """
    _checks.instance(Claim, claim=claim)
    smallest = best_point_p_value(correct, guesses, canaries, claim)
    near = claim.epsilons <= LARGEST_EPSILON
    if correct == 0 or near.sum() < 2 or guesses > MOST_GUESSES:
        return smallest
    claim = Claim(claim.epsilons[near], claim.deltas[near])
    proposal = propose(correct, guesses, canaries, claim)
    if proposal is None:
        return smallest
    return min(smallest, certified_p_value(correct, guesses, canaries, claim, proposal))


def certified_p_value(
    correct: int, guesses: int, canaries: int, claim: Claim, proposal: DualProposal
) -> float:
    """Return a bound that holds for every proposal, good or bad."""
    weights = np.maximum(proposal.weights, 0.0)
    tests = np.clip(proposal.tests, 0.0, weights[:, None])
    right = np.arange(guesses + 1)
    none = np.zeros((len(weights), 1))
    gains = right * np.hstack([none, tests]).sum(axis=0)
    losses = (guesses - right) * (np.exp(claim.epsilons) @ np.hstack([tests, none]))
    rest = (right >= correct) - gains + losses + ROUNDING * (1 + gains + losses)
    bound = canaries * float(weights @ claim.deltas) + float(rest.max())
    bound *= 1 + ROUNDING
    return bound if 0 < bound < 1 else 1.0  # not a number counts as one


def propose(correct: int, guesses: int, canaries: int, claim: Claim) -> DualProposal | None:
    """Solve the dual programme; None if the solver gives up."""
    from scipy.optimize import linprog  # slow to import

    counts = np.arange(1, guesses + 1, dtype=np.float64)
    points, columns = len(claim.epsilons), len(claim.epsilons) * guesses
    # Unknown are the weights, what is left over, and the tests, one epsilon after the other.
    price = np.concatenate([canaries * claim.deltas, [1.0], np.zeros(columns)])
    gain = sparse.diags(counts, offsets=-1, shape=(guesses + 1, guesses))
    loss = sparse.diags(guesses - counts + 1, shape=(guesses + 1, guesses))
    balances = [factor * loss - gain for factor in np.exp(claim.epsilons)]
    each_count = [sparse.csr_matrix((guesses + 1, points)), -np.ones((guesses + 1, 1)), *balances]
    below_weight = [
        -sparse.kron(sparse.eye(points), np.ones((guesses, 1))),
        sparse.csr_matrix((columns, 1)),
        sparse.eye(columns),
    ]
    is_enough = np.arange(guesses + 1) >= correct
    solution = linprog(
        price,
        sparse.vstack([sparse.hstack(each_count), sparse.hstack(below_weight)], format="csr"),
        np.concatenate([-1.0 * is_enough, np.zeros(columns)]),
        bounds=[(0, None)] * points + [(None, None)] + [(0, None)] * columns,
        method="highs-ds",
    )
    if solution.x is None or not np.isfinite(solution.x).all():
        return None
    tests = solution.x[points + 1 :].reshape(points, guesses)
    return DualProposal(solution.x[:points], tests)

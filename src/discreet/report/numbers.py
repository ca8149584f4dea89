r"""The numbers of a card: all follow from the profile, and are checked against it when read back.

Epsilon at several deltas, posterior beliefs, group privacy and the trade-off function.

*Belief.* If the loss :math:`L = \ln(P/Q)` of a release exceeds :math:`l`, a profile at any smaller
epsilon has counted at least :math:`1 - e^{\epsilon - l}` of that chance, so
:math:`P(L > l) \le \delta(\epsilon)/(1 - e^{\epsilon - l})`. Otherwise prior odds grow by a factor
of at most :math:`e^l`.

*Groups.* The power of tests is applied once for each record (Dong, Roth and Su 2022); epsilons
are those of :mod:`discreet.privacy.group`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from discreet._types import Json, Vector
from discreet.errors import InputError
from discreet.privacy import Guarantee, Profile, group_delta, group_epsilon
from discreet.privacy.tabulated import LARGEST_TABULATED, tabulate
from discreet.report.tradeoff import ROUNDING, Tradeoff, tradeoff_through

DELTAS = (1e-3, 1e-5, 1e-6, 1e-9, 1e-12)
PRIORS = (0.01, 0.1, 0.5, 0.9)
GROUPS = (2, 5, 10)

EXCEPTION = 1e-6
"""How often a bound on beliefs may fail, unless the quoted delta asks for more."""

HALVINGS = 16
LOSSES = 4000

SLACK = 1e-6
"""Other versions of SciPy may round the last digits otherwise."""

NOTHING: Json = {
    "quoted": {"epsilon": None, "delta": 0.0},
    "epsilons": [],
    "best_guess": 1.0,
    "belief": {"largest_loss": None, "exception": 0.0, "beliefs": []},
    "groups": [],
    "tradeoff": [
        {"false_positives": 0.0, "false_negatives": 0.0},
        {"false_positives": 1.0, "false_negatives": 0.0},
    ],
}
"""What is to be said if nothing is promised."""


def numbers_of(guarantee: Guarantee, group: int = 1) -> Json:
    """Return the numbers of a card, none of them optimistic; with those of one more group.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> found = numbers_of(Guarantee(Pure(1.0), AddRemoveOne()))
    >>> found["quoted"], round(found["best_guess"], 4)
    ({'epsilon': 1.0, 'delta': 0.0}, 0.7311)
    >>> [group["epsilon"] for group in found["groups"]]
    [2.0, 5.0, 10.0]
    """
    profile = guarantee.profile
    if not profile.is_private:
        return NOTHING
    epsilons, deltas = tabulate(profile)
    curve = tradeoff_through(epsilons, deltas)
    quoted = guarantee.quoted_delta
    others = np.array(sorted({*DELTAS} - {quoted}))
    listed = dict(zip(others.tolist(), _epsilons(profile, others).tolist(), strict=True))
    listed[quoted] = guarantee.epsilon()
    return {
        "quoted": {"epsilon": finite_or_none(listed[quoted]), "delta": quoted},
        "epsilons": [
            {"delta": delta, "epsilon": finite_or_none(epsilon)}
            for delta, epsilon in sorted(listed.items(), reverse=True)
        ],
        "best_guess": curve.best_guess,
        "belief": _belief(profile, quoted, epsilons, deltas),
        "groups": [
            _group(profile, size, quoted) | {"best_guess": curve.best_guess_about(size)}
            for size in sorted({*GROUPS, group} - {1})
        ],
        "tradeoff": [
            {"false_positives": alarms, "false_negatives": misses}
            for alarms, misses in zip(curve.alarms, curve.least_misses, strict=True)
        ],
    }


@lru_cache(maxsize=16)
def intern_profile(profile: Profile) -> Profile:
    """Return an equal profile, of those seen lately: it need not be worked out again."""
    return profile


def _epsilons(profile: Profile, wanted: Vector) -> Vector:
    """Return an epsilon for each delta, all searched for at once; each is enough."""
    epsilons, deltas = tabulate(profile)
    is_enough = deltas[None, :] <= wanted[:, None]
    places = np.argmax(is_enough, axis=1)
    high, low = epsilons[places], epsilons[np.maximum(places - 1, 0)]
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        meets = profile.deltas(middle) <= wanted
        low, high = np.where(meets, low, middle), np.where(meets, middle, high)
    found = np.where(is_enough.any(axis=1), high, math.inf)
    return np.minimum(found, profile.pure_epsilon)


def finite_or_none(epsilon: float) -> float | None:
    """Return an epsilon for JSON, which has no infinity."""
    return epsilon if math.isfinite(epsilon) else None


def _belief(profile: Profile, quoted: float, epsilons: Vector, deltas: Vector) -> Json:
    loss: float | None = finite_or_none(profile.pure_epsilon)
    exception = 0.0
    if loss is None:
        exception = max(EXCEPTION, 10 * quoted)
        losses = np.geomspace(1e-4, LARGEST_TABULATED, LOSSES)
        enough = np.flatnonzero(_chances(losses, epsilons, deltas) <= exception)
        loss = float(losses[enough[0]]) if enough.size else None
    beliefs = [
        {
            "before": prior,
            "at_most": _belief_at_most(prior, loss),
            "at_least": _belief_at_least(prior, loss),
        }
        for prior in PRIORS
    ]
    return {"largest_loss": loss, "exception": exception, "beliefs": beliefs}


def _chances(losses: Vector, epsilons: Vector, deltas: Vector) -> Vector:
    """Bound the chance that the loss of a release exceeds each of several."""
    gaps = losses[:, None] - epsilons[None, :]
    with np.errstate(divide="ignore"):
        bounds = np.where(gaps > 0, deltas / -np.expm1(-np.maximum(gaps, 1e-300)), np.inf)
    return np.asarray(np.minimum(bounds.min(axis=1) * (1 + ROUNDING), 1.0))


def _belief_at_most(prior: float, loss: float | None) -> float:
    if loss is None:
        return 1.0
    return min(1.0, prior / (prior + (1 - prior) * math.exp(-loss)) * (1 + ROUNDING))


def _belief_at_least(prior: float, loss: float | None) -> float:
    if loss is None:
        return 0.0
    kept = prior * math.exp(-loss)
    return kept / (kept + (1 - prior)) * (1 - ROUNDING)


def _group(profile: Profile, size: int, quoted: float) -> Json:
    epsilon = finite_or_none(group_epsilon(profile, size, quoted))
    return {"size": size, "epsilon": epsilon, "delta": quoted}


def check_numbers(numbers: Json, guarantee: Guarantee) -> None:
    """Raise if a number promises more than the profile does."""
    profile = guarantee.profile
    if not profile.is_private:
        _require(numbers == NOTHING)
        return
    _require(numbers["quoted"]["delta"] == guarantee.quoted_delta)
    for entry in (numbers["quoted"], *numbers["epsilons"]):
        _require(_holds(profile, entry["epsilon"], entry["delta"]))
    curve = tradeoff_through(*tabulate(profile))
    _check_attacks(numbers, curve)
    belief = numbers["belief"]
    loss, exception = belief["largest_loss"], belief["exception"]
    if loss is not None and loss < profile.pure_epsilon * (1 - SLACK):
        chance = _chances(np.array([loss]), *tabulate(profile))[0]
        _require(chance <= exception * (1 + SLACK))
    for one in belief["beliefs"]:
        _require(one["at_most"] >= _belief_at_most(one["before"], loss) - SLACK)
        _require(one["at_least"] <= _belief_at_least(one["before"], loss) + SLACK)
    for group in numbers["groups"]:
        _check_group(group, profile)
        _require(group["best_guess"] >= curve.best_guess_about(group["size"]) - SLACK)


def _check_attacks(numbers: Json, curve: Tradeoff) -> None:
    points = numbers["tradeoff"]
    alarms = np.array([point["false_positives"] for point in points])
    misses = np.array([point["false_negatives"] for point in points])
    _require(bool(alarms.size > 1 and alarms[0] == 0 and alarms[-1] == 1))
    _require(bool(np.all(np.diff(alarms) > 0)))
    # Between corners, too: a claim is a broken line, and the bound is a convex one.
    places = np.union1d(alarms, curve.alarms)
    claimed = np.interp(places, alarms, misses)
    _require(bool(np.all(claimed <= curve.misses(places) + SLACK)))
    _require(numbers["best_guess"] >= curve.best_guess - SLACK)


def _check_group(group: Json, profile: Profile) -> None:
    if group["epsilon"] is None:
        return
    if group["epsilon"] >= group["size"] * profile.pure_epsilon * (1 - SLACK):
        return
    delta = group_delta(profile, group["size"], group["epsilon"] * (1 + SLACK))
    _require(delta <= group["delta"] * (1 + SLACK))


def _holds(profile: Profile, epsilon: float | None, delta: float) -> bool:
    if epsilon is None or epsilon >= profile.pure_epsilon * (1 - SLACK):
        return True
    return profile.delta(epsilon * (1 + SLACK)) <= delta * (1 + SLACK)


def _require(claim: Any) -> None:
    if not claim:
        raise InputError(
            "the numbers of this card do not follow from its profile; it was changed, or damaged. "
            "Make the card again from its release."
        )


def curve_of(numbers: Json) -> Tradeoff:
    """Return the curve that a card carries."""
    points = numbers["tradeoff"]
    return Tradeoff(
        tuple(point["false_positives"] for point in points),
        tuple(point["false_negatives"] for point in points),
    )

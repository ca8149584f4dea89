"""What one of several fits may spend, so that all of them together meet a budget.

Only accuracy depends on it: the guarantee is that of the plans, by ``train_and_choose.md`` and
``repeat_and_select.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from discreet.errors import CalibrationError
from discreet.privacy import (
    Budget,
    Gaussian,
    Profile,
    SelectedTrial,
    TrialLaw,
    calibrate_from,
    gaussian_multiplier,
)

PRECISION = 8e-4
"""How far below the budget all fits together may stay, as a share of epsilon."""

MOST_ROUNDS = 16

SMALLEST = 5e-324
"""Stands for a delta of zero, of which there is no logarithm."""

RARE = 0.25
"""The share of delta that goes to what one fit may miss, over all of them."""

ROUNDED_DOWN = 1 - 1e-14
"""A share of a pure budget is rounded down by this, so that the sum of all is within it."""

Plans = TypeVar("Plans")


def share_of_several(budget: Budget, fits: int) -> Budget:
    """Return roughly what each of several fits may spend if all are composed.

    As if each were Gaussian; a pure budget is divided.

    Examples
    --------
    >>> round(share_of_several(Budget(1.0), 4).epsilon, 6)
    0.25
    >>> round(share_of_several(Budget(1.0, 1e-6), 4).epsilon, 2)
    0.55
    """
    if not budget.is_private:
        return budget
    if budget.delta == 0:
        return Budget(budget.epsilon / fits * ROUNDED_DOWN)
    mu = 1 / (gaussian_multiplier(budget) * math.sqrt(fits))
    return _gaussian_budget(mu, RARE * budget.delta / fits)


def share_of_trial(budget: Budget, law: TrialLaw) -> Budget:
    """Return roughly what one trial may spend if the best of a random number is released.

    As if each were Gaussian; a pure budget is divided.

    Examples
    --------
    >>> round(share_of_trial(Budget(1.0), TrialLaw.with_mean(8)).epsilon, 6)
    0.333333
    >>> round(share_of_trial(Budget(1.0, 1e-6), TrialLaw.with_mean(8)).epsilon, 2)
    0.54
    """
    if not budget.is_private:
        return budget
    if budget.delta == 0:
        if law.shape is None:
            raise CalibrationError(
                "a Poisson number of trials has no pure guarantee; use a shape from 0 to 1, or a "
                "positive delta."
            )
        return Budget(budget.epsilon / (2 + law.shape) * ROUNDED_DOWN)
    start = (1.2 + 2 / (1 + budget.epsilon / 10)) * gaussian_multiplier(budget)
    noise = calibrate_from(
        start,
        lambda noise: SelectedTrial(Gaussian(1 / noise), law.rate, law.shape),
        budget,
        precision=PRECISION / 2,
    )
    return _gaussian_budget(1 / noise, RARE * budget.delta / law.mean)


def _gaussian_budget(mu: float, delta: float) -> Budget:
    return Budget(Gaussian(mu).epsilon(delta), delta)


def equivalent_mu(budget: Budget) -> float:
    """Return the mu of a Gaussian release that a budget allows; epsilon itself if it is pure."""
    return budget.epsilon if budget.delta == 0 else 1 / gaussian_multiplier(budget)


def settle_budget(
    plan_all: Callable[[Budget], Plans],
    profile_of: Callable[[Plans], Profile],
    guess: Budget,
    budget: Budget,
) -> tuple[Plans, Profile]:
    """Plan several fits so that together they meet the budget, and hardly less."""
    if budget.delta == 0:
        plans = plan_all(guess)
        profile = profile_of(plans)
        if profile.pure_epsilon <= budget.epsilon:
            return plans, profile
        raise CalibrationError(TOO_SMALL)
    place, before, kept = math.log(guess.epsilon), None, None
    low, high = -math.inf, math.inf  # logarithms of what is enough, and of what is too much
    refusal = CalibrationError(TOO_SMALL)
    for _ in range(MOST_ROUNDS):
        try:
            plans = plan_all(Budget(math.exp(place), guess.delta))
        except CalibrationError as error:  # what is asked needs more than that
            if math.isinf(high):
                raise
            refusal, low, place = error, place, (place + high) / 2
            if high - low < PRECISION:
                break
            continue
        profile = profile_of(plans)
        if math.log(max(profile.distance, SMALLEST)) + budget.epsilon >= math.log(budget.delta):
            raise CalibrationError(TOO_LARGE)
        excess, just_below = (
            math.log(max(profile.delta(level), SMALLEST) / budget.delta)
            for level in (budget.epsilon, (1 - PRECISION) * budget.epsilon)
        )
        if excess <= 0:
            low, kept = place, (plans, profile)
            if just_below > 0:
                break
        else:
            high = place
        if high - low < PRECISION:  # a law of noise changes here, and all with it
            break
        # Delta's own slope in epsilon, until two rounds have shown that in what one fit spends.
        slope = max((just_below - excess) / PRECISION, 1.0)
        aim = excess + 0.5 * min(just_below - excess, PRECISION * slope)
        if before is not None and place != before[0]:
            slope = max((excess - before[1]) / (place - before[0]), 0.1 * slope)
        following = place - min(max(aim / slope, -1.0), 1.0)
        if not low < following < high:
            following = (low + high) / 2
        place, before = following, (place, excess)
    if kept is None:
        raise refusal
    return kept


TOO_SMALL = (
    "the fits of this search do not fit into its budget together; use fewer candidates, method="
    "'split', or a larger budget."
)

TOO_LARGE = (
    "computed noise is not near enough to its law for so large an epsilon; use a smaller one, "
    "delta = 0, or math.inf for no noise and no promise."
)

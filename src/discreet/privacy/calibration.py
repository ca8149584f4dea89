"""The least noise that meets a budget, found on the profile itself and rounded to the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable

from discreet import _checks
from discreet.errors import CalibrationError
from discreet.privacy.bisection import least_enough
from discreet.privacy.budget import Budget
from discreet.privacy.combined import within
from discreet.privacy.gaussian import Gaussian
from discreet.privacy.profile import Profile

LEAST_NOISE, MOST_NOISE = 1e-12, 1e15


def calibrate(profile_of: Callable[[float], Profile], budget: Budget) -> float:
    """Return the smallest noise whose profile meets the budget.

    ``profile_of(noise)`` must get better as the noise grows. The answer has been checked against
    the budget; a noise smaller by one part in 10**12 fails it. An infinite budget needs no noise.

    Examples
    --------
    >>> noise = calibrate(lambda noise: Gaussian(1 / noise), Budget(1.0, 1e-6))
    >>> round(noise, 3)
    4.225
    """
    _checks.instance(Budget, budget=budget)
    if not budget.is_private:
        return 0.0

    def meets(noise: float) -> bool:
        return profile_of(noise).delta(budget.epsilon) <= budget.delta

    low, high = 0.5, 1.0
    while not meets(high):
        low, high = high, 4 * high
        if high > MOST_NOISE:
            raise CalibrationError(
                f"no amount of noise gives epsilon = {budget.epsilon:g} at "
                f"delta = {budget.delta:g}; use a larger budget, or a pure mechanism if delta is 0."
            )
    while low > LEAST_NOISE and meets(low):
        low, high = low / 4, low
    while high / low > 1 + 1e-12:
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high


def calibrate_from(
    guess: float, profile_of: Callable[[float], Profile], budget: Budget, *, precision: float
) -> float:
    """Return a noise whose profile meets the budget, at most ``precision`` above the smallest.

    For profiles that take long to compute, and a good guess: the logarithm of delta is nearly a
    straight line in that of the noise, and few profiles are looked at.

    Parameters
    ----------
    guess
        A noise to start from; positive. A poor one costs time and nothing else.
    profile_of
        Returns the profile of a noise; it must get better as the noise grows.
    budget
        What is to be met, with a positive delta.
    precision
        How far above the smallest noise the answer may be, as a share of it.

    Examples
    --------
    >>> noise = calibrate_from(4.0, lambda noise: Gaussian(1 / noise), Budget(1.0, 1e-6),
    ...                        precision=1e-3)
    >>> 4.2247 <= noise <= 4.2247 * 1.001
    True
    """
    _checks.instance(Budget, budget=budget)
    _checks.positive(guess=guess, precision=precision)

    def excess(noise: float) -> float:
        """Return how far delta is above the budget, in logarithms."""
        delta = profile_of(noise).delta(budget.epsilon)
        return -math.inf if delta == 0 else math.log(delta / budget.delta)

    noise = least_enough(excess, guess, precision)
    if not math.isfinite(noise):
        raise CalibrationError(
            f"no amount of noise gives epsilon = {budget.epsilon:g} at "
            f"delta = {budget.delta:g}; use a larger budget."
        )
    return noise


def gaussian_multiplier(budget: Budget, *, distance: float = 0.0) -> float:
    """Return the standard deviation over the l2 sensitivity that meets the budget.

    ``distance`` is the total variation between the computed and the ideal release.

    Examples
    --------
    >>> round(gaussian_multiplier(Budget(1.0, 1e-5)), 4)
    3.7306
    """
    return calibrate(lambda noise: within(Gaussian(1 / noise), distance), budget)

"""A budget, and the least noise that meets it: found on the profile, rounded to the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from discreet import _checks
from discreet.errors import CalibrationError
from discreet.privacy.bisection import least_enough, least_of
from discreet.privacy.gaussian import Gaussian
from discreet.privacy.guarantee import in_three_digits as up
from discreet.privacy.profile import Profile
from discreet.privacy.within_distance import within

LEAST_NOISE, MOST_NOISE = 1e-12, 1e15


def calibrate(
    profile_of: Callable[[float], Profile], budget: Budget, *, guess: float | None = None
) -> float:
    """Return the smallest noise whose profile meets the budget.

    The answer has been checked against the budget; a noise smaller by one part in 10**12 fails it.
    An infinite budget needs no noise.

    Parameters
    ----------
    profile_of
        Returns the profile of a noise; it must get better as the noise grows.
    budget
        What is to be met.
    guess
        A noise to start from. A good one saves profiles, and changes nothing else.

    Examples
    --------
    >>> noise = calibrate(lambda noise: Gaussian(1 / noise), Budget(1.0, 1e-6))
    >>> round(noise, 3)
    4.225
    """
    _checks.instance(Budget, budget=budget)
    if not budget.is_private:
        return 0.0

    def delta(noise: float) -> float:
        return profile_of(noise).delta(budget.epsilon)

    guess = guess or _gaussian_noise(budget, profile_of(1.0).distance)
    noise = least_of(delta, budget.delta, guess, _bisect)
    if math.isinf(noise):
        raise CalibrationError(_why_none(profile_of(MOST_NOISE), budget))
    return noise


def _bisect(is_enough: Callable[[float], bool]) -> tuple[float, float]:
    low, high = 0.5, 1.0
    while not is_enough(high):
        low, high = high, 4 * high
        if high > MOST_NOISE:
            return low, math.inf
    while low > LEAST_NOISE and is_enough(low):
        low, high = low / 4, low
    while high / low > 1 + 1e-12:
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return low, high


def _why_none(quietest: Profile, budget: Budget) -> str:
    """Say why no amount of noise is enough, given the profile of the most, and what to do."""
    epsilon, delta, distance = budget.epsilon, budget.delta, quietest.distance
    nothing = f"no amount of noise gives epsilon = {up(epsilon)} at delta = {delta:g}"
    if delta == 0:
        return f"{nothing}; use a pure mechanism, or allow a small delta."
    if 4 * distance >= delta:
        return (
            f"{nothing}: computed noise is only within {distance:.2g} of its law; use a larger "
            "delta."
        )
    if epsilon > (most := math.log(delta / (4 * distance)) if distance else math.inf):
        return (
            f"{nothing}: computed noise is within {distance:.2g} of its law, which at so large an "
            f"epsilon is not near enough; use an epsilon of at most {math.floor(most)}, delta = 0, "
            "or math.inf for no noise and no promise."
        )
    return f"{nothing}, with all that is released beside it; use a larger budget."


def _gaussian_noise(budget: Budget, distance: float) -> float:
    """Return roughly the standard deviation that a Gaussian of unit sensitivity needs."""
    delta = max(budget.delta, 1e-300)
    rare, epsilon = -math.log(delta), max(budget.epsilon, LEAST_NOISE)
    if 0 < distance < delta / 2:
        epsilon = min(epsilon, math.log(delta / distance))
    noise = (math.sqrt(rare + epsilon) + math.sqrt(rare)) / (math.sqrt(2) * epsilon)
    return max(noise, LEAST_NOISE)


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
        raise CalibrationError(_why_none(profile_of(MOST_NOISE), budget))
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


@dataclass(frozen=True)
class Budget:
    """A privacy budget: at most ``epsilon`` at ``delta``; an infinite epsilon asks for no privacy.

    Parameters
    ----------
    epsilon
        The largest epsilon, positive: the chance of anything changes by at most a factor of
        ``e**epsilon``. Infinity switches the noise off.
    delta
        The chance with which it may change by more, at least zero and below one. Zero asks for pure
        epsilon.

    Examples
    --------
    >>> Budget(1.0, 1e-6)
    Budget(epsilon=1.0, delta=1e-06)
    >>> Budget(float("inf")).is_private
    False
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        _checks.epsilon(epsilon=self.epsilon)
        _checks.delta(delta=self.delta)
        object.__setattr__(self, "epsilon", float(self.epsilon))
        object.__setattr__(self, "delta", float(self.delta))

    @property
    def is_private(self) -> bool:
        return math.isfinite(self.epsilon)

"""How likely so many correct guesses are under (epsilon, delta), and what they refute.

P-values: binomial tails of randomised response, with a correction for delta.
"""

from __future__ import annotations

import math
from functools import lru_cache

from scipy.special import expit

from discreet import _checks
from discreet.errors import InputError

SAFETY = 1 + 1e-9
"""P-values are raised by this, far above the error of SciPy's binomial tails."""

PRECISION = 1e-9
"""How far a certified epsilon may lie below the best one, relatively."""

SMALLEST = 1e-290
"""Chances below this may underflow; they count as this much."""


def one_run_p_value(
    correct: int, guesses: int, canaries: int, epsilon: float, delta: float = 0.0
) -> float:
    r"""Return the largest chance of so many correct guesses under (epsilon, delta).

    .. math:: f \Bigl(1 + \frac{m \delta (1 - f)}{v b}\Bigr), \quad
        f = P[B \ge v], \; b = P[B = v], \; B \sim Bin(r, e^\epsilon / (1 + e^\epsilon))

    It is never above one, and some mechanism attains it.

    Parameters
    ----------
    correct
        :math:`v`, how many guesses were right.
    guesses
        :math:`r`, how many were made.
    canaries
        :math:`m`, how many could have been made.
    epsilon, delta
        What is put to the test.

    Examples
    --------
    >>> round(one_run_p_value(10, 10, 10, epsilon=0.0), 6), 2**-10
    (0.000977, 0.0009765625)
    >>> one_run_p_value(0, 10, 10, epsilon=0.0)
    1.0
    """
    from scipy.stats import binom  # slow to import

    _checks.whole(canaries=canaries, at_least=1)
    _checks.whole(guesses=guesses, at_least=1, at_most=canaries)
    _checks.whole(correct=correct, at_least=0, at_most=guesses)
    _checks.not_negative(epsilon=epsilon)
    _checks.delta(delta=delta)
    if correct == 0:
        return 1.0
    wrong, slip = guesses - correct, float(expit(-epsilon))
    tail = float(binom.cdf(wrong, guesses, slip))
    lift = 0.0
    if delta > 0:
        lift = canaries * delta * (1 - tail) / correct
        lift *= _tail_over_chance(tail, wrong, guesses, slip)
    return min(1.0, (tail + lift + SMALLEST) * SAFETY)


def _tail_over_chance(tail: float, wrong: int, guesses: int, slip: float) -> float:
    """Return P[at most ``wrong`` slips] / P[exactly ``wrong``], or a bound above it."""
    from scipy.stats import binom  # slow to import

    exactly = float(binom.pmf(wrong, guesses, slip))
    if exactly > SMALLEST:
        return tail / exactly
    shrink = (1 - slip) / max(slip, SMALLEST) * wrong / (guesses - wrong + 1)
    return 1 / (1 - shrink) if shrink < 1 else math.inf


def epsilon_certified(
    correct: int, guesses: int, canaries: int, delta: float = 0.0, *, confidence: float = 0.999
) -> float:
    """Return an epsilon that so many correct guesses refute; zero if they refute none.

    Parameters
    ----------
    correct
        How many guesses were right.
    guesses
        How many were made; their number was fixed in advance.
    canaries
        How many could have been made.
    delta
        At which epsilon is certified.
    confidence
        The chance, at least, that a true epsilon is not refuted; below one.

    Examples
    --------
    >>> round(epsilon_certified(95, 100, 300, 1e-9), 3)
    1.693
    >>> epsilon_certified(50, 100, 300, 1e-9)
    0.0
    """
    check_confidence(confidence)
    return largest_refuted_epsilon(correct, guesses, canaries, delta, 1 - confidence)


@lru_cache(maxsize=1024)
def largest_refuted_epsilon(
    correct: int, guesses: int, canaries: int, delta: float, level: float
) -> float:
    if one_run_p_value(correct, guesses, canaries, 0.0, delta) > level:
        return 0.0
    low, high = 0.0, 1.0
    while one_run_p_value(correct, guesses, canaries, high, delta) <= level:
        low, high = high, 2 * high
    while high - low > PRECISION * high:
        middle = 0.5 * (low + high)
        refuted = one_run_p_value(correct, guesses, canaries, middle, delta) <= level
        low, high = (middle, high) if refuted else (low, middle)
    return low


def check_confidence(confidence: float) -> None:
    _checks.positive(confidence=confidence)
    if confidence >= 1:
        raise InputError(f"confidence must be below one; got {confidence}.")

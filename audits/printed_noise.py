"""The noise of Thakurta's thesis (2013), theorem 5.5, and that of the exact account.

Neither of the printed forms is in the library. Both are for sensitivities of one over the round.
"""

from __future__ import annotations

import math

from discreet.privacy import Budget, Gaussian, gaussian_multiplier


def printed_beta(epsilon: float, delta: float, rounds: int, *, as_product: bool = False) -> float:
    """Return beta of theorem 5.5, whose noise in round t is beta/t.

    It promises three times ``epsilon`` at twice ``delta``.

    Parameters
    ----------
    epsilon, delta
        Those of the theorem.
    rounds
        T.
    as_product
        Whether the exponent c in the algorithms' boxes is read as a product of logarithms, as it
        is printed, instead of the logarithm of a product, as it is meant.
    """
    inside = 1 / (2 * epsilon), math.log(2 / delta)
    if as_product:  # rounds ** c
        power = math.exp(math.log(inside[0]) * inside[1] / 2)
    else:
        power = math.sqrt(inside[0] * inside[1])
    last = math.sqrt(epsilon) / (math.sqrt(rounds) * power)
    return math.sqrt(rounds) * power * math.sqrt(2 / epsilon * (math.log(rounds / delta) + last))


def exact_beta(epsilon: float, delta: float, rounds: int) -> float:
    """Return the beta that three times ``epsilon`` at twice ``delta`` needs, by the exact account.

    Parameters
    ----------
    epsilon, delta
        Those of the theorem.
    rounds
        T; as printed, the last of them releases nothing.
    """
    return math.sqrt(rounds - 1) * gaussian_multiplier(Budget(3 * epsilon, 2 * delta))


def true_delta(beta: float, epsilon: float, rounds: int) -> float:
    """Return the delta at three times ``epsilon`` that a beta really has.

    Parameters
    ----------
    beta
        Noise in round t, times t.
    epsilon
        That of the theorem.
    rounds
        T.
    """
    return Gaussian(math.sqrt(rounds - 1) / beta).delta(3 * epsilon)

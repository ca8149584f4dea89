"""What the shares of classes say of an additive model: of public numbers alone."""

from __future__ import annotations

import math

from discreet._types import Vector

RARE_CLASS = 0.25
"""Of two classes one is rare if it has a smaller share: long rows then keep their constant."""


def size_constant(shares: Vector, noise_share: float) -> float:
    """Return the constant feature of rows of two classes: half the log odds of the rarer one.

    At least one, which it is up to seven rows of one class for each of the other. The rarer the
    class, the larger the intercept has to be, and its coefficient has the ridge of all others:
    where the constant stays one, functions of columns do what the intercept cannot. Odds are no
    longer than a quarter of ``noise_share``, the noise of a count over the number of rows, can say.
    """
    rarer = max(float(shares.min()), noise_share / 4)
    return max(1.0, math.log(1 / rarer - 1) / 2) if 0 < rarer < 1 / 2 else 1.0


def temper_signal(signal: float, shares: Vector, noise_share: float) -> float:
    """Return what of a signal counts for more functions, by the shares of the classes.

    ``noise_share`` is the noise of a count over the number of rows: what cannot be told from it.
    """
    mixed = 2 * (1 - float(shares @ shares))  # of two classes 4 p (1 - p)
    balance = min(1.0, max(mixed, noise_share))
    return signal * balance * min(1.0, 2 * balance) ** 3

"""How much may be spent: epsilon and delta."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet import _checks


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

"""The holes in a logarithm of a 53-bit number: most floats cannot be Laplace noise made of one.

Mironov's attack (2012) on Laplace noise in floating point.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from discreet import _checks
from discreet._types import Array, Booleans, Vector
from discreet.audit.scores.base import Score

NEARBY = (-2, -1, 0, 1, 2)
"""Which neighbours of the nearest integer to try: the exponential rounds, and so does the sum."""


def reachable(values: Array, centre: float, scale: float = 1.0) -> Booleans:
    """Say which values are centre +- scale * log(j / 2**52), as floats compute it, for some j.

    Parameters
    ----------
    values
        What was released.
    centre
        What the noise was added to.
    scale
        Of the Laplace noise.

    Examples
    --------
    >>> reachable([math.log(0.25), 0.5 + math.log(0.7)], 0.0).tolist()
    [True, False]
    """
    values = np.asarray(values, dtype=np.float64)
    distances = values - centre
    nearest = np.rint(np.exp(-np.abs(distances) / scale) * 2.0**52)
    signs = np.where(distances < 0, 1.0, -1.0)
    found = np.zeros(values.size, dtype=np.bool_)
    for shift in NEARBY:
        uniforms = np.clip(nearest + shift, 1.0, 2.0**52) * 2.0**-52
        # The logarithm of the C library, as samplers use: NumPy's may differ in the last bit.
        logarithms = np.fromiter(map(math.log, uniforms.tolist()), np.float64, values.size)
        found |= centre + signs * (scale * logarithms) == values
    return found


@dataclass(frozen=True)
class Reachable(Score):
    """Whether a value can come from the second centre, less whether it can from the first.

    Parameters
    ----------
    centre_first, centre_second
        What the noise is added to on either data set.
    scale
        Of the Laplace noise.
    column
        Of the released values.

    References
    ----------
    Mironov (2012), On significance of the least significant bits for differential privacy.

    Examples
    --------
    >>> nothing = np.zeros((1, 1))
    >>> score = Reachable(0.0, 0.5, scale=1.0).learn(nothing, nothing)
    >>> score(np.array([[math.log(0.7)], [0.5 + math.log(0.7)]])).tolist()
    [-1.0, 1.0]
    """

    centre_first: float
    centre_second: float
    scale: float = 1.0
    column: int = 0
    name: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _checks.finite(centre_first=self.centre_first, centre_second=self.centre_second)
        _checks.positive(scale=self.scale)
        _checks.whole(column=self.column, at_least=0)
        object.__setattr__(self, "name", f"holes in column {self.column}")

    def learn(self, first: Array, second: Array) -> Callable[[Array], Vector]:
        return self._measure

    def _measure(self, released: Array) -> Vector:
        values = released[:, self.column]
        from_first = reachable(values, self.centre_first, self.scale)
        from_second = reachable(values, self.centre_second, self.scale)
        return from_second.astype(np.float64) - from_first

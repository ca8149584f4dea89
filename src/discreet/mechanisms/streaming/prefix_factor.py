r"""Factors of running sums: which noise is added to which sum, and what one record moves.

A stream has sums :math:`q_1, q_2, \dots, q_T`, one a step; what is wanted after each step is the
sum of all so far, :math:`A q` with A the matrix of ones on and below the diagonal. A factor is a
pair of matrices with :math:`A = B C`. The Gaussian mechanism releases :math:`C q + z`, and
:math:`B (C q + z) = A q + B z` are the running sums with correlated noise. One record is in one
sum, so it moves :math:`C q` by a column of C; a running sum has the deviation of a row of B.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from discreet import _checks
from discreet._types import Vector
from discreet.mechanisms.streaming.correlated_noise import CorrelatedNoise
from discreet.noise import Noise

MOST_STEPS = 2**40


@dataclass(frozen=True)
class Participation:
    """How often the record that is protected may come, and how far apart.

    Examples
    --------
    >>> Participation(times=3, separation=100).sentence
    'that a record comes at most 3 times, in updates at least 100 apart'
    """

    times: int = 1
    separation: int = 1

    def __post_init__(self) -> None:
        _checks.whole(times=self.times, at_least=1, at_most=MOST_STEPS)
        _checks.whole(separation=self.separation, at_least=1, at_most=MOST_STEPS)

    def within(self, steps: int) -> int:
        """Return how often it can come in so many steps."""
        return min(int(self.times), 1 + (steps - 1) // int(self.separation))

    @property
    def sentence(self) -> str:
        """What a guarantee takes as given."""
        if self.times == 1:
            return (
                "that a record comes once, in its round (several passes over the same records are "
                "not covered)"
            )
        return (
            f"that a record comes at most {self.times:,} times, in updates at least "
            f"{self.separation:,} apart"
        )


ONCE = Participation()


class PrefixFactor(ABC):
    """A factor of the matrix of running sums, and the noise that goes with it.

    Deviations are of noise with deviation one; times :meth:`column_norm` they are those of a
    release that is Gaussian private with mu of one. They say how accurate a release is, and privacy
    does not rest on them; it rests on :meth:`column_norm`, which is rounded up.
    """

    steps: int

    @property
    @abstractmethod
    def name(self) -> str:
        """What the factor is called in reasons and tables."""

    @abstractmethod
    def column_norm(self, participation: Participation = ONCE) -> float:
        """Bound how far C q moves, in l2, if what one record adds to a sum is at most one."""

    @abstractmethod
    def deviations(self, count: int) -> Vector:
        """Return the deviations of the first ``count`` running sums: the norms of rows of B."""

    @property
    @abstractmethod
    def largest_deviation(self) -> float:
        """The largest deviation of a running sum."""

    @property
    @abstractmethod
    def usual_deviation(self) -> float:
        """The root of the mean squared deviation over all steps."""

    @property
    @abstractmethod
    def draws_a_step(self) -> float:
        """How many vectors of noise a step takes, on average, rounded up."""

    @property
    @abstractmethod
    def rows_in_memory(self) -> int:
        """How many vectors are kept between steps, at most."""

    @abstractmethod
    def noise(self, width: int, bits: int, noise: Noise) -> CorrelatedNoise:
        """Return the noise of running sums of vectors, step by step."""

    def error(self, participation: Participation = ONCE) -> float:
        """Return the root of the mean squared error of a running sum at mu of one."""
        return self.column_norm(participation) * self.usual_deviation

    def largest_error(self, participation: Participation = ONCE) -> float:
        """Return the largest error of a running sum at mu of one."""
        return self.column_norm(participation) * self.largest_deviation


def round_up(norm: float) -> float:
    """Return a number surely above a norm that was computed from up to 2**40 terms."""
    return math.nextafter(norm * (1 + 2.0**-40), math.inf)

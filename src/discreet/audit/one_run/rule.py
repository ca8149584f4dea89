"""What correct guesses are worth, decided before the fit.

Significance level, certified epsilon and statistical power.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import expit

from discreet.audit.one_run.p_value import largest_refuted_epsilon, one_run_p_value
from discreet.audit.one_run.whole_profile import best_point_p_value, profile_p_value, scale_claim
from discreet.audit.statistical.certify import Claim

SHARE_OF_GUESSES = 3
"""By default one canary in this many is guessed; the rest are passed over."""

ENOUGH_GUESSES = 64
"""If so many more guesses do not help, delta is in the way: 2**-64 is below any level."""

PRECISION = 0.005
"""How far a certified share may lie below the best one, relatively."""

STRIDE = 1.03
"""By what factor the first step beyond a refuted share goes."""

SMALLEST_SHARE = 0.02
LARGEST_SHARE = 1e6


@dataclass(frozen=True, eq=False)
class Rule:
    """What correct guesses are worth; all of it is public and fixed before the fit.

    A test of the claimed profile at a significance level.
    """

    canaries: int
    delta: float
    level: float
    claim: Claim

    def certify(self, correct: int, guesses: int) -> float:
        """Return an epsilon that is refuted at delta."""
        return largest_refuted_epsilon(correct, guesses, self.canaries, self.delta, self.level)

    def refutes(self, correct: int, guesses: int, *, share: float = 1.0) -> bool:
        """Say whether the claim, its privacy loss scaled by ``share``, cannot be true."""
        if self._refutes_at_a_point(correct, guesses, share):
            return True
        claim = scale_claim(self.claim, share)
        return profile_p_value(correct, guesses, self.canaries, claim) <= self.level

    def _refutes_at_a_point(self, correct: int, guesses: int, share: float) -> bool:
        claim = scale_claim(self.claim, share)
        return best_point_p_value(correct, guesses, self.canaries, claim) <= self.level

    def share(self, correct: int, guesses: int) -> float:
        """Return how much of the claimed privacy loss is refuted; zero if nothing is."""

        def is_refuted(share: float) -> bool:
            return self.refutes(correct, guesses, share=share)

        if not is_refuted(0.0):
            return 0.0
        low = _largest_refuted(
            lambda share: self._refutes_at_a_point(correct, guesses, share), 0.0, 1.0
        )
        if low < 1:
            if not is_refuted(1.0):
                return _bisect(is_refuted, low, 1.0)
            low = 1.0
        return _largest_refuted(is_refuted, low, STRIDE * low)

    def power(self, guesses: int, claimed: float) -> float:
        """Return the chance that randomised response of twice the epsilon is flagged."""
        from scipy.stats import binom  # slow to import

        if not self.refutes(guesses, guesses):
            return 0.0
        enough = self.fewest_correct(guesses)
        return float(binom.cdf(guesses - enough, guesses, expit(-2 * claimed)))

    def fewest_correct(self, guesses: int) -> int:
        """Return a number of correct guesses that refutes the claim, the least but for rounding."""
        low, high = 0, guesses
        while high - low > 1:
            middle = (low + high) // 2
            is_enough = self._refutes_at_a_point(middle, guesses, 1.0)
            low, high = (low, middle) if is_enough else (middle, high)
        step, low = 1, high - 1
        while low > 0 and self.refutes(low, guesses):
            step *= 2
            low, high = max(0, low - step), low
        while high - low > 1:
            middle = (low + high) // 2
            is_enough = self.refutes(middle, guesses)
            low, high = (low, middle) if is_enough else (middle, high)
        return high

    def shortage(self, guesses: int, *, chosen: bool) -> str:
        """Say how many canaries would do."""
        for number in range(guesses, guesses + ENOUGH_GUESSES):
            planted = max(self.canaries, number) if chosen else SHARE_OF_GUESSES * number
            if one_run_p_value(number, number, planted, 0.0, self.delta) <= self.level:
                return (
                    f"{guesses} guesses about {self.canaries} canaries cannot certify anything, "
                    f"even without a mistake. {number} guesses about {planted} canaries could."
                )
        return (
            f"with delta = {self.delta:g} and this confidence, so few guesses about "
            f"{self.canaries} canaries cannot certify anything. Guess a larger share of them, or "
            "audit a guarantee with a smaller delta."
        )


def _largest_refuted(is_refuted: Callable[[float], bool], low: float, high: float) -> float:
    """Return a refuted share, close to the largest; ``low`` is known to be refuted."""
    while is_refuted(high):
        if high > LARGEST_SHARE:
            return high
        low, high = high, 2 * high if low == 0 else high * (high / low) ** 2
    return _bisect(is_refuted, low, high)


def _bisect(is_refuted: Callable[[float], bool], low: float, high: float) -> float:
    """Return a refuted share, close to the largest; ``low`` is refuted and ``high`` is not."""
    while high - low > PRECISION * max(high, SMALLEST_SHARE):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_refuted(middle) else (low, middle)
    return low

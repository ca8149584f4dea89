"""What correct guesses are worth, decided before the fit."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import expit
from scipy.stats import binom

from discreet.audit.one_run.p_value import certified, one_run_p_value

SHARE_OF_GUESSES = 3
"""By default one canary in this many is guessed; the rest are passed over."""

ENOUGH_GUESSES = 64
"""If so many more guesses do not help, delta is in the way: 2**-64 is below any level."""


@dataclass(frozen=True)
class Rule:
    """What correct guesses are worth; all of it is public and fixed before the fit."""

    canaries: int
    delta: float
    level: float

    def certified(self, correct: int, guesses: int) -> float:
        return certified(correct, guesses, self.canaries, self.delta, self.level)

    def refuted(self, epsilon: float, correct: int, guesses: int) -> bool:
        chance = one_run_p_value(correct, guesses, self.canaries, epsilon, self.delta)
        return chance <= self.level

    def power(self, guesses: int, claimed: float) -> float:
        """Return the chance that randomised response of twice the epsilon is flagged."""
        if not self.refuted(claimed, guesses, guesses):
            return 0.0
        low, high = 0, guesses  # refuted by ``high`` correct guesses, not by ``low``
        while high - low > 1:
            middle = (low + high) // 2
            enough = self.refuted(claimed, middle, guesses)
            low, high = (low, middle) if enough else (middle, high)
        return float(binom.cdf(guesses - high, guesses, expit(-2 * claimed)))

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

"""What a budget still has room for, as one number and one sentence."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.privacy import Budget
from discreet.privacy.guarantee import down_to_three_digits as down
from discreet.privacy.guarantee import in_three_digits as up

NOTHING = 1e-6
"""Which share of the budget's epsilon is so little that nothing is left."""

USUAL_DELTA = 1e-9
"""The delta that fits quote unless somebody asks for another."""

ANY, PURE, GAUSSIAN = "any", "pure", "gaussian"
"""Kinds of releases: of whatever noise, with delta zero, with Gaussian noise and nothing else."""


@dataclass(frozen=True)
class Allowance:
    """The epsilon that one more release may have, of the budget for all.

    Parameters
    ----------
    epsilon
        One more release of this epsilon would be admitted; zero if nothing is left.
    delta
        The delta of that release.
    kind
        Which releases that is said of: ``"any"``; ``"pure"`` or ``"gaussian"`` where there is no
        more room for any.
    budget
        What is guaranteed about all releases together.

    Examples
    --------
    >>> print(Allowance(0.1299, 1e-9, "any", Budget(1.5, 1e-6)).sentence())
    You may still release epsilon 0.129; the budget guarantees 1.5 in all.
    >>> print(Allowance(0.0, 1e-9, "any", Budget(1.5, 1e-6)).sentence())
    Nothing more may be released; the budget guarantees 1.5 in all.
    """

    epsilon: float
    delta: float
    kind: str
    budget: Budget

    @property
    def share(self) -> float:
        """Which share of the epsilon of the budget one more release may have."""
        return self.epsilon / self.budget.epsilon

    def sentence(self) -> str:
        """Say it in words; rounded down."""
        return f"{self._may()}; the budget guarantees {up(self.budget.epsilon)} in all."

    def _may(self) -> str:
        if self.share < NOTHING:
            return "Nothing more may be released"
        said = f"You may still release epsilon {down(self.epsilon)}"
        if self.kind == PURE:
            return f"{said} with delta = 0"
        if self.kind == GAUSSIAN:
            return f"{said} with Gaussian noise at delta = {self.delta:g}"
        return said


def usual_delta(budget: Budget) -> float:
    """Return the delta at which what is left of a budget is stated.

    Examples
    --------
    >>> usual_delta(Budget(1.0, 1e-6)), usual_delta(Budget(1.0))
    (1e-09, 0.0)
    """
    return min(USUAL_DELTA, budget.delta)

"""Which way of searching is predicted to lose least, from public facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from discreet import _checks
from discreet.mechanisms.trial_budget import equivalent_mu, share_of_several, share_of_trial
from discreet.privacy import Budget, TrialLaw, Unit

METHODS = ("split", "repeat", "compose")

SPREAD = 0.05
"""By how much a candidate drawn at random is worse than the best: a guess, the same for all."""

WORST = 0.5
"""The loss of a model that has learnt nothing."""


@dataclass(frozen=True)
class SearchFacts:
    """What is public about a search before any row is read.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne
    >>> facts = SearchFacts(4, 10, 50_000, Budget(1.0, 1e-9), AddRemoveOne(), TrialLaw.with_mean(4))
    >>> {method: round(facts.regret(method), 4) for method in METHODS}
    {'split': 0.0141, 'repeat': 0.0263, 'compose': 0.006}
    """

    candidates: int
    width: int
    rows: int
    budget: Budget
    unit: Unit
    law: TrialLaw
    refits: bool = True

    def regret(self, method: str) -> float:
        r"""Return the predicted loss against the best candidate, fitted to all rows for nothing.

        The noise of a fit to n rows with p coefficients costs p / (n mu); that of the choice among
        m candidates on n rows log(m) / (n epsilon), twice that if records are replaced. As far as
        fits are too noisy to be told apart, or the best is not tried, the choice is one at random.
        """
        _checks.one_of(METHODS, method=method)
        if not self.budget.is_private:
            return 0.0
        shares, each = self._shares(method), self._budget(method)
        loss = self._noise_of_fit(shares.final, self.final_fit(method)[0])
        blurred = min(1.0, self._noise_of_fit(shares.fitted, each) / SPREAD)
        return (
            loss
            + self._noise_of_choice(method, shares.held_out, each)
            + SPREAD * (1 - (1 - blurred) * (1 - self._chance_to_miss(method)))
        )

    def final_fit(self, method: str) -> tuple[Budget, int]:
        """Return what the released model is fitted with: its budget and about how many rows."""
        _checks.one_of(METHODS, method=method)
        rows = max(1, round(self.rows * self._shares(method).final))
        is_fitted_again = method == "split" and self.refits
        return self.budget if is_fitted_again else self._budget(method), rows

    def _shares(self, method: str) -> _Shares:
        if method != "split":
            return _Shares(0.75, 0.25, 0.75)
        count = self.candidates
        if self.refits:
            return _Shares(0.375 / count, 0.125, 0.5)
        return _Shares(*(1 / (count + 1),) * 3)

    def _budget(self, method: str) -> Budget:
        """Return what one fit may spend."""
        if method == "compose":
            return share_of_several(self.budget, self.candidates)
        return share_of_trial(self.budget, self.law) if method == "repeat" else self.budget

    def _noise_of_fit(self, share: float, budget: Budget) -> float:
        return min(WORST, self.width / (self.rows * share * equivalent_mu(budget)))

    def _noise_of_choice(self, method: str, share: float, each: Budget) -> float:
        rate = self.budget.epsilon / (2 if self.unit.is_replace else 1)
        if method == "repeat":
            rate = equivalent_mu(each)
        return min(WORST, math.log(self.candidates) / (self.rows * share * rate))

    def _chance_to_miss(self, method: str) -> float:
        """Return the chance that the best candidate is not tried."""
        if method != "repeat":
            return 0.0
        other = 1 - 1 / self.candidates
        most = self.law.quantile(0.99)
        return sum(self.law.chance(trials) * other**trials for trials in range(most + 1))


class _Shares(NamedTuple):
    """Shares of the rows."""

    fitted: float
    held_out: float
    final: float


def choose_method(asked: str, facts: SearchFacts) -> tuple[str, str]:
    """Return the way that is asked for or predicted to lose least, and why."""
    _checks.one_of(("auto", *METHODS), method=asked)
    if asked != "auto":
        return asked, ""
    if not facts.budget.is_private:
        return "compose", "nothing is hidden, so no method costs anything"
    possible = [
        method
        for method in METHODS
        if method != "repeat" or facts.budget.delta > 0 or facts.law.shape is not None
    ]
    regrets = {method: facts.regret(method) for method in possible}
    best = min(regrets, key=lambda method: regrets[method])
    others = ", ".join(f"{regrets[name]:.2g} by {name}" for name in possible if name != best)
    return best, (
        f"{best}, by a predicted regret of {regrets[best]:.2g}, against {others}, for "
        f"{facts.rows:,} rows"
    )

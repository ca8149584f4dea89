"""What one learning problem may spend of a budget, and the law of noise that spends it best.

Composition with what is released already and with further runs of the same problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from discreet.errors import CalibrationError
from discreet.mechanisms.base import Plan, public_facts
from discreet.mechanisms.minimising.mask import state_neglected
from discreet.privacy import Budget, Guarantee, Profile, Unit, compose, within
from discreet.privacy.guarantee import in_three_digits as up
from discreet.questions.bounds import Bounds

LAWS = ("gaussian", "laplace", "radial")


class BoundedQuestion(Protocol):
    """A question about rows within bounds."""

    @property
    def bounds(self) -> Bounds:
        """What is declared about rows."""
        ...

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is taken as public beside the bounds."""
        ...


Shared = TypeVar("Shared", bound=BoundedQuestion)


@dataclass(frozen=True)
class BudgetShare(Generic[Shared]):
    """A problem solved ``times`` over, beside what is released already, within one budget."""

    problem: Shared
    budget: Budget
    unit: Unit
    beside: Profile | None
    times: int

    @property
    def pure_epsilon(self) -> float:
        """The pure epsilon of one run."""
        spent = 0.0 if self.beside is None else self.beside.ideal.pure_epsilon
        left = (self.budget.epsilon - spent) * (1 - 1e-12)
        if not left > 0:
            raise CalibrationError("the first release leaves no pure epsilon for the second.")
        return left / self.times

    def together(self, one: Profile, distance: float) -> Profile:
        """Return the profile of everything, given that of one run."""
        parts = [] if self.beside is None else [self.beside]
        return within(compose([*parts, *[one] * self.times]), self.times * distance)

    def guarantee(self, profile: Profile, *more: str) -> Guarantee:
        """Return the guarantee of everything."""
        facts = (*public_facts(self.problem.bounds, self.unit), *self.problem.assumed, *more)
        return Guarantee(profile, self.unit, facts, quoted_delta=self.budget.delta)

    def pure_guarantee(self, one: Profile, chance: float) -> Guarantee:
        """Return the guarantee of everything; without a delta, it says which chance it neglects."""
        if self.budget.delta > 0:
            profile = self.together(one, chance)
            if profile.delta(self.budget.epsilon) > self.budget.delta:
                raise CalibrationError(too_little_delta(self.budget))
            return self.guarantee(profile)
        return self.guarantee(self.together(one, 0.0), state_neglected(self.times * chance))

    def _allows(self, law: str) -> bool:
        """Say whether a law can keep the budget together with what is released already."""
        if law == "gaussian":
            return self.budget.delta > 0
        if self.beside is None:
            return True
        profile = self.beside.ideal if self.budget.delta > 0 else self.beside
        return math.isfinite(profile.pure_epsilon)

    def smallest(
        self,
        law: str | None,
        size: Callable[[BudgetShare[Shared], str], float],
        plans: Mapping[str, Callable[[BudgetShare[Shared], str], Plan]],
    ) -> Plan:
        """Plan with the law asked for, or with the one whose noise is smallest."""
        if law == "gaussian" and self.budget.delta == 0:
            raise CalibrationError(
                "Gaussian noise needs delta > 0; allow a small delta, or use another law."
            )
        allowed = [name for name in plans if self._allows(name)]
        if law is not None:
            return plans[law](self, f"{law} noise, as asked for")
        sizes, refusal = {}, CalibrationError("no noise meets this budget; use a larger one.")
        for name in allowed:
            try:
                sizes[name] = size(self, name)
            except CalibrationError as error:
                refusal = error
        for chosen in sorted(sizes, key=lambda name: sizes[name]):
            others = [f"{name} {value:.3g}" for name, value in sizes.items() if name != chosen]
            against = f" against {', '.join(others)}" if others else ""
            try:
                return plans[chosen](self, f"{chosen} noise of size {sizes[chosen]:.3g}{against}")
            except CalibrationError as error:
                refusal = error
        raise refusal


def too_little_delta(budget: Budget) -> str:
    """Say that a chance that drawing the noise leaves out costs more than the delta."""
    return (
        "delta is smaller than what drawing the noise leaves out, which grows with e**epsilon; use "
        f"an epsilon below {up(budget.epsilon)}, or delta = 0 for a pure guarantee."
    )

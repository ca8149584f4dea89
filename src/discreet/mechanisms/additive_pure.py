"""The second stage of an additive model of pure epsilon: planned when its rows' region is known.

The proof is in ``additive_model.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from discreet.errors import CalibrationError
from discreet.geometry import L1L2Ball
from discreet.losses import Loss
from discreet.mechanisms.additive_objectives import AdditiveObjective, SecondShare
from discreet.mechanisms.base import Plan
from discreet.mechanisms.objective_perturbation import (
    ObjectivePerturbation,
    ObjectivePerturbationPlan,
)
from discreet.privacy import Guarantee
from discreet.questions.bounds import Bounds
from discreet.record import Tolerance


@dataclass(frozen=True, eq=False)
class PureSecond:
    """Objective perturbation for rows of norm at most one, and of a sum that is released first.

    What noise costs depends on how many features there are, and on the sum of their sizes: it is
    planned anew in the frame that the marginals give, with the same budget. ``widest`` is the plan
    for the widest rows, of which the guarantee is that of all.
    """

    reason: ClassVar[str] = "noise for whichever norm of the rows in their frame needs less"
    tolerances: ClassVar[tuple[Tolerance, ...]] = ()
    """None are known before the frame is."""

    objective: AdditiveObjective[Any]
    share: SecondShare
    widest: ObjectivePerturbationPlan

    @property
    def guarantee(self) -> Guarantee:
        """What everything together keeps, whatever the frame."""
        return self.widest.guarantee

    @classmethod
    def of(
        cls, objective: AdditiveObjective[Any], bounds: Bounds, share: SecondShare
    ) -> PureSecond:
        """Plan for the widest rows that there can be, with any sum that their norm allows."""
        within = replace(bounds, features=region_of(math.inf, bounds.width))
        widest = _plan(objective, objective.planned, within, share)
        return cls(objective, share, widest)

    def settle(self, settings: Any, bounds: Bounds) -> ObjectivePerturbationPlan:
        """Return the plan for rows in the frame that the marginals gave."""
        loss = self.objective.loss(settings)
        plan = _plan(self.objective, loss, bounds, self.share, settings.ridge)
        return plan.narrow(bounds.width)

    def noise_in(self, bounds: Bounds) -> float:
        """Return the deviation of the noise in a coordinate of the slope."""
        plan = _plan(self.objective, self.objective.planned, bounds, self.share)
        return plan.term.size(bounds.width)


def region_of(sum_of_sizes: float, width: int) -> L1L2Ball:
    """Return where rows are clipped to: no sum is below one, or beyond what the norm allows."""
    return L1L2Ball(min(max(sum_of_sizes, 1.0), math.sqrt(width)), 1.0)


def _plan(
    objective: AdditiveObjective[Any],
    loss: Loss,
    bounds: Bounds,
    share: SecondShare,
    ridge: float | None = None,
) -> ObjectivePerturbationPlan:
    strength = objective.question.ridge if ridge is None else ridge
    plan: Plan = share.plan(ObjectivePerturbation(), objective.problem(loss, bounds, strength))
    if not isinstance(plan, ObjectivePerturbationPlan):
        raise CalibrationError("the second stage has to be objective perturbation.")
    return plan

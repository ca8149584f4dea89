"""Additive models of three or more classes: all at once, by noisy gradients of a softmax loss.

The proof is in ``additive_model.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.errors import CalibrationError, PrivacyError
from discreet.losses import MarginLogistic
from discreet.mechanisms.additive_objectives import SecondPlan, SecondShare, TwoClasses
from discreet.mechanisms.base import Plan
from discreet.mechanisms.noisy_gradient import NoisyGradient, NoisyGradientPlan
from discreet.mechanisms.signal_rules import Settings
from discreet.mechanisms.summing.released_marginals import ReleasedMarginals
from discreet.questions import Labels, LabelSet, OneVsRest, Problem, Softmax
from discreet.questions.bounds import Bounds


@dataclass(frozen=True)
class SeveralClasses(TwoClasses):
    """Labels 0, 1, 2 and so on: functions for each class, in one frame.

    Slopes of the softmax loss have norm at most the root of two, whatever the margin; so noisy sums
    of gradients are planned for every margin.
    """

    @property
    def labels(self) -> Labels:
        return LabelSet(range(self.problems))

    @property
    def problems(self) -> int:
        labels = self.question.marginals.labels
        return len(labels.values) if isinstance(labels, LabelSet) else 1

    def terms(self, signal: float, marginals: ReleasedMarginals) -> int:
        return super().terms(2 * signal / self.problems, marginals)  # so many more coefficients

    def plan_second(self, bounds: Bounds, share: SecondShare) -> SecondPlan:
        plan = share.plan(NoisyGradient(), self._problem(bounds, self.question.margin or 0.0))
        if not isinstance(plan, NoisyGradientPlan):
            raise CalibrationError("several classes are learnt by noisy gradients.")
        return plan

    def settle_second(self, plan: SecondPlan, settings: Settings, bounds: Bounds) -> Plan:
        if not isinstance(plan, NoisyGradientPlan):
            raise PrivacyError("several classes were not planned as a walk.")
        return plan.restate(Softmax(self._problem(bounds, settings.margin)))

    def _problem(self, bounds: Bounds, margin: float) -> OneVsRest:
        question, of_two = self.question, replace(bounds, labels=LabelSet([-1, 1]))
        loss = MarginLogistic(margin=margin)
        problem = Problem(loss, of_two, question.ridge, assumed=question.assumed)
        return OneVsRest(problem, self.problems)

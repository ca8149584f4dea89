"""What an additive model minimises: margin logistic for classes, pseudo-Huber for a number.

Loss, labels, and what the noise decides of them, from released marginals and public numbers alone.
The proof is in ``additive_model.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError, PrivacyError
from discreet.losses import Loss, MarginLogistic, PseudoHuber
from discreet.mechanisms.base import Learner, Plan
from discreet.mechanisms.minimising.mask import FAR
from discreet.mechanisms.noisy_gradient import NoisyGradientPlan
from discreet.mechanisms.objective_perturbation import (
    ExactMinimiser,
    ObjectivePerturbation,
    ObjectivePerturbationPlan,
)
from discreet.mechanisms.signal_rules import (
    VANISHING_RIDGE,
    Settings,
    clip_of,
    margin_of,
    ridge_of,
)
from discreet.mechanisms.summing.additive_tables import MOST_TERMS, AdditiveFrame
from discreet.mechanisms.summing.place_pairs import PAIR_SIGNAL
from discreet.mechanisms.summing.rare_classes import RARE_CLASS, size_constant, temper_signal
from discreet.mechanisms.summing.released_marginals import ReleasedMarginals
from discreet.privacy import Budget, Profile, Unit
from discreet.questions import AdditiveProblem, Interval, Labels, LabelSet, OneVsRest, Problem
from discreet.questions.bounds import Bounds

CLASS_TERMS, CLASS_POWER = 1.5, 0.25
"""For classes the number of functions is so many times this power of the signal of a feature."""

TARGET_TERMS, TARGET_POWER = 0.9, 1 / 3
"""The same for a target."""

LEAST_DEVIATION = 0.1
"""A target is taken to deviate from its mean by this share of its range, at least."""

LEAST_THRESHOLD, MOST_THRESHOLD, THRESHOLD_GROWTH = 0.4, 2.0, 0.35
"""Residuals count fully up to so many deviations; between, .35 times the fourth root of signal."""

LARGEST_TARGET = 1 / (LEAST_THRESHOLD * LEAST_DEVIATION)
"""In units of the threshold no target within its range is larger."""

ONE_LENGTH, MORE_LENGTH, LENGTH_GROWTH = 10.0, 0.5, 2.5
"""Up to this signal rows are clipped to their typical length, beyond 2.5 times it to half more:
a target can be largest where rows are long."""


@dataclass(frozen=True)
class TargetSettings:
    """What noisy marginals made of the choices that waited for them: public.

    ``centre`` and ``threshold`` are in units of the target.

    Examples
    --------
    >>> print(TargetSettings(30_000.0, 0.02, 4.5, 1.8, 210.0, 90.0))
    about 30,000 rows and a noise of 0.02: threshold 90, ridge 1.8, rows clipped to norm 4.5
    """

    rows: float
    noise_to_signal: float
    length: float
    ridge: float
    centre: float
    threshold: float

    def __str__(self) -> str:
        return (
            f"about {self.rows:,.0f} rows and a noise of {self.noise_to_signal:.2g}: threshold "
            f"{self.threshold:.3g}, ridge {self.ridge:.3g}, rows clipped to norm {self.length:.3g}"
        )


AnySettings = TypeVar("AnySettings", Settings, TargetSettings)

SecondPlan = ObjectivePerturbationPlan | ExactMinimiser | NoisyGradientPlan


@dataclass(frozen=True)
class SecondShare:
    """What the second stage may spend, beside what is released already, in so many fits."""

    budget: Budget
    unit: Unit
    beside: Profile | None
    fits: int

    def plan(self, learner: Learner, question: Problem | OneVsRest) -> Plan:
        """Plan all fits."""
        return learner.plan_beside(
            question, self.budget, self.unit, beside=self.beside, times=self.fits
        )


@dataclass(frozen=True)
class AdditiveObjective(ABC, Generic[AnySettings]):
    """What depends on the kind of labels."""

    settings: ClassVar[type[Any]]
    planned: ClassVar[Loss]
    """The loss that noise is planned for; what is settled has its constants."""
    largest_margin: ClassVar[float | None] = None
    """How far coefficients are certified; None for what the largest label says."""

    question: AdditiveProblem

    @property
    @abstractmethod
    def labels(self) -> Labels:
        """What the second stage knows of labels."""

    @property
    def problems(self) -> int:
        """How many functions of each column there are: one for each class, if there are several."""
        return 1

    def problem(self, loss: Loss, bounds: Bounds, ridge: float) -> Problem:
        """State the problem of the second stage."""
        return Problem(
            loss,
            bounds,
            ridge,
            assumed=self.question.assumed,
            largest_margin=self.largest_margin,
        )

    def plan_second(self, bounds: Bounds, share: SecondShare) -> SecondPlan:
        """Plan the second stage, for the widest rows that there can be."""
        learner = ObjectivePerturbation(settles_later=True)
        plan = share.plan(learner, self.problem(self.planned, bounds, self.question.ridge))
        if not isinstance(plan, ObjectivePerturbationPlan | ExactMinimiser):
            raise CalibrationError("the second stage has to be objective perturbation.")
        return plan

    def settle_second(self, plan: SecondPlan, settings: AnySettings, bounds: Bounds) -> Plan:
        """Return the second stage as planned, for rows and settings that are public now."""
        if isinstance(plan, NoisyGradientPlan):
            raise PrivacyError("an objective was planned as a walk.")
        return plan.settle(self.loss(settings), settings.ridge).narrow(bounds.width)

    @abstractmethod
    def terms(self, signal: float, marginals: ReleasedMarginals) -> int:
        """Return how many functions columns of numbers have.

        ``signal`` is that of a model with one feature for each number and level.
        """

    def constant(self, marginals: ReleasedMarginals) -> float:
        """Return the feature that all rows have alike, before they are divided by a length."""
        return 1.0

    def keeps_constant(self, terms: int, marginals: ReleasedMarginals) -> bool:
        """Whether rows that are too long are shortened but for that feature."""
        return False

    @abstractmethod
    def settle(
        self, marginals: ReleasedMarginals, ratio: float, length: float, ridge: float
    ) -> AnySettings:
        """Return what the second stage works with, of length and ridge without further ado."""

    @abstractmethod
    def loss(self, settings: AnySettings) -> Loss:
        """Return the loss of the second stage."""

    def place(self, rows: OpenRows, settings: AnySettings) -> OpenRows:
        """Return rows with labels as that loss takes them, each by itself."""
        return rows

    def to_units(self, settings: AnySettings) -> tuple[float, float]:
        """Return what scores are multiplied with, and what is added."""
        return 1.0, 0.0

    def length_of(self, frame: AdditiveFrame, ratio: float) -> float:
        """Return the norm that rows are clipped to, in the frame."""
        return frame.length * clip_of(ratio)

    def ridge_of(self, ratio: float, noise: float) -> float:
        """Return the ridge, within what was planned for."""
        return self.question.ridge

    def can_tell_pairs(self, frame: AdditiveFrame, rows: float, noise: float) -> bool:
        """Whether there is signal enough for each feature of a frame with pairs."""
        needed = PAIR_SIGNAL * max(1.0, self.problems / 2)  # so many more coefficients
        return rows >= needed * noise * max(frame.width, 1)

    def settle_in(
        self, frame: AdditiveFrame, marginals: ReleasedMarginals, noise: float
    ) -> AnySettings:
        """Return what a frame and the noise that was planned for the slope say."""
        ratio = noise * max(frame.width, 1) / marginals.rows
        longest = frame.longest
        if noise:
            length = min(self.length_of(frame, ratio), longest)
            return self.settle(marginals, ratio, length, self.ridge_of(ratio, noise))
        vanishing = VANISHING_RIDGE * marginals.rows * (frame.length / longest) ** 2
        return self.settle(marginals, ratio, longest, vanishing)

    @property
    def settled(self) -> int:
        """How many numbers are settled."""
        return len(fields(self.settings))


@dataclass(frozen=True)
class TwoClasses(AdditiveObjective[Settings]):
    """Labels -1 and 1: the larger the noise, the larger the margin that the loss asks for."""

    settings: ClassVar[type[Any]] = Settings
    planned: ClassVar[Loss] = MarginLogistic()

    @property
    def labels(self) -> Labels:
        return LabelSet([-1, 1])

    def terms(self, signal: float, marginals: ReleasedMarginals) -> int:
        tempered = temper_signal(signal, *_shares_of(marginals))
        return count_terms(CLASS_TERMS, tempered, CLASS_POWER)

    def constant(self, marginals: ReleasedMarginals) -> float:
        return size_constant(*_shares_of(marginals))

    def keeps_constant(self, terms: int, marginals: ReleasedMarginals) -> bool:
        # One function alone, the place, cannot tell long rows from others.
        return terms > 1 and float(_shares_of(marginals)[0].min()) < RARE_CLASS

    def ridge_of(self, ratio: float, noise: float) -> float:
        return ridge_of(ratio, noise, self.question.ridge)

    def settle(
        self, marginals: ReleasedMarginals, ratio: float, length: float, ridge: float
    ) -> Settings:
        stated = self.question.margin
        margin = margin_of(ratio) if stated is None else stated
        return Settings(marginals.rows, ratio, length, margin, ridge)

    def loss(self, settings: Settings) -> Loss:
        return MarginLogistic(margin=settings.margin)


def _shares_of(marginals: ReleasedMarginals) -> tuple[Vector, float]:
    """Return the shares of two classes, and the noise of a count over the number of rows."""
    shares = np.ones(2) / 2 if marginals.label is None else marginals.label
    return shares, marginals.count_noise / marginals.rows


@dataclass(frozen=True)
class NumericTarget(AdditiveObjective[TargetSettings]):
    """A number within a declared range, from its mean, in units of the threshold of the loss.

    In these units the loss is always the same one; the smaller the noise, the larger the threshold.
    """

    settings: ClassVar[type[Any]] = TargetSettings
    planned: ClassVar[Loss] = PseudoHuber(1.0)
    largest_margin: ClassVar[float | None] = FAR  # labels can be large, but few are

    @property
    def labels(self) -> Labels:
        return Interval(-LARGEST_TARGET, LARGEST_TARGET)

    def terms(self, signal: float, marginals: ReleasedMarginals) -> int:
        return count_terms(TARGET_TERMS, signal, TARGET_POWER)

    def length_of(self, frame: AdditiveFrame, ratio: float) -> float:
        more = math.log(1 / (ONE_LENGTH * ratio)) / math.log(LENGTH_GROWTH)
        return super().length_of(frame, ratio) * (1 + MORE_LENGTH * min(max(more, 0.0), 1.0))

    def settle(
        self, marginals: ReleasedMarginals, ratio: float, length: float, ridge: float
    ) -> TargetSettings:
        target = self.question.marginals.labels
        low, high = (target.low, target.high) if isinstance(target, Interval) else (0.0, 1.0)
        shares = np.ones(1) if marginals.label is None else marginals.label
        places = (np.arange(shares.size) + 0.5) / shares.size
        mean = float(shares @ places)
        deviation = math.sqrt(max(float(shares @ (places - mean) ** 2), LEAST_DEVIATION**2))
        span = (high - low) or 1.0
        threshold = span * deviation * threshold_of(ratio)
        return TargetSettings(marginals.rows, ratio, length, ridge, low + span * mean, threshold)

    def loss(self, settings: TargetSettings) -> Loss:
        return self.planned

    def place(self, rows: OpenRows, settings: TargetSettings) -> OpenRows:
        return rows.relabel(partial(_measure, settings.centre, settings.threshold))

    def to_units(self, settings: TargetSettings) -> tuple[float, float]:
        return settings.threshold, settings.centre


def _measure(centre: float, unit: float, targets: Vector) -> Vector:
    return (targets - centre) / unit


def count_terms(factor: float, signal: float, power: float) -> int:
    """Return how many functions columns of numbers have."""
    if not math.isfinite(signal):
        return MOST_TERMS
    most: float = factor * max(signal, 0.0) ** power
    return min(max(math.floor(most), 1), MOST_TERMS)


def threshold_of(noise_to_signal: float) -> float:
    """Return up to how many deviations residuals count fully.

    Examples
    --------
    >>> [round(threshold_of(1 / q), 2) for q in (1, 10, 100, 1e4)]
    [0.4, 0.62, 1.11, 2.0]
    """
    if noise_to_signal == 0:
        return MOST_THRESHOLD
    grown = float(THRESHOLD_GROWTH * noise_to_signal**-0.25)
    return min(max(grown, LEAST_THRESHOLD), MOST_THRESHOLD)

"""What is public about one fit: the facts that a question is stated from, and what is asked then.

Facts only; every choice that is made from them is in ``choosing.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from discreet import _checks
from discreet.geometry import ConvexSet
from discreet.losses import Loss, Squared
from discreet.losses.logistic import softmax_of
from discreet.mechanisms import (
    LEARNERS,
    AcceleratedGradient,
    Mechanism,
    NoisyGradient,
    Plan,
    PrivateStandardisation,
)
from discreet.mechanisms.private_standardisation import GAUSSIAN_SHARE
from discreet.mechanisms.signal_rules import SignalRules
from discreet.privacy import Budget, Unit
from discreet.questions import Bounds, Labels, LabelSet, Question
from discreet.questions.sought_ranges import SoughtRanges
from discreet.record import Fact

AT_ONCE = (NoisyGradient, AcceleratedGradient)
"""Mechanisms that learn three or more classes by softmax."""


class Shape(NamedTuple):
    """What is public about the rows of one fit before any is read.

    ``max_rows`` is their number where that is no secret, and the declared bound on it otherwise.
    """

    n_features: int
    max_rows: int
    labels: Labels | None


@dataclass(frozen=True)
class Asked:
    """What is asked of the rows, who answers, and why so; all of it public."""

    question: Question
    mechanism: Mechanism
    facts: tuple[Fact, ...] = ()
    reasons: tuple[str, ...] = ()
    is_softmax: bool = False  # of several classes: learnt at once, and not one-vs-rest
    plan: Plan | None = None  # the one that is run, where it is known; None to plan by the budget


@dataclass(frozen=True)
class AbsoluteValues:
    """A lasso: a sum of absolute values in the objective; the intercept's own is left out.

    ``share`` is that of the absolute values in a penalty of strength ``alpha``; the rest is ridge.
    Without ``alpha`` they are as strong as the noise.
    """

    alpha: float | None
    share: float

    @property
    def ridge(self) -> float:
        """The part of the penalty that is a ridge."""
        return 0.0 if self.alpha is None else self.alpha * (1 - self.share)


@dataclass(frozen=True)
class Standardising:
    """How columns are standardised privately, and whether they are where nobody asks for it."""

    is_usual: bool = False
    entry_bound: float | None = None
    indicators: tuple[bool, ...] | None = None
    learns_at_once: bool = False
    counts_scores: bool = False
    expected_rows: int | None = None
    rules: SignalRules | None = None
    share: float = GAUSSIAN_SHARE
    centred_width: int | None = None

    @property
    def is_dense(self) -> bool:
        """Whether rows are dense as they come: those of declared columns are."""
        return self.entry_bound is not None


@dataclass(frozen=True)
class LinearTask:
    """Everything public about one fit of a linear model."""

    loss: Loss
    bounds: Bounds
    budget: Budget
    unit: Unit
    ridge: float | None
    raises_ridge: bool
    domain: ConvexSet | None
    mechanism: str | Mechanism
    assumed: tuple[str, ...] = ()
    absolute: AbsoluteValues | None = None
    standardising: Standardising = field(default_factory=Standardising)
    has_intervals: bool = False
    sought: SoughtRanges | None = None

    def __post_init__(self) -> None:
        if isinstance(self.mechanism, str):
            _checks.one_of(("auto", *LEARNERS), mechanism=self.mechanism)
        else:
            _checks.instance(Mechanism, mechanism=self.mechanism)
        if self.ridge is not None:
            _checks.positive(ridge=self.ridge)
        if self.domain is not None:
            _checks.instance(ConvexSet, domain=self.domain)

    @property
    def classes(self) -> int:
        """How many classes there are; zero if labels are numbers."""
        labels = self.bounds.labels
        return len(labels.values) if isinstance(labels, LabelSet) else 0

    @property
    def is_softmax(self) -> bool:
        """Whether three or more classes are learnt at once, and not one-vs-rest."""
        mechanism = self.mechanism
        if isinstance(mechanism, PrivateStandardisation):
            mechanism = mechanism.second
        return (
            self.classes > 2
            and (mechanism == "noisy_gradient" or isinstance(mechanism, AT_ONCE))
            and softmax_of(self.loss) is not None
            and self.domain is None
            and self.absolute is None
        )

    @property
    def uses_statistics(self) -> bool:
        """Whether the problem is learnt from X'X and X'y, which need no ridge."""
        if self.mechanism == "sufficient_statistics":
            return True
        if not isinstance(self.loss, Squared) or self.mechanism != "auto":
            return isinstance(self.loss, Squared) and self.domain is None
        is_exact_lasso = self.absolute is not None and not self.budget.is_private
        return self.domain is None or is_exact_lasso

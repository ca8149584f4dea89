"""Several classes, each to be told from all others by a problem of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet import _checks
from discreet.errors import InputError
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds, LabelSet
from discreet.questions.problem import Problem


@dataclass(frozen=True)
class OneVsRest(Question):
    """One classification problem for each class 0, 1, ..., all with the same constants.

    Parameters
    ----------
    problem
        The problem of one class: labels 1 for the class and -1 for the rest.
    classes
        How many there are; at least three, for two are one problem.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> bounds = Bounds(L2Ball(1.0), 4, labels=LabelSet([-1, 1]))
    >>> question = OneVsRest(Problem(Logistic(), bounds, ridge=5.0), classes=3)
    >>> question.bounds.labels
    LabelSet(values=(0.0, 1.0, 2.0))
    """

    problem: Problem
    classes: int

    def __post_init__(self) -> None:
        _checks.instance(Problem, problem=self.problem)
        _checks.whole(classes=self.classes, at_least=3, at_most=10_000)
        if not self.problem.loss.is_classifier:
            raise InputError("one problem a class needs a loss for classes.")

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        return replace(self.problem.bounds, labels=LabelSet(range(self.classes)))

    @property
    def assumed(self) -> tuple[str, ...]:
        """What whoever stated the problem took as public."""
        return self.problem.assumed

    def restated(self, bounds: Bounds) -> OneVsRest:
        """Return the same question about rows within other bounds."""
        return replace(self, problem=self.problem.restated(bounds))

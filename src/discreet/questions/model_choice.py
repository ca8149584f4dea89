"""The best of several models, each learnt from some of the columns: hyper-parameter tuning."""

from __future__ import annotations

from dataclasses import dataclass

from discreet import _checks
from discreet.errors import InputError, InputTypeError
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds, Interval, LabelSet

MOST_MODELS = 1000


@dataclass(frozen=True)
class ModelCandidate:
    """One of the models that are chosen among: a learning problem about some columns.

    Parameters
    ----------
    question
        What is asked of a part of the rows; its bounds hold for the candidate's own columns.
    start
        The first of its columns; those of its bounds follow one another.
    final
        What is asked of the part that the chosen model is fitted to in the end; None for the same.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.questions import LabelSet, Problem
    >>> bounds = Bounds(L2Ball(1.0), n_features=2, labels=LabelSet([-1, 1]))
    >>> ModelCandidate(Problem(Logistic(), bounds, ridge=1.0), start=2).stop
    4
    """

    question: Question
    start: int = 0
    final: Question | None = None

    def __post_init__(self) -> None:
        _checks.instance(Question, question=self.question)
        _checks.whole(start=self.start, at_least=0)
        if self.final is None:
            object.__setattr__(self, "final", self.question)
        _checks.instance(Question, final=self.final)

    @property
    def stop(self) -> int:
        """The column after its last."""
        return self.start + self.question.bounds.n_features

    @property
    def in_the_end(self) -> Question:
        """What is asked of the final part."""
        return self.question if self.final is None else self.final


@dataclass(frozen=True)
class ModelChoice(Question):
    """The model with the least errors on rows that it was not fitted to.

    Of classes, an error is another class than predicted; of numbers, the distance of label and
    prediction as a share of the declared range.

    Parameters
    ----------
    bounds
        Of rows that hold the columns of all candidates side by side, with labels; no weights.
    candidates
        The models, at least two.
    assumed
        What whoever asks took as public because it was found in the data, in words.

    Examples
    --------
    >>> from discreet.geometry import L2Ball, LinfBall
    >>> from discreet.losses import Logistic
    >>> from discreet.questions import Problem
    >>> bounds = Bounds(L2Ball(1.0), n_features=2, labels=LabelSet([-1, 1]))
    >>> weak, strong = (Problem(Logistic(), bounds, ridge=ridge) for ridge in (1.0, 100.0))
    >>> rows = Bounds(LinfBall(1.0), n_features=2, labels=LabelSet([-1, 1]))
    >>> ModelChoice(rows, (ModelCandidate(weak), ModelCandidate(strong))).steps
    1
    """

    bounds: Bounds
    candidates: tuple[ModelCandidate, ...]
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        if not isinstance(self.candidates, tuple):
            raise InputTypeError("candidates must be a tuple.")
        for candidate in self.candidates:
            _checks.instance(ModelCandidate, candidate=candidate)
        if not 2 <= len(self.candidates) <= MOST_MODELS:
            raise InputError(
                f"a choice is among 2 to {MOST_MODELS} models; got {len(self.candidates)}."
            )
        if not isinstance(self.bounds.labels, LabelSet | Interval):
            raise InputError("models are compared by their errors: declare labels.")
        for candidate in self.candidates:
            for question in (candidate.question, candidate.in_the_end):
                self._check_bounds(candidate, question.bounds)

    def _check_bounds(self, candidate: ModelCandidate, own: Bounds) -> None:
        if own.labels != self.bounds.labels:
            raise InputError(
                "all candidates must have the same labels, or their errors cannot be compared."
            )
        if candidate.start + own.n_features > self.bounds.n_features:
            raise InputError("a candidate speaks of columns that the rows do not have.")
        if own.n_features != candidate.question.bounds.n_features:
            raise InputError("a candidate has the same columns from beginning to end.")
        if own.person != self.bounds.person:
            raise InputError("all candidates must use the same rows of a person, and as much.")
        if self.bounds.max_weight is not None or own.max_weight is not None:
            raise InputError("a choice among models counts every row once; declare no weights.")

    @property
    def steps(self) -> int:
        """The largest error of a row, in whole units."""
        return 1 if isinstance(self.bounds.labels, LabelSet) else ERROR_STEPS


ERROR_STEPS = 2**20
"""An error of a number is rounded to this many steps of the declared range."""

"""Records that arrive one at a time, for a declared number of rounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import Box
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds
from discreet.questions.choices import check_columns
from discreet.questions.problem import Problem

LONGEST = 2**40
"""Records of a stream, at most."""


class DeclaredStream(Question):
    """What is asked of records that arrive in rounds: how many at most, and when it is answered.

    ``horizon`` is the number of records that will ever be learnt from. After every ``batch`` of
    them there is another answer. The number of a round is public.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.questions import LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=3, labels=LabelSet([-1, 1]))
    >>> def answers(stream: DeclaredStream) -> int:
    ...     return stream.updates
    >>> answers(Stream(Problem(Logistic(), bounds, ridge=1.0), horizon=1000, batch=10))
    100
    """

    horizon: int
    batch: int

    @property
    def updates(self) -> int:
        """How many answers there will be, at most."""
        return self.horizon // self.batch

    def check_rounds(self) -> None:
        """Raise unless the horizon and the batch are whole numbers that fit one another."""
        _checks.whole(horizon=self.horizon, at_least=1, at_most=LONGEST)
        _checks.whole(batch=self.batch, at_least=1, at_most=LONGEST)
        if self.batch > self.horizon:
            raise InputError(
                f"batch must not exceed the horizon; got {self.batch} and {self.horizon}."
            )
        object.__setattr__(self, "horizon", int(self.horizon))
        object.__setattr__(self, "batch", int(self.batch))


@dataclass(frozen=True)
class Stream(DeclaredStream):
    """A learning problem whose records arrive one at a time, each in a round of its own.

    Parameters
    ----------
    problem
        The loss, what is declared about records, the ridge and the domain.
    horizon
        How many records will ever be learnt from; later ones are refused.
    batch
        After how many records there is another answer; the rest of the last batch gives none.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.questions import LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=3, labels=LabelSet([-1, 1]))
    >>> stream = Stream(Problem(Logistic(), bounds, ridge=1.0), horizon=1000)
    >>> stream.updates, stream.bounds.max_rows
    (1000, 1000)
    """

    problem: Problem
    horizon: int
    batch: int = 1

    def __post_init__(self) -> None:
        _checks.instance(Problem, problem=self.problem)
        if self.problem.bounds.max_weight is not None:
            raise InputError("records of a stream have no weights; leave max_weight out.")
        self.check_rounds()

    @cached_property
    def bounds(self) -> Bounds:  # type: ignore[override]
        """What is declared about records, of which there are no more than the horizon says."""
        return replace(self.problem.bounds, max_rows=self.horizon)

    @property
    def assumed(self) -> tuple[str, ...]:
        return self.problem.assumed


@dataclass(frozen=True)
class ExpertStream(DeclaredStream):
    """Which of several experts to follow next; a record is the loss of each in one round.

    Parameters
    ----------
    rows
        A :class:`~discreet.geometry.Box` with the least and the largest loss of each expert, at
        least two of them; no labels, no intercept, no weights.
    horizon
        How many records will ever be learnt from; later ones are refused.
    batch
        After how many records an expert is drawn anew; the rest of the last batch draws none.

    Examples
    --------
    Three experts, each right or wrong about a record:

    >>> experts = ExpertStream(Bounds(Box([0, 0, 0], [1, 1, 1]), n_features=3), horizon=1000)
    >>> experts.updates, experts.limits
    (1000, (0.0, 1.0))
    """

    rows: Bounds
    horizon: int
    batch: int = 1

    def __post_init__(self) -> None:
        _checks.instance(Bounds, rows=self.rows)
        self.check_rounds()
        check_columns(self.rows, "a choice of experts")
        if self.rows.labels is not None:
            raise InputError("losses of experts carry no labels; declare none.")
        if self.rows.n_features < 2:
            raise InputError("a choice needs at least two experts; declare a column for each.")

    @cached_property
    def bounds(self) -> Bounds:  # type: ignore[override]
        """What is declared about records, of which there are no more than the horizon says."""
        return replace(self.rows, max_rows=self.horizon)

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The least and the largest loss that any expert may have."""
        box = self.rows.features
        _checks.instance(Box, features=box)
        return min(box.lower), max(box.upper)  # type: ignore[attr-defined]

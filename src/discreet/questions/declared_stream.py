"""Records that arrive one at a time, for a declared number of rounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from discreet import _checks
from discreet.errors import InputError
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds
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

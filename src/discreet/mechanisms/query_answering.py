"""Mechanisms that are asked: a model is fitted in private, then answers one point after another.

What they owe is in ``interaction/interaction.md``, "Oracles"; that they pay it, in
``gaussian_process.md`` and ``bounded_updates.md``.

Every answer is an entry of a transcript. An entry follows from the private model, the entries
before it and fresh noise; an oracle goes on from its entries alone, wherever they are kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet._private_part import Sealed
from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.errors import PrivacyError
from discreet.mechanisms.base import Mechanism, Plan
from discreet.noise import Noise
from discreet.privacy import Budget, Unit
from discreet.questions import KernelQueries, Question

if TYPE_CHECKING:
    from discreet.mechanisms.private_predictor import PrivatePredictor

ANSWERED, FROZEN, PUBLIC, UPDATED, EXHAUSTED = (
    "answered",
    "frozen",
    "public",
    "updated",
    "exhausted",
)
"""What an answer can be: statuses are public."""

CODES = {ANSWERED: 0.0, FROZEN: 1.0, PUBLIC: 2.0, UPDATED: 3.0, EXHAUSTED: 4.0}
"""Statuses as numbers, where a release is an array."""


@dataclass(frozen=True)
class OracleAnswer:
    """What an oracle says about one point; all of it is public.

    Parameters
    ----------
    value
        The prediction, with noise.
    status
        How it came about: ``"answered"`` with noise of its own, or ``"frozen"``, from earlier
        answers alone; of an oracle with bounded updates ``"updated"``, ``"public"`` or
        ``"exhausted"``.
    scale
        How large the error is that privacy causes: the standard deviation of the noise, or a bound
        where no noise was drawn.

    Examples
    --------
    >>> OracleAnswer(0.25, "answered", scale=0.1).status
    'answered'
    """

    value: float
    status: str
    scale: float


@dataclass(frozen=True, eq=False, repr=False)
class TranscriptEntry:
    """One answer as it is kept: a point, what is public about it, and what is secret.

    ``public`` are numbers that follow from points and answers alone. ``secret`` must be kept as the
    private model is: with the answer it gives away what the noise hides.
    """

    point: Vector
    public: Vector
    secret: float
    value: float
    status: str
    scale: float

    @property
    def answer(self) -> OracleAnswer:
        """What whoever asked is told."""
        return OracleAnswer(self.value, self.status, self.scale)


def key_of(point: Vector) -> bytes:
    """Return what tells a point from others: the bits of its entries; there is no minus zero.

    Examples
    --------
    >>> key_of(np.array([0.0, 1.0])) == key_of(np.array([-0.0, 1.0]))
    True
    """
    return np.ascontiguousarray(point + 0.0, dtype="<f8").tobytes()


SMALLEST_SHARE = 2.0**-20
"""Of the largest squared norm: feature vectors that are shorter correct nothing."""


class Transcript(Sealed, ABC):
    """All entries so far, and what later answers need of them; some of it is secret."""

    _sealed = "what an oracle remembers is secret; ask it."

    def __init__(self) -> None:
        self._entries: list[TranscriptEntry] = []
        self._places: dict[bytes, int] = {}

    @property
    def count(self) -> int:
        """How many entries there are, which is public."""
        return len(self._entries)

    @property
    @abstractmethod
    def is_open(self) -> bool:
        """Whether the next new point would be answered from the private model; public."""

    def find(self, point: Vector) -> TranscriptEntry | None:
        """Return the entry of a point that was answered before."""
        place = self._places.get(key_of(point))
        return None if place is None else self._entries[place]

    def append(self, entry: TranscriptEntry) -> None:
        """Add an entry."""
        if not self.is_open or key_of(entry.point) in self._places:
            raise PrivacyError("an oracle may not answer this point anew.")
        self._places[key_of(entry.point)] = self.count
        self._entries.append(entry)
        self._keep(entry)

    def cut(self, count: int) -> None:
        """Forget all entries but the first ones: the others were never told to anybody."""
        while self.count > count:
            entry = self._entries.pop()
            del self._places[key_of(entry.point)]
            self._drop(entry)

    def since(self, count: int) -> list[TranscriptEntry]:
        """Return all entries but so many of the first."""
        return self._entries[count:]

    @abstractmethod
    def _keep(self, entry: TranscriptEntry) -> None:
        """Work out what later answers need of an entry; it is the last one."""

    @abstractmethod
    def _drop(self, entry: TranscriptEntry) -> None:
        """Undo what was worked out from an entry that was the last one."""


class QueryPlan(Plan):
    """A plan for an oracle: how to fit, and how to answer one point after another."""

    question: KernelQueries
    packed_format: ClassVar[int] = 1
    """To be raised when what an entry holds changes its meaning."""
    holds_rows = True
    closed_status: ClassVar[str] = FROZEN
    """What an oracle is whose private model is not asked any more."""
    has_statuses: ClassVar[bool] = False
    """Whether how an answer came about says more than the number of answers before it."""

    @abstractmethod
    def fit(self, rows: OpenRows) -> PrivatePredictor:
        """Fit the private model; it is certified to be as exact as the plan says."""

    @abstractmethod
    def start(self) -> Transcript:
        """Return an empty transcript."""

    @abstractmethod
    def prepare(self, transcript: Any, point: Vector) -> Any:
        """Work out, from public things alone, what answering a new point needs.

        Raises
        ------
        InputError
            The point cannot be answered, which depends on points alone.
        """

    @abstractmethod
    def answer(
        self, model: PrivatePredictor, transcript: Any, point: Vector, prepared: Any, noise: Noise
    ) -> TranscriptEntry:
        """Answer a new point from the private model: this is the private part.

        Parameters
        ----------
        model
            The private model.
        transcript
            What was answered so far.
        point
            A point that is not among it.
        prepared
            What :meth:`prepare` worked out for this point.
        noise
            The source of randomness.
        """

    @abstractmethod
    def answer_in_public(self, transcript: Any, point: Vector) -> OracleAnswer:
        """Answer a new point from earlier answers alone."""

    def ask(
        self, model: PrivatePredictor, transcript: Transcript, point: Vector, noise: Noise
    ) -> OracleAnswer:
        """Answer one point, from the transcript if it was answered before.

        Parameters
        ----------
        model
            The private model.
        transcript
            What was answered so far; a new answer is added.
        point
            What is asked about, as ``KernelQueries.accept`` returns it.
        noise
            The source of randomness.
        """
        known = transcript.find(point)
        if known is not None:
            return known.answer
        if not transcript.is_open:
            return self.answer_in_public(transcript, point)
        prepared = self.prepare(transcript, point)
        entry = self.answer(model, transcript, point, prepared, noise)
        transcript.append(entry)
        return entry.answer

    def run(self, rows: OpenRows, noise: Noise) -> Array:
        return self._run_once(self.fit(rows), noise)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Any:
        return self._run_often(self.fit(rows), noise, draws)

    def _run_often(self, model: PrivatePredictor, noise: Noise, draws: int) -> Array:
        """Answer the declared points in several runs."""
        return np.array([self._run_once(model, noise) for _ in range(draws)])

    def _points(self) -> Array:
        """Return the declared points, as they are asked about."""
        asked = np.array(self.question.points)
        return self.question.accept(asked.reshape(len(asked), self.question.bounds.n_features))

    def _run_once(self, model: PrivatePredictor, noise: Noise) -> Array:
        """Return the answers to the declared points, with statuses where these say something."""
        transcript = self.start()
        answers = [self.ask(model, transcript, point, noise) for point in self._points()]
        values = np.array([answer.value for answer in answers])
        if not self.has_statuses:
            return values
        statuses = np.array([CODES[answer.status] for answer in answers])
        return np.column_stack([values, statuses])


class QueryMechanism(Mechanism):
    """Turns declared queries and a budget into a plan for all that will ever be answered."""

    refuses_persons = "what an oracle keeps of its rows knows no persons."

    @abstractmethod
    def _plan(self, question: Any, budget: Budget, unit: Unit) -> QueryPlan:
        """Plan for accepted queries."""

    def plan(self, question: Question, budget: Budget, unit: Unit) -> QueryPlan:
        self.check(question, budget, unit)
        return self._plan(question, budget, unit)

"""Iterates of an online algorithm, released with Gaussian noise after every batch of records.

The plan of private online convex programming and its session; proof in ``private_ocp.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.data import OpenRows
from discreet.errors import PrivacyError
from discreet.mechanisms.base import YES, Verdict, grid_tolerances
from discreet.mechanisms.interactive import (
    InteractivePlan,
    Packed,
    Session,
)
from discreet.mechanisms.streaming.noise_schedule import NoiseSchedule
from discreet.mechanisms.streaming.online_algorithm import OnlineAlgorithm
from discreet.noise import Noise, distance_of_gaussian
from discreet.privacy import Guarantee
from discreet.questions import Question, Stream
from discreet.record import Tolerance

DRAWN_AT_ONCE = 4096
"""Numbers of noise drawn together: a key costs more than they do."""


@dataclass(frozen=True, eq=False)
class NoisyIteratesPlan(InteractivePlan):
    """An online algorithm, and the noise of each of its releases; none if nothing is hidden."""

    question: Stream
    algorithm: OnlineAlgorithm
    schedule: NoiseSchedule | None
    guarantee: Guarantee
    reason: str = ""

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        if self.schedule is None:
            return ()
        error = self.algorithm.error / self.question.problem.ridge
        last = self.schedule.grid(self.schedule.last)
        return (
            Tolerance("error of all steps together, over the number of records, at most", error),
            *grid_tolerances(last, "the noise of the last answer"),
        )

    def start(self, noise: Noise) -> Session:
        origin = np.zeros(self.question.problem.width)
        return IterateSession(self, noise, origin, origin.copy())

    def _unpack(self, packed: Mapping[str, Any], noise: Noise) -> Session:
        total, played = (np.array(packed[name], dtype=np.float64) for name in ("total", "played"))
        return IterateSession(self, noise, total, played)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Any:
        if self.algorithm.listens or self.schedule is None:
            return super().run_many(rows, noise, draws)
        iterates = self._iterates(rows)
        drawn = noise.gaussian(draws * iterates.size, self.schedule.bits)
        drawn = drawn.reshape(draws, *iterates.shape)
        return np.array(
            [
                [self.play(iterate, j + 1, own[j]) for j, iterate in enumerate(iterates)]
                for own in drawn
            ]
        )

    def _iterates(self, rows: OpenRows) -> Array:
        """Return the iterates that are released with noise."""
        algorithm, batch, found = self.algorithm, self.question.batch, []
        total = np.zeros(self.question.problem.width)
        for seen, (row, label) in enumerate(rows.stream(), start=1):
            total = algorithm.step(total, seen, row, float(label or 0.0), total)
            if seen % batch == 0:
                found.append(algorithm.iterate(total, seen))
        return np.array(found).reshape(len(found), total.size)

    def play(self, iterate: Vector, release: int, drawn: Integers | None) -> Vector:
        """Return the public point of an iterate: on its grid, with noise, inside the domain."""
        point, schedule = iterate, self.schedule
        if schedule is not None and release < schedule.first:
            return np.zeros_like(iterate)
        if schedule is not None and drawn is not None:
            grid = schedule.grid(release)
            point = grid.values(grid.snap(iterate) + drawn)
        penalty = self.question.problem.penalty
        return point if penalty is None else penalty.nearest(point)


class IterateSession(Session):
    """The sum of slopes, which is secret, and what was played last, which is not."""

    def __init__(
        self, plan: NoisyIteratesPlan, noise: Noise, total: Vector, played: Vector
    ) -> None:
        super().__init__(plan.question)
        self._plan, self._noise = plan, noise
        self._total, self._played = total, played
        self._drawn: Any = np.zeros((0, total.size), dtype=np.int64)

    def _learn(self, X: Array, y: Vector | None) -> None:
        if y is None:
            raise PrivacyError("a learning problem was run on records without labels.")
        step, seen = self._plan.algorithm.step, self._seen
        for row, label in zip(np.ascontiguousarray(X, dtype=np.float64), y.tolist(), strict=True):
            seen += 1
            self._total = step(self._total, seen, row, label, self._played)
            self._play_if_due(seen)

    def _skip(self) -> None:
        self._play_if_due(self._seen + 1)  # the sum stays: it is within the next limit too

    def _play_if_due(self, seen: int) -> None:
        """Release the iterate after so many rounds, if they end a batch."""
        plan, batch = self._plan, self._plan.question.batch
        if seen % batch == 0:
            iterate = plan.algorithm.iterate(self._total, seen)
            self._played = plan.play(iterate, seen // batch, self._draw(seen // batch))

    def _draw(self, release: int) -> Integers | None:
        """Return the noise of a release, which no other has seen."""
        schedule, width = self._plan.schedule, self._total.size
        if schedule is None or release < schedule.first:
            return None
        if not len(self._drawn):
            ahead = min(drawn_ahead(width), schedule.last - release + 1)
            self._drawn = self._noise.gaussian(ahead * width, schedule.bits).reshape(ahead, width)
        drawn: Integers = self._drawn[0]
        self._drawn = self._drawn[1:]
        return drawn

    def answer(self) -> Vector:
        return self._played.copy()

    def _pack(self) -> Packed:
        return {"total": self._total, "played": self._played}


def accepts_stream(name: str, question: Question) -> Verdict:
    """Say whether a question is a stream of records of a learning problem."""
    if not isinstance(question, Stream):
        return Verdict(False, f"{name} learns from a Stream; use noisy_gradient for a table.")
    return YES


def drawn_ahead(width: int) -> int:
    """Return for how many releases noise is drawn together."""
    return max(1, DRAWN_AT_ONCE // width)


def distance_of_draws(question: Stream) -> float:
    """Bound the distance of all noise of a stream from the ideal one.

    A stream that is handed over draws again what was drawn ahead and not used. Whenever noise is
    drawn, at least one release uses it: there are no more draws than releases, however often a
    stream is handed over.
    """
    width = question.problem.width
    return question.updates * distance_of_gaussian(drawn_ahead(width) * width)

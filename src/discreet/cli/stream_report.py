"""What is said while a stream is learnt from: how far it is, and a score in simulations.

It is said at fixed shares of the horizon: what is printed, and when, follows from how many rounds
have passed, which is public, and from nothing else.
"""

from __future__ import annotations

import contextlib
import sys

import typer

from discreet.cli.console import print_note
from discreet.cli.model_folder import Learner
from discreet.cli.progressive_score import ProgressiveScore
from discreet.privacy import unit_named
from discreet.privacy.guarantee import in_three_digits as up
from discreet.tables import Rounds

LINES = 10
"""How many lines are printed over the horizon where nobody watches a terminal."""

PICTURES = 1000
"""How often the line on a terminal changes over the horizon."""


def name_rounds(model: Learner) -> str:
    """Return what is counted: rounds where some may be empty, and records elsewhere."""
    return "rounds" if unit_named(model.unit).has_empty_rounds else "records"


def say_how_far(model: Learner) -> str:
    """Return how many rounds are over, and of how many, in words."""
    return f"{model.n_seen:,} of {model.horizon:,} {name_rounds(model)}"


class StreamReport:
    """A line on the standard error: it changes on a terminal, elsewhere there is one each tenth."""

    def __init__(self, model: Learner, score: ProgressiveScore | None) -> None:
        self._model, self._score = model, score
        self._is_live = sys.stderr.isatty()
        self._shown = 0

    def predict(self, block: Rounds) -> None:
        """Score the records of a block, in a simulation, before they are learnt from."""
        if self._score is not None:
            for _, rows in block.runs():
                if rows is not None:
                    self._score.add(self._model, rows)

    def show(self, *, is_last: bool = False) -> None:
        """Say how far the stream is, if it is time to; nothing is lost if nobody takes it."""
        with contextlib.suppress(OSError, ValueError):
            self._show(is_last=is_last)

    def _show(self, *, is_last: bool) -> None:
        seen, horizon = self._model.n_seen, int(self._model.horizon or 1)
        part = (PICTURES if self._is_live else LINES) * seen // horizon
        is_due, self._shown = part > self._shown, max(part, self._shown)
        if self._is_live:
            if is_due or is_last:
                typer.echo(f"\r\x1b[K{self._line()}", nl=is_last, err=True)
        elif is_due:
            print_note(self._line())

    def _line(self) -> str:
        model, score = self._model, self._score
        said = say_how_far(model)
        if score is None:
            return f"{said}; epsilon {up(model.epsilon)} covers all of them"
        if score.value is None:
            return f"{said}; seeded noise, nothing is charged"
        return f"{said}; progressive {score.name} {score.value:.3f} {self._plot(score)}".rstrip()

    def _plot(self, score: ProgressiveScore) -> str:
        encoding = getattr(sys.stderr, "encoding", None) or ""
        return score.draw() if encoding.lower().startswith("utf") else ""

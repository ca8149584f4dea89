"""What is said while a stream is learnt from: how far it is, and a score in simulations."""

from __future__ import annotations

import contextlib
import sys
import time

import typer

from discreet.cli.console import print_note
from discreet.cli.model_folder import Learner
from discreet.cli.progressive_score import ProgressiveScore
from discreet.privacy.guarantee import in_three_digits as up
from discreet.tables import RowsAndLabels

LINES = 10
"""How many lines are printed over the horizon where nobody watches a terminal."""

REFRESHED = 0.1
"""Seconds between two pictures on a terminal."""


class StreamReport:
    """A line on the standard error: one that changes on a terminal, elsewhere a new one each tenth.

    Parameters
    ----------
    model
        What learns.
    score
        The progressive score of a simulation; None for private records.
    """

    def __init__(self, model: Learner, score: ProgressiveScore | None) -> None:
        self._model, self._score = model, score
        self._is_live = sys.stderr.isatty()
        self._shown, self._at = 0, 0.0

    def predict(self, rows: RowsAndLabels) -> None:
        """Score rows, in a simulation, before they are learnt from; the first ones are not."""
        if self._score is not None and self._model.n_seen:
            self._score.add(self._model, rows)

    def show(self, *, is_last: bool = False) -> None:
        """Say how far the stream is, if it is time to; nothing is lost if nobody takes it."""
        with contextlib.suppress(OSError, ValueError):
            self._show(is_last=is_last)

    def _show(self, *, is_last: bool) -> None:
        if self._is_live:
            if is_last or time.monotonic() >= self._at + REFRESHED:
                typer.echo(f"\r\x1b[K{self._line()}", nl=is_last, err=True)
                self._at = time.monotonic()
            return
        seen, horizon = self._model.n_seen, int(self._model.horizon or 1)
        part = LINES * seen // horizon
        if part > self._shown:
            self._shown = part
            print_note(self._line())

    def _line(self) -> str:
        model, score = self._model, self._score
        said = f"{model.n_seen:,} of {model.horizon:,} records"
        if score is None:
            return f"{said}; epsilon {up(model.epsilon)} covers all of them"
        if score.value is None:
            return f"{said}; seeded noise, nothing is charged"
        return f"{said}; progressive {score.name} {score.value:.3f} {self._plot(score)}".rstrip()

    def _plot(self, score: ProgressiveScore) -> str:
        encoding = getattr(sys.stderr, "encoding", None) or ""
        return score.draw() if encoding.lower().startswith("utf") else ""

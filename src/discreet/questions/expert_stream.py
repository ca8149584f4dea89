"""Losses of several experts that arrive round by round."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import Box
from discreet.questions.bounds import Bounds
from discreet.questions.choices import check_columns
from discreet.questions.declared_stream import DeclaredStream


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

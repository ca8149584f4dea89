"""The median of each column, with a proposal of how far one record moves it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import Box
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds
from discreet.questions.choices import MOST_STEPS, check_columns


@dataclass(frozen=True)
class ProposedMedian(Question):
    """The lower median of each column, if one record moves it by no more than is proposed.

    Parameters
    ----------
    bounds
        A :class:`~discreet.geometry.Box` with a lower limit below the upper one in every column; no
        intercept, no weights. Values outside are clipped.
    proposal
        How far one record may move a median, in the units of the columns: positive, and less than
        the limits of a column are apart. Rounded up to steps of the grid.
    steps
        Every value is rounded to one of ``steps + 1`` evenly spaced points of a column's interval;
        from 2 to 2**32.

    Examples
    --------
    >>> ages = Bounds(Box([0], [120]), n_features=1)
    >>> ProposedMedian(ages, proposal=0.5, steps=240).moves
    (1,)
    """

    bounds: Bounds
    proposal: float
    steps: int = 2**20

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        _checks.positive(proposal=self.proposal)
        _checks.whole(steps=self.steps, at_least=2, at_most=MOST_STEPS)
        check_columns(self.bounds, "each of the medians")
        if max(self.moves) >= self.steps:
            raise InputError(
                f"proposal must be less than the limits of each column are apart; got "
                f"{self.proposal}."
            )

    @property
    def moves(self) -> tuple[int, ...]:
        """The proposal in whole steps of each column's grid; at least one."""
        box = cast(Box, self.bounds.features)
        shares = (
            self.proposal / (high - low) for low, high in zip(box.lower, box.upper, strict=True)
        )
        return tuple(math.ceil(min(share, 1.0) * self.steps) for share in shares)

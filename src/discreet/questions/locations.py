"""The point of each column with the least sum of losses."""

from __future__ import annotations

from dataclasses import dataclass

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import Box
from discreet.losses import Loss
from discreet.penalties import Indicator
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds, Interval
from discreet.questions.choices import check_columns
from discreet.questions.problem import Problem

TRACE = 2.0**-40
"""A ridge so small, beside the slope of one record, that it does not show."""


@dataclass(frozen=True)
class ColumnLocations(Question):
    """The point of each column, within its limits, with the least sum of a loss of distances.

    Parameters
    ----------
    bounds
        A :class:`~discreet.geometry.Box` with a lower limit below the upper one in every column; no
        labels, no intercept, no weights.
    loss
        A loss of the distance between a value and the point, such as ``Huber(5.0)``; not one for
        classes.

    Examples
    --------
    >>> from discreet.losses import Huber
    >>> ages = Bounds(Box([0], [120]), n_features=1)
    >>> ColumnLocations(ages, Huber(5.0)).problem(0).bounds.labels
    Interval(low=-60.0, high=60.0)
    """

    bounds: Bounds
    loss: Loss

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        _checks.instance(Loss, loss=self.loss)
        check_columns(self.bounds, "a location")
        if self.bounds.labels is not None:
            raise InputError("a location uses no labels; declare none.")
        if self.loss.is_classifier:
            raise InputError(f"{self.loss!r} is for classes; use Huber, Pinball or Squared.")
        for j in range(self.bounds.n_features):
            self.problem(j)

    def middle(self, j: int) -> float:
        """Return the middle of the limits of a column."""
        low, high = self._limits(j)
        return low + (high - low) / 2

    def problem(self, j: int) -> Problem:
        """Return the problem of one column: its values, less the middle, are labels of ones."""
        low, high = self._limits(j)
        half = (high - low) / 2
        if half == 0:
            raise InputError("the limits of a column are too close to tell them apart.")
        rows = Bounds(
            Box([1.0], [1.0]), 1, labels=Interval(-half, half), max_rows=self.bounds.max_rows
        )
        ridge = TRACE * self.loss.lipschitz(half) / half
        return Problem(self.loss, rows, ridge, penalty=Indicator(Box([-half], [half])))

    def _limits(self, j: int) -> tuple[float, float]:
        box = self.bounds.features
        if not isinstance(box, Box):
            raise InputError("a location needs an interval for each column; declare a Box.")
        return box.lower[j], box.upper[j]

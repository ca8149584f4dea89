"""What is best in each column, or among columns: quantiles, medians, locations, thresholds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import cast

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import Box
from discreet.losses import Loss
from discreet.penalties import Indicator
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds, Interval, LabelSet
from discreet.questions.problem import Problem

MOST_STEPS = 2**32
MOST_THRESHOLDS = 2**39


@dataclass(frozen=True)
class ColumnQuantiles(Question):
    """The q-quantile of each column, on a public grid of ``steps`` steps between its limits.

    Parameters
    ----------
    bounds
        A :class:`~discreet.geometry.Box` with a lower limit below the upper one in every column; no
        intercept, no weights. Values outside are clipped.
    q
        Which quantile, strictly between zero and one.
    steps
        The answer is one of ``steps + 1`` evenly spaced points of a column's interval, and every
        value is rounded to them; from 1 to 2**32.

    Examples
    --------
    >>> ages = Bounds(Box([0], [120]), n_features=1)
    >>> ColumnQuantiles(ages, q=0.9, steps=120).q
    0.9
    >>> ColumnQuantiles(ages, q=90)
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: q must lie strictly between 0 and 1; got 90.
    """

    bounds: Bounds
    q: float = 0.5
    steps: int = 2**20

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        _checks.finite(q=self.q)
        if not 0 < self.q < 1:
            raise InputError(f"q must lie strictly between 0 and 1; got {self.q}.")
        _checks.whole(steps=self.steps, at_least=1, at_most=MOST_STEPS)
        check_columns(self.bounds, "each of the quantiles")


@dataclass(frozen=True)
class BestThreshold(Question):
    """The column, threshold and direction that tell labels -1 and 1 apart with fewest errors.

    Thresholds lie midway between neighbours of a public grid of ``steps`` steps in each column.

    Parameters
    ----------
    bounds
        A :class:`~discreet.geometry.Box` with a lower limit below the upper one in every column,
        and the labels -1 and 1; no intercept, no weights.
    steps
        Steps of the grid between the limits of a column, from 1 to 2**32. There may be at most
        2**39 thresholds in all columns together.
    assumed
        What whoever asks took as public because it was found in the data, in words.

    Examples
    --------
    >>> ages = Bounds(Box([0], [120]), n_features=1, labels=LabelSet([-1, 1]))
    >>> BestThreshold(ages, steps=120).steps
    120
    """

    bounds: Bounds
    steps: int = 2**20
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        _checks.whole(steps=self.steps, at_least=1, at_most=MOST_STEPS)
        check_columns(self.bounds, "a threshold")
        if self.bounds.labels != LabelSet([-1, 1]):
            raise InputError("a threshold tells the labels -1 and 1 apart; declare them.")
        if (self.steps + 2) * self.bounds.n_features > MOST_THRESHOLDS:
            raise InputError("there are more than 2**39 thresholds; declare fewer steps.")


@dataclass(frozen=True)
class LeastLoss(Question):
    """Which of several public candidates, one a column, has the least sum of losses.

    An entry is the loss of one record under one candidate, clipped to the declared box.

    Parameters
    ----------
    bounds
        A :class:`~discreet.geometry.Box` with the least and the largest loss of each candidate; no
        labels, no intercept, no weights.

    Examples
    --------
    Three models, each right or wrong about a record:

    >>> LeastLoss(Bounds(Box([0, 0, 0], [1, 1, 1]), n_features=3)).bounds.width
    3
    """

    bounds: Bounds

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        check_columns(self.bounds, "a choice of columns")
        if self.bounds.labels is not None:
            raise InputError("a choice of columns uses no labels; declare none.")


def check_columns(bounds: Bounds, what: str) -> None:
    """Raise unless plain columns have an interval each, with a lower limit below the upper."""
    features = bounds.features
    if not isinstance(features, Box):
        raise InputError(f"{what} needs an interval for each column; declare a Box.")
    if not all(low < high for low, high in zip(features.lower, features.upper, strict=True)):
        raise InputError(f"{what} needs a lower limit below the upper one in every column.")
    if bounds.intercept is not None or bounds.max_weight is not None:
        raise InputError(f"{what} is of plain columns; declare no intercept and no weights.")


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
        ones, labels = Box([1.0], [1.0]), Interval(-half, half)
        rows = replace(self.bounds, features=ones, n_features=1, labels=labels)
        ridge = TRACE * self.loss.lipschitz(half) / half
        return Problem(self.loss, rows, ridge, penalty=Indicator(Box([-half], [half])))

    def _limits(self, j: int) -> tuple[float, float]:
        box = self.bounds.features
        if not isinstance(box, Box):
            raise InputError("a location needs an interval for each column; declare a Box.")
        return box.lower[j], box.upper[j]

"""Sums, means and counts of rows."""

from __future__ import annotations

from dataclasses import dataclass

from discreet import _checks
from discreet.errors import InputError
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds


@dataclass(frozen=True)
class VectorSum(Question):
    """The sum of the clipped rows, intercept column included.

    Parameters
    ----------
    bounds
        What is declared about the rows. An intercept's column is summed like the others, and comes
        last.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> VectorSum(Bounds(L2Ball(1.0), n_features=3)).bounds.width
    3
    """

    bounds: Bounds

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)


@dataclass(frozen=True)
class VectorMean(Question):
    """The mean of the clipped rows.

    Parameters
    ----------
    bounds
        What is declared about the rows; no intercept, whose mean is known.

    Examples
    --------
    >>> from discreet.geometry import Box
    >>> ages_and_weights = VectorMean(Bounds(Box([0, 0], [120, 300]), n_features=2))
    """

    bounds: Bounds

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        if self.bounds.intercept is not None:
            raise InputError("the mean of a constant column is known; declare no intercept.")


@dataclass(frozen=True)
class RowCount(Question):
    """How many rows there are, or how many carry one label.

    Parameters
    ----------
    bounds
        What is declared about the rows.
    label
        The label to count; None counts all rows. The bounds have to declare labels for it.

    Examples
    --------
    >>> from discreet.questions.bounds import LabelSet
    >>> from discreet.geometry import L2Ball
    >>> readmitted = RowCount(Bounds(L2Ball(1.0), 3, labels=LabelSet([0, 1])), label=1)
    """

    bounds: Bounds
    label: float | None = None

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        if self.label is not None:
            _checks.finite(label=self.label)
            if self.bounds.labels is None:
                raise InputError("the bounds declare no labels to count.")

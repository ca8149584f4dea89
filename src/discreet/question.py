"""What is asked of the rows: public values that hold no data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from discreet import _checks
from discreet.declared import Bounds, LabelSet
from discreet.errors import InputError
from discreet.geometry import Box


class Question(ABC):
    """Something to be learnt from rows within declared bounds; hashable and printable."""

    bounds: Bounds

    @abstractmethod
    def __post_init__(self) -> None:
        """Check the fields."""


@dataclass(frozen=True)
class VectorSum(Question):
    """The sum of the clipped rows, intercept column included.

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

    Examples
    --------
    >>> from discreet.declared import LabelSet
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


MOST_STEPS = 2**32
MOST_THRESHOLDS = 2**39


@dataclass(frozen=True)
class ColumnQuantiles(Question):
    """The q-quantile of each column, on a public grid of ``steps`` steps between its limits.

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

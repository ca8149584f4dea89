"""Which few columns together predict the labels best."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry.limits import SMALLEST
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds, Interval, Labels, LabelSet
from discreet.questions.strongest_columns import check_plain

MOST_SUBSETS = 100_000
MOST_COLUMNS, MOST_SIZE = 2000, 63
MOST_PRODUCTS = 2**25
"""Products of columns of all subsets together: they are held in memory at once."""


@dataclass(frozen=True)
class BestSubset(Question):
    r"""The ``size`` columns with the least squared error of a linear model on them alone.

    Entries and labels are scaled to [-1, 1] by their declared ranges; coefficients, and a constant
    if there is one, lie between ``-coefficient`` and ``coefficient``.

    Parameters
    ----------
    bounds
        Of rows, with labels that are numbers or two classes; at most 2000 columns. No intercept of
        its own, no weights.
    size
        How many columns; of all subsets of this size there may be 100,000 at most.
    coefficient
        The largest absolute value of a coefficient.
    has_constant
        Whether every model has a constant.
    assumed
        What whoever asks took as public because it was found in the data, in words.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> bounds = Bounds(LinfBall(1.0), n_features=20, labels=Interval(-1, 1))
    >>> question = BestSubset(bounds, size=3)
    >>> question.subsets, question.largest_loss
    (1140, 12.5)
    """

    bounds: Bounds
    size: int
    coefficient: float = 1.0
    has_constant: bool = True
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        check_plain(self.bounds, "a choice of subsets")
        _checks.whole(size=self.size, at_least=1, at_most=self.bounds.n_features)
        object.__setattr__(self, "size", int(self.size))
        _checks.positive(coefficient=self.coefficient)
        _checks.truth(has_constant=self.has_constant)
        labels = self.bounds.labels
        if isinstance(labels, LabelSet) and len(labels.values) > 2:
            raise InputError("a choice of subsets is for numbers or two classes.")
        check_label_range(self.label_range, "a choice of subsets")
        if self.size > MOST_SIZE or self.bounds.n_features > MOST_COLUMNS:
            raise InputError(
                f"all subsets are for {MOST_SIZE} of {MOST_COLUMNS:,} columns at most; use "
                "PeelingSupport, or choose among fewer columns."
            )
        if self.subsets > MOST_SUBSETS or self.subsets * self.coefficients**2 > MOST_PRODUCTS:
            raise InputError(
                f"{self.subsets:,} subsets are too many, and the limit is {MOST_SUBSETS:,} small "
                "ones; use PeelingSupport, or choose among fewer columns."
            )

    @property
    def subsets(self) -> int:
        """How many subsets there are to choose from."""
        return math.comb(self.bounds.n_features, self.size)

    @property
    def label_range(self) -> Interval:
        """The range of labels, which is scaled to [-1, 1]."""
        return label_range_of(self.bounds.labels)

    @property
    def coefficients(self) -> int:
        """How many coefficients a model has, its constant included."""
        return self.size + bool(self.has_constant)

    @property
    def largest_loss(self) -> float:
        """The largest half squared error of one record."""
        return (1 + self.coefficients * self.coefficient) ** 2 / 2


def label_range_of(labels: Labels | None) -> Interval:
    """Return the least range that holds all labels."""
    if isinstance(labels, Interval):
        return labels
    values = labels.values if isinstance(labels, LabelSet) else (0.0,)
    return Interval(min(values), max(values))


def check_label_range(within: Interval, name: str) -> None:
    """Refuse a range of labels that cannot be scaled to [-1, 1]: none, or one too small."""
    if not within.high - within.low >= SMALLEST:
        raise InputError(f"{name} needs labels that differ, by {SMALLEST:g} at least.")

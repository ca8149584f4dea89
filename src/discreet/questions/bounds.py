"""What is declared about the rows before anyone looks at them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from discreet import _checks
from discreet._types import Booleans, Vector
from discreet.errors import InputError
from discreet.geometry import ConvexSet, limits
from discreet.questions.contributions import LARGEST_SHARED, ONE_EACH, Contributions, Share

CLIPPING_SLACK = 1 + 2.0**-20
"""Rounding lets a clipped norm exceed its bound by (p + 3) 2**-53; the bounds allow this much."""

MOST_FEATURES = 2**31
MOST_ROWS = 2**27


class Labels(ABC):
    """The labels that rows may carry.

    What is outside the declaration is clipped, or its record is replaced by a fixed one; it is
    never an error.

    Examples
    --------
    >>> def largest(labels: Labels) -> float:
    ...     return labels.magnitude
    >>> largest(Interval(0, 10)), largest(LabelSet([-1, 1]))
    (10.0, 1.0)
    """

    @abstractmethod
    def clean(self, labels: Vector) -> tuple[Vector, Booleans | None]:
        """Return labels within the declaration, and which records to replace as a whole."""

    @property
    @abstractmethod
    def magnitude(self) -> float:
        """The largest absolute value of a label."""


@dataclass(frozen=True)
class Interval(Labels):
    """Labels between two numbers; others are clipped, a record with NaN is replaced by a fixed one.

    Parameters
    ----------
    low, high
        The least and the largest label, finite and within 1e100 of zero. They may be equal.

    Examples
    --------
    >>> labels, replaced = Interval(0, 10).clean(np.array([-3.0, 4.0, np.nan, np.inf]))
    >>> labels.tolist(), replaced.tolist()
    ([0.0, 4.0, 5.0, 10.0], [False, False, True, False])
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        _checks.finite(low=self.low, high=self.high)
        if not self.low <= self.high:
            raise InputError(f"low must not exceed high; got {self.low} and {self.high}.")
        if max(abs(self.low), abs(self.high)) > 1e100:
            raise InputError("labels must be declared within 1e100 of zero; rescale them.")
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))

    def clean(self, labels: Vector) -> tuple[Vector, Booleans | None]:
        middle = self.low + (self.high - self.low) / 2
        unknown = np.isnan(labels)
        cleaned = np.where(unknown, middle, labels)
        return np.clip(cleaned, self.low, self.high), unknown if unknown.any() else None

    @property
    def magnitude(self) -> float:
        return max(abs(self.low), abs(self.high))


FEW_LABELS = 8
"""Up to so many are compared one by one, which is faster than to sort them."""


@dataclass(frozen=True, init=False)
class LabelSet(Labels):
    """A finite set of numeric labels; a record with any other label is replaced by a fixed one.

    Parameters
    ----------
    values
        The labels, at least one, each a finite number and none twice. The first stands in for
        labels that are not among them.

    Examples
    --------
    >>> LabelSet([-1, 1]).clean(np.array([1.0, 7.0, -1.0]))
    (array([ 1., -1., -1.]), array([False,  True, False]))
    """

    values: tuple[float, ...]

    def __init__(self, values: Iterable[float]) -> None:
        object.__setattr__(self, "values", tuple(values))
        for value in self.values:
            _checks.finite(label=value)
        object.__setattr__(self, "values", tuple(map(float, self.values)))
        if not self.values or len(set(self.values)) != len(self.values):
            raise InputError("labels must be at least one number, without repetition.")

    def clean(self, labels: Vector) -> tuple[Vector, Booleans | None]:
        unknown = self._unknown(labels)
        if not unknown.any():
            return labels, None
        return np.where(unknown, self.values[0], labels), unknown

    def _unknown(self, labels: Vector) -> Booleans:
        if len(self.values) > FEW_LABELS:
            return ~np.isin(labels, self.values)
        unknown = labels != self.values[0]
        for value in self.values[1:]:
            unknown &= labels != value
        return np.asarray(unknown)

    @property
    def magnitude(self) -> float:
        return max(abs(value) for value in self.values)


@dataclass(frozen=True)
class Bounds:
    """A declared set for the features, the labels, and what else is public about the shape.

    Values outside are clipped, row by row; they are never an error. The bounds are promises
    of the code, not of the data.

    Parameters
    ----------
    features
        The set that every row's features are brought into; it has to be bounded.
    n_features
        How many columns there are.
    labels
        An :class:`Interval` or a :class:`LabelSet`; None if rows carry no label.
    intercept
        The constant of an extra last column, appended after clipping; None for no such column.
    max_weight
        The largest weight a row may carry; None if rows carry no weight.
    max_rows
        A public bound on the number of rows: rounding errors of sums are bounded by it. If that
        number is private, the first so many rows are used and the rest are outside the promise; if
        it is public, more rows are refused.
    person
        What becomes of the records of one person, where persons are protected: a
        :class:`~discreet.questions.Share` or a :class:`~discreet.questions.Cap`; None where records
        are.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> bounds = Bounds(L2Ball(3.0), n_features=5, intercept=4.0)
    >>> bounds.width, round(bounds.row_norm(), 4)
    (6, 5.0)
    """

    features: ConvexSet
    n_features: int
    labels: Labels | None = None
    intercept: float | None = None
    max_weight: float | None = None
    max_rows: int = MOST_ROWS
    person: Contributions | None = None

    def __post_init__(self) -> None:
        _checks.instance(ConvexSet, features=self.features)
        _checks.whole(n_features=self.n_features, at_least=1, at_most=MOST_FEATURES)
        _checks.whole(max_rows=self.max_rows, at_least=1, at_most=2**40)
        object.__setattr__(self, "n_features", int(self.n_features))
        object.__setattr__(self, "max_rows", int(self.max_rows))
        if self.labels is not None:
            _checks.instance(Labels, labels=self.labels)
        if self.intercept is not None:
            _checks.positive(intercept=self.intercept)
            object.__setattr__(self, "intercept", float(self.intercept))
        if self.max_weight is not None:
            object.__setattr__(self, "max_weight", limits.size(max_weight=self.max_weight))
        if self.person is not None:
            _checks.instance(Contributions, person=self.person)
        if isinstance(self.person, Share) and self.largest_weight > LARGEST_SHARED:
            raise InputError("max_weight must be at most 2**20 where persons share their weight.")
        if not math.isfinite(self.features.reach(self.n_features)):
            raise InputError("rows need a bounded set; declare a ball or a box for the features.")

    @property
    def largest_weight(self) -> float:
        """How often a row may count, as declared; once if rows carry no weight."""
        return 1.0 if self.max_weight is None else self.max_weight

    @property
    def has_weights(self) -> bool:
        """Whether opened rows carry weights: declared ones, or what their person leaves them."""
        return self.max_weight is not None or isinstance(self.person, Share)

    @property
    def row_weight(self) -> float:
        """How often a row counts in a sum, at most: what overflow and rounding rest on."""
        declared = self.largest_weight
        return declared if self.person is None else self.person.row_weight(declared)

    @property
    def unit_weight(self) -> float:
        """How often the rows of whoever is protected count together, at most."""
        declared = self.largest_weight
        return declared if self.person is None else self.person.unit_weight(declared)

    @property
    def most_units(self) -> float:
        """How often all rows count together, at most, over ``unit_weight``."""
        return self.max_rows * (self.row_weight / self.unit_weight)

    @property
    def has_one_row_each(self) -> bool:
        """Whether whoever is protected has one row, whose rounding is bounded by itself."""
        return self.person in (None, ONE_EACH)

    @property
    def rank(self) -> int:
        """In how many directions the rows of whoever is protected can point."""
        return 1 if self.person is None else self.person.rank(self.width)

    @property
    def width(self) -> int:
        """The number of columns, intercept included."""
        return self.n_features + (self.intercept is not None)

    def row_norm(self, order: float = 2) -> float:
        """Bound the norm of a clipped row, intercept included."""
        return self.norm_within(self.features, self.n_features, order)

    def norm_within(self, region: ConvexSet, count: int, order: float = 2) -> float:
        """Bound the norm of ``count`` entries clipped to a set, intercept included.

        Parameters
        ----------
        region
            The set that the entries are clipped to.
        count
            How many entries there are.
        order
            Of the norm: 1, 2 or infinity.
        """
        reach = region.reach(count, order) * CLIPPING_SLACK
        column = self.intercept or 0.0
        if order == 1:
            return reach + column
        return max(reach, column) if order == math.inf else math.hypot(reach, column) * (1 + 1e-15)

    def row_distance(self, order: float = 2) -> float:
        """Bound the distance of two clipped rows; the intercept column cancels."""
        return self.features.diameter(self.n_features, order) * CLIPPING_SLACK

"""Which few columns together predict the labels: all subsets, and what a LASSO uses."""

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
        _check_label_range(self.bounds.labels, "a choice of subsets")
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
        return _label_range_of(self.bounds.labels)

    @property
    def coefficients(self) -> int:
        """How many coefficients a model has, its constant included."""
        return self.size + bool(self.has_constant)

    @property
    def largest_loss(self) -> float:
        """The largest half squared error of one record."""
        return (1 + self.coefficients * self.coefficient) ** 2 / 2


def _label_range_of(labels: Labels | None) -> Interval:
    """Return the least range that holds all labels."""
    if isinstance(labels, Interval):
        return labels
    values = labels.values if isinstance(labels, LabelSet) else (0.0,)
    return Interval(min(values), max(values))


def _check_label_range(labels: Labels | None, name: str) -> None:
    """Refuse several classes, and a range of labels that is too small to be scaled to [-1, 1]."""
    if isinstance(labels, LabelSet) and len(labels.values) > 2:
        raise InputError(f"{name} is for numbers or two classes.")
    within = _label_range_of(labels)
    if not within.high - within.low >= SMALLEST:
        raise InputError(f"{name} needs labels that differ, by {SMALLEST:g} at least.")


USUAL_COEFFICIENT = 8.0
"""No column as wide as ``curvature`` asks for needs a larger one: labels are at most one."""

LEAST, MOST = 1e-6, 1e12
"""Between these every constant is a whole number of steps of the arithmetic that never fails."""


@dataclass(frozen=True)
class LassoSupport(Question):
    r"""The columns with a coefficient in a sparse regression, at most ``size`` of them.

    Entries and labels are scaled to [-1, 1] by their declared ranges; the coefficients minimise

    .. math:: \sum_i \psi_h(y_i - \langle x_i, \theta\rangle) + \frac{\mu}{2} \|\theta\|_2^2
              + \Lambda \|\theta\|_1,

    Huber's loss with a threshold of h, summed over the rows and never divided by their number, and
    a small ridge :math:`\mu = \kappa/16`, thanks to which every table has one minimiser. A constant
    is left out of the last sum.

    Parameters
    ----------
    bounds
        Of rows, with labels that are numbers or two classes. No intercept, no weights.
    size
        The largest number of columns; a minimiser with more has no stable answer.
    penalty
        :math:`\Lambda`, in the scale of sums over rows.
    curvature
        :math:`\kappa`, the least curvature that the rows must have on the chosen columns: less than
        the sum of squares of a column.
    ceiling
        The largest sum of squares of any column; a table beyond has no stable answer.
    threshold
        h, up to which a residual counts squared. None for squares alone, which is the same as a
        threshold that no residual of bounded coefficients exceeds.
    coefficient
        The largest absolute value of a coefficient; a minimiser beyond has no stable answer. None
        for 8, and for 1 if there is no threshold.
    has_constant
        Whether there is a constant, which costs nothing and does not count.
    assumed
        What whoever asks took as public because it was found in the data, in words.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> bounds = Bounds(LinfBall(1.0), n_features=1000, labels=Interval(-1, 1))
    >>> question = LassoSupport(bounds, 3, penalty=80.0, curvature=200.0, ceiling=3200.0)
    >>> question.slope, question.ridge
    (0.25, 12.5)
    >>> LassoSupport(bounds, 3, 80.0, 200.0, 3200.0, threshold=None).slope
    5.0
    """

    bounds: Bounds
    size: int
    penalty: float
    curvature: float
    ceiling: float
    threshold: float | None = 0.25
    coefficient: float | None = None
    has_constant: bool = True
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        check_plain(self.bounds, "a LASSO")
        _checks.whole(size=self.size, at_least=1, at_most=self.bounds.n_features)
        object.__setattr__(self, "size", int(self.size))
        for name in ("penalty", "curvature", "ceiling", "threshold", "coefficient"):
            value = getattr(self, name)
            if value is None and name in ("threshold", "coefficient"):
                continue
            number = _checks.positive_number(**{name: value})
            if not LEAST <= number <= MOST:
                raise InputError(f"{name} must be between {LEAST:g} and {MOST:g}; got {number}.")
            object.__setattr__(self, name, number)
        if not self.curvature < self.ceiling:
            raise InputError(
                "curvature must be below ceiling, since no column curves by more than its squares "
                f"sum to; got {self.curvature} and {self.ceiling}."
            )
        _checks.truth(has_constant=self.has_constant)
        _check_label_range(self.bounds.labels, "a LASSO")

    @property
    def label_range(self) -> Interval:
        """The range of labels, which is scaled to [-1, 1]."""
        return _label_range_of(self.bounds.labels)

    @property
    def largest_coefficient(self) -> float:
        """What no coefficient of a stable answer exceeds."""
        if self.coefficient is not None:
            return self.coefficient
        return 1.0 if self.threshold is None else USUAL_COEFFICIENT

    @property
    def coefficients(self) -> int:
        """How many coefficients a stable answer has at most, that of the constant included."""
        return self.size + bool(self.has_constant)

    @property
    def slope(self) -> float:
        """The threshold in use, which is the steepest slope of the loss of a row."""
        if self.threshold is not None:
            return self.threshold
        return 1.0 + self.coefficients * self.largest_coefficient

    @property
    def ridge(self) -> float:
        """How much every coefficient is curved beside the rows."""
        return self.curvature / 16

    @property
    def step_of_coefficients(self) -> float:
        r"""How far one record moves stable coefficients: :math:`h \sqrt q / \kappa`."""
        return self.slope * math.sqrt(self.coefficients) / self.curvature

    @property
    def step_of_products(self) -> float:
        r"""How far one record moves a column's product: :math:`h (1 + \sqrt{q N_0 / \kappa})`."""
        return self.slope * (1 + math.sqrt(self.coefficients * self.ceiling / self.curvature))

"""A learning problem: a loss summed over rows, and a ridge; every sensitivity constant of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from discreet import _checks
from discreet.errors import InputError
from discreet.losses import Loss
from discreet.penalties import Penalty
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds, Interval, LabelSet


@dataclass(frozen=True)
class Problem(Question):
    r"""Minimise the sum of losses plus a ridge, over coefficients of norm at most ``radius``.

    .. math:: \sum_i f(\langle x_i, w \rangle; y_i) + \frac{\Lambda}{2} \|w\|^2, \quad \|w\| \le B

    It is a sum, never a mean: the number of rows is not divided by, because it may be private. The
    intercept, if the bounds declare one, is an ordinary column and is penalised like the others.

    Parameters
    ----------
    loss
        A convex loss of the label and the margin.
    bounds
        What is declared about rows and labels.
    ridge
        :math:`\Lambda`, the strength of the penalty; positive.
    penalty
        A further convex penalty, or a constraint as :class:`~discreet.penalties.Indicator`.
    radius
        A public bound on the norm of the coefficients; infinite by default. Mechanisms that need
        a finite one choose it far away.
    assumed
        What whoever stated the problem took as public, such as the classes.
    largest_margin
        How large a margin coefficients may give, beyond what noise explains; larger ones are
        refused in public, and masks hide errors of that size. None for 400 times the largest label.

    Examples
    --------
    >>> from discreet.questions.bounds import LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> bounds = Bounds(L2Ball(2.0), n_features=3, labels=LabelSet([-1, 1]))
    >>> problem = Problem(Logistic(), bounds, ridge=10.0)
    >>> round(problem.row_lipschitz, 5), round(problem.row_smoothness, 5), problem.strong_convexity
    (2.0, 1.0, 10.0)
    """

    loss: Loss
    bounds: Bounds
    ridge: float
    penalty: Penalty | None = None
    radius: float = math.inf
    assumed: tuple[str, ...] = ()
    largest_margin: float | None = None

    def __post_init__(self) -> None:
        _checks.instance(Loss, loss=self.loss)
        _checks.instance(Bounds, bounds=self.bounds)
        _checks.positive(ridge=self.ridge)
        object.__setattr__(self, "ridge", float(self.ridge))  # sizes of other types round sums
        if self.penalty is not None:
            _checks.instance(Penalty, penalty=self.penalty)
        if math.isnan(self.radius) or self.radius <= 0:
            raise InputError(f"radius must be positive; got {self.radius}.")
        if self.largest_margin is not None:
            _checks.positive(largest_margin=self.largest_margin)
        check_labels(self.loss, self.bounds)

    def restate(self, bounds: Bounds) -> Problem:
        """Return the same problem about rows within other bounds, but for the labels."""
        return replace(self, bounds=replace(bounds, labels=self.bounds.labels))

    @property
    def width(self) -> int:
        """How many coefficients there are, the intercept's included."""
        return self.bounds.width

    @cached_property
    def reach(self) -> float:
        """The largest margin that coefficients within the radius can give a row."""
        return self.row_norm * min(self.radius, self.domain_radius)

    @property
    def domain_radius(self) -> float:
        """The largest norm of coefficients that the penalty allows."""
        return math.inf if self.penalty is None else self.penalty.radius(self.bounds.width)

    @cached_property
    def row_norm(self) -> float:
        """The largest Euclidean norm of a row, intercept included."""
        return self.bounds.row_norm()

    @cached_property
    def lipschitz(self) -> float:
        """The largest slope of the loss, times the weight of whoever is protected."""
        return self.loss.lipschitz(self.reach) * self.bounds.unit_weight

    @cached_property
    def smoothness(self) -> float:
        """The largest curvature of the loss, times the weight of whoever is protected."""
        return self.loss.smoothness(self.reach) * self.bounds.unit_weight

    @property
    def row_lipschitz(self) -> float:
        """The largest norm of a gradient of whoever is protected."""
        return self.lipschitz * self.row_norm

    @property
    def largest_slope(self) -> float:
        """The largest entry of a gradient of whoever is protected."""
        return self.lipschitz * self.bounds.row_norm(math.inf)

    @property
    def row_smoothness(self) -> float:
        """The largest curvature that whoever is protected adds in any direction."""
        return self.smoothness * self.row_norm**2

    @property
    def strong_convexity(self) -> float:
        """The least curvature of the whole objective."""
        return self.ridge

    @property
    def log_ratio(self) -> float:
        r""":math:`r \ln(1 + \beta R^2/(r \Lambda))`: what one can do to the volume element.

        The curvature of a row is in one direction, r = 1. That of a person may be in r of them, and
        does most if these share evenly what the rows weigh together.
        """
        rank = self.bounds.rank
        return rank * math.log1p(self.row_smoothness / (rank * self.ridge)) * (1 + 1e-15)

    @property
    def joint(self) -> float | None:
        r""":math:`\kappa_0 R^2/\Lambda` for jointly smooth losses; None for others.

        Joint smoothness is stated with the largest slope over all margins, so it may not be used
        with a smaller one.
        """
        smooth, slope = self.loss.joint_smoothness, self.loss.lipschitz(self.reach)
        if smooth is None or slope < self.loss.lipschitz(math.inf):
            return None
        # A weight w <= W keeps the inequality: w (1 - q) <= W (1 - w q / W).
        smooth *= self.bounds.unit_weight
        return smooth * self.row_norm**2 / self.ridge * (1 + 1e-15)


def check_labels(loss: Loss, bounds: Bounds) -> None:
    """Raise unless the declared labels are of the kind that the loss is for."""
    labels = bounds.labels
    if labels is None:
        raise InputError("a learning problem needs labels; declare them in the bounds.")
    if loss.is_classifier:
        if labels != LabelSet([-1, 1]):
            raise InputError("a classification loss needs the labels -1 and 1; declare them.")
        return
    if not isinstance(labels, Interval):
        raise InputError("a regression loss needs an interval of labels; declare it.")
    low, high = loss.label_range
    if not (low <= labels.low and labels.high <= high):
        raise InputError(
            f"{loss!r} is for labels between {low} and {high}; the bounds declare "
            f"{labels.low} to {labels.high}."
        )

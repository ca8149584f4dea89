"""Learning problems whose answer is sparse: an l1 ball, or a number of coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.losses import Loss
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds
from discreet.questions.problem import check_labels

MOST_SUMMED_ROWS = 2**34
"""With more rows a sum of products of integers may not fit 64 bits."""


@dataclass(frozen=True)
class L1Problem(Question):
    r"""Minimise the sum of losses over coefficients of bounded absolute sum: a lasso.

    .. math:: \sum_i f(\langle x_i, w \rangle; y_i), \quad \|w\|_1 \le c

    Parameters
    ----------
    loss
        A convex loss of the label and the margin, whose slope is bounded in the ball.
    bounds
        What is declared about rows and labels; no weights. A constant column may be as large as an
        entry for nothing, since the largest entry of a row is what counts.
    radius
        What absolute values of coefficients sum to at most, the intercept's included.
    assumed
        What whoever asks took as public because it was found in the data, in words.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> from discreet.losses import Squared
    >>> from discreet.questions import Interval
    >>> bounds = Bounds(LinfBall(1.0), n_features=1000, labels=Interval(-1, 1))
    >>> problem = L1Problem(Squared(1.0), bounds, radius=2.0)
    >>> round(problem.lipschitz, 4), round(problem.curvature, 4)
    (3.0, 16.0)
    """

    loss: Loss
    bounds: Bounds
    radius: float
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_stated(self.loss, self.bounds)
        object.__setattr__(self, "radius", limits.size(radius=self.radius))
        if not math.isfinite(self.lipschitz):
            raise InputError(f"{self.loss!r} has no bounded slope in this ball; use another loss.")

    @property
    def entry_bound(self) -> float:
        """The largest entry of a row, the constant column included."""
        return self.bounds.row_norm(math.inf)

    @property
    def lipschitz(self) -> float:
        """The largest slope of the loss at margins of coefficients in the ball."""
        return self.loss.lipschitz(self.entry_bound * self.radius)

    @property
    def curvature(self) -> float:
        """How far one row's loss can be above its tangent within the ball, twice."""
        bend = self.loss.smoothness(self.entry_bound * self.radius)
        return bend * (2 * self.radius * self.entry_bound) ** 2


@dataclass(frozen=True)
class SparseProblem(Question):
    r"""Minimise the sum of losses over vectors with few coefficients that are not zero.

    .. math:: \sum_i f(\langle x_i, w \rangle; y_i), \quad \|w\|_0 \le s, \quad \|w\|_2 \le B

    Parameters
    ----------
    loss
        A convex loss of the label and the margin with a bounded slope, such as
        :class:`~discreet.losses.Huber`, which is a squared loss of clipped residuals.
    bounds
        What is declared about rows and labels; no weights.
    size
        How many coefficients may differ from zero, the intercept's one of them.
    radius
        The largest Euclidean norm of coefficients.
    assumed
        What whoever asks took as public because it was found in the data, in words.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> from discreet.losses import Huber
    >>> from discreet.questions import Interval
    >>> bounds = Bounds(LinfBall(1.0), n_features=1000, labels=Interval(-1, 1))
    >>> SparseProblem(Huber(0.5), bounds, size=5, radius=2.0).lipschitz
    0.5
    """

    loss: Loss
    bounds: Bounds
    size: int
    radius: float
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_stated(self.loss, self.bounds)
        _checks.whole(size=self.size, at_least=1, at_most=self.bounds.width)
        object.__setattr__(self, "size", int(self.size))
        object.__setattr__(self, "radius", limits.size(radius=self.radius))
        if not math.isfinite(self.lipschitz):
            raise InputError(f"{self.loss!r} has no bounded slope; use Huber or Logistic.")

    @property
    def entry_bound(self) -> float:
        """The largest entry of a row, the constant column included."""
        return self.bounds.row_norm(math.inf)

    @property
    def lipschitz(self) -> float:
        """The largest slope of the loss."""
        return self.loss.lipschitz(math.inf)


def _check_stated(loss: Loss, bounds: Bounds) -> None:
    """Raise unless the rows have labels of the loss, no weights, and are not too many."""
    _checks.instance(Loss, loss=loss)
    _checks.instance(Bounds, bounds=bounds)
    check_labels(loss, bounds)
    if bounds.max_weight is not None:
        raise InputError("a sparse problem is of rows that count once; declare no weights.")
    if bounds.max_rows > MOST_SUMMED_ROWS:
        raise InputError("a sparse problem is of 2**34 rows at most; declare a smaller max_rows.")

"""What a kernel model predicts at points that somebody asks about, one after another."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet import _checks
from discreet._types import Array
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.kernels import BoundedKernel
from discreet.losses import Loss
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds, Interval, LabelSet
from discreet.questions.problem import check_labels

MOST_ROWS = 10**6
"""Rows that a kernel model is fitted to, at most."""

MOST_ANSWERS = 20_000
"""The factor of so many answers takes 3 GB."""


@dataclass(frozen=True)
class KernelQueries(Question):
    r"""Predictions of a kernel model at points that may depend on earlier predictions.

    .. math:: \hat w = \arg\min_w \sum_i f(\langle w, \phi(x_i) \rangle; y_i)
        + \frac{\Lambda}{2} \|w\|^2, \qquad \text{asked: } \langle \hat w, \phi(z) \rangle

    The objective is a sum, never a mean: the number of rows may be private. What stands in for an
    intercept is the constant of the kernel.

    Parameters
    ----------
    loss
        A convex loss of the label and the prediction, with a bounded slope.
    bounds
        What is declared about rows and labels; without intercept and weights. Points that are asked
        about are clipped to the same set.
    ridge
        :math:`\Lambda`, the strength of the penalty; positive.
    kernel
        The kernel, and the radius to which each point's feature vector is clipped.
    max_answers
        So many different points are answered with new noise, at most.
    points
        Public points, for a release of the answers to them, in their order; a live oracle needs
        none.
    assumed
        What whoever asks took as public because it was found in the data, in words.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF
    >>> from discreet.losses import Logistic
    >>> from discreet.questions import LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=2, labels=LabelSet([-1, 1]), max_rows=10_000)
    >>> kernel = BoundedKernel(RBF(gamma=2.0), radius=1.0)
    >>> queries = KernelQueries(Logistic(), bounds, ridge=50.0, kernel=kernel, max_answers=100)
    >>> round(queries.row_lipschitz, 5), queries.points
    (1.0, ())
    """

    loss: Loss
    bounds: Bounds
    ridge: float
    kernel: BoundedKernel
    max_answers: int
    points: tuple[tuple[float, ...], ...] = ()
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _checks.instance(Loss, loss=self.loss)
        _checks.instance(Bounds, bounds=self.bounds)
        _checks.instance(BoundedKernel, kernel=self.kernel)
        object.__setattr__(self, "ridge", limits.size(ridge=self.ridge))
        _checks.whole(max_answers=self.max_answers, at_least=1, at_most=MOST_ANSWERS)
        object.__setattr__(self, "max_answers", int(self.max_answers))
        check_labels(self.loss, self.bounds)
        if self.bounds.intercept is not None or self.bounds.max_weight is not None:
            raise InputError(
                "a kernel model has no column of ones and no weights; declare the constant of a "
                "BoundedKernel in the place of an intercept."
            )
        _checks.whole(max_rows=self.bounds.max_rows, at_least=1, at_most=MOST_ROWS)
        if not math.isfinite(self.loss.lipschitz(math.inf)):
            raise InputError(
                f"{self.loss!r} has no bounded slope; use a robust loss such as Huber."
            )
        _checks.instance(tuple, points=self.points)
        given = tuple(tuple(float(entry) for entry in point) for point in self.points)
        object.__setattr__(self, "points", given)
        if given:
            self.accept(np.array(given))

    @property
    def lipschitz(self) -> float:
        """The largest slope of the loss."""
        return float(self.loss.lipschitz(math.inf))

    @property
    def row_norm(self) -> float:
        """The largest norm of a feature vector."""
        return self.kernel.reach

    @property
    def row_lipschitz(self) -> float:
        """The largest norm of one row's gradient."""
        return self.lipschitz * self.row_norm

    @property
    def norm_bound(self) -> float:
        r"""The largest norm of a minimiser, for as many rows n as are declared.

        It is :math:`n L R / \Lambda`, since slopes balance the ridge, and of losses that are not
        negative :math:`\sqrt{2 n f(0) / \Lambda}`, since zero is no better than the minimiser.
        """
        most = self.bounds.max_rows * self.row_lipschitz / self.ridge
        if self.loss.is_nonnegative and isinstance(self.bounds.labels, Interval | LabelSet):
            labels = self.bounds.labels
            ends = labels.values if isinstance(labels, LabelSet) else (labels.low, labels.high)
            at_zero = float(np.max(self.loss.value(np.array(ends), np.zeros(len(ends)))))
            most = min(most, math.sqrt(2 * self.bounds.max_rows * at_zero / self.ridge))
        return limits.round_up(most)

    @property
    def reach(self) -> float:
        """The largest prediction that a minimiser can make."""
        return limits.round_up(self.norm_bound * self.row_norm)

    def accept(self, points: Array) -> Array:
        """Return points as they are asked about: within the declared set, minus zero as zero.

        What is refused depends on the points alone, which are public.

        Parameters
        ----------
        points
            One a row.

        Raises
        ------
        InputError
            The number of columns is another one, an entry is not finite, or the kernel is not
            defined there.
        """
        points = np.array(points, dtype=np.float64)
        width = self.bounds.n_features
        if points.ndim != 2 or points.shape[1] != width:
            raise InputError(f"points must be rows of {width} numbers; got shape {points.shape}.")
        if not np.isfinite(points).all():
            raise InputError("points must be finite numbers.")
        if not len(points):
            return points
        clipped, scale = self.bounds.features.clip_rows(points)
        return self.kernel.check_points(clipped * scale[:, None] + 0.0)

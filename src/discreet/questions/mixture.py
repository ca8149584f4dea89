"""Non-negative coefficients of a given total, learnt from rows: how to mix columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.losses import Loss
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds
from discreet.questions.problem import check_labels


@dataclass(frozen=True)
class Mixture(Question):
    r"""Minimise a sum of losses, less an entropy, over shares of a total.

    .. math:: \sum_i f(B \langle x_i, \theta \rangle; y_i) + \lambda \sum_j \theta_j \ln \theta_j,
              \quad \theta_j \ge 0, \quad \sum_j \theta_j = 1

    What is released stands for the coefficients :math:`B \theta`. It is a sum, never a mean: the
    number of rows is not divided by, because it may be private.

    Parameters
    ----------
    loss
        A convex, smooth loss of the label and the margin.
    bounds
        What is declared about rows and labels. What counts is the largest absolute entry of a row.
    total
        B, the sum of the coefficients.
    entropy
        :math:`\lambda`, how strongly even shares are preferred; None for the rule of the
        mechanism.
    expected_rows
        A public guess at the number of rows, for that rule; it changes accuracy, never privacy.
    assumed
        What whoever stated the problem took as public.

    Examples
    --------
    >>> from discreet.questions.bounds import Interval
    >>> from discreet.geometry import LinfBall
    >>> from discreet.losses import Squared
    >>> bounds = Bounds(LinfBall(1.0), n_features=5, labels=Interval(-1, 1))
    >>> mixture = Mixture(Squared(label_bound=1.0), bounds)
    >>> round(mixture.reach, 5), round(mixture.row_lipschitz, 5), round(mixture.row_smoothness, 5)
    (1.0, 2.0, 1.0)
    """

    loss: Loss
    bounds: Bounds
    total: float = 1.0
    entropy: float | None = None
    expected_rows: int | None = None
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _checks.instance(Loss, loss=self.loss)
        _checks.instance(Bounds, bounds=self.bounds)
        object.__setattr__(self, "total", limits.size(total=self.total))
        if self.entropy is not None:
            object.__setattr__(self, "entropy", limits.size(entropy=self.entropy))
        if self.expected_rows is not None:
            _checks.whole(expected_rows=self.expected_rows, at_least=1)
        check_labels(self.loss, self.bounds)
        if self.bounds.intercept is not None:
            raise InputError("shares are of columns; declare no intercept.")

    @cached_property
    def reach(self) -> float:
        """The largest margin of a row: total times the largest absolute entry."""
        return self.total * self.bounds.row_norm(math.inf) * (1 + 1e-15)

    @cached_property
    def lipschitz(self) -> float:
        """The largest slope of the loss, times the weight of whoever is protected."""
        return self.loss.lipschitz(self.reach) * self.bounds.unit_weight

    @cached_property
    def smoothness(self) -> float:
        """The largest curvature of the loss, times the weight of whoever is protected."""
        return self.loss.smoothness(self.reach) * self.bounds.unit_weight

    @cached_property
    def row_lipschitz(self) -> float:
        """The largest entry of a gradient of whoever is protected, in the shares."""
        return self.lipschitz * self.reach * (1 + 1e-15)

    @cached_property
    def row_smoothness(self) -> float:
        """The largest curvature of whoever is protected, for shares one apart in l1."""
        return self.smoothness * self.reach**2 * (1 + 1e-15)

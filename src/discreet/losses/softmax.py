"""The softmax loss of several classes, which may ask for a margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax

from discreet import _checks
from discreet._types import Array, Booleans, Vector
from discreet.losses.base import Loss
from discreet.losses.logistic import Logistic
from discreet.losses.margin_logistic import MarginLogistic


@dataclass(frozen=True)
class MarginSoftmax:
    r"""The logistic loss of several classes at once; classes are 0, 1, ...

    With :math:`z_k` the margin of class k, the loss of a row of class y is

    .. math:: \ell(y, z) = \log\Big(1 + \sum_{k \ne y} e^{m + z_k - z_y}\Big)

    Notes
    -----
    The slope along :math:`z_k` is :math:`s_k = q_k - [k = y]`, q being the softmax of the margins
    with m taken off that of y. Since :math:`\sum_{k \ne y} q_k^2 \le (1 - q_y)^2`, all slopes
    together have norm at most :math:`\sqrt 2 (1 - q_y) \le \sqrt 2`.

    Probabilities: with :math:`a_k = e^{z_k}` and :math:`D_k = a_k + e^m \sum_{j \ne k} a_j`, the
    slopes of all classes, each times its probability, vanish at :math:`p_k \propto a_k D_k`. These
    have the order of the margins.

    Examples
    --------
    >>> loss = MarginSoftmax()
    >>> margins, labels = np.array([[0.0, 9.0], [0.0, 0.0], [0.0, 0.0]]), np.array([1.0, 1.0])
    >>> loss.slopes(margins, labels).round(2)
    array([[ 0.33,  1.  ],
           [-0.67, -1.  ],
           [ 0.33,  0.  ]])
    >>> loss.probability(np.array([[0.0], [0.0], [0.0]])).ravel().round(2)
    array([0.33, 0.33, 0.33])
    """

    margin: float = 0.0

    def __post_init__(self) -> None:
        _checks.not_negative(margin=self.margin)
        object.__setattr__(self, "margin", float(self.margin))

    def value(self, margins: Array, labels: Vector) -> Vector:
        """Return the loss of each row; margins are classes x rows."""
        own = _own(margins, labels)
        shifted = np.where(own, margins - self.margin, margins)
        values: Vector = logsumexp(shifted, axis=0) - shifted.sum(axis=0, where=own)
        return values

    def slopes(
        self, margins: Array, labels: Vector, *, exponentials: type[np.floating[Any]] = np.float64
    ) -> Array:
        """Return the slope along each margin, classes x rows.

        The slopes of a row are, to the last bit, a function of its margins and its class: every
        operation is elementwise, but for a largest and for a sum in the order of classes.
        """
        own = labels.astype(np.intp), np.arange(labels.size)
        chances = np.array(margins, dtype=np.float64, order="C")
        chances[own] -= self.margin
        chances -= chances.max(axis=0)
        with np.errstate(under="ignore", over="ignore"):
            powers = chances.astype(exponentials, copy=False)
            np.exp(powers, out=powers)
            chances[...] = powers
            total = np.zeros(chances.shape[1])
            for each in chances:
                total += each
            chances /= total
        chances[own] -= 1.0
        return chances

    def probability(self, margins: Array) -> Array:
        """Return the chances of classes for which the margins have the smallest expected loss."""
        top = margins - margins.max(axis=0)
        with np.errstate(divide="ignore", under="ignore"):
            sizes = np.exp(top)
            others = np.log(np.maximum(sizes.sum(axis=0) - sizes, 0.0))
            chances: Array = softmax(top + np.logaddexp(top, self.margin + others), axis=0)
        return chances


def softmax_of(loss: Loss) -> MarginSoftmax | None:
    """Return the loss of several classes that a loss of two is the case of, None if there is none.

    Examples
    --------
    >>> softmax_of(MarginLogistic(2.0))
    MarginSoftmax(margin=2.0)
    """
    if isinstance(loss, MarginLogistic):
        return MarginSoftmax(loss.margin)
    return MarginSoftmax() if isinstance(loss, Logistic) else None


def _own(margins: Array, labels: Vector) -> Booleans:
    """Say which class each row is of: classes x rows."""
    own: Booleans = np.arange(margins.shape[0])[:, None] == labels
    return own

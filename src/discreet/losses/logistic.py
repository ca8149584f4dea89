"""Logistic losses, of two classes and of several, which may ask for a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, log_expit, logsumexp, softmax

from discreet import _checks
from discreet._types import Array, Booleans, Vector
from discreet.geometry.limits import round_up
from discreet.losses.base import Loss, ProbabilisticLoss


@dataclass(frozen=True)
class Logistic(ProbabilisticLoss):
    r"""Logistic loss for labels in {-1, +1}.

    .. math:: \ell(y, z) = \log(1 + e^{-yz})

    Notes
    -----
    With s the logistic function, the absolute slope is s(-yz), largest at yz = -reach and below 1;
    the curvature s(1 - s) peaks at z = 0 with value 1/4.

    Joint smoothness: s(1 - s) <= 1 - s, so kappa0 = 1, approached as yz goes to minus infinity.

    Self-concordance: the third derivative is s(1 - s)(1 - 2s) in absolute value, so M = 1.

    References
    ----------
    Bach (2010), Self-concordant analysis for logistic regression.

    Examples
    --------
    >>> float(Logistic().slope(1.0, 0.0))
    -0.5
    >>> float(Logistic().probability(0.0))
    0.5
    """

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = True
    is_one_signed: ClassVar[bool] = True
    joint_smoothness: ClassVar[float] = 1.0
    self_concordance: ClassVar[float] = 1.0

    def value(self, y: Array, z: Array) -> Array:
        values: Array = np.logaddexp(0.0, -y * z)
        return values

    def slope(self, y: Array, z: Array) -> Array:
        return -y * expit(-y * z)

    def curvature(self, y: Array, z: Array) -> Array:
        return expit(y * z) * expit(-y * z)

    def probability(self, z: Array) -> Array:
        return expit(z)

    def slope_and_curvature(self, y: Array, z: Array) -> tuple[Array, Array]:
        with np.errstate(over="ignore"):
            steepness = np.reciprocal(1 + np.exp(y * z))
        return -y * steepness, steepness * (1 - steepness)

    def _lipschitz(self, reach: float) -> float:
        return min(1.0, round_up(float(expit(reach))))

    def _smoothness(self, reach: float) -> float:
        return 0.25


@dataclass(frozen=True)
class MarginLogistic(ProbabilisticLoss):
    r"""Logistic loss that charges for margins below m, for labels in {-1, +1}.

    .. math:: \ell(y, z) = \log(1 + e^{m - yz})

    Parameters
    ----------
    margin : float
        The margin m, zero or more; zero is logistic regression.

    Notes
    -----
    Noise is calibrated to the largest slope, 1. Noise and penalty keep margins small, where the
    slope of the logistic loss is 1/2 and that of this one, with m = 2, is 0.88: the same noise
    hides a larger signal.

    With s the logistic function, the absolute slope is s(m - yz), largest at yz = -reach; the
    curvature s(1 - s) peaks at yz = m with value 1/4, or at yz = reach if m is out of reach.
    Shifting z changes neither inequality of the logistic loss: kappa0 = 1 and M = 1.

    Probabilities: p times the slope for +1 plus 1 - p times the slope for -1 vanishes at
    :math:`p = s(m + z) / (s(m + z) + s(m - z))`, computed as
    :math:`s(\log s(m + z) - \log s(m - z))`. It is not s(z).

    References
    ----------
    Reid, Williamson (2010), Composite binary losses.

    Examples
    --------
    >>> loss = MarginLogistic(margin=2.0)
    >>> round(float(loss.slope(1.0, 0.0)), 2)
    -0.88
    >>> loss.probability(np.array([-2.0, 0.0, 2.0])).round(2)
    array([0.34, 0.5 , 0.66])
    """

    is_nonnegative: ClassVar[bool] = True
    is_classifier: ClassVar[bool] = True
    is_one_signed: ClassVar[bool] = True
    joint_smoothness: ClassVar[float] = 1.0
    self_concordance: ClassVar[float] = 1.0

    margin: float = 2.0

    def __post_init__(self) -> None:
        _checks.not_negative(margin=self.margin)
        object.__setattr__(self, "margin", float(self.margin))

    def value(self, y: Array, z: Array) -> Array:
        values: Array = np.logaddexp(0.0, self.margin - y * z)
        return values

    def slope(self, y: Array, z: Array) -> Array:
        return -y * expit(self.margin - y * z)

    def curvature(self, y: Array, z: Array) -> Array:
        shortfall = self.margin - y * z
        return expit(shortfall) * expit(-shortfall)

    def probability(self, z: Array) -> Array:
        return expit(log_expit(self.margin + z) - log_expit(self.margin - z))

    def _lipschitz(self, reach: float) -> float:
        return min(1.0, round_up(float(expit(self.margin + reach))))

    def _smoothness(self, reach: float) -> float:
        # Rounded towards the peak, so that the curvature there is no smaller than the true one.
        shortfall = max(math.nextafter(self.margin - reach, 0.0), 0.0)
        return min(0.25, round_up(float(expit(shortfall) * expit(-shortfall))))


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
    """Return the loss of several classes that a loss of two is the case of, None if none is."""
    if isinstance(loss, MarginLogistic):
        return MarginSoftmax(loss.margin)
    return MarginSoftmax() if isinstance(loss, Logistic) else None


def _own(margins: Array, labels: Vector) -> Booleans:
    """Say which class each row is of: classes x rows."""
    own: Booleans = np.arange(margins.shape[0])[:, None] == labels
    return own

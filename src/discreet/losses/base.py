"""The interface of a loss."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

from discreet import _checks
from discreet._types import Array


class Loss(ABC):
    r"""A loss :math:`\ell(y, z)` of the label y and the margin z = x.w, convex in z.

    Notes
    -----
    A loss is a public value: frozen, hashable, printable. ``value``, ``slope`` and ``curvature``
    work elementwise on float64 arrays that broadcast (numbers will do), and read no label or
    margin in any other way. They stay silent and are never NaN for margins up to 1e300 and labels
    up to 1e100; a value too large for a float is infinite.

    The constants hold for labels within ``label_range``: -1 and +1 for classifiers, up to the
    declared ``label_bound`` where there is one, any finite number otherwise. The caller clips
    labels; the loss does not. A claim that a loss does not make is false: the safe answer is the
    default.

    Examples
    --------
    >>> from discreet.losses import Hinge, Huber, Logistic
    >>> def can_perturb_objective(loss: Loss) -> bool:
    ...     return loss.is_smooth and math.isfinite(loss.lipschitz(math.inf))
    >>> [can_perturb_objective(loss) for loss in (Logistic(), Huber(1.0), Hinge())]
    [True, True, False]
    """

    @abstractmethod
    def value(self, y: Array, z: Array) -> Array:
        """Return the loss."""

    @abstractmethod
    def slope(self, y: Array, z: Array) -> Array:
        """Return the derivative in the margin, or a subgradient where there is none."""

    @abstractmethod
    def curvature(self, y: Array, z: Array) -> Array:
        """Return the second derivative in the margin, where it exists."""

    def slope_and_curvature(self, y: Array, z: Array) -> tuple[Array, Array]:
        """Return both derivatives, for less than the cost of each where they share work."""
        return self.slope(y, z), self.curvature(y, z)

    def lipschitz(self, reach: float) -> float:
        """Return the largest absolute slope over margins within ``reach``, never rounded below."""
        _check_reach(reach)
        return self._lipschitz(reach)

    def smoothness(self, reach: float) -> float:
        """Return the largest curvature over margins within ``reach``, never rounded below.

        Infinite for a loss with a kink, whether or not the kink is within reach.
        """
        _check_reach(reach)
        return self._smoothness(reach)

    @property
    def is_smooth(self) -> bool:
        """Whether the slope is continuous and the curvature bounded."""
        return math.isfinite(self._smoothness(math.inf))

    @property
    @abstractmethod
    def is_classifier(self) -> bool:
        """Whether labels are -1 and +1, and the loss a function of their product with z."""

    @property
    def label_range(self) -> tuple[float, float]:
        """The smallest and largest label for which the constants hold."""
        return (-1.0, 1.0) if self.is_classifier else (-math.inf, math.inf)

    is_one_signed: ClassVar[bool] = False
    """Whether the label alone fixes the sign of the slope."""

    is_nonnegative: ClassVar[bool] = False
    """Whether no value is below zero, and values are convex in the label too."""

    @property
    def joint_smoothness(self) -> float | None:
        r"""A number :math:`\kappa_0` that trades curvature for slope, or None.

        .. math:: \ell''(y, z) \le \kappa_0 \, (1 - |\ell'(y, z)| / L) \quad \text{for all } y, z

        Here L is ``lipschitz(math.inf)``. The inequality fails with the smaller bound of a limited
        reach, so a calibration that uses this number must use that L.
        """
        return None

    @property
    def self_concordance(self) -> float | None:
        r"""A number M with :math:`|\ell'''| \le M \ell''` everywhere, or None."""
        return None

    @abstractmethod
    def _lipschitz(self, reach: float) -> float: ...

    @abstractmethod
    def _smoothness(self, reach: float) -> float: ...


class ProbabilisticLoss(Loss):
    """A classification loss whose margins stand for probabilities.

    Examples
    --------
    >>> from discreet.losses import Logistic, MarginLogistic
    >>> def odds(loss: ProbabilisticLoss, z: float) -> float:
    ...     p = float(loss.probability(z))
    ...     return round(p / (1 - p), 2)
    >>> [odds(Logistic(), 1.0), odds(MarginLogistic(), 1.0)]
    [2.72, 1.3]
    """

    @abstractmethod
    def probability(self, z: Array) -> Array:
        """Return P(y = +1) for which the margin z has the smallest expected loss."""


def _check_reach(reach: float) -> None:
    """Refuse a reach that is no bound; infinity is one."""
    if reach != math.inf:
        _checks.not_negative(reach=reach)

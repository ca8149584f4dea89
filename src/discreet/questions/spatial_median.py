"""The point with the least total distance to all rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import limits
from discreet.questions.vector_problem import VectorProblem

_UP = 1 + 1e-14


@dataclass(frozen=True)
class SpatialMedian(VectorProblem):
    r"""The geometric median, smoothed or not.

    .. math:: \min_w \sum_i \sqrt{\|w - x_i\|^2 + h^2} + \frac{\Lambda}{2} \|w\|^2

    Parameters
    ----------
    bounds
        What is declared about the rows.
    ridge
        The strength of the ridge, positive.
    penalty
        A bounded domain, such as ``Indicator(L2Ball(radius))``.
    smoothing
        The width h; zero for the distance itself, whose gradient jumps at the row.

    Notes
    -----
    At distance t the gradient has norm :math:`q = t/\sqrt{t^2 + h^2}`, and the Hessian has the
    eigenvalues :math:`\sqrt{1 - q^2}/h`, p - 1 times, and :math:`\sqrt{1 - q^2}^3/h`: where the
    slope is large, the curvature is small. So with :math:`\kappa = p/(h \Lambda)` one row costs at
    most

    .. math:: \max_q \; a q + \sum \ln(1 + e_j/\Lambda) \le \max_q \; a q + \kappa \sqrt{1 - q^2}
        = \sqrt{a^2 + \kappa^2}

    if its slope alone costs a.

    Examples
    --------
    >>> from discreet.questions.bounds import Bounds
    >>> from discreet.geometry import L2Ball
    >>> from discreet.penalties import Indicator
    >>> bounds = Bounds(L2Ball(10.0), n_features=3)
    >>> problem = SpatialMedian(bounds, 2.0, Indicator(L2Ball(10.0)), smoothing=0.5)
    >>> round(problem.bending_cost(4.0), 6)
    5.0
    """

    row_lipschitz: ClassVar[float] = 1.0

    smoothing: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.not_negative(smoothing=self.smoothing)
        if self.smoothing > 0:
            limits.size(smoothing=self.smoothing)  # its square must not vanish
        object.__setattr__(self, "smoothing", float(self.smoothing))
        if self.bounds.intercept is not None:
            raise InputError("a median of rows has no intercept; declare none.")
        if not math.isfinite(self.bounds.row_norm()):
            raise InputError("a median needs bounded rows; declare a ball or a box.")

    @property
    def width(self) -> int:
        return self.bounds.n_features

    @property
    def largest_slope(self) -> float:
        """The largest entry of one row's gradient."""
        return 1.0

    @property
    def row_smoothness(self) -> float:
        return 1 / self.smoothing * _UP if self.smoothing > 0 else math.inf

    @property
    def rank(self) -> int:
        return self.width

    def bending_cost(self, shift: float) -> float:
        together = math.hypot(shift, self.rank * self.row_smoothness / self.ridge) * _UP
        return min(together, shift + self.log_ratio)

r"""How near a point of a kernel's space surely is to the minimiser, rounding included.

Let :math:`w^*` minimise
:math:`P(w) = \sum \ell_i(\langle w, \phi_i\rangle) + \frac\Lambda2\|w\|^2`.

For slopes v within the limits of each loss put :math:`w = -\frac1\Lambda\sum v_i \phi_i` and
:math:`f_i = \langle w, \phi_i\rangle`. Then

.. math:: \Lambda \|w - w^*\|^2 \le P(w) - D(v) = \sum_i \ell_i(f_i) + \ell_i^*(v_i) - f_i v_i ,

since P lies at least :math:`\frac\Lambda2\|w - w^*\|^2` above its minimum and the dual objective D
as much below its maximum, which are equal. No sum of large numbers cancels: each term is a gap of
Fenchel and Young, computed in a form that is never negative.

*Rounding.* A computed :math:`f_i` errs by at most e. A gap is convex in f, so its largest value
within e of the computed one is at one of the two ends. What rounding does to a term itself is at
most ``TERM`` units of :math:`1 + L(|f_i| + |t_i|)`.

*Reachable.* The tolerance is public: with N for ``max_rows`` and e for its largest value over all
rows, :math:`\Lambda \xi^2 \ge 16 N (L e + \ldots)`. If the certificate fails, the largest term is
above :math:`16 L e`, so its margin is more than 8e from where its slope belongs. Moving that one
slope until the computed derivative of D is 2e (``kernel_fit.py``) increases the true D, whatever
rounding did. D increases in every step and there are finitely many floats: some step is the last,
and then the certificate holds. Faster methods are tried first; a wrong one cannot release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError
from discreet.geometry.limits import UNIT
from discreet.kernels import BoundedKernel
from discreet.losses import Loss, MarginLogistic
from discreet.solvers.kernel_duals import Dual
from discreet.solvers.kernel_matrix import product_error

AIM = 1e-4
"""The tolerance that is worth having, as a part of what one record can do to the minimiser."""

TERM = 64 * UNIT
SURELY = 16.0
MOST_ROWS = 10**6


@dataclass(frozen=True)
class KernelAccuracy:
    """How exactly a minimiser in a kernel's space can be found, from public numbers.

    Parameters
    ----------
    loss
        The loss.
    kernel
        The kernel, clipped.
    ridge
        The weight Lambda of half the squared norm, beside the *sum* of losses.
    entry_error
        How far a computed entry of the kernel is from the exact one: ``kernel.error(bounds)``.
    max_rows
        The most rows there may be, at most a million; rounding is bounded by it.
    max_label
        The largest absolute label.
    max_weight
        How much a row may count.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF
    >>> from discreet.losses import Hinge
    >>> from discreet.questions import Bounds
    >>> bounds, kernel = Bounds(L2Ball(1.0), 10), BoundedKernel(RBF(gamma=1.0), 1.0)
    >>> accuracy = KernelAccuracy(Hinge(), kernel, 50.0, kernel.error(bounds), max_rows=20_000)
    >>> round(accuracy.influence, 4), bool(accuracy.tolerance < 0.02 * accuracy.influence)
    (0.02, True)
    """

    loss: Loss
    kernel: BoundedKernel
    ridge: float
    entry_error: float
    max_rows: int
    max_label: float = 1.0
    max_weight: float = 1.0

    def __post_init__(self) -> None:
        _checks.instance(Loss, loss=self.loss)
        _checks.instance(BoundedKernel, kernel=self.kernel)
        _checks.positive(ridge=self.ridge, max_weight=self.max_weight)
        _checks.not_negative(entry_error=self.entry_error, max_label=self.max_label)
        _checks.whole(max_rows=self.max_rows, at_least=1, at_most=MOST_ROWS)
        if not math.isfinite(self.lipschitz):
            raise InputError(f"{self.loss!r} has no bound on its slope; use a Huber loss.")

    @property
    def lipschitz(self) -> float:
        """The largest slope of a row, its weight included."""
        return self.loss.lipschitz(math.inf) * self.max_weight

    @property
    def influence(self) -> float:
        """L R / Lambda: how far adding or removing one record can move the minimiser."""
        return self.lipschitz * self.kernel.reach / self.ridge * (1 + 8 * UNIT)

    @property
    def longest(self) -> float:
        """The largest norm of a minimiser, and of every point considered here."""
        return self.max_rows * self.influence

    @property
    def margin_error(self) -> float:
        """How far a computed value of the model can be from the true one, at any point."""
        return self.error_of(self.max_rows * self.lipschitz / self.ridge)

    def error_of(self, total: float) -> float:
        """Bound the error of a value if coefficients have this sum of absolute values."""
        error = product_error(self.kernel, self.entry_error, self.max_rows, total * (1 + 2.0**-30))
        return error * (1 + 2.0**-20)

    @property
    def step_error(self) -> float:
        """What rounding a slope, or its best value, can do to the margin it belongs to."""
        turn = 4 * (1 + self.max_label + self._width + self._margin)
        share = self.lipschitz * self.kernel.reach**2 / self.ridge
        return 8 * UNIT * (share + self.lipschitz * self._width + turn)

    @property
    def _width(self) -> float:
        """How much a margin has to change for the slope to change by one."""
        smoothness = self.loss.smoothness(math.inf)
        return 1 / smoothness if 0 < smoothness < math.inf else 0.0

    @property
    def _margin(self) -> float:
        """How far from zero a logistic loss is steepest."""
        return self.loss.margin if isinstance(self.loss, MarginLogistic) else 0.0

    def term_error(self, margins: Vector) -> Vector:
        """Bound what rounding does to the gap of each row, given its margin."""
        turn = 2 * (self.max_label + self._width + self._margin)
        return TERM * (self.max_weight + self.lipschitz * (np.abs(margins) + turn))

    @property
    def least_gap(self) -> float:
        """The sum of gaps that is surely reached."""
        farthest = self.longest * self.kernel.reach
        term = float(self.term_error(np.array([farthest]))[0])
        slack = self.lipschitz * (self.margin_error + self.step_error) + term
        return SURELY * self.max_rows * slack

    @property
    def tolerance(self) -> float:
        """The distance from the minimiser, in the kernel's norm, that is surely reached; public."""
        reached = math.sqrt(self.least_gap / self.ridge) + self._spacing
        return max(AIM * self.influence, reached) * (1 + 2.0**-20)

    def bound_gap(self, dual: Dual, slopes: Vector, margins: Vector) -> Vector:
        """Bound the gap of each row from above, for margins made by ``multiply_carefully``.

        Parameters
        ----------
        dual
            The losses.
        slopes
            One a row, within limits.
        margins
            The values of the model that has these slopes.
        """
        error = self.error_of(float(np.abs(slopes).sum()) / self.ridge)
        ends = dual.gaps(slopes, margins - error), dual.gaps(slopes, margins + error)
        return np.maximum(*ends) + self.term_error(margins)

    def bound_distance(self, gaps: Vector) -> float:
        """Bound the distance from the minimiser, given bounds on the gaps of all rows.

        Coefficients are slopes over Lambda, each rounded once more.
        """
        return (math.sqrt(math.fsum(gaps.tolist()) / self.ridge) + self._spacing) * (1 + 8 * UNIT)

    @property
    def _spacing(self) -> float:
        return UNIT * self.longest

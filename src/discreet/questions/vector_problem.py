"""What is known of a problem whose rows have losses of their own kind."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

from discreet import _checks
from discreet.errors import InputError
from discreet.penalties import Penalty
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds

_UP = 1 + 1e-15


@dataclass(frozen=True)
class VectorProblem(Question):
    r"""Minimise the sum of a convex loss of each row, plus a ridge, within a bounded domain.

    .. math:: \sum_i \ell_i(w) + \frac{\Lambda}{2} \|w\|^2 + P(w)

    The gradient of a row may point anywhere, and its Hessian has any rank: what is known of them
    are a largest norm, a largest eigenvalue and a rank.

    Parameters
    ----------
    bounds
        What is declared about the rows; neither labels nor weights.
    ridge
        :math:`\Lambda`, the strength of the ridge; positive.
    penalty
        A further convex penalty whose domain is bounded, such as ``Indicator(L2Ball(10.0))``.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.penalties import Indicator
    >>> from discreet.questions import SpatialMedian
    >>> bounds = Bounds(L2Ball(10.0), n_features=3)
    >>> problem = SpatialMedian(bounds, 2.0, Indicator(L2Ball(10.0)), smoothing=0.5)
    >>> problem.row_lipschitz, round(problem.row_smoothness, 9), problem.rank
    (1.0, 2.0, 3)
    """

    bounds: Bounds
    ridge: float
    penalty: Penalty

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        _checks.positive(ridge=self.ridge)
        object.__setattr__(self, "ridge", float(self.ridge))
        _checks.instance(Penalty, penalty=self.penalty)
        if not math.isfinite(self.domain_radius):
            raise InputError("the coefficients need a bounded domain; use Indicator(L2Ball(...)).")
        if self.bounds.labels is not None or self.bounds.max_weight is not None:
            raise InputError("rows of this problem carry neither labels nor weights.")

    @property
    @abstractmethod
    def width(self) -> int:
        """How many coefficients there are."""

    @property
    @abstractmethod
    def row_lipschitz(self) -> float:
        """The largest norm of one row's gradient within the domain."""

    @property
    @abstractmethod
    def row_smoothness(self) -> float:
        """The largest eigenvalue of one row's Hessian; infinite for a loss with a kink."""

    @property
    @abstractmethod
    def rank(self) -> int:
        """The largest rank of one row's Hessian."""

    @property
    def domain_radius(self) -> float:
        """The largest norm of coefficients within the domain."""
        return self.penalty.radius(self.width)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is taken as public beside the bounds."""
        return ()

    @property
    def log_ratio(self) -> float:
        r""":math:`k \ln(1 + \beta/\Lambda)`: how much one row can change the volume element."""
        return self.rank * math.log1p(self.row_smoothness / self.ridge) * _UP

    def bending_cost(self, shift: float) -> float:
        """Return what one row costs, slope and curvature, if its slope alone costs ``shift``."""
        return shift + self.log_ratio

"""Problems whose rows have losses of their own kind: the spatial median, several targets."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import Product, limits
from discreet.penalties import Penalty
from discreet.questions.base import Question
from discreet.questions.bounds import CLIPPING_SLACK, Bounds


@dataclass(frozen=True)
class VectorProblem(Question):
    r"""Minimise the sum of a convex loss of each row, plus a ridge, within a bounded domain.

    .. math:: \sum_i \ell_i(w) + \frac{\Lambda}{2} \|w\|^2 + P(w)

    The gradient of a row may point anywhere, and its Hessian has any rank: what is known of them
    are a largest norm, a largest eigenvalue and a rank. Where persons are protected, norm and
    eigenvalue are of all rows of a person together.

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
        """The largest norm of a gradient of whoever is protected, within the domain."""

    @property
    @abstractmethod
    def row_smoothness(self) -> float:
        """The largest eigenvalue of their Hessian; infinite for a loss with a kink."""

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
        r""":math:`r \ln(1 + k \beta/(r \Lambda))`: what one can do to the volume element.

        The Hessian of one row has the rank k, and r = k. That of a person's rows has the same trace
        if they weigh as much as one, and a larger rank r.
        """
        person = self.bounds.person
        rows = 1 if person is None else person.rank(self.width)
        rank = min(self.rank * rows, self.width)
        bend = self.row_smoothness * (self.rank / rank)
        return rank * math.log1p(bend / self.ridge) * (1 + 1e-15)

    def bending_cost(self, shift: float) -> float:
        """Return what one costs, slope and curvature, if the slope alone costs ``shift``."""
        return shift + self.log_ratio


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
    def row_lipschitz(self) -> float:
        return self.bounds.unit_weight

    @property
    def largest_slope(self) -> float:
        """The largest entry of a gradient of whoever is protected."""
        return self.bounds.unit_weight

    @property
    def row_smoothness(self) -> float:
        if self.smoothing == 0:
            return math.inf
        return 1 / self.smoothing * _UP * self.bounds.unit_weight

    @property
    def rank(self) -> int:
        return self.width

    def bending_cost(self, shift: float) -> float:
        together = math.hypot(shift, self.rank * self.row_smoothness / self.ridge) * _UP
        return min(together, shift + self.log_ratio)


@dataclass(frozen=True)
class SeveralOutputs(VectorProblem):
    r"""Half the squared residuals of k targets, for a matrix of coefficients.

    .. math:: \min_W \sum_i \tfrac12 \|W' x_i - y_i\|^2 + \frac{\Lambda}{2} \|W\|_F^2

    Rows are declared as features and targets side by side, each with its own set. The coefficients
    are the rows of W one after the other, the intercept's last.

    Parameters
    ----------
    bounds
        With a :class:`~discreet.geometry.Product` of the set of features and that of targets.
    ridge
        The strength of the ridge, positive.
    penalty
        A bounded domain, such as ``Indicator(NuclearBall(radius, shape))``.

    Notes
    -----
    With R the norm of features (the intercept's constant included), Y that of targets and B that of
    W, the gradient :math:`x (W'x - y)'` has Frobenius norm at most R (R B + Y). The Hessian is
    :math:`I_k \otimes x x'`: k eigenvalues, each at most :math:`R^2`.

    Examples
    --------
    >>> from discreet.questions.bounds import Bounds
    >>> from discreet.geometry import L2Ball, NuclearBall
    >>> from discreet.penalties import Indicator
    >>> both = Product([(L2Ball(1.0), 4), (L2Ball(3.0), 2)])
    >>> domain = Indicator(NuclearBall(2.0, (4, 2)))
    >>> problem = SeveralOutputs(Bounds(both, n_features=6), 10.0, domain)
    >>> problem.shape, round(problem.row_lipschitz, 4), problem.rank
    ((4, 2), 5.0, 2)
    """

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        _checks.instance(Product, features=self.bounds.features)
        if len(self._sets.parts) != 2:
            raise InputError("declare a set of features and a set of targets, and no more.")
        super().__post_init__()

    @property
    def _sets(self) -> Product:
        features = self.bounds.features
        if not isinstance(features, Product):
            raise InputError("declare the sets of features and targets as a Product.")
        return features

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix of coefficients."""
        (_, features), (_, outputs) = self._sets.parts
        return features + (self.bounds.intercept is not None), outputs

    @property
    def width(self) -> int:
        rows, columns = self.shape
        return rows * columns

    @property
    def row_norm(self) -> float:
        """The largest norm of the features of a row, intercept included."""
        (features, count), _ = self._sets.parts
        return self.bounds.norm_within(features, count)

    @property
    def target_norm(self) -> float:
        """The largest norm of the targets of a row."""
        _, (targets, count) = self._sets.parts
        return targets.reach(count) * CLIPPING_SLACK

    @property
    def row_lipschitz(self) -> float:
        reach = self.row_norm * self.domain_radius
        return self.row_norm * (reach + self.target_norm) * _UP * self.bounds.unit_weight

    @property
    def row_smoothness(self) -> float:
        return self.row_norm**2 * _UP * self.bounds.unit_weight

    @property
    def rank(self) -> int:
        return self.shape[1]

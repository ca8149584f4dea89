"""Least squares with several targets."""

from __future__ import annotations

from dataclasses import dataclass

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry import Product
from discreet.questions.bounds import CLIPPING_SLACK, Bounds
from discreet.questions.vector_problem import VectorProblem

_UP = 1 + 1e-14


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
        return self.row_norm * (reach + self.target_norm) * _UP

    @property
    def row_smoothness(self) -> float:
        return self.row_norm**2 * _UP

    @property
    def rank(self) -> int:
        return self.shape[1]

"""The private geometric median."""

from __future__ import annotations

from discreet import _checks
from discreet.data import Bounds
from discreet.errors import InputError
from discreet.estimators.fields import with_fields
from discreet.geometry import L2Ball, limits
from discreet.location.base import LocationEstimator
from discreet.mechanisms import Mechanism, mechanism_named
from discreet.penalties import Indicator
from discreet.privacy import Budget, Unit
from discreet.questions import Question, SpatialMedian

MECHANISMS = ("noisy_gradient", "vector_perturbation")

USUAL_SMOOTHING = 0.1
"""The width of the smoothing, over the radius, where curvature has to be bounded."""

BEND, BEND_IF_REPLACED = 0.7, 0.5
"""What the curvature of one row may cost beside its slope, over epsilon."""

TRACE = 2.0**-20
"""So much smoothing and ridge, in units of the radius, that they do not show."""

FAR = 2.0**30
"""Rows farther out than this many radii are clipped; the noise does not depend on it."""


@with_fields
class GeometricMedian(LocationEstimator):
    r"""The point with the least total distance to all rows, differentially private.

    No row pulls harder than any other, however far away it lies: the median is at home where means
    are pulled about by outliers. With a positive ``delta`` noisy sums of unit vectors are followed;
    without, distances are smoothed to :math:`\sqrt{\|w - x\|^2 + h^2}` and a random linear term and
    a ridge are added to their sum.

    Parameters
    ----------
    radius
        The median is looked for within this distance of the origin. Choose it without looking at
        the data, and subtract from all rows where you expect their middle. Rows may lie far beyond.
    smoothing
        The width h. By default none for noisy gradients, and a tenth of the radius otherwise.
    mechanism
        ``"auto"``, ``"noisy_gradient"``, which needs a positive ``delta``, or
        ``"vector_perturbation"``, which is of pure epsilon.

    Attributes
    ----------
    location_
        The released point.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Kifer, Smith & Thakurta (2012); Bassily, Smith & Thakurta (2014).

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).standard_cauchy(size=(5000, 3)) + [1.0, 2.0, 0.0]
    >>> model = GeometricMedian(epsilon=1.0, delta=1e-6, radius=10.0).fit(rows)
    >>> bool(np.abs(model.location_ - [1.0, 2.0, 0.0]).max() < 0.2)
    True
    >>> model.privacy_.epsilon(1e-6) <= 1.0
    True
    """

    radius: float = 1.0
    smoothing: float | None = None
    mechanism: str = "auto"

    def _check(self) -> None:
        L2Ball(self.radius)
        _checks.one_of(("auto", *MECHANISMS), mechanism=self.mechanism)
        if self.smoothing is not None:
            limits.size(smoothing=self.smoothing)
            if self.mechanism == "noisy_gradient":
                raise InputError("noisy_gradient needs no smoothing; leave smoothing=None.")

    def _choose(
        self, width: int, max_rows: int, budget: Budget, unit: Unit
    ) -> tuple[Mechanism, Question]:
        name = self.mechanism
        if name == "auto":
            is_noisy = budget.is_private and budget.delta > 0 and self.smoothing is None
            name = "noisy_gradient" if is_noisy else "vector_perturbation"
        rows = Bounds(L2Ball(min(FAR * self.radius, 1e100)), n_features=width, max_rows=max_rows)
        domain = Indicator(L2Ball(self.radius))
        ridge, smoothing = TRACE / self.radius, 0.0
        if name == "vector_perturbation":
            smoothing = self._smoothing(budget)
            if budget.is_private:
                ridge = width / (smoothing * _bend_share(unit) * budget.epsilon)
        return mechanism_named(name), SpatialMedian(rows, ridge, domain, smoothing)

    def _smoothing(self, budget: Budget) -> float:
        if self.smoothing is not None:
            return limits.size(smoothing=self.smoothing)
        return (USUAL_SMOOTHING if budget.is_private else TRACE) * self.radius


def _bend_share(unit: Unit) -> float:
    return BEND_IF_REPLACED if unit.is_replace else BEND

"""A private location: the point with the least sum of a convex loss."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from discreet import _checks
from discreet.data import Bounds
from discreet.errors import InputError
from discreet.estimators.fields import with_fields
from discreet.geometry import Box
from discreet.location.base import ColumnEstimator, limits_for
from discreet.losses import Loss, Pinball, Squared
from discreet.mechanisms import ExponentialSampling, Mechanism
from discreet.privacy import Budget, Unit
from discreet.questions import Question
from discreet.questions.choices import ColumnLocations

NAMES = ("squared", "absolute")


@with_fields
class Location(ColumnEstimator):
    """M-estimation of location: the point of each column with the least sum of losses, private.

    It is drawn by the exponential mechanism, exactly, whether the loss is smooth or not. For a
    quantile alone :class:`Median` and :class:`Quantile` are better: they count ranks.

    Parameters
    ----------
    loss
        ``"squared"`` for a mean, ``"absolute"`` for a median, or a loss of real labels, in the
        units of the column: ``Huber(5.0)``, ``Pinball(0.9)``.

    Attributes
    ----------
    location_
        The released point of each column.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    McSherry & Talwar (2007), the exponential mechanism; Huber (1964).

    Examples
    --------
    >>> from discreet.losses import Huber
    >>> ages = np.random.default_rng(0).normal(40, 10, size=(2000, 1))
    >>> model = Location(Huber(5.0), epsilon=1.0, bounds=(0, 120)).fit(ages)
    >>> bool(abs(model.location_[0] - 40) < 5)
    True
    >>> model.privacy_.epsilon(0.0)
    1.0
    """

    epsilon: float = 1.0
    delta: float = 1e-9
    loss: str | Loss = field(default="squared", kw_only=False)

    def _check(self) -> None:
        super()._check()
        if isinstance(self.loss, str):
            _checks.one_of(NAMES, loss=self.loss)
        elif not isinstance(self.loss, Loss):
            raise InputError(f"loss must be one of {NAMES} or a Loss such as Huber(1.0).")

    def _choose(
        self, width: int, max_rows: int, budget: Budget, unit: Unit
    ) -> tuple[Mechanism, Question]:
        lower, upper = limits_for(self.bounds, width)
        declared = Bounds(Box(lower, upper), n_features=width, max_rows=max_rows)
        return ExponentialSampling(), ColumnLocations(declared, self._loss(lower, upper))

    def _loss(self, lower: list[float], upper: list[float]) -> Loss:
        if isinstance(self.loss, Loss):
            return self.loss
        if self.loss == "absolute":
            return Pinball(0.5)
        return Squared(float(np.max(np.subtract(upper, lower))) / 2)

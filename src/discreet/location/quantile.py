"""A private quantile."""

from __future__ import annotations

from dataclasses import field

from discreet import _checks
from discreet.estimators.fields import with_fields
from discreet.location.base import QuantileEstimator


@with_fields
class Quantile(QuantileEstimator):
    """A quantile of each column, differentially private.

    It is drawn by the exponential mechanism, exactly: points lose a constant factor of their chance
    with every rank that they are further from the quantile.

    Parameters
    ----------
    q
        Which quantile, strictly between zero and one.

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
    McSherry & Talwar (2007), the exponential mechanism; Smith (2011).

    Examples
    --------
    >>> import numpy as np
    >>> stays = np.random.default_rng(0).exponential(4.0, size=(2000, 1))
    >>> model = Quantile(0.9, epsilon=1.0, bounds=(0, 365)).fit(stays)
    >>> bool(abs(np.mean(stays < model.location_) - 0.9) < 0.02)
    True
    """

    epsilon: float = 1.0
    delta: float = 1e-9
    q: float = field(default=0.5, kw_only=False)

    def _quantile(self) -> float:
        _checks.fraction(q=self.q)
        return float(self.q)

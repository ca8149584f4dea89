"""Private online logistic regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.estimators.classifier import ProbabilisticClassifier
from discreet.estimators.fields import with_fields
from discreet.losses import Logistic, Loss
from discreet.online.classifying import OnlineClassifier
from discreet.online.river_types import RiverClassifier


@with_fields
class LogisticRegression(OnlineClassifier, ProbabilisticClassifier, RiverClassifier):  # type: ignore[misc]
    r"""Logistic regression for a stream of records, differentially private.

    It learns from each record once, in their order, and can be asked at any time. All that it will
    ever say is paid for before the first record. The gradients are taken at coefficients that were
    released, and their running sums carry correlated noise (DP-FTRL), so that the noise of an
    answer hardly grows with the stream.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn; they follow the last answer.
    multiclass_
        None: there are two classes.
    release_, privacy_
        The last answer as a release, and the guarantee of everything that is ever answered.

    References
    ----------
    Jain, Kothari & Thakurta (2012); Thakurta (2013), PhD thesis; Kairouz et al. (2021), DP-FTRL;
    Denisov et al. (2022).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(20_000, 3)) / 3
    >>> y = X[:, 0] - X[:, 1] > 0
    >>> model = LogisticRegression(
    ...     epsilon=1.0, delta=1e-6, data_norm=1.0, horizon=20_000, classes=[False, True]
    ... )
    >>> for start in range(0, 20_000, 1000):
    ...     model = model.partial_fit(X[start : start + 1000], y[start : start + 1000])
    >>> model.n_seen, model.is_over, bool(model.score(X, y) > 0.8)
    (20000, True, True)

    One record at a time, as in river:

    >>> model = LogisticRegression(
    ...     horizon=100, columns={"age": (18, 100)}, classes=["home", "readmitted"]
    ... )
    >>> model.learn_one({"age": 71}, "readmitted")
    >>> sorted(model.predict_proba_one({"age": 40}))
    ['home', 'readmitted']
    """

    def margin_loss(self) -> Loss:
        return Logistic()

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Return the probability of each class for one record; one half before anything was learnt.

        Parameters
        ----------
        x
            Features by name.
        """
        chance = float(Logistic().probability(np.array(self._margin_of(x))))
        first, second = self._records.classes
        return {first: 1 - chance, second: chance}

"""Private logistic regression."""

from __future__ import annotations

import math

from discreet.estimators.classifier import ProbabilisticClassifier
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import with_fields
from discreet.estimators.inference import InferentialEstimator
from discreet.losses import Logistic, Loss
from discreet.mechanisms.signal_rules import SignalRules
from discreet.policy.task import Standardising


@with_fields
class LogisticRegression(ProbabilisticClassifier, InferentialEstimator):
    r"""Logistic regression, differentially private.

    It minimises the logistic loss summed over rows plus :math:`\|w\|^2/(2C)`, the intercept's
    coefficient included, with a random linear term (objective perturbation), and releases the
    coefficients once. With ``epsilon=math.inf`` it is ordinary logistic regression, penalised if
    ``C`` is given.

    It is the textbook's model, where :class:`LinearClassifier` is the one with every choice made
    for accuracy. The loss asks for no margin, probabilities are those of the loss and are not
    calibrated. Whether columns are standardised depends on ``C``. If it is given, they are not:
    the penalty is :math:`\|w\|^2/(2C)` on the coefficients of the rows as they are, and a ``C``
    too large for the budget is refused. If it is left out and ``delta`` is positive, a small part
    of the budget, 6 % of mu squared or 3 % with ``intervals``, pays for the means and spreads of
    columns; the penalty is one on standardised coefficients, and rows are clipped to a typical
    norm in that frame, or a longer one where noise hardly matters (``settings_``):
    :class:`LinearClassifier` with ``margin=0``, without calibration. If it is left out and
    ``delta`` is zero, or there is no intercept, columns are not standardised, and the penalty is
    the weakest that costs no privacy.

    Parameters
    ----------
    C
        Inverse regularisation strength, as in scikit-learn. By default the weakest penalty that
        costs no privacy, up to twice that where noise dominates.
    classes
        The classes, declared. Without it the labels found are taken as public, and the guarantee
        says so. Three or more are learnt one-vs-rest, within the one budget; with
        ``mechanism="noisy_gradient"`` all at once, by softmax.
    intervals
        Whether a fifth of the budget pays for the standard errors of coefficients, so that
        ``confidence_interval`` and ``summary`` can answer. It needs ``delta > 0``, two classes
        and no domain.
    mechanism
        ``"auto"``, ``"objective_perturbation"``, ``"output_perturbation"`` or
        ``"private_standardisation"``.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    multiclass_
        How three or more classes were learnt: ``"one_vs_rest"`` or ``"softmax"``. None for two.
    settings_
        What noisy sums of columns decided: the norm that rows are clipped to and the ridge, as in
        :class:`LinearClassifier`; None where nothing waited for them.
    release_, privacy_
        The release and its guarantee. The value is the coefficients, followed by the numbers of
        ``settings_`` if there are such; with ``intervals`` all that those need.

    References
    ----------
    Chaudhuri & Monteleoni (2008); Chaudhuri, Monteleoni & Sarwate (2011); Kifer, Smith & Thakurta
    (2012).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(5000, 3)) / 3
    >>> y = X[:, 0] - X[:, 1] > 0
    >>> model = LogisticRegression(
    ...     epsilon=1.0, delta=1e-6, data_norm=1.0, classes=[False, True]
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.privacy_.epsilon(1e-6) <= 1.0
    (True, True)

    With intervals, which a part of the budget pays for:

    >>> X = generator.normal(size=(30_000, 3)) / 3
    >>> y = 3 * X[:, 0] + generator.logistic(size=30_000) > 0
    >>> model = LogisticRegression(
    ...     epsilon=3.0, delta=1e-6, data_norm=2.5, classes=[False, True], intervals=True
    ... )
    >>> low, high = model.fit(X, y).confidence_interval(level=0.999999)[0]
    >>> bool(low < 3.0 < high), bool(high - low < 2.0)
    (True, True)
    """

    def margin_loss(self) -> Loss:
        return Logistic()

    def _standardising(self, features: FeatureMap) -> Standardising:
        """Standardise if the penalty is left to us: its strength means another thing then."""
        entries = features.entries
        return Standardising(
            entry_bound=None if entries is None else entries.largest,
            indicators=None if entries is None else entries.indicators,
            is_usual=self.C is None
            and self.delta > 0
            and not (self.intervals and math.isinf(self.epsilon)),
            rules=SignalRules(settles_margin=False, settles_ridge=self.C is None),
        )

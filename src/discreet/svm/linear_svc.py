"""The private linear support vector machine."""

from __future__ import annotations

from discreet import _checks
from discreet.estimators.classifier import LinearClassifierBase
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import with_fields
from discreet.estimators.linear import RANGES
from discreet.losses import Hinge, HuberHinge, Loss, SmoothedHinge
from discreet.policy.task import Standardising

LOSSES: dict[str, type[Loss]] = {
    "huber_hinge": HuberHinge,
    "smoothed_hinge": SmoothedHinge,
    "hinge": Hinge,
}

STANDARD_SHARE = 0.03
"""The share of mu squared that goes into the standardisation; twice that was not tried."""


@with_fields
class LinearSVC(LinearClassifierBase):
    r"""A linear support vector machine, differentially private.

    It minimises a hinge loss, its kink rounded or not, summed over rows plus
    :math:`\|w\|^2/(2C)`, the intercept's coefficient included.

    If ``columns`` are declared they are scaled to [-1, 1] by their ranges and levels, and
    standardised: 3 % of the budget (of mu squared; 10 % of a pure epsilon) pays for their means and
    spreads, the rest for a rounded hinge in that frame. Rows of which ``data_norm`` alone is
    declared are standardised if ``mechanism="private_standardisation"`` asks for it; with the plain
    hinge none are.

    Parameters
    ----------
    loss
        ``"huber_hinge"``, ``"smoothed_hinge"`` or the plain ``"hinge"``, which follows noisy
        gradients and needs ``delta > 0``.
    C
        Inverse regularisation strength, as in scikit-learn; of standardised coefficients, if
        columns are standardised. By default the curvature of one row costs a tenth of epsilon.
    classes
        The classes, declared. Without it the labels found are taken as public, and the guarantee
        says so. Three or more are learnt one-vs-rest, within the one budget.
    mechanism
        ``"auto"``, ``"private_standardisation"``, ``"objective_perturbation"``,
        ``"output_perturbation"``, ``"noisy_gradient"``, or, for up to six coefficients in a
        ``domain``, the pure ``"exponential_sampling"`` and ``"localization"``; for the plain hinge
        only noisy gradients and exponential sampling will do.

    Attributes
    ----------
    coef_, intercept_
        As in scikit-learn; of declared columns in the user's own units, one coefficient for each
        numeric column and one for each level.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    multiclass_
        ``"one_vs_rest"`` for three or more classes. None for two.
    ranges_
        The ranges that the fit found, low and high, for each column that was declared with
        ``public_bounds``, in their order; None if there was none. Predictions clip to them.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Chaudhuri, Monteleoni & Sarwate (2011), the rounded hinge; Kifer, Smith & Thakurta (2012);
    Bassily, Smith & Thakurta (2014), noisy gradients, exponential sampling and localization.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(5000, 3)) / 3
    >>> y = X[:, 0] - X[:, 1] > 0
    >>> model = LinearSVC(
    ...     epsilon=1.0, delta=1e-6, data_norm=1.0, classes=[False, True]
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.privacy_.epsilon(1e-6) <= 1.0
    (True, True)

    With declared columns, which are standardised:

    >>> age, smokes = generator.uniform(20, 80, size=5000), generator.choice([0, 1], size=5000)
    >>> X = np.column_stack([age, smokes])
    >>> y = age + 20 * smokes > 60
    >>> model = LinearSVC(columns=[(18, 100), [False, True]], classes=[False, True]).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.coef_.shape
    (True, (1, 3))
    """

    learns = LinearClassifierBase.learns | RANGES
    finds_ranges = True

    loss: str = "huber_hinge"

    def margin_loss(self) -> Loss:
        _checks.one_of(tuple(LOSSES), loss=self.loss)
        return LOSSES[self.loss]()

    def _standardising(self, features: FeatureMap) -> Standardising:
        if not isinstance(features, DeclaredFeatures):
            return Standardising(share=STANDARD_SHARE)
        return Standardising(
            is_usual=self.margin_loss().is_smooth,
            entry_bound=1.0,
            indicators=features.indicators,
            share=STANDARD_SHARE,
        )

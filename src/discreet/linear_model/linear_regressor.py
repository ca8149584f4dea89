"""The best private linear regression, for people who just want one."""

from __future__ import annotations

from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import with_fields
from discreet.estimators.linear import INTERCEPT_SHARE, RANGES
from discreet.estimators.regressor import RobustRegressor

NUMERIC_SHARE = 0.8
"""How much of the largest l1 norm of numbers is kept."""


@with_fields
class LinearRegressor(RobustRegressor):
    r"""A linear regression with every choice made for accuracy under differential privacy.

    Columns are scaled to [-1, 1] by their declared ranges and levels; rows of an unusually large
    l1 norm are clipped, in ``fit`` and in ``predict`` alike. The loss is a smooth Huber loss
    whose slope is bounded by a quarter of half the range of targets, the noise goes on its
    objective, and its law, for the l1 or the Euclidean norm of rows, is the one that disturbs
    least. Columns are not standardised, and nothing is settled by noisy sums as in
    :class:`LinearClassifier`: rules of that kind were tried, and what they gained on some tables
    they lost on others (docs/defaults.md).

    Parameters
    ----------
    alpha
        Regularisation strength, of the penalty :math:`\alpha \|w\|^2/2` on the coefficients of
        encoded columns. By default the weakest that costs no privacy. What is too weak for the
        budget is raised to the least it allows, and ``release_.reason`` says so.

    Attributes
    ----------
    coef_, intercept_
        In the user's own units: one coefficient for each numeric column, one for each level of a
        category, in the order of the declaration.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    ranges_
        The ranges that the fit found, low and high, for each column that was declared with
        ``public_bounds``, in their order; None if there was none. Predictions clip to them.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Chaudhuri & Monteleoni (2008); Chaudhuri, Monteleoni & Sarwate (2011); Kifer, Smith & Thakurta
    (2012). The rules are in docs/defaults.md.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.preprocessing import Category, Numeric
    >>> generator = np.random.default_rng(0)
    >>> rooms = generator.uniform(1, 8, size=5000)
    >>> coast = generator.choice(["no", "yes"], size=5000)
    >>> X = np.column_stack([rooms, coast]).astype(object)
    >>> y = 50 * rooms + 100 * (coast == "yes")
    >>> model = LinearRegressor(
    ...     epsilon=1.0, columns=[Numeric(0, 10), Category(["no", "yes"])], target_range=(0, 600)
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.coef_.shape
    (True, (3,))
    """

    learns = RobustRegressor.learns | RANGES
    finds_ranges = True

    def feature_map(self) -> FeatureMap:
        if self.columns is None:
            return super().feature_map()
        # Targets are counted from their middle: the intercept is small, and so may its column be.
        return DeclaredFeatures(
            self.columns, is_centred=False, kept_share=NUMERIC_SHARE, constant=INTERCEPT_SHARE
        )

"""Numbers from a sum of functions, one of each column."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from discreet._types import Vector
from discreet.additive.additive_estimator import AdditiveEstimator
from discreet.data.given_column import GivenColumn
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.predicting import row_by_row
from discreet.estimators.targets import NumberTarget, interval_of
from discreet.mechanisms.additive_objectives import NumericTarget
from discreet.questions import Interval


@with_fields
class AdditiveRegressor(RegressorMixin, AdditiveEstimator):  # type: ignore[misc]
    r"""A number by a curve for each column, learnt privately and added up.

    .. math:: f(x) = b + f_1(x_1) + f_2(x_2) + \dots

    Predictions are brought into the declared range of targets. Each function is a table with a
    value for each of 256 cells of a declared range, or for each declared level, in the target's
    units; so shapes can be looked at (``shapes_``, ``plot_shapes``), and each prediction explained
    (``explain``). A small part of the budget pays for the noisy marginals of all columns and of the
    target, from which the functions are made; the rest for how much each of them counts. The loss
    is a smooth Huber loss, whose threshold grows as the noise gets less.

    Attributes
    ----------
    cell_values_, cell_shares_
        What each cell adds to the prediction, one line, and how large a share of rows it holds by
        the noisy marginals: the cells of all columns one after another. ``shapes_`` has them by
        column.
    cell_bands_
        How far noise may have moved each cell's value, if ``bands`` were asked for; else None.
    pair_weights_, cell_places_
        What the product of two places adds, for each pair of columns of numbers, and how many
        deviations each cell is above the mean of its column; None without ``interactions``, or
        where the noise left no room for them. ``interactions_`` has them by pair.
    intercept_
        The prediction for an average row.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Hastie & Tibshirani (1990); Nori et al. (2021), for additive models that are private. The
    mechanism and its proof are in ``mechanisms/additive_model.md``.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.preprocessing import Category, Numeric
    >>> generator = np.random.default_rng(0)
    >>> age = generator.uniform(20, 80, size=5000)
    >>> smokes = generator.choice(["no", "yes"], size=5000)
    >>> X = np.column_stack([age, smokes]).astype(object)
    >>> y = (age - 50) ** 2 / 10 + 40 * (smokes == "yes")
    >>> model = AdditiveRegressor(
    ...     columns=[Numeric(18, 100), Category(["no", "yes"])], target_range=(0, 150)
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    >>> list(model.importance_), model.shapes_["x0"].values.shape
    (['x0', 'x1'], (256,))
    """

    must_declare: ClassVar[Declarations] = (("columns",), ("target_range",))

    objective = NumericTarget

    target_range: tuple[float, float] | None = None

    def _check(self) -> None:
        super()._check()
        self._target(None)

    def _labels(self, target: Any = None) -> Interval:
        return interval_of(target_range=self.target_range)

    @property
    def target_ends(self) -> tuple[float, float]:
        """Return between which numbers predictions are."""
        target = self._labels()
        return target.low, target.high

    def _target(self, y: GivenColumn | None) -> NumberTarget:
        return NumberTarget(self._labels())

    @row_by_row
    def predict(self, X: Any) -> Vector:
        """Return the predicted target of each row, within its declared range.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        """
        target = self._labels()
        return np.clip(self._margins(X)[:, 0], target.low, target.high)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a handful of rows cannot be learnt privately
        return tags

"""Private regression of counts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.data import Interval
from discreet.data.given_column import GivenColumn
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.inference import InferentialEstimator
from discreet.estimators.predicting import row_by_row
from discreet.estimators.regressor import LinearRegressorBase
from discreet.estimators.targets import NumberTarget
from discreet.losses import Loss, Poisson


@with_fields
class PoissonRegressor(LinearRegressorBase, InferentialEstimator):
    r"""Poisson regression of counts with a logarithmic link, differentially private.

    It minimises :math:`e^z - yz` summed over rows, z the margin, plus :math:`\alpha \|w\|^2/2`. The
    exponential has no bounded slope, so beyond ``max_margin`` the loss goes on in a straight line:
    a mean above :math:`e^U` or below :math:`e^{-U}` is another model's.

    Parameters
    ----------
    max_count
        The declared largest count; larger ones are clipped to it.
    max_margin
        The margin U up to which the loss is the Poisson loss.
    alpha
        Regularisation strength, of the penalty :math:`\alpha \|w\|^2/2`, the intercept's
        coefficient included. By default the curvature of one row costs a tenth of epsilon. What is
        too weak for the budget is raised to the least it allows, and ``release_.reason`` says so.
    fit_intercept
        Whether there is a constant column; it is inside the row norm and penalised.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Chaudhuri & Monteleoni (2008); Chaudhuri, Monteleoni & Sarwate (2011); Kifer, Smith & Thakurta
    (2012).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 3)) / np.sqrt(3)
    >>> y = generator.poisson(np.exp(X[:, 0] + 0.5))
    >>> model = PoissonRegressor(epsilon=1.0, delta=1e-6, data_norm=1.0, max_count=10).fit(X, y)
    >>> bool(model.score(X, y) > 0.0), bool(model.predict(X).min() > 0)
    (True, True)
    """

    must_declare: ClassVar[Declarations] = (("columns", "data_norm"),)

    target_range: ClassVar[None] = None  # type: ignore[misc]
    max_count: float = 10.0
    max_margin: float = 2.0

    def margin_loss(self) -> Loss:
        return Poisson(self.max_count, self.max_margin)

    def _range(self) -> Interval:
        _checks.positive(max_count=self.max_count)
        return Interval(0.0, self.max_count)

    def _target(self, y: GivenColumn | None) -> NumberTarget:
        return NumberTarget(self._range())  # counts are counted from zero

    @row_by_row
    def predict(self, X: Any) -> Vector:
        """Return the expected count of each row."""
        with np.errstate(over="ignore"):
            return np.exp(super().predict(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of deviance explained, as scikit-learn's model does.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        y
            The count of each row.
        sample_weight
            How much each row counts; all alike if left out.
        """
        from sklearn.metrics import d2_tweedie_score  # slow to import

        means = np.clip(self.predict(X), 1e-300, 1e300)
        return float(d2_tweedie_score(y, means, sample_weight=sample_weight, power=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

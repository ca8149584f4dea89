"""Private weights that are not negative and have a given total: how to combine models."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from discreet import _checks
from discreet._types import Vector
from discreet.data.given_column import GivenColumn
from discreet.estimators.base import PrivateEstimator, fit_with_weights
from discreet.estimators.features import COLUMNS_FOUND, PlainFeatures
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.linear import name_features, tabulate_coefficients
from discreet.estimators.predicting import row_by_row
from discreet.estimators.targets import NumberTarget, interval_of
from discreet.geometry import LinfBall, limits
from discreet.losses import Huber, Loss, Squared
from discreet.mechanisms import SimplexSampling
from discreet.policy.task import Asked
from discreet.questions import Bounds, Interval, Mixture
from discreet.record import Fact, Origin, labels_in_words


@with_fields
class SimplexRegression(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    r"""Regression with weights on a simplex, differentially private.

    It minimises half the squared residuals, summed over rows, over weights that are not negative
    and have the sum ``radius``. Made for combining models: each column holds the predictions of
    one, and the weights say how to average them. The number of columns hardly matters.

    Under the hood an entropy keeps the weights from depending much on any one record, and what is
    released is a histogram of a few draws from them; most weights are zero.

    Parameters
    ----------
    entry_bound
        The declared bound on the absolute value of each entry; entries beyond are clipped. Choose
        it without looking at the data; there is no default.
    data_range
        The declared range of entries, if it is not symmetric: for probabilities ``(0, 1)`` is
        twice as good as a bound of one. ``entry_bound`` is not used then, and tables are dense.
    radius
        The sum of the weights.
    threshold
        The residual beyond which the loss goes on in a straight line, in units of the target; by
        default none. Where most residuals are small, a small threshold is far more accurate: no
        record pulls harder than that.
    entropy
        How strongly even weights are preferred, against a sum over rows. By default what a bound
        on the excess loss says is best for the number of rows.
    max_weight
        The largest ``sample_weight`` that counts; larger ones are clipped. Draws are made for it.
    max_rows
        A public bound on the number of rows, if that number is private; None for 2**17. The
        smaller, the more accurate: rows that there may be count as if they could all be against
        the one protected.
    expected_rows
        A public guess at the number of rows, if that is private; by default ``max_rows``. It
        changes accuracy, never privacy.
    mechanism
        ``"auto"`` or ``"simplex_sampling"``, which is the only one.

    Attributes
    ----------
    coef_
        The weights; they sum to ``radius``.
    intercept_
        Zero.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    Notes
    -----
    With ``epsilon=inf`` there are no draws, and no entropy unless one is given.

    References
    ----------
    Jain & Thakurta (2014), section 5.1; Durfee & Rogers (2019).

    Examples
    --------
    Four models of very different quality, none of them trained on these rows, and how to average
    them:

    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> truth = generator.uniform(0, 1, size=20_000)
    >>> noise = generator.normal(size=(20_000, 4)) * [0.05, 0.1, 0.5, 0.5]
    >>> predictions = np.clip(truth[:, None] + noise, 0, 1)
    >>> model = SimplexRegression(
    ...     epsilon=1.0, data_range=(0, 1), target_range=(0, 1), threshold=0.1, max_rows=30_000
    ... ).fit(predictions, truth)
    >>> bool(model.coef_[:2].sum() > 0.8), round(float(model.coef_.sum()), 9)
    (True, 1.0)
    >>> model.privacy_.epsilon(1e-9) <= 1.0
    True
    """

    learns = frozenset(["coef_", "intercept_"])
    usual_max_rows = 2**17
    must_declare: ClassVar[Declarations] = (("entry_bound", "data_range"), ("target_range",))

    coef_: Vector = field(init=False)
    intercept_: float = field(init=False)

    entry_bound: float | None = None
    data_range: tuple[float, float] | None = None
    target_range: tuple[float, float] | None = None
    radius: float = 1.0
    threshold: float | None = None
    entropy: float | None = None
    expected_rows: int | None = None
    mechanism: str = "auto"
    max_weight: float | None = None

    fit = fit_with_weights  # type: ignore[assignment]
    get_feature_names_out = name_features
    coefficients = tabulate_coefficients

    def _entries(self) -> Interval:
        """Return the declared range of entries."""
        if self.data_range is not None:
            return interval_of(data_range=self.data_range)
        size = _checks.positive_number(entry_bound=self.entry_bound)
        return Interval(-size, size)

    def _middle(self) -> float:
        entries = self._entries()
        return (entries.low + entries.high) / 2

    def _check(self) -> None:
        _checks.one_of(("auto", "simplex_sampling"), mechanism=self.mechanism)
        self._target(None)

    def feature_map(self) -> PlainFeatures:
        """Count entries from the middle of their range."""
        entries, middle = self._entries(), self._middle()
        half = max(entries.high - middle, middle - entries.low)
        features = Fact("features", labels_in_words(entries), Origin.DECLARED)
        return PlainFeatures(LinfBall(half), facts=(COLUMNS_FOUND, features), origin=middle)

    def _target(self, y: GivenColumn | None) -> NumberTarget:
        """Count targets from where rows of middle entries are."""
        origin = limits.size(radius=self.radius) * self._middle()
        return NumberTarget(interval_of(target_range=self.target_range), origin)

    def _loss(self) -> Loss:
        if self.threshold is None:
            return Squared(self._target(None).labels.magnitude)
        return Huber(self.threshold)

    def _ask(self, fit: Fit) -> Asked:
        shape = fit.shape
        bounds = Bounds(
            fit.features.region,
            shape.n_features,
            labels=shape.labels,
            max_weight=self.max_weight,
            max_rows=shape.max_rows,
        )
        mixture = Mixture(
            self._loss(),
            bounds,
            total=self.radius,
            entropy=self.entropy,
            expected_rows=self.expected_rows,
        )
        return Asked(mixture, SimplexSampling(), (*fit.features.facts, fit.need_target().fact))

    def _keep(self, asked: Asked, fit: Fit) -> None:
        self.coef_ = np.array(self.release_.value, dtype=np.float64)  # the release keeps its own
        self.intercept_ = 0.0

    @row_by_row
    def predict(self, X: Any) -> Vector:
        """Return the predicted target of each row: a weighted sum of its entries.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        """
        return np.asarray(self.feature_map().margins(self, X)[:, 0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # weights of one sign cannot follow any target
        return tags

"""Private weights that are not negative and have a given total: how to combine models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Vector
from discreet.data import Bounds, Interval, Rows
from discreet.errors import InputError
from discreet.estimators.linear import COLUMNS_FOUND, LinearEstimator
from discreet.estimators.regressor import interval_of, numbers
from discreet.estimators.task import is_told
from discreet.gate import release
from discreet.geometry import ConvexSet, LinfBall, limits
from discreet.ledger import AbstractLedger
from discreet.losses import Huber, Loss, Squared
from discreet.mechanisms import SimplexSampling
from discreet.noise import Noise
from discreet.privacy import Budget, Unit, unit_named
from discreet.questions.mixture import Mixture
from discreet.record import Fact, Origin, Release, labels_in_words


class SimplexRegression(RegressorMixin, LinearEstimator):  # type: ignore[misc]
    r"""Regression with weights on a simplex, differentially private.

    It minimises half the squared residuals, summed over rows, over weights that are not negative
    and have the sum ``radius``. Made for combining models: each column holds the predictions of
    one, and the weights say how to average them. The number of columns hardly matters.

    Under the hood an entropy keeps the weights from depending much on any one record, and what is
    released is a histogram of a few draws from them; most weights are zero.

    Parameters
    ----------
    epsilon, delta
        The privacy budget of one fit. ``delta=0`` asks for pure epsilon.
    data_norm
        The declared bound on the absolute value of each entry; entries beyond are clipped. Choose
        it without looking at the data.
    unit
        Who is protected: ``"add_remove"`` one record, or ``"replace"`` one.
    ledger
        Where the fit is paid for; None keeps no books.
    data_range
        The declared range of entries, if it is not symmetric: for probabilities ``(0, 1)`` is
        twice as good as a bound of one. ``data_norm`` is not used then, and tables are dense.
    target_range
        The declared range of targets; others are clipped to it.
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
        A public bound on the number of rows, if that number is private. The smaller, the more
        accurate: rows that there may be count as if they could all be against the one protected.
    expected_rows
        A public guess at the number of rows, if that is private; by default ``max_rows``. It
        changes accuracy, never privacy.
    mechanism
        ``"auto"`` or ``"simplex_sampling"``, which is the only one.
    rehearsal
        None for privacy. A whole number gives repeatable noise, for tests and talks: the result is
        **not private**. Nothing in scikit-learn sets it.
    verbose
        Above zero, the guarantee is printed after the fit.

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

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        data_norm: float = 1.0,
        unit: str | Unit = "add_remove",
        ledger: AbstractLedger | None = None,
        *,
        data_range: tuple[float, float] | None = None,
        target_range: tuple[float, float] = (-1.0, 1.0),
        radius: float = 1.0,
        threshold: float | None = None,
        entropy: float | None = None,
        max_weight: float | None = None,
        max_rows: int = 2**17,
        expected_rows: int | None = None,
        mechanism: str = "auto",
        rehearsal: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.unit = unit
        self.ledger = ledger
        self.data_range = data_range
        self.target_range = target_range
        self.radius = radius
        self.threshold = threshold
        self.entropy = entropy
        self.max_weight = max_weight
        self.max_rows = max_rows
        self.expected_rows = expected_rows
        self.mechanism = mechanism
        self.rehearsal = rehearsal
        self.verbose = verbose

    def _ridge(self) -> None:
        return None

    def _entries(self) -> Interval:
        """Return the declared range of entries."""
        if self.data_range is not None:
            return interval_of(data_range=self.data_range)
        _checks.positive(data_norm=self.data_norm)
        return Interval(-self.data_norm, self.data_norm)

    @property
    def _middle(self) -> float:
        """What entries are counted from; targets from ``radius`` times it."""
        entries = self._entries()
        return (entries.low + entries.high) / 2

    def _features(self) -> ConvexSet:
        entries = self._entries()
        half = max(entries.high - self._middle, self._middle - entries.low)
        return LinfBall(half)

    def _labels(self) -> Interval:
        """Return the range of targets, counted from where rows of middle entries are."""
        targets, origin = interval_of(target_range=self.target_range), self._origin
        return Interval(targets.low - origin, targets.high - origin)

    @property
    def _origin(self) -> float:
        return limits.size(radius=self.radius) * self._middle

    def _facts(self) -> tuple[Fact, ...]:
        entries, targets = self._entries(), interval_of(target_range=self.target_range)
        return (
            COLUMNS_FOUND,
            Fact("features", labels_in_words(entries), Origin.DECLARED),
            Fact("labels", labels_in_words(targets), Origin.DECLARED),
        )

    def _loss(self) -> Loss:
        if self.threshold is None:
            return Squared(self._labels().magnitude)
        return Huber(self.threshold)

    def _fit(self, X: Any, y: Any, weights: Any) -> Self:
        _checks.one_of(("auto", "simplex_sampling"), mechanism=self.mechanism)
        if not isinstance(self.verbose, bool):
            _checks.whole(verbose=self.verbose, at_least=0)
        _checks.whole(max_rows=self.max_rows, at_least=1)
        labels, middle = self._labels(), self._middle
        X, y = self._table(X, y)
        task = Mixing(
            Mixture(
                self._loss(),
                Bounds(
                    self._features(),
                    X.shape[1],
                    labels=labels,
                    max_weight=self.max_weight,
                    max_rows=self._most_rows(X.shape[0]),
                ),
                total=self.radius,
                entropy=self.entropy,
                expected_rows=self.expected_rows,
            ),
            Budget(self.epsilon, self.delta),
            unit_named(self.unit),
            self._facts(),
        )
        if middle != 0 and sparse.issparse(X):
            raise InputError(
                "entries of a range that is not symmetric about zero would fill a sparse table; "
                "pass a dense one, or declare data_norm."
            )
        if middle != 0:
            X = X - middle
        y = np.clip(numbers(y), *self._ends()) - self._origin
        self._keep(self._release(task, X, y, weights)[0, :-1], 0.0)
        return self

    def _ends(self) -> tuple[float, float]:
        targets = interval_of(target_range=self.target_range)
        return targets.low, targets.high

    def _most_rows(self, count: int) -> int:
        budget, unit = Budget(self.epsilon, self.delta), unit_named(self.unit)
        return count if is_told(budget, unit, self.ledger) else self.max_rows

    def predict(self, X: Any) -> Vector:
        """Return the predicted target of each row: a weighted sum of its entries."""
        check_is_fitted(self, "coef_")
        return np.asarray(self._margins(X)[:, 0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # weights of one sign cannot follow any target
        return tags


@dataclass(frozen=True)
class Mixing:
    """Everything public about one fit."""

    mixture: Mixture
    budget: Budget
    unit: Unit
    facts: tuple[Fact, ...] = ()
    intercept: None = None

    def fit(
        self,
        X: Any,
        y: Vector | None,
        weights: Any,
        *,
        ledger: AbstractLedger | None,
        noise: Noise,
        purpose: str,
    ) -> Release:
        """Release the weights."""
        if weights is not None and self.mixture.bounds.max_weight is None:
            raise InputError(
                "sample_weight needs a declared largest weight; pass max_weight to the estimator."
            )
        rows = Rows(X, y, weights=weights, bounds=self.mixture.bounds, unit=self.unit)
        return release(
            SimplexSampling(),
            self.mixture,
            rows,
            budget=self.budget,
            ledger=ledger,
            noise=noise,
            purpose=purpose,
            facts=self.facts,
        )

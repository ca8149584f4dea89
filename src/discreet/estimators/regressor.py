"""Linear models of numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from discreet import _checks
from discreet._types import Vector
from discreet.data import Interval
from discreet.data.given_column import column_of
from discreet.data.kinds import TEXT
from discreet.errors import InputError, InputTypeError
from discreet.estimators.linear import LinearEstimator
from discreet.estimators.stored_rows import Stored, by_partition
from discreet.estimators.task import width_of
from discreet.record import Fact, Origin, labels_in_words


class LinearRegressorBase(RegressorMixin, LinearEstimator):  # type: ignore[misc]
    """Targets are clipped to their declared range, and counted from its middle."""

    _reads_files = True

    # scikit-learn tries any alpha on a regressor; one that is too weak for the budget is raised.
    _raises_ridge = True

    alpha: float | None
    target_range: tuple[float, float]
    coef_: Vector
    intercept_: Any

    def _ridge(self) -> float | None:
        if self.alpha is not None:
            _checks.positive(alpha=self.alpha)
        return self.alpha

    def _range(self) -> Interval:
        return interval_of(target_range=self.target_range)

    @property
    def _middle(self) -> float:
        """What targets are counted from; zero without an intercept to put it into."""
        interval = self._range()
        return (interval.low + interval.high) / 2 if self.fit_intercept else 0.0

    def _labels(self) -> Interval:
        """Return the range of targets, counted from its middle."""
        interval = self._range()
        return Interval(interval.low - self._middle, interval.high - self._middle)

    def _facts(self) -> tuple[Fact, ...]:
        return (*super()._facts(), Fact("labels", labels_in_words(self._range()), Origin.DECLARED))

    def _fit(self, X: Any, y: Any, weights: Any) -> Self:
        labels, ends, middle = self._labels(), self._range_ends(), self._middle

        def counted(targets: Any) -> Vector:
            inside: Vector = np.clip(numbers(targets), *ends)
            return inside - middle

        if isinstance(X, Stored):
            X, y = self._streamed(X, counted, None), None
        else:
            X, y = self._table(X, y)
        task = self._task(labels, (), width_of(X))
        coefficients = self._release(task, X, None if y is None else counted(y), weights)
        self._keep(coefficients[:, :-1], coefficients[:, -1] + self._middle)
        self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])
        return self

    def _range_ends(self) -> tuple[float, float]:
        interval = self._range()
        return interval.low, interval.high

    @by_partition
    def predict(self, X: Any) -> Vector:
        """Return the predicted target of each row."""
        return np.asarray(self._margins(X)[:, 0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a handful of rows cannot be learnt privately
        return tags


def numbers(y: Any) -> Vector:
    """Return targets as numbers, NaN where one is none; text as a whole is refused by its type."""
    given = column_of(y, "y")
    if given.kind == TEXT:
        raise InputTypeError("y must hold numbers; got text. Convert it first.")
    return given.numbers()


def interval_of(**named: tuple[float, float]) -> Interval:
    """Return the one range given, refusing what is no range."""
    ((name, ends),) = named.items()
    try:
        low, high = ends
    except (TypeError, ValueError):
        raise InputError(f"{name} must be two numbers, low and high; got {ends!r}.") from None
    interval = Interval(low, high)
    if interval.low == interval.high:
        raise InputError(f"{name} must not be empty; got {low} twice.")
    return interval

"""diffprivlib's LinearRegression, from noisy sums of squares and products."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin

from discreet._types import Array, Vector
from discreet.compat.diffprivlib.accountant import BudgetAccountant, books_for
from discreet.compat.diffprivlib.models.adapter import Adapter
from discreet.errors import InputError, InputTypeError
from discreet.estimators.base import silence
from discreet.estimators.features import FeatureMap, PlainFeatures, accept_numbers, read_rows
from discreet.estimators.fields import with_fields
from discreet.ledger import AbstractLedger
from discreet.linear_model import Ridge
from discreet.privacy import Unit

LARGEST = 1e100
"""The largest bound; beyond, squares overflow."""

NO_RIDGE = 1e-9
"""The penalty without privacy, where nothing asks for one; columns lie in [-1, 1]."""


@dataclass(frozen=True)
class _FramedFeatures(PlainFeatures):
    """Columns clipped to their bounds and scaled to [-1, 1]."""

    frame: Callable[[Array], Array] = np.asarray

    def _count(self, rows: Any) -> Any:
        return self.frame(rows)


class _FramedRidge(Ridge):
    """Ridge regression that frames rows where it reads them: after the charge."""

    frame: Callable[[Array], Array]

    def feature_map(self) -> FeatureMap:
        plain = super().feature_map()
        return _FramedFeatures(plain.region, plain.constant, frame=self.frame)


@with_fields
class LinearRegression(RegressorMixin, Adapter):  # type: ignore[misc]
    r"""Least squares with the parameters of ``diffprivlib.models.LinearRegression``.

    Columns are clipped to their declared bounds and scaled to [-1, 1], and
    :class:`discreet.linear_model.Ridge` learns from noisy sums of their squares and products, at
    pure epsilon. Coefficients come back in the user's own units.

    Parameters
    ----------
    epsilon
        The privacy budget of one fit.
    bounds_X
        The declared bounds of the columns: two numbers, or two vectors with one entry for each
        column. They have to be declared: measuring them from the rows would leak.
    bounds_y
        The declared bounds of the target, two numbers.
    fit_intercept
        Whether there is an intercept; without one columns are not shifted.
    copy_X
        Without effect: rows are never overwritten.
    random_state
        Never used: noise is always the operating system's. Anything but None is warned about.
    accountant
        Where the fit is paid for, before any cell is read. A :class:`BudgetAccountant`, or any
        ledger of this library. By default the default accountant at the time of the fit.
    delta, unit
        Not in diffprivlib. A positive delta allows Gaussian noise. The unit is ``"replace"`` one
        record, or ``"add_remove"`` one.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release, in the scaled frame, and its guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(0, 10, size=(20_000, 2))
    >>> y = 3 * X[:, 0] - X[:, 1] + 5
    >>> model = LinearRegression(epsilon=2, bounds_X=(0, 10), bounds_y=(-5, 35)).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.privacy_.epsilon(0.0) <= 2
    (True, True)
    >>> LinearRegression().fit(X, y)
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: bounds_X must be declared; ...
    """

    coef_: Vector = field(init=False)
    intercept_: float = field(init=False)

    epsilon: float = 1.0
    bounds_X: tuple[Any, Any] | None = None
    bounds_y: tuple[float, float] | None = None
    fit_intercept: bool = True
    copy_X: bool = True
    random_state: Any = None
    accountant: BudgetAccountant | AbstractLedger | None = None
    delta: float = 0.0
    unit: str | Unit = "replace"

    @silence
    def fit(self, X: Any, y: Any, **metadata: Any) -> Self:
        """Fit the model; the accountant is charged before anything is learnt from the rows.

        Parameters
        ----------
        X
            Rows: an array or a data frame.
        y
            One target for each row.
        **metadata
            Nothing: every row counts once, because no largest weight is declared.
        """
        self._check_weights(metadata)
        self._say_seeds_are_not_used()
        if self.bounds_X is None or self.bounds_y is None:
            name = "bounds_X" if self.bounds_X is None else "bounds_y"
            raise InputError(
                f"{name} must be declared; got None. Say between which two numbers values can lie "
                "from what they mean: measuring it from the rows would leak. Others are clipped."
            )
        if sparse.issparse(X):
            raise InputTypeError("X must be dense; got sparse rows. Use X.toarray().")
        target_range = _lows_and_highs(bounds_y=self.bounds_y, width=1)
        _, width = accept_numbers(self, X, reset=True).shape
        low, high = _lows_and_highs(bounds_X=self.bounds_X, width=width)
        shift, scale = self._frame(low, high)
        private = _FramedRidge(
            self.epsilon,
            self.delta,
            data_norm=math.sqrt(width),
            unit=self.unit,
            ledger=books_for(self.accountant, self.unit, self.epsilon),
            target_range=(float(target_range[0][0]), float(target_range[1][0])),
            alpha=None if math.isfinite(self.epsilon) else NO_RIDGE,
            fit_intercept=self.fit_intercept,
        )
        private.frame = lambda rows: (np.clip(rows, low, high) - shift) / scale
        private.fit(X, y)
        del private.frame
        self._copy_fitted(private)
        self.coef_ = private.coef_ / scale
        self.intercept_ = float(private.intercept_ - self.coef_ @ shift)
        return self

    def _frame(self, low: Vector, high: Vector) -> tuple[Vector, Vector]:
        """Return what columns are shifted and divided by to lie in [-1, 1]."""
        if self.fit_intercept:
            shift, scale = (low + high) / 2, (high - low) / 2
        else:
            shift, scale = np.zeros_like(low), np.maximum(np.abs(low), np.abs(high))
        return shift, np.where(scale > 0, scale, 1.0)

    def _shown_attributes(self) -> tuple[str, ...]:
        return ()

    def predict(self, X: Any) -> Vector:
        """Return the predicted target of each row."""
        _ = self._model
        rows = read_rows(self, X)
        return np.asarray(rows @ self.coef_ + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a handful of rows cannot be learnt privately
        return tags


def _lows_and_highs(*, width: int, **named: Any) -> tuple[Vector, Vector]:
    """Return the lower and upper bounds, one of each for every column."""
    ((name, bounds),) = named.items()
    wanted = f"{name} must be two numbers, or two vectors with one entry for each of {width}"
    try:
        low, high = (np.asarray(end, dtype=np.float64) for end in bounds)
        low, high = (np.broadcast_to(end.ravel(), (width,)) for end in (low, high))
    except (TypeError, ValueError):
        raise InputError(f"{wanted} columns, low and high.") from None
    if not (np.abs([low, high]) <= LARGEST).all() or (low > high).any():
        raise InputError(f"{wanted} columns, within {LARGEST:g} of zero, low at most high.")
    return low, high

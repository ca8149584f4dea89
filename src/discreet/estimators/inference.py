"""What a linear model that was fitted with ``intervals=True`` can say of its coefficients."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Array
from discreet.errors import InputError, IntervalRefused
from discreet.estimators.coefficient_table import CoefficientRow, CoefficientTable
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.fields import with_fields
from discreet.estimators.linear import LinearEstimator
from discreet.estimators.sandwich_intervals import (
    FEW_SHORTENED,
    Estimates,
    estimate,
    most_shortened,
)
from discreet.mechanisms.released_sandwich import ReleasedSandwich


@with_fields
class InferentialEstimator(LinearEstimator):
    """A linear model whose coefficients may have confidence intervals."""

    intervals: bool = False

    def _wants_intervals(self) -> bool:
        wanted: Any = self.intervals
        if not isinstance(wanted, np.bool_):
            _checks.instance(bool, intervals=wanted)
        features = self.feature_map()
        if wanted and isinstance(features, DeclaredFeatures) and any(features.indicators):
            raise InputError(
                "intervals are for columns of numbers: the levels of a category add up to the same "
                "in every row, so none of their coefficients has one. Leave intervals out, or "
                "declare all levels but one as columns from 0 to 1."
            )
        return bool(wanted)

    def confidence_interval(self, level: float = 0.95, *, intercept: bool = False) -> Array:
        """Return confidence intervals, one row (low, high) for each coefficient of ``coef_``.

        They cover sampling and privacy noise together, and cost nothing: the fit paid for them. The
        ridge is taken out first, so they are not centred at ``coef_``. What is covered are the
        coefficients of the population of rows as they were clipped.

        Parameters
        ----------
        level
            The chance that an interval covers, above zero and below one.
        intercept
            Whether a last row is that of ``intercept_``.

        Raises
        ------
        IntervalRefused
            The released numbers cannot carry an interval; the model itself stands.

        Warns
        -----
        UserWarning
            More than one in a hundred rows may have been clipped to their bound.
        """
        _check_level(level)
        released = self._sandwich()
        limits = self._estimates(released).intervals(level)
        said = _state_shortened(released)
        if said:
            warnings.warn(said, UserWarning, stacklevel=2)
        return limits if intercept or not self.fit_intercept else limits[:-1]

    def summary(self, level: float = 0.95) -> CoefficientTable:
        """Return a table of all coefficients by name, with their intervals.

        Where intervals are refused, the table says why in their place.

        Parameters
        ----------
        level
            The chance that an interval covers, above zero and below one.
        """
        _check_level(level)
        released = self._sandwich()
        names = [str(name) for name in self.get_feature_names_out()]
        values = np.ravel(self.coef_).tolist()
        if self.fit_intercept:
            names, values = [*names, "intercept"], [*values, float(np.ravel(self.intercept_)[0])]
        try:
            found = self._estimates(released)
        except IntervalRefused as refusal:
            rows = tuple(map(CoefficientRow, names, values))
            return CoefficientTable(rows, level, (f"no intervals: {refusal}",))
        columns = (found.centres, found.errors, *found.intervals(level).T)
        rows = tuple(map(CoefficientRow, names, values, *(column.tolist() for column in columns)))
        said = _state_shortened(released)
        return CoefficientTable(rows, level, (said,) if said else ())

    def _sandwich(self) -> ReleasedSandwich:
        check_is_fitted(self)
        if not self._wants_intervals():
            raise InputError(
                "this model was fitted without intervals, and they cannot be added afterwards: "
                "they are a part of the fit's budget. Fit with intervals=True."
            )
        released = ReleasedSandwich.of(self.release_.value)
        if released.width != np.size(self.coef_) + bool(self.fit_intercept):
            raise InputError("this model was fitted without intervals. Fit with intervals=True.")
        return released

    def _estimates(self, released: ReleasedSandwich) -> Estimates:
        """Return estimates in the user's units, the intercept last."""
        images = released.fold.T  # of each coefficient of the frame alone
        features = self.feature_map()
        if not self.fit_intercept:
            slopes, _ = features.fold(images, np.zeros(len(images)))
            return estimate(released, slopes.T)
        slopes, anchors = features.fold(images[:, :-1], images[:, -1] * features.constant)
        found = estimate(released, np.column_stack([slopes, anchors]).T)
        found.centres[-1] += self._target_origin()
        return found


def _check_level(level: float) -> None:
    _checks.fraction(level=level)
    if not 0 < level < 1:
        raise InputError(f"level must lie between zero and one; got {level}. Use 0.95, for one.")


def _state_shortened(released: ReleasedSandwich) -> str:
    """Say that intervals are those of clipped rows, if those may be many; else nothing."""
    share = most_shortened(released)
    if share <= FEW_SHORTENED:
        return ""
    return (
        f"up to {100 * share:.2g} % of the rows may have been clipped to their bound (sure to "
        "95 %); the intervals are for the coefficients of the rows as clipped. A larger "
        "data_norm, more rows or a larger epsilon would tell more."
    )

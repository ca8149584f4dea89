"""Coefficients by name, with their intervals: what ``model.summary()`` returns."""

from __future__ import annotations

import html
import math
import warnings
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Array
from discreet.errors import InputError, IntervalRefused
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import with_fields
from discreet.estimators.linear import LinearEstimator
from discreet.estimators.sandwich_intervals import (
    FEW_SHORTENED,
    Estimates,
    estimate,
    most_shortened,
)
from discreet.mechanisms.released_sandwich import ReleasedSandwich


@dataclass(frozen=True)
class CoefficientRow:
    """One coefficient: its name, as released, and as estimated without the ridge."""

    name: str
    coefficient: float
    estimate: float = math.nan
    standard_error: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class CoefficientTable:
    """Rows of a table of coefficients, and what has to be said beside them.

    Examples
    --------
    >>> table = CoefficientTable((CoefficientRow("age", 0.21, 0.22, 0.02, 0.18, 0.26),), 0.95)
    >>> print(table)
    name  coefficient  estimate  standard_error   low  high
    age          0.21      0.22            0.02  0.18  0.26
    intervals of 95 %, for sampling and privacy together
    >>> table["age"].low
    0.18
    """

    rows: tuple[CoefficientRow, ...]
    level: float
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[CoefficientRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> CoefficientRow:
        """Return the row of a name."""
        return next(row for row in self.rows if row.name == name)

    @property
    def _words(self) -> tuple[str, ...]:
        said = f"intervals of {100 * self.level:g} %, for sampling and privacy together"
        return (said, *self.notes)

    def _cells(self) -> list[tuple[str, ...]]:
        lines = [tuple(field.name for field in fields(CoefficientRow))]
        for row in self.rows:
            name, *numbers = astuple(row)
            lines.append((name, *("-" if math.isnan(one) else f"{one:.4g}" for one in numbers)))
        return lines

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(
                [line[0].ljust(widths[0])]
                + [cell.rjust(wide) for cell, wide in zip(line[1:], widths[1:], strict=True)]
            )
            for line in cells
        ]
        return "\n".join([*lines, *self._words])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        lines = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
            for line in body
        )
        words = "".join(f"<p>{html.escape(one)}</p>" for one in self._words)
        return f"<table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>{words}"

    def to_pandas(self) -> Any:
        """Return a pandas data frame, indexed by name; pandas has to be installed."""
        import pandas as pd

        columns = [field.name for field in fields(CoefficientRow)]
        frame = pd.DataFrame([astuple(row) for row in self.rows], columns=columns)
        return frame.set_index("name")


@with_fields
class InferentialEstimator(LinearEstimator):
    """A linear model whose coefficients may have confidence intervals."""

    intervals: bool = False

    def _wants_intervals(self, features: FeatureMap) -> bool:
        wanted: Any = self.intervals
        if not isinstance(wanted, np.bool_):
            _checks.instance(bool, intervals=wanted)
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
        if not self._wants_intervals(self.feature_map()):
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

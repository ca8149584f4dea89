"""A mean, a count, a quantile, a histogram: one call each, with an interval."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field
from itertools import pairwise
from typing import Any, cast

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.errors import CalibrationError, InputError
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.features import FeatureMap, vector_as_table
from discreet.estimators.fields import with_fields
from discreet.estimators.fit import Fit
from discreet.geometry import L2Ball
from discreet.ledger import AbstractLedger
from discreet.mechanisms import GaussianSum, LaplaceSum, NoisyHistogram, Plan, PrivateCount
from discreet.mechanisms.gaussian_sum import GaussianSumPlan
from discreet.mechanisms.laplace_sum import LaplaceSumPlan
from discreet.metrics.count_noise import CountNoise
from discreet.metrics.inversion import LEAD, TOO_FEW
from discreet.policy.task import Asked
from discreet.preprocessing import Category, Column, Numeric
from discreet.privacy import Unit
from discreet.questions import Bounds, CellCounts, RowCount, VectorSum
from discreet.statistics.column_description import OTHERS
from discreet.statistics.described_table import MarginalsEstimator
from discreet.statistics.group_marginals import NumberMarginal
from discreet.statistics.noisy_tree import Confidence, NoisyNumber, check_level, solve
from discreet.statistics.private_numbers import PrivateHistogram, PrivateNumber
from discreet.statistics.row_reading import ONE, SECOND, BinFeatures, MomentFeatures, RowFeatures

ANY = L2Ball(1.0)
"""Rows are counted whatever they hold."""

LARGEST = 10**6
"""Bins of a histogram, at most."""


@with_fields
class StatisticEstimator(PrivateEstimator):
    """One statistic of a vector, or of a table of one column."""

    learns = frozenset(["read_"])
    _has_labels = False

    level: float = 0.95
    read_: Any = field(init=False)

    def _as_table(self, X: Any) -> Any:
        return vector_as_table(X)

    def _check(self) -> None:
        check_level(self.level)

    @abstractmethod
    def _read(self, plan: Plan, value: Any) -> Any:
        """Return what the released value says, with intervals."""

    def _keep(self, asked: Asked, fit: Fit) -> None:
        plan = asked.mechanism.plan(asked.question, fit.budget, fit.unit)
        self.read_ = self._read(plan, self.release_.value)


@with_fields
class MeanEstimator(StatisticEstimator):
    """The mean of numbers, from two moments and a count, released together."""

    bounds: tuple[float, float] = (0.0, 1.0)

    def feature_map(self) -> MomentFeatures:
        return MomentFeatures([range_of(self.bounds)])

    def _ask(self, fit: Fit) -> Asked:
        features = cast(MomentFeatures, fit.features)
        question = VectorSum(Bounds(features.box, 3, max_rows=fit.shape.max_rows))
        mechanism: GaussianSum | LaplaceSum = LaplaceSum()
        if fit.budget.is_private and fit.budget.delta > 0:
            with suppress(CalibrationError):
                options: list[GaussianSum | LaplaceSum] = [LaplaceSum(), GaussianSum()]
                mechanism = min(
                    options,
                    key=lambda one: deviation_of(one.plan(question, fit.budget, fit.unit)),
                )
        return Asked(question, mechanism, features.facts)

    def _read(self, plan: Plan, value: Any) -> NoisyNumber:
        """Return the mean of the places u, in Fieller's interval, in the units of the column."""
        column, deviation = range_of(self.bounds), deviation_of(plan)
        first, second, one = (float(part) for part in value / [1.0, SECOND, ONE])
        variance, count_variance = deviation**2, (deviation / ONE) ** 2
        if not one > LEAD * math.sqrt(count_variance):
            return NoisyNumber(column.middle, column.low, column.high, TOO_FEW)
        kept = min(max(first / one, -1.0), 1.0)
        # E u^2, estimated from above by a deviation of its noise: few rows seem too much alike
        squares = min((second + deviation / SECOND) / one / 2 + 0.5, 1.0)
        drawn = one * max(squares - kept**2, 1 / one)
        noise = variance + kept**2 * count_variance
        sure = Confidence(self.level, isinstance(plan, LaplaceSumPlan))
        squared = float(sure.reach(noise, noise + drawn)) ** 2
        found = solve(
            one**2 - squared * count_variance,
            -2 * first * one,
            first**2 - squared * (variance + drawn),
            kept,
            (-1.0, 1.0),
        )
        return found.scale(column.half, column.middle)


def deviation_of(plan: Plan) -> float:
    """Return the standard deviation of the noise on each number of a sum; zero for none."""
    if isinstance(plan, LaplaceSumPlan):
        return plan.grid.scale * math.sqrt(2)
    return plan.grid.scale if isinstance(plan, GaussianSumPlan) else 0.0


@with_fields
class CountEstimator(StatisticEstimator):
    """How many rows there are."""

    def feature_map(self) -> FeatureMap:
        return RowFeatures(ANY)

    def _ask(self, fit: Fit) -> Asked:
        bounds = Bounds(ANY, fit.shape.n_features, max_rows=fit.shape.max_rows)
        return Asked(RowCount(bounds), PrivateCount())

    def _read(self, plan: Plan, value: Any) -> NoisyNumber:
        scale = float(plan.tolerances[0].value) if plan.tolerances else 0.0
        far = scale * math.log(1 / (1 - self.level)) + (0.5 if scale else 0.0)  # it is rounded
        return NoisyNumber(float(value), max(value - far, 0.0), float(value) + far)


@with_fields
class HistogramEstimator(StatisticEstimator):
    """How many values are in each part of a range, or of each level."""

    bounds: tuple[float, float] | None = None
    levels: Sequence[str | float] | None = None
    bins: int = 10

    @property
    def column(self) -> Column:
        """What is declared of the column."""
        if self.levels is not None and self.bounds is None:
            return Category(self.levels)
        if self.bounds is not None and self.levels is None:
            return range_of(self.bounds)
        raise InputError("declare bounds, for numbers, or levels, for categories.")

    @property
    def edges(self) -> Vector | None:
        """Where even parts of a range begin and end; None for levels."""
        if self.bounds is None:
            return None
        _checks.whole(bins=self.bins, at_least=1, at_most=LARGEST)
        return np.linspace(*self.bounds, int(self.bins) + 1)

    def feature_map(self) -> BinFeatures:
        return BinFeatures([self.column], edges=self.edges)

    def _ask(self, fit: Fit) -> Asked:
        features = cast(BinFeatures, fit.features)
        question = CellCounts((features.size,), max_rows=fit.shape.max_rows)
        return Asked(question, NoisyHistogram(), features.facts)

    def _read(self, plan: Plan, value: Any) -> tuple[NoisyNumber, ...]:
        noise = CountNoise.of_plan(plan)
        far = noise.sum_of(1).reach((1 - self.level) / 2)
        found = []
        for count in np.asarray(value).tolist():
            kept = max(count, 0.0)
            found.append(
                NoisyNumber(kept, min(max(count - far, 0.0), kept), max(count + far, kept))
            )
        return tuple(found)

    @property
    def names(self) -> tuple[str, ...]:
        """What each cell counts."""
        column, edges = self.column, self.edges
        if isinstance(column, Category) or edges is None:
            return (*map(str, cast(Category, column).levels), OTHERS)
        ends = [f"{edge:.6g}" for edge in edges]
        return (*(f"{low} to {high}" for low, high in pairwise(ends)), "missing")


def range_of(bounds: Any) -> Numeric:
    """Return a column of numbers in declared bounds."""
    if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
        raise InputError(
            "bounds must be two numbers, the lowest and the highest value, declared and not looked "
            "for in the data: bounds=(0, 120)."
        )
    return Numeric(*bounds)


def private_mean(
    x: Any,
    bounds: tuple[float, float],
    *,
    epsilon: float = 1.0,
    delta: float = 1e-9,
    unit: str | Unit = "add_remove",
    ledger: AbstractLedger | None = None,
    level: float = 0.95,
    max_rows: int | None = None,
    purpose: str = "",
    rehearsal: int | None = None,
) -> PrivateNumber:
    """Return the mean of numbers, with an interval; the ledger is charged first.

    A sum, a sum of squares and a count are released together, so that the interval holds the noise
    and the sampling: it is about the mean where these numbers came from.

    Parameters
    ----------
    x
        Numbers: a vector, a list, a series, a table of one column, or the path of one in Parquet.
    bounds
        The lowest and the highest value, declared; values beyond count as these. Missing values are
        left out.
    epsilon, delta
        What the release may spend; with ``delta=0`` the promise is pure.
    unit, ledger, level, max_rows, purpose, rehearsal
        As of :func:`describe`.

    Returns
    -------
    PrivateNumber
        ``value``, ``interval``, ``release``; ``float(...)`` of it is the value.

    Examples
    --------
    >>> import numpy as np
    >>> ages = np.random.default_rng(0).integers(20, 80, size=5000)
    >>> mean = private_mean(ages, bounds=(0, 120), epsilon=0.5)
    >>> bool(abs(mean.value - 49.5) < 3 and mean.interval[0] < 49.5 < mean.interval[1] + 2)
    True
    """
    model = MeanEstimator(
        epsilon, delta, bounds=bounds, unit=unit, ledger=ledger, level=level, max_rows=max_rows,
        rehearsal=rehearsal,
    ).fit(x, purpose=purpose or "private_mean")  # fmt: skip
    return PrivateNumber("mean", model.read_, level, model.release_)


def private_count(
    x: Any,
    *,
    epsilon: float = 1.0,
    unit: str | Unit = "add_remove",
    ledger: AbstractLedger | None = None,
    level: float = 0.95,
    max_rows: int | None = None,
    purpose: str = "",
    rehearsal: int | None = None,
) -> PrivateNumber:
    """Return how many rows there are, with an interval; the ledger is charged first.

    For rows of one kind pass these rows alone, as in ``private_count(frame[frame.ward == "a"])``:
    whether a record is among them depends on that record. The interval is about these rows, and
    holds the noise, which is pure.

    Parameters
    ----------
    x
        Rows: anything that `fit` takes, a table or a vector.
    epsilon
        What the release may spend.
    unit, ledger, level, max_rows, purpose, rehearsal
        As of :func:`describe`.

    Returns
    -------
    PrivateNumber
        ``value``, ``interval``, ``release``; ``float(...)`` of it is the value.

    Examples
    --------
    >>> rows = private_count([[0.0]] * 500, epsilon=1.0)
    >>> bool(abs(rows.value - 500) < 25)
    True
    """
    model = CountEstimator(
        epsilon, 0.0, unit=unit, ledger=ledger, level=level, max_rows=max_rows, rehearsal=rehearsal
    ).fit(x, purpose=purpose or "private_count")
    return PrivateNumber("rows", model.read_, level, model.release_)


def private_quantile(
    x: Any,
    q: float,
    bounds: tuple[float, float],
    *,
    epsilon: float = 1.0,
    delta: float = 1e-9,
    unit: str | Unit = "add_remove",
    ledger: AbstractLedger | None = None,
    level: float = 0.95,
    max_rows: int | None = None,
    purpose: str = "",
    rehearsal: int | None = None,
) -> PrivateNumber:
    """Return a quantile of numbers, with an interval; the ledger is charged first.

    Splits of the range are released, as by :func:`describe`, so that the interval holds the noise
    and the sampling.

    Parameters
    ----------
    x
        Numbers: a vector, a list, a series, a table of one column, or the path of one in Parquet.
    q
        Which quantile, strictly between zero and one.
    bounds
        The lowest and the highest value, declared; values beyond count as these. Missing values are
        left out.
    epsilon, delta
        What the release may spend; with ``delta=0`` the promise is pure.
    unit, ledger, level, max_rows, purpose, rehearsal
        As of :func:`describe`.

    Returns
    -------
    PrivateNumber
        ``value``, ``interval``, ``release``; ``float(...)`` of it is the value.

    Examples
    --------
    >>> import numpy as np
    >>> ages = np.random.default_rng(0).integers(20, 80, size=5000)
    >>> median = private_quantile(ages, 0.5, bounds=(0, 120), epsilon=0.5)
    >>> bool(40 < median.value < 60)
    True
    """
    _checks.fraction(q=q)
    column = range_of(bounds)
    model = MarginalsEstimator(
        epsilon, delta, columns=[column], unit=unit, ledger=ledger, level=level, max_rows=max_rows,
        rehearsal=rehearsal,
    ).fit(vector_as_table(x), purpose=purpose or "private_quantile")  # fmt: skip
    (group,) = model.read_.groups
    tree = cast(NumberMarginal, group.columns[0]).tree
    found = tree.quantile(q, group.sure).scale(column.high - column.low, column.low)
    return PrivateNumber(f"{q:g} quantile", found, level, model.release_)


def private_histogram(
    x: Any,
    *,
    bounds: tuple[float, float] | None = None,
    levels: Sequence[str | float] | None = None,
    bins: int = 10,
    epsilon: float = 1.0,
    delta: float = 0.0,
    unit: str | Unit = "add_remove",
    ledger: AbstractLedger | None = None,
    level: float = 0.95,
    max_rows: int | None = None,
    purpose: str = "",
    rehearsal: int | None = None,
) -> PrivateHistogram:
    """Return how many values there are of each kind, with intervals; the ledger is charged first.

    A record is in one cell, so many cells cost as much as one. Intervals are about these rows, each
    by itself, and hold the noise.

    Parameters
    ----------
    x
        Values: a vector, a list, a series, a table of one column, or the path of one in Parquet.
    bounds
        Of numbers: the lowest and the highest value, declared; values beyond count as these.
    levels
        Of categories: the declared levels, in place of ``bounds``.
    bins
        In how many even parts the range of numbers is cut.
    epsilon, delta
        What the release may spend; the noise is Laplace, unless Gaussian noise is smaller.
    unit, ledger, level, max_rows, purpose, rehearsal
        As of :func:`describe`.

    Returns
    -------
    PrivateHistogram
        ``value``, ``interval``, ``cells``, ``edges``, ``release``.

    Examples
    --------
    >>> wards = private_histogram(["a", "b", "b", "?"] * 500, levels=["a", "b"], epsilon=1.0)
    >>> wards.cells, bool(abs(wards.value[1] - 1000) < 25)
    (('a', 'b', 'anything else'), True)
    """
    model = HistogramEstimator(
        epsilon, delta, bounds=bounds, levels=levels, bins=bins, unit=unit, ledger=ledger,
        level=level, max_rows=max_rows, rehearsal=rehearsal,
    ).fit(x, purpose=purpose or "private_histogram")  # fmt: skip
    return PrivateHistogram(model.names, model.read_, model.edges, level, model.release_)

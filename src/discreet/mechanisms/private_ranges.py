"""Find the ranges of columns privately, then learn from rows within them; ``private_ranges.md``.

Two stages that compose: quantiles by the exponential mechanism, then another mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError, InputError
from discreet.mechanisms.base import TABLE_UNITS, Learner, Plan, Verdict, covers
from discreet.mechanisms.private_standardisation import PrivateStandardisation
from discreet.mechanisms.sampling.range_draws import RangeDraws, narrow_rows
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, Profile, Unit
from discreet.questions import Question
from discreet.questions.bounds import Bounds
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest
from discreet.record import Tolerance

RANGES_SHARE = 0.06
"""The share of mu squared, or of a pure epsilon, that goes into ranges."""


@dataclass(frozen=True, eq=False)
class PrivateRangesPlan(Plan):
    """Ranges first, then the second mechanism on rows within them.

    What is released is what the second mechanism releases, as one vector, followed by the two ends
    of each range.
    """

    draws: RangeDraws
    second: Plan
    inside: Bounds
    guarantee: Guarantee
    reason: str

    @property
    def holds_rows(self) -> bool:  # type: ignore[override]
        return self.second.holds_rows

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return self.second.tolerances

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        ranges = self.draws.release(rows, noise)  # public from here on
        value = self.second.run(self.narrow(rows, ranges), noise)
        return np.concatenate([np.ravel(value), np.ravel(ranges)])

    def rows_of_model(self, rows: OpenRows, value: Any) -> OpenRows:
        ranges = np.asarray(value)[-2 * len(self.draws.columns) :].reshape(-1, 2)
        return self.narrow(rows, ranges)

    def narrow(self, rows: OpenRows, ranges: Array) -> OpenRows:
        """Return the rows within their ranges, each by itself, clipped to their region: private."""
        width, columns = self.inside.n_features, self.draws.columns
        change = partial(_narrow, width=width, columns=columns, ranges=ranges)
        return rows.transform(change, self.inside)


def _narrow(rows: Any, width: int, columns: tuple[int, ...], ranges: Array) -> Array:
    is_sparse = sparse.issparse(rows)
    dense: Array = rows.toarray() if is_sparse else rows
    return narrow_rows(dense[:, :width], columns, ranges)  # the intercept's column comes again


def _shape_of(bounds: Bounds) -> tuple[Any, ...]:
    return bounds.n_features, bounds.max_rows, bounds.max_weight, bounds.person


@dataclass(frozen=True)
class PrivateRanges(Learner):
    """A small part of the budget for the ranges of some columns, the rest for learning within them.

    Numbers of these columns are written by their place within public bounds
    (``questions/sought_ranges.py``); a range is made of two quantiles. The second mechanism learns
    from rows whose numbers are written by their place within that range.

    Parameters
    ----------
    second
        The mechanism that learns.
    columns
        The places of these columns in a row, counted from zero; at least one.
    inside
        What is declared about rows once ranges are found; None for what the question declares.
    vectors
        How many vectors of coefficients the second mechanism releases: one, or one for each of
        several classes.
    share
        The share of mu squared, or of a pure epsilon, that goes into ranges. With zero nothing is
        sought, and ranges are the public bounds.

    Examples
    --------
    >>> from discreet.data import LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import MarginLogistic
    >>> from discreet.privacy import AddRemoveOne
    >>> bounds = Bounds(L2Ball(2.0), 3, labels=LabelSet([-1, 1]), intercept=1.0, max_rows=10**6)
    >>> problem = Problem(MarginLogistic(), bounds, ridge=1.6)
    >>> mechanism = PrivateRanges(columns=(0, 1))
    >>> plan = mechanism.plan(problem, Budget(1.0, 1e-9), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(1e-9), 3)
    1.0
    """

    name: ClassVar[str] = "private_ranges"
    units = TABLE_UNITS

    second: Learner = field(default_factory=PrivateStandardisation)
    columns: tuple[int, ...] = ()
    inside: Bounds | None = None
    vectors: int = 1
    share: float = RANGES_SHARE

    def __post_init__(self) -> None:
        _checks.fraction(share=self.share)
        _checks.whole(vectors=self.vectors, at_least=1)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem | OneVsRest):
            return Verdict(False, "private_ranges is a first stage of learning problems.")
        if not self.columns:
            return Verdict(
                False,
                "private_ranges must be told the columns; declare Numeric(None, None, "
                "public_bounds=(low, high)) in the columns of an estimator.",
            )
        return covers(self.second, question.restate(self._inside(question)), unit)

    def _inside(self, question: Problem | OneVsRest) -> Bounds:
        return question.bounds if self.inside is None else self.inside

    def _plan_beside(
        self,
        question: Problem | OneVsRest,
        budget: Budget,
        unit: Unit,
        *,
        beside: Profile | None,
        times: int,
    ) -> Plan:
        if beside is not None or times > 1:
            raise CalibrationError("private_ranges is the first stage, and runs once.")
        self._check_shape(question)
        inside = self._inside(question)
        draws = RangeDraws.within_budget(self.columns, question.bounds, self.share, budget, unit)
        second = self.second.plan_beside(
            question.restate(inside), budget, unit, beside=draws.profile
        )
        reason = self._explain(draws, budget) + second.reason
        return PrivateRangesPlan(draws, second, inside, second.guarantee, reason)

    def _explain(self, draws: RangeDraws, budget: Budget) -> str:
        if draws.is_idle:
            return ""
        found = f"{len(self.columns)} range" + ("" if len(self.columns) == 1 else "s")
        spent = f", for {self.share:.0%} of the budget" if budget.is_private else ""
        return f"{found} found first{spent}; then "

    def _check_shape(self, question: Problem | OneVsRest) -> None:
        stated, inside = question.bounds, self._inside(question)
        for column in self.columns:
            _checks.whole(column=column, at_least=0, at_most=stated.n_features - 1)
        if len(set(self.columns)) != len(self.columns):
            raise InputError("columns must all be different; one comes twice.")
        if _shape_of(stated) != _shape_of(inside):
            raise InputError("rows have the same columns, number and weights within their ranges.")

    def coefficients(self, value: Any) -> Array:
        vector = np.asarray(value)[: -2 * len(self.columns)]
        return self.second.coefficients(
            vector if self.vectors == 1 else vector.reshape(self.vectors, -1)
        )

    def ranges(self, value: Any) -> Array:
        """Return the ranges in a released value: a line for each column, from -1 to 1."""
        return np.asarray(value)[-2 * len(self.columns) :].reshape(-1, 2)

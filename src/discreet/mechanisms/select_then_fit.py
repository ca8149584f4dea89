"""Choose columns privately, then learn from these alone; ``select_then_fit.md``.

Two stages that compose: support selection, then another mechanism on the selected columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from discreet import _checks
from discreet._types import Array, Integers, Vector
from discreet.data import OpenRows
from discreet.errors import InputError
from discreet.mechanisms.base import TABLE_UNITS, Learner, Mechanism, Plan, Verdict, covers
from discreet.mechanisms.peeling import Peeling
from discreet.mechanisms.private_standardisation import PrivateStandardisation
from discreet.mechanisms.stability_release import STABLE, StabilityPlan, StabilityRelease
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, NoPrivacy, Unit
from discreet.questions import BlockVote, ColumnVotes, Question, StrongestColumns
from discreet.questions.bounds import Bounds, LabelSet
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest
from discreet.record import Tolerance

SELECTION_SHARE = 0.3
"""The share of the budget that goes into the choice of columns, unless another is asked for."""

NO_COLUMN = -1.0
"""Stands in a release where fewer columns were chosen than there is room for."""


@dataclass(frozen=True, eq=False)
class SelectThenFitPlan(Plan):
    """Columns first, then the second mechanism on rows of these columns.

    What is released is what the second mechanism releases, as one vector, followed by the places of
    the columns, -1 for none. Without a stable choice the model is zero.
    """

    first: Plan
    second: Plan
    inside: Bounds
    size: int
    vectors: int
    scale: float
    guarantee: Guarantee
    reason: str

    @property
    def holds_rows(self) -> bool:  # type: ignore[override]
        return self.first.holds_rows or self.second.holds_rows

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return (*self.first.tolerances, *self.second.tolerances)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        places = self._choose(rows, noise)  # public from here on
        if places is None or places.size == 0:
            model = np.zeros(self.vectors * self.inside.width)
            return np.concatenate([model, np.full(self.size, NO_COLUMN)])
        value = self.second.run(self.narrow(rows, places), noise)
        padding = np.full(self.size - places.size, NO_COLUMN)
        return np.concatenate([np.ravel(value), places.astype(np.float64), padding])

    def _choose(self, rows: OpenRows, noise: Noise) -> Integers | None:
        """Return the places of columns, none perhaps; None if there is no stable choice."""
        said = np.asarray(self.first.run(rows, noise))
        if isinstance(self.first, StabilityPlan):
            return said[1:].astype(np.int64) if said[0] == STABLE else None
        return said.astype(np.int64)

    def rows_of_model(self, rows: OpenRows, value: Any) -> OpenRows:
        said = np.asarray(value)[-self.size :]
        return self.narrow(rows, said[said != NO_COLUMN].astype(np.int64))

    def narrow(self, rows: OpenRows, places: Integers) -> OpenRows:
        """Return the rows' entries at some places, over the scale: private."""
        change = partial(_narrow, places=places, size=self.size, scale=self.scale)
        return rows.transform(change, self.inside)


def _narrow(rows: Any, places: Integers, size: int, scale: float) -> Array:
    is_sparse = sparse.issparse(rows)
    table: Array = rows[:, places].toarray() if is_sparse else rows[:, places]
    narrow = np.zeros((table.shape[0], size))
    narrow[:, : places.size] = table
    narrow /= scale
    return narrow


Selection = StrongestColumns | ColumnVotes | BlockVote
"""Questions whose answer is columns."""


@dataclass(frozen=True)
class SelectThenFit(Mechanism):
    """A part of the budget for the choice of columns, the rest for learning from them.

    The question is stated for all columns. What is learnt from is the entries of the chosen ones,
    divided by ``scale``, and the second stage is planned for so many columns, whichever they are.

    Parameters
    ----------
    selection
        Which columns: :class:`~discreet.questions.StrongestColumns`, or votes of blocks, about
        the same rows.
    second
        The mechanism that learns.
    inside
        What is declared about rows of the chosen columns.
    scale
        What entries are divided by.
    share
        The share of the budget that goes into the choice: of mu squared if columns are drawn and
        delta is not zero, of epsilon and delta otherwise.

    Examples
    --------
    >>> from discreet.geometry import L2Ball, LinfBall
    >>> from discreet.losses import MarginLogistic
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import LabelSet
    >>> about = {"labels": LabelSet([-1, 1]), "max_rows": 10**6}
    >>> wide = Bounds(LinfBall(1.0), n_features=1000, **about)
    >>> narrow = Bounds(L2Ball(2.0), n_features=4, intercept=1.0, **about)
    >>> mechanism = SelectThenFit(StrongestColumns(wide, 4), inside=narrow)
    >>> problem = Problem(MarginLogistic(), wide, ridge=2.0)
    >>> plan = mechanism.plan(problem, Budget(1.0, 1e-9), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(1e-9), 3)
    1.0
    """

    name: ClassVar[str] = "select_then_fit"
    units = TABLE_UNITS

    selection: Selection | None = None
    second: Learner = field(default_factory=PrivateStandardisation)
    inside: Bounds | None = None
    scale: float = 1.0
    share: float = SELECTION_SHARE

    def __post_init__(self) -> None:
        _checks.positive(share=self.share, scale=self.scale)
        _checks.fraction(share=self.share)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Problem | OneVsRest):
            return Verdict(False, "select_then_fit is a first stage of learning problems.")
        if self.selection is None or self.inside is None:
            return Verdict(
                False,
                "select_then_fit must be told which columns to choose and what is declared about "
                "them; use SparseClassifier or SparseRegressor.",
            )
        verdict = _chooser(self.selection).accepts(self.selection, unit)
        return verdict and covers(self.second, question.restate(self.inside), unit)

    def _plan(self, question: Problem | OneVsRest, budget: Budget, unit: Unit) -> Plan:
        selection, inside = self._state_stages(question)
        first = self._plan_first(selection, budget, unit)
        beside = first.guarantee.profile if budget.is_private else None
        second = self.second.plan_beside(question.restate(inside), budget, unit, beside=beside)
        reason = f"{_size_of(selection)} columns chosen first, for {self.share:.0%} of the budget"
        return SelectThenFitPlan(
            first,
            second,
            inside,
            _size_of(selection),
            question.classes if isinstance(question, OneVsRest) else 1,
            self.scale,
            second.guarantee if budget.is_private else Guarantee(NoPrivacy(), unit),
            f"{reason}; then {second.reason}",
        )

    def _state_stages(self, question: Problem | OneVsRest) -> tuple[Selection, Bounds]:
        """Return what is chosen and from what is learnt, if both are about the question's rows."""
        selection, inside = self.selection, self.inside
        if selection is None or inside is None:
            raise InputError("select_then_fit must be told which columns to choose.")
        stated, asked = question.bounds, selection.bounds
        if stated.n_features != asked.n_features or stated.max_rows != asked.max_rows:
            raise InputError("columns must be chosen from the rows that are learnt from.")
        if not stated.person == asked.person == inside.person:
            raise InputError(
                "what is chosen from must be the rows of persons that are learnt from."
            )
        if stated.max_weight is not None or inside.max_weight is not None:
            raise InputError("select_then_fit counts every row once; leave max_weight out.")
        if inside.n_features != _size_of(selection) or inside.max_rows != stated.max_rows:
            raise InputError("the chosen columns must be as many as are declared, of as many rows.")
        if stated.intercept is not None:
            raise InputError("declare the intercept for the chosen columns, not for all of them.")
        return selection, inside

    def _plan_first(self, selection: Selection, budget: Budget, unit: Unit) -> Plan:
        if not isinstance(selection, BlockVote):
            return Peeling().plan_share(selection, self.share, budget, unit)
        part = budget
        if budget.is_private:
            part = Budget(self.share * budget.epsilon, self.share * budget.delta)
        return StabilityRelease().plan(selection, part, unit)

    def places(self, value: Any) -> Integers:
        """Return the places of the columns in a released value; none without a stable choice."""
        if self.selection is None:
            raise InputError("select_then_fit must be told which columns to choose.")
        said = np.asarray(value)[-_size_of(self.selection) :]
        return np.asarray(said[said != NO_COLUMN].astype(np.int64))

    def coefficients(self, value: Any) -> Array:
        """Return those of the chosen columns, a line for each of three or more classes."""
        labels = None if self.inside is None else self.inside.labels
        classes = len(labels.values) if isinstance(labels, LabelSet) else 2
        model = self.model(value)
        return self.second.coefficients(model.reshape(classes, -1) if classes > 2 else model)

    def model(self, value: Any) -> Vector:
        """Return what the second mechanism released, as one vector."""
        if self.selection is None:
            raise InputError("select_then_fit must be told which columns to choose.")
        return np.asarray(value)[: -_size_of(self.selection)]


def _chooser(selection: Selection) -> Mechanism:
    return StabilityRelease() if isinstance(selection, BlockVote) else Peeling()


def _size_of(selection: Selection) -> int:
    """Return how many columns are chosen, at most."""
    if not isinstance(selection, BlockVote):
        return selection.size
    if selection.most is None:
        raise InputError("votes must be for a bounded number of columns; declare most.")
    return int(selection.most)

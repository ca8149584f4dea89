"""Linear models of a few columns, which a fit chooses first: two stages, one release."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import field, replace
from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Array, Integers
from discreet.errors import InputError
from discreet.estimators.chosen_columns import check_size
from discreet.estimators.fields import with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.linear import COUNTED
from discreet.estimators.sparse_model import SparseModel
from discreet.estimators.targets import LearningTarget, interval_of
from discreet.mechanisms import Learner, SelectThenFit
from discreet.mechanisms.select_then_fit import SELECTION_SHARE, Selection
from discreet.policy.choosing import choose
from discreet.policy.task import Asked, LinearTask
from discreet.privacy import Budget
from discreet.questions import BlockVote, Bounds, Interval, StrongestColumns

SELECTED = frozenset(["is_stable_"])
"""What a fit leaves beside coefficients and columns."""


@with_fields
class SelectedModel(SparseModel):
    """Columns are chosen privately, and a model of these alone is learnt with the rest."""

    learns = SparseModel.learns | SELECTED

    data_range: tuple[float, float] | None = None
    n_features_to_select: int = 10
    selector: Any = None
    selection_share: float = SELECTION_SHARE
    center: bool = True
    is_stable_: bool = field(init=False)

    def _check(self) -> None:
        super()._check()
        _checks.whole(n_features_to_select=self.n_features_to_select, at_least=1)
        _checks.truth(center=self.center)
        _checks.positive(selection_share=self.selection_share)
        if not self.selection_share < 1:
            raise InputError(
                f"selection_share must be below 1: the rest is for the model; got "
                f"{self.selection_share}."
            )
        if self.selector is not None:
            from discreet.estimators.block_estimator import procedure_of  # slow to import

            procedure_of(self.selector)

    def _largest_entry(self) -> float:
        within = self._entries()
        return super()._largest_entry() if within is None else within.magnitude

    def _entries(self) -> Interval | None:
        """Return the declared range of entries, if it is not symmetric about zero."""
        if self.columns is not None or self.data_range is None:
            return None
        within = interval_of(data_range=self.data_range)
        if not within.low <= 0 <= within.high:
            raise InputError("data_range must contain zero; shift the columns, or use columns=.")
        return within

    @abstractmethod
    def _second_task(self, size: int, fit: Fit) -> LinearTask:
        """State the second stage as the fit of a linear model of so many columns in [-1, 1]."""

    def _ask(self, fit: Fit) -> Asked:
        target = fit.need_target()
        size = check_size(self.n_features_to_select, fit.shape.n_features)
        wide = self._bounds(fit.shape, intercept=None)
        task = self._second_task(size, replace(fit, budget=self._rest_of(fit.budget)))
        second = choose(replace(task, assumed=target.assumed))
        if not isinstance(second.mechanism, Learner):
            raise InputError(f"{second.mechanism.name} cannot be the second of two stages.")
        mechanism = SelectThenFit(
            self._selection(wide, size, target, fit.budget),
            second.mechanism,
            second.question.bounds,
            scale=self._largest_entry(),
            share=float(self.selection_share),
        )
        question: Any = second.question
        facts = self._facts(fit)
        return replace(
            second,
            question=question.restate(wide),
            mechanism=mechanism,
            facts=facts if fit.budget.is_private else (*facts, COUNTED),
        )

    def _rest_of(self, budget: Budget) -> Budget:
        """Return roughly what the choice of columns leaves, for rules of thumb."""
        rest = 1 - float(self.selection_share)
        return Budget(rest * budget.epsilon, rest * budget.delta)

    def _selection(
        self, wide: Bounds, size: int, target: LearningTarget, budget: Budget
    ) -> Selection:
        """Return which columns are chosen: drawn by their strength, or voted for by blocks."""
        if self.selector is None:
            return StrongestColumns(wide, size, self._entries(), is_centred=bool(self.center),
                                    assumed=target.assumed)  # fmt: skip
        from discreet.estimators.block_estimator import (
            blocks_for_support,
            name_classes,  # slow to import
            procedure_of,
        )

        part = Budget(self.selection_share * budget.epsilon, self.selection_share * budget.delta)
        return BlockVote(
            wide,
            name_classes(procedure_of(self.selector), target),
            min(blocks_for_support(part), wide.max_rows),
            most=size,
            assumed=target.assumed,
        )

    def _sparse_coefficients(self, asked: Asked) -> tuple[Array, Array, Integers]:
        mechanism: Any = asked.mechanism
        places, inside = mechanism.places(self.release_.value), mechanism.inside
        self.is_stable_ = bool(places.size)
        released = np.atleast_2d(mechanism.coefficients(self.release_.value))[:, : inside.width]
        intercept = np.zeros(len(released))
        if inside.intercept is not None:
            released, intercept = released[:, :-1], released[:, -1] * inside.intercept
        coef = np.zeros((len(released), asked.question.bounds.n_features))
        coef[:, places] = released[:, : places.size] / mechanism.scale
        return coef, intercept, places

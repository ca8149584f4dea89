"""Columns that most blocks of rows choose."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from discreet import _checks
from discreet.estimators.block_estimator import name_classes
from discreet.estimators.block_voting import (
    VotingSelector,
    blocks_for_columns,
    blocks_for_support,
    procedure_of,
)
from discreet.estimators.chosen_columns import check_size
from discreet.estimators.fields import with_fields
from discreet.estimators.targets import ClassTarget, LearningTarget, require_target
from discreet.estimators.task import Asked, Shape
from discreet.feature_selection.matching_pursuit import MatchingPursuit
from discreet.mechanisms import Peeling, StabilityRelease
from discreet.privacy import Budget, Unit
from discreet.questions import BlockVote, ColumnVotes
from discreet.questions.block_vote import Procedure

VOTES = ("auto", "support", "columns")


@with_fields
class BlockVoteSupport(VotingSelector):
    """The columns that most blocks of rows choose, differentially private.

    Rows are dealt to blocks at random, in secret, and columns are chosen on each block by itself.
    One record changes one vote, whatever is done on a block. Either whole sets of columns are voted
    for, and the set that leads is released if it is far enough ahead, or else that no answer is
    stable, at the same cost; or each column by itself, and there is always an answer.

    Parameters
    ----------
    n_features_to_select
        How many columns at most, or by single votes exactly.
    epsilon, delta
        The privacy budget of one fit. Sets need a positive ``delta``.
    selector
        What chooses columns on a block: a scikit-learn selector or a function of rows and labels
        that returns a mask or places. More than ``n_features_to_select`` count as none. By default
        matching pursuit, which stops where only noise is left.
    vote
        ``"support"`` for sets, ``"columns"`` for single columns, where no two blocks agree on a
        set; ``"auto"`` for sets if ``delta`` is positive.

    Attributes
    ----------
    selected_
        The places of the columns; empty if there is no stable answer.
    is_stable_
        Whether there is an answer: not if none is far enough ahead, nor if most blocks choose no
        column.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Kifer, Smith & Thakurta (2012), sample and aggregate; Smith & Thakurta (2013), stability.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(8000, 30))
    >>> y = X[:, 3] - X[:, 7] + 0.3 * generator.normal(size=8000)
    >>> selector = BlockVoteSupport(2, epsilon=1.0, target_range=(-2, 2)).fit(X, y)
    >>> selector.is_stable_, selector.get_support(indices=True)
    (True, array([3, 7]))
    """

    epsilon: float = 1.0
    delta: float = 1e-9
    n_features_to_select: int = field(default=5, kw_only=False)
    selector: Any = None
    vote: str = "auto"

    def _check(self) -> None:
        super()._check()
        _checks.whole(n_features_to_select=self.n_features_to_select, at_least=1)
        _checks.one_of(VOTES, vote=self.vote)
        if self.selector is not None:
            procedure_of(self.selector)

    def _procedure(self, target: LearningTarget) -> Procedure:
        if self.selector is not None:
            return name_classes(procedure_of(self.selector), target)
        classes = target.classes.size if isinstance(target, ClassTarget) else 0
        return MatchingPursuit(int(self.n_features_to_select), classes)

    def _ask(
        self, shape: Shape, target: LearningTarget | None, budget: Budget, unit: Unit
    ) -> Asked:
        target, widths = require_target(target), self._widths()
        columns = len(widths) or shape.n_features
        size = check_size(self.n_features_to_select, columns)
        is_set = self.vote == "support" or (self.vote == "auto" and budget.delta > 0)
        rule = blocks_for_support(budget) if is_set else blocks_for_columns(budget, size, columns)
        vote = BlockVote(
            self._bounds(shape),
            self._procedure(target),
            self._count_blocks(shape, rule),
            most=size,
            widths=widths,
            assumed=target.assumed,
        )
        facts, workers = self._facts(target), self._workers()
        if is_set:
            return Asked(vote, StabilityRelease(workers), facts)
        return Asked(ColumnVotes(vote, size), Peeling(workers), facts)

    def _keep(self, asked: Asked, target: LearningTarget | None) -> None:
        if isinstance(asked.question, ColumnVotes):
            self._keep_columns()
        else:
            self._keep_vote()

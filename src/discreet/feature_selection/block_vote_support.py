"""Columns that most blocks of rows choose."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.estimators.block_estimator import (
    VotingSelector,
    blocks_for_columns,
    blocks_for_support,
    name_classes,
    procedure_of,
)
from discreet.estimators.bounded_entries import widths_of
from discreet.estimators.chosen_columns import check_size
from discreet.estimators.fields import with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.targets import ClassTarget, LearningTarget
from discreet.mechanisms import Peeling, StabilityRelease
from discreet.policy.task import Asked
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

    def _ask(self, fit: Fit) -> Asked:
        shape, budget, widths = fit.shape, fit.budget, widths_of(fit.features)
        columns = len(widths) or shape.n_features
        size = check_size(self.n_features_to_select, columns)
        is_set = self.vote == "support" or (self.vote == "auto" and budget.delta > 0)
        rule = blocks_for_support(budget) if is_set else blocks_for_columns(budget, size, columns)
        vote = BlockVote(
            self._bounds(shape),
            self._procedure(fit.need_target()),
            self._count_blocks(shape, rule),
            most=size,
            widths=widths,
            assumed=fit.need_target().assumed,
        )
        facts, workers = self._facts(fit), self._workers()
        if is_set:
            return Asked(vote, StabilityRelease(workers), facts)
        return Asked(ColumnVotes(vote, size), Peeling(workers), facts)

    def _keep(self, asked: Asked, fit: Fit) -> None:
        if isinstance(asked.question, ColumnVotes):
            self._keep_columns()
        else:
            self._keep_vote()


@dataclass(frozen=True)
class MatchingPursuit:
    r"""Orthogonal matching pursuit with an intercept, stopped where only noise is left.

    The column of largest correlation with the residuals is taken, the target is regressed on all
    columns taken so far, and so on, until there are ``size`` of them or no correlation exceeds
    :math:`\sqrt{2 \log(p) / n}`, which p columns of noise reach by chance. Of several classes, each
    is a target of one and zero, and the largest correlation counts.

    Examples
    --------
    >>> X = np.eye(40)[:, :5]
    >>> MatchingPursuit(size=2)(X, X[:, 3] - 2 * X[:, 1])
    [1, 3]
    """

    size: int
    classes: int = 0

    def __call__(self, X: Any, y: Vector) -> list[int]:
        """Return the places of the columns, in the order in which they were taken."""
        targets = self._targets(y)
        count, width = X.shape
        norms = _centred_norms(X)
        residuals, taken = targets.copy(), list[int]()
        while len(taken) < min(self.size, count - 2):
            products = np.abs(np.asarray((X.T @ residuals.T).T))
            sizes = np.sqrt((residuals**2).sum(axis=1))[:, None] * norms
            with np.errstate(all="ignore"):
                correlations = np.where(sizes > 0, products / sizes, 0.0).max(axis=0)
            correlations[taken] = 0.0
            best = int(correlations.argmax())
            if not correlations[best] > math.sqrt(2 * math.log(max(width, 2)) / count):
                break
            taken.append(best)
            residuals = _regress(_columns(X, taken), targets)
        return taken

    def _targets(self, y: Vector) -> Array:
        """Return targets less their means, a line for each class if there are three or more."""
        lines = np.array([y == value for value in range(self.classes)]) if self.classes > 2 else y
        targets = np.atleast_2d(np.asarray(lines, dtype=np.float64))
        return np.asarray(targets - targets.mean(axis=1, keepdims=True))


def _centred_norms(X: Any) -> Vector:
    """Return the norm of each column less its mean; zero for what is constant."""
    count = X.shape[0]
    means = np.asarray(X.mean(axis=0)).ravel()
    squares = np.square(X) if isinstance(X, np.ndarray) else X.multiply(X)
    total = np.asarray(squares.sum(axis=0)).ravel()
    spread = total - count * means**2
    return np.sqrt(np.where(spread > 1e-12 * total, spread, 0.0))


def _columns(X: Any, places: list[int]) -> Array:
    chosen = X[:, places]
    return np.asarray(chosen if isinstance(chosen, np.ndarray) else chosen.toarray())


def _regress(columns: Array, targets: Array) -> Array:
    """Return what is left of centred targets after a regression on columns and a constant."""
    centred = columns - columns.mean(axis=0)
    fit, *_ = np.linalg.lstsq(centred, targets.T, rcond=None)
    return np.asarray(targets - (centred @ fit).T)

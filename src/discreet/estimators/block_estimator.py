"""What is run on blocks of rows: how many blocks, who runs it, what may be run at all."""

from __future__ import annotations

from typing import Any

from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, clone

from discreet import _checks
from discreet.errors import InputError
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.bounded_entries import BoundedEntries
from discreet.estimators.fields import with_fields
from discreet.estimators.targets import ClassTarget, LearningTarget
from discreet.estimators.task import Shape
from discreet.foreign.calls import NamedClasses
from discreet.foreign.known_code import reach
from discreet.ledger import AbstractLedger
from discreet.mechanisms.ballot import Workers
from discreet.questions import Interval
from discreet.questions.block_vote import Procedure

UNDECLARED = 1e100
"""What entries are clipped to if nothing is declared: blocks need no bound on them."""

FEWEST, MOST = 10, 10_000
"""Blocks that a rule asks for."""


@with_fields
class BlockEstimator(BoundedEntries):
    """An estimator that runs something on blocks of rows, each by itself."""

    blocks: int | None = None
    n_jobs: int | None = None
    backend: str = "threads"

    def _check(self) -> None:
        super()._check()
        if self.blocks is not None:
            _checks.whole(blocks=self.blocks, at_least=1)
        self._workers().check()

    def _entries(self) -> Interval:
        if self.columns is None and self.data_range is None and self.entry_bound is None:
            return Interval(-UNDECLARED, UNDECLARED)
        return super()._entries()

    def _workers(self) -> Workers:
        """Return who runs the procedure."""
        if self.n_jobs is not None and self.n_jobs != -1:
            _checks.whole(n_jobs=self.n_jobs, at_least=1)
        return Workers(effective_n_jobs(None if self.n_jobs is None else int(self.n_jobs)),
                       self.backend)  # fmt: skip

    def _count_blocks(self, shape: Shape, by_rule: int) -> int:
        """Return how many blocks there are: as declared, or by a rule of public numbers."""
        if self.blocks is None:
            return min(by_rule, shape.max_rows)
        if self.blocks > shape.max_rows:
            raise InputError(
                f"blocks must be at most the number of rows there may be, {shape.max_rows}; got "
                f"{self.blocks}."
            )
        return int(self.blocks)


def name_classes(procedure: Procedure, target: LearningTarget | None) -> Procedure:
    """Return the procedure as it is run on a block."""
    return NamedClasses(procedure, target.classes if isinstance(target, ClassTarget) else None)


def prepare_for_blocks(given: Any) -> Any:
    """Return what is run on blocks, a clone of an estimator; refuse what pays for itself.

    Seeds that were left open become zero. Whatever else it draws from is the same for every block.
    """
    if any(isinstance(one, PrivateEstimator | AbstractLedger) for one in reach(given)):
        raise InputError(
            "what is private by itself pays for every block, and so has no place in one; fit it to "
            "all rows, or run one of scikit-learn's on blocks."
        )
    if not isinstance(given, BaseEstimator):
        return given
    fresh = clone(given)
    seeds = {
        name: 0
        for name, value in fresh.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and value is None
    }
    return fresh.set_params(**seeds)

"""What is run on blocks of rows: how many blocks, who runs it, what may be run at all."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError
from discreet.estimators.bounded_entries import BoundedEntries
from discreet.estimators.targets import ClassTarget, LearningTarget
from discreet.estimators.task import Shape
from discreet.mechanisms.ballot import Workers
from discreet.questions import Interval
from discreet.questions.block_vote import Procedure

UNDECLARED = 1e100
"""What entries are clipped to if nothing is declared: blocks need no bound on them."""

FEWEST, MOST = 10, 10_000
"""Blocks that a rule asks for."""


class BlockEstimator(BoundedEntries):
    """An estimator that runs something on blocks of rows, each by itself."""

    blocks: int | None
    n_jobs: int | None
    backend: str

    def _check(self) -> None:
        super()._check()
        if self.blocks is not None:
            _checks.whole(blocks=self.blocks, at_least=1)
        self._workers().check()

    def _entries(self) -> Interval:
        if self.columns is None and self.data_range is None and self.data_norm is None:
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


@dataclass(frozen=True, eq=False)
class NamedClasses:
    """A procedure that is given classes by their names, and not by their codes.

    Parameters
    ----------
    procedure
        What is run on a block.
    classes
        The classes in order; None if targets are numbers.
    """

    procedure: Procedure
    classes: Any = None

    def __call__(self, X: Any, y: Vector) -> Any:
        """Run the procedure on the rows of a block."""
        if self.classes is None:
            return self.procedure(X, y)
        places = (y > 0).astype(np.int64) if self.classes.size == 2 else y.astype(np.int64)
        return self.procedure(X, self.classes[places])


def name_classes(procedure: Procedure, target: LearningTarget | None) -> Procedure:
    """Return the procedure as it is run on a block."""
    return NamedClasses(procedure, target.classes if isinstance(target, ClassTarget) else None)


def find_seeds(estimator: Any) -> tuple[str, ...]:
    """Return the seeds that were left open; refuse random numbers that blocks would share."""
    left_open = []
    for name, value in estimator.get_params(deep=True).items():
        if name.split("__")[-1] == "random_state":
            if value is None:
                left_open.append(name)
            elif isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise InputError(
                    f"{name} must be a whole number or None: blocks that share random numbers "
                    "decide on one another's."
                )
        elif (
            callable(value)
            and not isinstance(value, type | BaseEstimator)
            and draws_at_random(value)
        ):
            raise InputError(
                f"{name} draws random numbers that blocks would share; fix them, as in "
                "functools.partial(function, random_state=0)."
            )
        elif any(map(_has_open_seed, value if isinstance(value, list | tuple) else [value])):
            raise InputError(
                f"{name} draws random numbers that blocks would share; give it a random_state."
            )
    return tuple(left_open)


def _has_open_seed(value: Any) -> bool:
    """Say whether something that is no estimator, such as a splitter, draws without a seed."""
    if isinstance(value, type | BaseEstimator) or not hasattr(value, "random_state"):
        return False
    seed = value.random_state
    if seed is None:
        return bool(getattr(value, "shuffle", True))
    return isinstance(seed, bool) or not isinstance(seed, int | np.integer)


def draws_at_random(function: Any) -> bool:
    """Say whether a function has a seed that was left open."""
    try:
        seed = signature(function).parameters.get("random_state")
    except (TypeError, ValueError):
        return False
    return seed is not None and seed.default is None

"""How many blocks vote, who runs their procedure, and how their choice is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, clone

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError, InputTypeError
from discreet.estimators.support_selector import SupportSelector
from discreet.estimators.targets import ClassTarget, LearningTarget
from discreet.estimators.task import Asked, Shape
from discreet.mechanisms.ballot import Workers
from discreet.mechanisms.stability_release import STABLE, StabilityTest
from discreet.privacy import Budget
from discreet.questions import Interval
from discreet.questions.block_vote import Procedure

UNDECLARED = 1e100
"""What entries are clipped to if nothing is declared: votes need no bound on them."""

SHARE, FAILURE = 0.9, 0.01
"""The share of blocks that agree, and the chance of a miss, that the number of blocks is for."""

FEWEST, MOST = 10, 10_000
"""Blocks that the rule asks for."""


class VotingSelector(SupportSelector):
    """A choice of columns by votes of blocks of rows."""

    blocks: int | None
    n_jobs: int | None
    backend: str

    def _check(self) -> None:
        super()._check()
        if self.blocks is not None:
            _checks.whole(blocks=self.blocks, at_least=1)
        self._workers()

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

    def _keep_vote(self) -> None:
        """Keep the columns that a stable vote chose, or none.

        That most blocks choose no column, as those do that are too small for it, is no answer.
        """
        said = np.asarray(self.release_.value)
        self.is_stable_ = bool(said[0] == STABLE and said.size > 1)
        self.selected_ = said[1:].astype(np.int64)

    def _keep(self, asked: Asked, target: LearningTarget | None) -> None:
        self._keep_vote()


def blocks_for_support(budget: Budget) -> int:
    r"""Return the fewest blocks that pass the test surely enough if nine in ten agree.

    .. math:: k (2 p - 1) - \sqrt{2 k \log(1/b)} \ge 2 + t + (2/\epsilon) \log(1/(2b))

    Examples
    --------
    >>> blocks_for_support(Budget(1.0, 1e-6)), blocks_for_support(Budget(3.0, 1e-6))
    (80, 44)
    """
    if not budget.is_private or budget.delta == 0:
        return FEWEST
    test = StabilityTest.of(budget, 2, 2)
    rare = math.log(1 / FAILURE)
    needed = test.level + test.margin + 2 / test.epsilon * math.log(1 / (2 * FAILURE))
    slope = 2 * SHARE - 1
    root = (math.sqrt(2 * rare) + math.sqrt(2 * rare + 4 * slope * needed)) / (2 * slope)
    return int(np.clip(math.ceil(root**2), FEWEST, MOST))


def blocks_for_columns(budget: Budget, size: int, columns: int) -> int:
    """Return so many blocks that columns that three in four choose are drawn surely enough.

    Examples
    --------
    >>> blocks_for_columns(Budget(1.0), size=3, columns=1000)
    101
    """
    if not budget.is_private:
        return FEWEST
    behind = 2 * size / budget.epsilon * (math.log(columns) + math.log(size / FAILURE))
    return int(np.clip(math.ceil(behind * 4 / 3), FEWEST, MOST))


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


@dataclass(frozen=True, eq=False)
class FittedSupport:
    """What one of scikit-learn's selectors supports on a block: a clone is fitted to it.

    Parameters
    ----------
    selector
        With ``fit`` and ``get_support``; it is not fitted itself.
    seeds
        Parameters of it that get a seed, the same on every block.
    """

    selector: Any
    seeds: tuple[str, ...] = ()

    def __call__(self, X: Any, y: Any) -> Any:
        """Return the mask of the features that a fresh clone supports."""
        fresh = clone(self.selector).set_params(**dict.fromkeys(self.seeds, 0))
        return fresh.fit(X, y).get_support()


def procedure_of(given: Any) -> Procedure:
    """Return a procedure of a scikit-learn selector or a function; refuse what draws at random.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> procedure_of(SelectKBest(k=3))
    FittedSupport(selector=SelectKBest(k=3), seeds=())
    """
    if isinstance(given, BaseEstimator):
        if not callable(getattr(given, "get_support", None)):
            raise InputTypeError(
                f"a procedure must be a selector with get_support, or a function; got an estimator "
                f"of type {type(given).__name__}. Wrap it in SelectFromModel."
            )
        return FittedSupport(given, _find_seeds(given))
    if isinstance(given, type) or not callable(given):
        raise InputTypeError(
            "a procedure must be a scikit-learn selector or a function of the rows and labels of a "
            f"block; got a value of type {type(given).__name__}."
        )
    return given  # type: ignore[no-any-return]


def _find_seeds(selector: Any) -> tuple[str, ...]:
    """Return the seeds that were left open; refuse random numbers that blocks would share."""
    left_open = []
    for name, value in selector.get_params(deep=True).items():
        if name.split("__")[-1] == "random_state":
            if value is None:
                left_open.append(name)
            elif isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise InputError(
                    f"{name} must be a whole number or None: blocks that share random numbers "
                    "decide on one another's."
                )
        elif callable(value) and not isinstance(value, type | BaseEstimator) and _draws(value):
            raise InputError(
                f"{name} draws random numbers that blocks would share; fix them, as in "
                "functools.partial(function, random_state=0)."
            )
    return tuple(left_open)


def _draws(function: Any) -> bool:
    """Say whether a function has a seed that was left open."""
    try:
        seed = signature(function).parameters.get("random_state")
    except (TypeError, ValueError):
        return False
    return seed is not None and seed.default is None

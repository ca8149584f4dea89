"""What is run on blocks of rows: how many blocks, who runs it, what may be run at all."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from discreet import _checks
from discreet._private_part import silence
from discreet._types import Array, Vector
from discreet.errors import InputError, InputTypeError
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.bounded_entries import BoundedEntries, SupportSelector
from discreet.estimators.fields import with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.targets import ClassTarget, LearningTarget
from discreet.foreign.calls import NamedClasses
from discreet.foreign.known_code import reach
from discreet.ledger import AbstractLedger
from discreet.mechanisms.ballot import Workers
from discreet.mechanisms.noisy_aggregate import LEVELS, QUARTILES_SHARE
from discreet.mechanisms.stability_release import STABLE, StabilityTest
from discreet.policy.task import Asked, Shape
from discreet.privacy import Budget, gaussian_multiplier
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


NOISE_SHARE = 0.05
"""The noise of an average, as a share of half the width of its limits, that blocks are for."""

NATS_OF_QUARTILES = math.log(2**10) + math.log(100)
"""A quartile is drawn a thousandth of the limits wide, with a chance of a miss of one in 100."""

TRIED_ROWS, TRIED_WIDTH = 48, 6
"""Invented rows on which it is tried whether an estimator has coefficients."""


@dataclass(frozen=True, eq=False)
class FittedCoefficients:
    """The coefficients and intercepts of a clone that is fitted to a block."""

    estimator: Any
    classes: Any = None

    @property
    def has_intercept(self) -> bool:
        """Whether intercepts are among the numbers."""
        return bool(getattr(self.estimator, "fit_intercept", True))

    @property
    def vectors(self) -> int:
        """How many vectors of coefficients there are: one for each of three or more classes."""
        return 1 if self.classes is None or self.classes.size == 2 else int(self.classes.size)

    def outputs(self, features: int) -> int:
        """Return how many numbers there are."""
        return self.vectors * (features + self.has_intercept)

    def split(self, numbers: Vector, features: int) -> tuple[Array, Vector]:
        """Return vectors of coefficients, and an intercept for each; zero where there is none."""
        coef, intercepts = np.split(numbers, [self.vectors * features])
        if not self.has_intercept:
            intercepts = np.zeros(self.vectors)
        return coef.reshape(self.vectors, features), intercepts

    def __call__(self, X: Any, y: Any) -> Vector:
        """Return all coefficients, and then the intercepts."""
        fresh = clone(self.estimator).fit(X, y)
        if self.classes is not None and not np.array_equal(fresh.classes_, self.classes):
            raise ValueError("a block without one of the classes has no coefficients.")
        is_sparse = sparse.issparse(fresh.coef_)
        numbers = [np.ravel(fresh.coef_.toarray() if is_sparse else fresh.coef_)]
        if self.has_intercept:
            numbers.append(np.broadcast_to(np.ravel(fresh.intercept_), (self.vectors,)))
        return np.concatenate(numbers).astype(np.float64)

    def try_out(self) -> None:
        """Refuse what has no coefficients after a fit, or others than are expected.

        The rows are invented; whether a fit to them fails says nothing.
        """
        X = np.cos(np.arange(TRIED_ROWS * TRIED_WIDTH) ** 2).reshape(TRIED_ROWS, TRIED_WIDTH)
        y = X[:, 0]
        if self.classes is not None:
            y = self.classes[np.arange(TRIED_ROWS) % self.classes.size]
        with silence():
            try:
                numbers = self(X, y)
            except AttributeError as error:
                found = None if "coef_" in str(error) or "intercept_" in str(error) else -1
            except Exception:
                return
            else:
                found = numbers.size
        if found is None:
            raise InputError(
                f"{type(self.estimator).__name__} has no coef_ after a fit; pass a linear model, "
                "or a function that returns the numbers to be averaged."
            )
        if found not in (-1, self.outputs(TRIED_WIDTH)):
            raise InputError(
                f"{type(self.estimator).__name__} has {found} coefficients and intercepts where "
                f"{self.outputs(TRIED_WIDTH)} were expected; pass a function that returns the "
                "numbers to be averaged."
            )


def computation_of(given: Any, classes: Any = None) -> FittedCoefficients | Callable[..., Any]:
    """Return what is computed on a block; refuse what pays for itself.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> computation_of(Ridge()).outputs(features=3)
    4
    """
    prepared = prepare_for_blocks(given)
    if isinstance(given, BaseEstimator):
        return FittedCoefficients(prepared, classes)
    if isinstance(given, type) or not callable(given):
        raise InputTypeError(
            "estimator must be one of scikit-learn's or a function of the rows and labels of a "
            f"block; got a value of type {type(given).__name__}."
        )
    return given  # type: ignore[no-any-return]


def blocks_for_average(budget: Budget, outputs: int, aggregate: str) -> int:
    """Return so many blocks that the noise of an average is small beside its limits.

    That of a mean is a twentieth of half their width; of a winsorised one quartiles are drawn with
    room to spare.

    Examples
    --------
    >>> blocks_for_average(Budget(1.0), 1, "mean"), blocks_for_average(Budget(1.0), 1, "winsorised")
    (57, 370)
    """
    if not budget.is_private:
        return FEWEST
    if aggregate == "mean":
        noise = 2 * math.sqrt(2) * outputs / budget.epsilon
        if budget.delta > 0:
            noise = min(noise, 2 * math.sqrt(outputs) * gaussian_multiplier(budget))
        needed = noise / NOISE_SHARE
    else:
        draws = len(LEVELS) * outputs
        span = QUARTILES_SHARE * budget.epsilon / draws
        if budget.delta > 0:
            wide = math.sqrt(4 * QUARTILES_SHARE / draws) / gaussian_multiplier(budget)
            span = max(span, wide)
        needed = 8 / span * NATS_OF_QUARTILES
    return int(np.clip(math.ceil(needed), FEWEST, MOST))


SHARE, FAILURE = 0.9, 0.01
"""The share of blocks that agree, and the chance of a miss, that the number of blocks is for."""


class VotingSelector(BlockEstimator, SupportSelector):
    """A choice of columns by votes of blocks of rows."""

    def _keep_vote(self) -> None:
        """Keep the columns that a stable vote chose, or none.

        That most blocks choose no column, as those do that are too small for it, is no answer.
        """
        said = np.asarray(self.release_.value)
        self.is_stable_ = bool(said[0] == STABLE and said.size > 1)
        self.selected_ = said[1:].astype(np.int64)

    def _keep(self, asked: Asked, fit: Fit) -> None:
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
class FittedSupport:
    """What one of scikit-learn's selectors supports on a block: a clone is fitted to it."""

    selector: Any

    def __call__(self, X: Any, y: Any) -> Any:
        """Return the mask of the features that a fresh clone supports."""
        return clone(self.selector).fit(X, y).get_support()


def procedure_of(given: Any) -> Procedure:
    """Return a procedure of a scikit-learn selector or a function; refuse what pays for itself.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> procedure_of(SelectKBest(k=3))
    FittedSupport(selector=SelectKBest(k=3))
    """
    prepared = prepare_for_blocks(given)
    if isinstance(given, BaseEstimator):
        if not callable(getattr(given, "get_support", None)):
            raise InputTypeError(
                f"a procedure must be a selector with get_support, or a function; got an estimator "
                f"of type {type(given).__name__}. Wrap it in SelectFromModel."
            )
        return FittedSupport(prepared)
    if isinstance(given, type) or not callable(given):
        raise InputTypeError(
            "a procedure must be a scikit-learn selector or a function of the rows and labels of a "
            f"block; got a value of type {type(given).__name__}."
        )
    return given  # type: ignore[no-any-return]

"""How many blocks vote, and how their choice is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from discreet.errors import InputTypeError
from discreet.estimators.block_estimator import FEWEST, MOST, BlockEstimator, prepare_for_blocks
from discreet.estimators.support_selector import SupportSelector
from discreet.estimators.targets import LearningTarget
from discreet.estimators.task import Asked
from discreet.mechanisms.stability_release import STABLE, StabilityTest
from discreet.privacy import Budget
from discreet.questions.block_vote import Procedure

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

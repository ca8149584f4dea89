"""What blocks of rows agree on: a choice of columns by any procedure, run on each block alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet import _checks
from discreet.errors import InputTypeError
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds
from discreet.questions.strongest_columns import check_widths

Procedure = Callable[[Any, Any], Any]
"""Given the rows and labels of a block, returns a mask of features, or their places."""

MOST_BLOCKS = 2**20


@dataclass(frozen=True)
class BlockVote(Question):
    """The columns that most of several disjoint blocks of rows choose, all of them together.

    A block that is empty, or on which the procedure raises or returns anything but features, has
    chosen no column.

    Parameters
    ----------
    bounds
        Of rows, with labels or without; no weights.
    procedure
        Takes the rows of a block, an array or a sparse one, and its labels, None without. Returns
        a mask of features or a list of places. What it returns may depend on its block and on
        nothing else: no global table, no count of all rows. It is in the same state for each block.
    blocks
        How many blocks; public. Each record is in one, drawn at random and never told.
    most
        How many columns may be chosen; a larger choice counts as none. None for no limit.
    widths
        How many features each column has, one after another; empty if each has one. A column is
        chosen if one of its features is.
    assumed
        What whoever asks took as public because it was found in the data, in words.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> def widest(X, y):
    ...     return [abs(X).sum(axis=0).argmax()]
    >>> BlockVote(Bounds(LinfBall(1.0), n_features=8), widest, blocks=80).columns
    8
    """

    bounds: Bounds
    procedure: Procedure
    blocks: int
    most: int | None = None
    widths: tuple[int, ...] = ()
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        if not callable(self.procedure):
            raise InputTypeError("procedure must be a function of the rows and labels of a block.")
        _checks.whole(blocks=self.blocks, at_least=1, at_most=MOST_BLOCKS)
        if self.most is not None:
            _checks.whole(most=self.most, at_least=1)
        check_widths(self.widths, self.bounds)

    @property
    def columns(self) -> int:
        """How many columns there are to choose from."""
        return len(self.widths) or self.bounds.n_features


@dataclass(frozen=True)
class ColumnVotes(Question):
    """The ``size`` columns that the most blocks choose, each counted by itself.

    Parameters
    ----------
    vote
        The procedure and its blocks.
    size
        How many columns; from one to as many as there are.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> def widest(X, y):
    ...     return [abs(X).sum(axis=0).argmax()]
    >>> vote = BlockVote(Bounds(LinfBall(1.0), n_features=8), widest, blocks=80)
    >>> ColumnVotes(vote, size=2).bounds.n_features
    8
    """

    vote: BlockVote
    size: int

    def __post_init__(self) -> None:
        _checks.instance(BlockVote, vote=self.vote)
        _checks.whole(size=self.size, at_least=1, at_most=self.vote.columns)
        object.__setattr__(self, "size", int(self.size))

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        return self.vote.bounds

    @property
    def assumed(self) -> tuple[str, ...]:
        """What whoever stated the vote took as public."""
        return self.vote.assumed

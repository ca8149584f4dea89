"""What blocks of rows agree on, by any procedure that is run on each block alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet import _checks
from discreet.errors import InputError, InputTypeError
from discreet.geometry import Box, ConvexSet, L2Ball
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


AGGREGATES = ("mean", "winsorised")


@dataclass(frozen=True)
class BlockAverage(Question):
    """The average, over several disjoint blocks of rows, of some numbers computed on each.

    A block that is empty, or on which the procedure raises or returns anything but so many finite
    numbers, counts as the centre of the region. Everything else is clipped to the region.

    Parameters
    ----------
    bounds
        Of rows, with labels or without; no weights.
    procedure
        Takes the rows of a block, an array or a sparse one, and its labels, None without. Returns
        numbers, which may depend on its block and on nothing else.
    blocks
        How many blocks; public. Each record is in one, drawn at random and never told.
    region
        What the numbers of a block are clipped to: a box, or a ball.
    outputs
        How many numbers a block has.
    aggregate
        ``"mean"``, or ``"winsorised"``: the mean of numbers that are clipped a second time, near to
        two quartiles which are drawn for it; that needs a box.
    assumed
        What whoever asks took as public because it was found in the data, in words.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> def middle(X, y):
    ...     return X.mean()
    >>> rows = Bounds(LinfBall(1.0), n_features=8)
    >>> BlockAverage(rows, middle, blocks=80, region=Box([-1], [1])).centre
    (0.0,)
    """

    bounds: Bounds
    procedure: Procedure
    blocks: int
    region: ConvexSet
    outputs: int = 1
    aggregate: str = "mean"
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        if not callable(self.procedure):
            raise InputTypeError("procedure must be a function of the rows and labels of a block.")
        _checks.whole(blocks=self.blocks, at_least=1, at_most=MOST_BLOCKS)
        _checks.whole(outputs=self.outputs, at_least=1)
        _checks.one_of(AGGREGATES, aggregate=self.aggregate)
        if not isinstance(self.region, Box | L2Ball):
            raise InputTypeError("region must be a Box or an L2Ball of numbers of a block.")
        if isinstance(self.region, Box):
            self._check_box(self.region)
        elif self.aggregate == "winsorised":
            raise InputError("quartiles are drawn between limits; declare a Box for each number.")

    def _check_box(self, box: Box) -> None:
        if len(box.lower) != self.outputs:
            raise InputError(
                f"the region has limits for {len(box.lower)} numbers; a block has {self.outputs}."
            )
        if not all(low < high for low, high in zip(box.lower, box.upper, strict=True)):
            raise InputError("each number of a block needs a lower limit below the upper one.")

    @property
    def answers(self) -> Bounds:
        """What is declared about the numbers of blocks: as many rows as there are blocks."""
        return Bounds(self.region, self.outputs, max_rows=self.blocks)

    @property
    def centre(self) -> tuple[float, ...]:
        """What a block counts as on which nothing sensible came out."""
        if not isinstance(self.region, Box):
            return (0.0,) * self.outputs
        limits = zip(self.region.lower, self.region.upper, strict=True)
        return tuple(low + (high - low) / 2 for low, high in limits)

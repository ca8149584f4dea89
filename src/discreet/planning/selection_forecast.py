"""What a private choice of columns, or an average of blocks, will be worth, from public numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet import _checks
from discreet._types import Json
from discreet.data import Bounds
from discreet.errors import InputError
from discreet.estimators.block_estimator import blocks_for_average
from discreet.geometry import Box, LinfBall
from discreet.mechanisms import NoisyAggregate, StabilityRelease
from discreet.mechanisms.sampling.sampled_model import span_of_columns
from discreet.mechanisms.stability_release import StabilityPlan
from discreet.privacy import AddRemoveOne, Budget
from discreet.questions import BlockAverage, BlockVote
from discreet.theory import blocks_needed, selection_error, vote_chance

LARGEST_COVARIANCE = 0.25
"""Of two variables that range over one unit each."""


@dataclass(frozen=True)
class PeelingForecast:
    """How far the columns that peeling draws may be behind the best ones.

    Parameters
    ----------
    columns, size, rows
        How many columns there are, how many are drawn, and how many rows there are.
    error
        By how much the covariance of a drawn column with the target may be behind that of the best
        one left, with ranges of one: at most 0.25.
    failure
        The chance that one of them is further behind.

    Examples
    --------
    >>> PeelingForecast(columns=100, size=5, rows=1000, error=0.2, failure=0.05).is_hopeful
    False
    """

    columns: int
    size: int
    rows: int
    error: float
    failure: float

    @property
    def is_hopeful(self) -> bool:
        """Whether a column that decides on the target stands out from one that says nothing."""
        return self.error < LARGEST_COVARIANCE / 2

    def claim(self) -> str:
        """Return the forecast as a sentence."""
        said = (
            f"With {self.rows:,} rows, each of {self.size:,} of {self.columns:,} columns has a "
            f"covariance with the target within {self.error:.2g} of the best one left (ranges "
            f"taken as one; at most {LARGEST_COVARIANCE:g}), but with a chance of {self.failure:g}"
        )
        return f"{said}." if self.is_hopeful else f"{said}: expect columns at random."

    def document(self) -> Json:
        """Return the forecast for programs."""
        return {**vars(self), "is_hopeful": self.is_hopeful}


@dataclass(frozen=True)
class VoteForecast:
    """Whether blocks that mostly agree will have their answer released.

    Parameters
    ----------
    blocks, rows_in_block
        How many blocks there are, and how many rows each has on average.
    lead
        How many votes the first answer has to be ahead of the second for even odds.
    share
        The chance of the right answer on a block that was assumed.
    chance
        A chance with which the answer is released at least.
    needed
        How many blocks make that chance 0.98.

    Examples
    --------
    >>> forecast_votes(Budget(1.0, 1e-6), n=4000, blocks=40).chance
    0.0
    """

    blocks: int
    rows_in_block: float
    lead: int
    share: float
    chance: float
    needed: int

    def claim(self) -> str:
        """Return the forecast as a sentence."""
        return (
            f"With {self.blocks:,} blocks of some {self.rows_in_block:,.0f} rows, of which "
            f"{self.share:.0%} find the same columns, there is an answer with a chance of at least "
            f"{self.chance:.2f}; a lead of {self.lead} votes has even odds, and {self.needed:,} "
            "blocks would do."
        )

    def document(self) -> Json:
        """Return the forecast for programs."""
        return dict(vars(self))


@dataclass(frozen=True)
class AverageForecast:
    """How much noise an average of blocks will have.

    Parameters
    ----------
    blocks, rows_in_block
        How many blocks there are, and how many rows each has on average.
    deviation
        The standard deviation of the noise of each number, in its own units; of a winsorised mean,
        for each unit that the quartiles of blocks are apart.
    is_relative
        Whether it is for each unit that the quartiles are apart.

    Examples
    --------
    >>> forecast_average(Budget(1.0), outputs=1, width=2.0, n=1000, blocks=50).rows_in_block
    20.0
    """

    blocks: int
    rows_in_block: float
    deviation: float
    is_relative: bool

    def claim(self) -> str:
        """Return the forecast as a sentence."""
        of_what = " times the distance of the quartiles of blocks" if self.is_relative else ""
        return (
            f"With {self.blocks:,} blocks of some {self.rows_in_block:,.0f} rows the noise of each "
            f"number has a standard deviation of {self.deviation:.2g}{of_what}; that of the "
            "procedure on so few rows comes on top."
        )

    def document(self) -> Json:
        """Return the forecast for programs."""
        return dict(vars(self))


def forecast_peeling(
    budget: Budget, *, size: int, columns: int, n: int, failure: float = 0.05
) -> PeelingForecast:
    """Forecast how far the columns that peeling draws are behind the best.

    Parameters
    ----------
    budget
        What the choice may spend.
    size
        How many columns are drawn.
    columns
        How many there are.
    n
        How many rows there are, guessed.
    failure
        The chance that one of the columns is further behind.

    Examples
    --------
    >>> forecast = forecast_peeling(Budget(1.0, 1e-9), size=5, columns=1000, n=20_000)
    >>> round(forecast.error, 4), forecast.is_hopeful
    (0.0058, True)
    """
    _checks.instance(Budget, budget=budget)
    _checks.whole(n=n, at_least=1)
    _checks.whole(columns=columns, at_least=1)
    _checks.whole(size=size, at_least=1, at_most=columns)
    if not budget.is_private:
        return PeelingForecast(columns, size, n, 0.0, failure)
    span, _, _ = span_of_columns(budget, size)
    # One record moves a score by the product of the ranges, and chances by half of the span.
    error = selection_error(2 / span, columns, size, failure) / n
    return PeelingForecast(columns, size, n, error, failure)


def forecast_votes(
    budget: Budget, *, n: int, share: float = 0.9, blocks: int | None = None
) -> VoteForecast:
    """Forecast whether a vote of blocks has an answer.

    Parameters
    ----------
    budget
        What the vote may spend; its delta is positive.
    n
        How many rows there are, guessed.
    share
        The chance that a block finds the right columns; above one half.
    blocks
        How many blocks there are; None for as many as are needed.

    Examples
    --------
    >>> forecast = forecast_votes(Budget(1.0, 1e-6), n=4000)
    >>> forecast.blocks, round(forecast.chance, 2), forecast.lead
    (79, 0.98, 29)
    """
    _checks.whole(n=n, at_least=1)
    needed = blocks_needed(budget, share)
    count = needed if blocks is None else int(blocks)
    _checks.whole(blocks=count, at_least=1)
    vote = BlockVote(Bounds(LinfBall(1.0), 1), _nothing, 1)
    plan = StabilityRelease().plan(vote, budget, AddRemoveOne())
    if not isinstance(plan, StabilityPlan) or plan.test is None:
        raise InputError("a vote is forecast for a finite budget.")
    lead = plan.test.level + plan.test.margin
    return VoteForecast(count, n / count, lead, share, vote_chance(budget, share, count), needed)


def forecast_average(
    budget: Budget,
    *,
    outputs: int,
    width: float,
    n: int,
    blocks: int | None = None,
    aggregate: str = "mean",
) -> AverageForecast:
    """Forecast the noise of an average of numbers of blocks.

    Parameters
    ----------
    budget
        What the average may spend.
    outputs
        How many numbers there are.
    width
        How far the limits of each are apart.
    n
        How many rows there are, guessed.
    blocks
        How many blocks there are; None for the rule of
        :class:`~discreet.model_selection.SampleAndAggregate`.
    aggregate
        ``"mean"`` or ``"winsorised"``.

    Examples
    --------
    >>> forecast = forecast_average(Budget(1.0), outputs=1, width=2.0, n=10_000, blocks=100)
    >>> round(forecast.deviation, 4)  # sqrt(2) times the width, over blocks and epsilon
    0.0283
    """
    _checks.instance(Budget, budget=budget)
    _checks.whole(n=n, at_least=1)
    _checks.whole(outputs=outputs, at_least=1)
    _checks.positive(width=width)
    count = blocks_for_average(budget, outputs, aggregate) if blocks is None else int(blocks)
    region = Box([-1.0] * outputs, [1.0] * outputs)
    question = BlockAverage(Bounds(LinfBall(1.0), 1), _nothing, count, region, outputs, aggregate)
    is_relative = aggregate == "winsorised"
    if not budget.is_private:
        return AverageForecast(count, n / count, 0.0, is_relative)
    mean = NoisyAggregate().plan(question, budget, AddRemoveOne()).mean  # type: ignore[attr-defined]
    is_laplace = math.isfinite(mean.guarantee.profile.ideal.pure_epsilon)
    deviation = mean.grid.scale * (math.sqrt(2) if is_laplace else 1.0) / count
    across = 1 + 2 * count ** (1 / 3) if is_relative else width
    return AverageForecast(count, n / count, deviation * across / 2, is_relative)


def _nothing(X: object, y: object) -> list[int]:
    """Stand for a procedure, which a plan does not run."""
    return []

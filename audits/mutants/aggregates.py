"""Broken averages of blocks, and broken tests of proposed sensitivities."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from audits.mutants.base import Broken, Mutant
from audits.mutants.runs import Sampled, of_plan
from discreet._types import Array, Integers, Vector
from discreet.audit import Pair
from discreet.audit.cases.votes import (
    PROPOSED,
    average_of_least,
    first_entry,
    proposed_pair,
    sign_pair,
)
from discreet.data import OpenRows
from discreet.mechanisms import NoisyAggregate, ProposeTestRelease
from discreet.mechanisms.ballot import Deal
from discreet.mechanisms.block_estimates import as_rows, estimating
from discreet.mechanisms.noisy_aggregate import widen
from discreet.mechanisms.propose_test_release import lower_median
from discreet.noise import UNIT_RATE, Noise
from discreet.privacy import AddRemoveOne, Budget
from discreet.questions import BlockAverage

CLAIMED = Budget(1.0)
ADD = AddRemoveOne()


def _average_of_first(blocks: int) -> BlockAverage:
    return replace(average_of_least(blocks), procedure=first_entry)


def _dealt_otherwise(question: BlockAverage, deal: Any) -> Sampled:
    """Average blocks that rows are dealt to in another way, however many blocks there are."""
    plan: Any = NoisyAggregate().plan(question, CLAIMED, ADD)

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        everything = Deal.of(question.blocks, rows)
        averages = []
        for _ in range(count):
            dealt: Integers = deal(everything.table.shape[0], noise)
            own = replace(everything, blocks=int(dealt.max()) + 1)
            found = np.array([estimating(question)(*one) for one in own.split(dealt)])
            bounds = replace(question, blocks=len(found)).answers
            averages.append(plan.aggregate(as_rows(found, bounds), noise))
        return np.array(averages)

    return Sampled(question.bounds, ADD, released)


def blocks_by_position() -> Mutant:
    """Each block is eight rows in a line."""
    question = _average_of_first(16)
    signs = np.tile([[1.0, 1.0], [-1.0, -1.0]], (64, 1))
    plan: Any = NoisyAggregate().plan(question, CLAIMED, ADD)
    return Mutant(
        name="averages of blocks of rows by their position",
        breaks="All rows after a removed one move on to another block, and every number with them.",
        mechanism="noisy_aggregate",
        guarantee=plan.guarantee,
        pair=Pair(signs, signs[1:], ADD),
        run=_dealt_otherwise(question, lambda rows, noise: np.arange(rows) // 8),
        original=of_plan(plan, question.bounds),
        trials=400,
    )


def blocks_from_the_number_of_rows() -> Mutant:
    """From 64 rows on sixteen blocks, with fewer a single one; the noise is divided by that."""
    question = average_of_least(16)
    plan: Any = NoisyAggregate().plan(question, CLAIMED, ADD)

    def deal(rows: int, noise: Noise) -> Integers:
        return noise.below(16 if rows >= 64 else 1, rows).astype(np.int64)

    nothing = np.zeros((64, 2))
    return Mutant(
        name="averages of as many blocks as there are rows for",
        breaks="One record fewer leaves one block of sixteen, and the noise grows with it.",
        mechanism="noisy_aggregate",
        guarantee=plan.guarantee,
        pair=Pair(nothing, nothing[1:], ADD),
        run=_dealt_otherwise(question, deal),
        original=of_plan(plan, question.bounds),
        trials=600,
    )


def published_deal() -> Mutant:
    """The sizes of the blocks are told beside the average."""
    question = average_of_least(4)
    plan: Any = NoisyAggregate().plan(question, CLAIMED, ADD)

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        dealt = noise.below(question.blocks, count * rows.count).reshape(count, -1)
        return np.array([np.bincount(one.astype(np.int64), minlength=4) for one in dealt])

    return Mutant(
        name="a published deal of the rows that are averaged",
        breaks="Who is in which block tells how many there are, and that one has gone.",
        mechanism="noisy_aggregate",
        guarantee=plan.guarantee,
        pair=sign_pair(4, ADD),
        run=Sampled(question.bounds, ADD, released),
        original=of_plan(plan, question.bounds),
        trials=600,
    )


def noise_for_a_change_from_the_centre() -> Mutant:
    """The noise is made for numbers that come or go, and not for numbers that cross the box."""
    question = average_of_least(1)
    plan: Any = NoisyAggregate().plan(question, CLAIMED, ADD)
    bolder: Any = NoisyAggregate().plan(question, Budget(2.0), ADD)

    def means(made: Any) -> Sampled:
        """Average many times over; of one block there is no deal to be made anew."""

        def released(rows: OpenRows, noise: Noise, count: int) -> Array:
            found = as_rows(estimating(question)(*rows.gather())[None, :], question.answers)
            return np.asarray(made.mean.run_many(found, noise, count))

        return Sampled(question.bounds, ADD, released)

    return Mutant(
        name="noise for half of the width of numbers of a block",
        breaks="One record takes the numbers of its block from one end of the box to the other.",
        mechanism="noisy_aggregate",
        guarantee=plan.guarantee,
        pair=sign_pair(1, ADD),
        run=means(bolder),
        original=means(plan),
        trials=6000,
    )


def _low_bits(drawn: Vector) -> Array:
    """Return points that were drawn, and before each whether it needs bits below 2**-53."""
    units = drawn * 2.0**53
    return np.column_stack([units != np.rint(units), drawn])


def quartiles_between_floats() -> Mutant:
    """A quartile is a uniform point of the interval between two numbers of blocks, in floats."""
    question = average_of_least(1, "winsorised")
    plan: Any = NoisyAggregate().plan(question, CLAIMED, ADD)
    rate = float(plan.quartiles[0].rate)

    def one_block(rows: OpenRows) -> float:
        table, _ = rows.gather()
        return float(table.min())

    def interpolated(rows: OpenRows, noise: Noise, count: int) -> Array:
        value = one_block(rows)
        ends = np.array([-1.0, value, 1.0])
        scores = np.abs(np.arange(2) - 0.25)
        weights = np.diff(ends) * np.exp(-rate * scores)
        uniform = noise.below(1 << 53, 2 * count).reshape(2, count) * 2.0**-53
        which = (uniform[0] * weights.sum() >= weights[0]).astype(np.int64)
        return _low_bits(ends[which] + uniform[1] * np.diff(ends)[which])

    def on_the_grid(rows: OpenRows, noise: Noise, count: int) -> Array:
        found = as_rows(np.array([[one_block(rows)]]), question.answers)
        return _low_bits(plan.quartiles[0].run_many(found, noise, count)[:, 0])

    rows = np.ones((1, 2))
    return Mutant(
        name="quartiles between two floats",
        breaks="Which low bits a drawn point can have tells where its interval begins.",
        mechanism="noisy_aggregate",
        guarantee=plan.guarantee,
        pair=Pair(rows, np.vstack([rows, [[-(2.0**-20)] * 2]]), ADD),
        run=Sampled(question.bounds, ADD, interpolated),
        original=Sampled(question.bounds, ADD, on_the_grid),
        trials=3000,
    )


def crossed_quartiles() -> Mutant:
    """Two draws are taken as lower and upper as they come; a scale below zero becomes none."""
    question = average_of_least(1, "winsorised")
    plan: Any = NoisyAggregate().plan(question, CLAIMED, ADD)

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        table, _ = rows.gather()
        value = float(table.min())
        found = as_rows(np.array([[value]]), question.answers)
        low, high = (one.run_many(found, noise, count)[:, 0] for one in plan.quartiles)
        means = []
        for lower, upper in zip(low.tolist(), high.tolist(), strict=True):
            if lower > upper:  # no noise, and clipped to an interval that is the whole box
                means.append(value)
                continue
            middle, half = widen(np.array([lower]), np.array([upper]), question)
            inside = as_rows(np.clip([(value - middle) / half], -1, 1), question.answers)
            means.append(float((middle + half * plan.mean.run(inside, noise))[0]))
        return np.column_stack([means, low, high])

    return Mutant(
        name="quartiles that crossed, and were not sorted",
        breaks="The distance of crossed quartiles is negative, and noise of that size is none.",
        mechanism="noisy_aggregate",
        guarantee=plan.guarantee,
        pair=sign_pair(1, ADD),
        run=Sampled(question.bounds, ADD, released),
        original=of_plan(plan, question.bounds),
        trials=600,
    )


LOOSE = Budget(1.0, 0.05)
"""So large a delta that what is released too often can be counted."""


def _proposed_plan() -> Any:
    return ProposeTestRelease().plan(PROPOSED, LOOSE, ADD)


def _far_pair() -> Pair:
    """Medians at both ends of the box, so that no noise may be added to either."""
    rows = np.repeat([0.0, 1000.0], 4)[:, None]
    return Pair(rows, np.vstack([rows, [[1000.0]]]), ADD)


def test_with_twice_the_noise() -> Mutant:
    """The noise of the test is twice as large, and its threshold is not."""
    plan = _proposed_plan()
    (noise,) = plan.noises
    louder = replace(noise, test=replace(noise.test, rate=noise.test.rate // 2))
    return Mutant(
        name="a test with twice the noise and the same threshold",
        breaks="Unstable data pass more often than delta, and their medians lie at both ends.",
        mechanism="propose_test_release",
        guarantee=plan.guarantee,
        pair=_far_pair(),
        run=of_plan(replace(plan, noises=(louder,)), PROPOSED.bounds),
        original=of_plan(plan, PROPOSED.bounds),
        trials=8000,
    )


def no_test() -> Mutant:
    """Noise for the local sensitivity that the data have."""
    plan = _proposed_plan()

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        table, _ = rows.gather()
        places = np.sort(np.rint(table[:, 0]).astype(np.int64))
        padded = np.concatenate([[0], places, [PROPOSED.steps]])
        gap = int(np.diff(padded)[len(places) // 2])  # how far one record moves the median
        rate = math.floor(Fraction(LOOSE.epsilon) * UNIT_RATE / max(gap, 1))
        drawn = noise.discrete_laplace(count, rate)
        return (lower_median(places, PROPOSED.steps) + drawn)[:, None].astype(np.float64)

    crowd = np.repeat([500.0, 900.0], [10, 9])[:, None]
    return Mutant(
        name="noise for the data's own local sensitivity",
        breaks="One record more makes the noise 400 times as large, and the noise itself tells.",
        mechanism="propose_test_release",
        guarantee=plan.guarantee,
        pair=Pair(crowd, np.vstack([crowd, [[900.0]]]), ADD),
        run=Sampled(PROPOSED.bounds, ADD, released),
        original=of_plan(plan, PROPOSED.bounds),
        trials=600,
    )


def noise_unpaid() -> Mutant:
    """Test and noise each take the whole epsilon."""
    plan = _proposed_plan()
    (noise,) = plan.noises
    whole = replace(noise, test=replace(noise.test, rate=2 * noise.test.rate), rate=2 * noise.rate)
    return Mutant(
        name="a test and a noise that each cost the whole of epsilon",
        breaks="One record moves the chance of passing and the median at once: epsilons add.",
        mechanism="propose_test_release",
        guarantee=plan.guarantee,
        pair=proposed_pair(ADD, noise.test.margin),
        run=of_plan(replace(plan, noises=(whole,)), PROPOSED.bounds),
        original=of_plan(plan, PROPOSED.bounds),
        trials=6000,
    )


MUTANTS: tuple[Broken, ...] = (
    blocks_by_position(),
    blocks_from_the_number_of_rows(),
    published_deal(),
    noise_for_a_change_from_the_centre(),
    quartiles_between_floats(),
    crossed_quartiles(),
    test_with_twice_the_noise(),
    no_test(),
    noise_unpaid(),
)

"""Broken choices of columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Broken, Mutant
from audits.mutants.runs import Sampled, of_plan
from discreet._types import Array, Integers, Vector
from discreet.audit import Pair
from discreet.audit.cases import cases
from discreet.audit.cases.votes import sign_of_first_row, sign_pair, vote_on_sign
from discreet.audit.exact.laws import exponential_selection
from discreet.data import OpenRows
from discreet.geometry import LinfBall
from discreet.mechanisms import Peeling, StabilityRelease
from discreet.mechanisms.ballot import Deal, choosing, leader_of
from discreet.noise import Noise
from discreet.privacy import AddRemoveOne, BoundedRange, Budget
from discreet.questions import BlockVote, Bounds, LabelSet, StrongestColumns

CLAIMED = 1.0


def move_for_range() -> Mutant:
    """The rate is made for the sensitivity of scores and not for the range of their change."""
    worst, claim = (cases("peeling", "add_remove", e)[0] for e in (2 * CLAIMED, CLAIMED))
    plan: Any = claim.plan()
    return Mutant(
        name="how far a score moves in the place of its range",
        breaks="One column gains as much as another loses, so that log chances move twice.",
        mechanism="peeling",
        guarantee=plan.guarantee,
        pair=worst.pair,
        run=of_plan(replace(plan, rate=2 * plan.rate), claim.question.bounds),
        original=of_plan(plan, claim.question.bounds),
        trials=12_000,
    )


def means_for_nothing() -> Mutant:
    """Means are subtracted, and the noise is that of sums without means."""
    bounds = Bounds(LinfBall(1.0), 2, labels=LabelSet([-1, 1]), max_rows=2**16)
    question = StrongestColumns(bounds, 1)
    plan: Any = Peeling().plan(question, Budget(CLAIMED), AddRemoveOne())
    X, y = -np.ones((400, 2)), -np.ones(400)
    X[:25, 1], y[25:50] = 1.0, 1.0  # the second column goes against the labels
    first = (X, y)
    second = (np.vstack([X, np.ones((1, 2))]), np.append(y, 1.0))
    return Mutant(
        name="means that cost nothing",
        breaks="A record far from both means moves a centred sum by four products, not by one.",
        mechanism="peeling",
        guarantee=plan.guarantee,
        pair=Pair(first, second, AddRemoveOne()),
        run=of_plan(replace(plan, rate=4 * plan.rate), bounds),
        original=of_plan(plan, bounds),
        trials=4000,
    )


def two_draws_paid_as_one() -> Mutant:
    case = cases("peeling", "add_remove", 2 * CLAIMED)[1]
    plan: Any = cases("peeling", "add_remove", CLAIMED)[1].plan()
    return Mutant(
        name="two draws paid for as one",
        breaks="Each draw has the whole range: the second says as much again as the first.",
        mechanism="peeling",
        guarantee=plan.guarantee,
        pair=case.pair,
        run=of_plan(replace(plan, rate=4 * plan.rate), case.question.bounds),
        original=of_plan(plan, case.question.bounds),
        trials=3000,
    )


def _permute_and_flip(behind: float) -> Vector:
    """Chances of the best of two candidates, and of the one behind."""
    return np.array([1 - math.exp(-behind) / 2, math.exp(-behind) / 2])


def permute_and_flip(mechanism: str, drawn: str) -> BoundMutant:
    """Candidates proposed without replacement, booked as if with it."""

    def reached(law: Any) -> float:
        ratios = np.log(law(CLAIMED)) - np.log(law(0.0))
        return float(np.ptp(ratios)) * (1 - 1e-12)

    return BoundMutant(
        name=f"{drawn} by permute-and-flip, booked as bounded range",
        breaks="Its log ratios span up to twice epsilon; zCDP of a range is for the exponential.",
        mechanism=mechanism,
        measure="range",
        claimed=BoundedRange(CLAIMED).span,
        reached=lambda: reached(_permute_and_flip),
        reached_by_original=lambda: reached(
            lambda behind: exponential_selection([0.0, -behind], 1.0).masses
        ),
    )


def coefficients_without_bound() -> BoundMutant:
    """Least squared errors over all coefficients, taken to move by one loss."""

    def rise(limit: float) -> float:
        x, y = np.append(np.full(1000, 0.01), 1.0), np.append(np.ones(1000), -1.0)

        def least(rows: int) -> float:
            best = x[:rows] @ y[:rows] / (x[:rows] @ x[:rows])
            return float(((y[:rows] - np.clip(best, -limit, limit) * x[:rows]) ** 2).sum() / 2)

        return least(1001) - least(1000)

    return BoundMutant(
        name="least errors of coefficients without a bound",
        breaks="One record moves coefficients that were large, and with them every other error.",
        mechanism="exponential_sampling",
        measure="change",
        claimed=2.0,
        reached=lambda: rise(math.inf),
        reached_by_original=lambda: rise(1.0),
    )


LOOSE = Budget(1.0, 0.05)
"""So large a delta that what is released too often can be counted."""

ADD = AddRemoveOne()


def _ballots(vote: BlockVote, deal: Callable[[int, Noise], Integers]) -> Sampled:
    """Run a vote whose rows are dealt out in another way."""
    plan: Any = StabilityRelease().plan(vote, LOOSE, ADD)

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        everything = Deal.of(vote.blocks, rows)
        lines = np.zeros((count, 3))
        for line in lines:
            dealt = deal(everything.table.shape[0], noise)
            own = replace(everything, blocks=int(dealt.max()) + 1)
            answer, lead = leader_of([choosing(vote)(*one) for one in own.split(dealt)])
            if plan.test.passes(lead, noise):
                line[0], line[1 + np.array(answer, dtype=np.int64)] = 1.0, 1.0
        return lines

    return Sampled(vote.bounds, ADD, released)


def blocks_by_position() -> Mutant:
    """Each block is so many rows in a line."""
    vote = BlockVote(vote_on_sign(16).bounds, sign_of_first_row, 16)
    signs = np.tile([[1.0, 1.0], [-1.0, -1.0]], (64, 1))
    plan: Any = StabilityRelease().plan(vote, LOOSE, ADD)
    return Mutant(
        name="blocks of rows by their position",
        breaks="All rows after a removed one move on to another block, and every vote with them.",
        mechanism="stability_release",
        guarantee=plan.guarantee,
        pair=Pair(signs, signs[1:], ADD),
        run=_ballots(vote, lambda rows, noise: np.arange(rows) // 8),
        original=of_plan(plan, vote.bounds),
        trials=600,
    )


def published_deal() -> Mutant:
    """The sizes of the blocks are told beside the answer."""
    vote = vote_on_sign(4)
    plan: Any = StabilityRelease().plan(vote, LOOSE, ADD)

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        dealt = noise.below(vote.blocks, count * rows.count).reshape(count, -1)
        return np.array([np.bincount(one.astype(np.int64), minlength=4) for one in dealt])

    return Mutant(
        name="a published deal of the rows to blocks",
        breaks="Who is in which block tells how many there are, and that one has gone.",
        mechanism="stability_release",
        guarantee=plan.guarantee,
        pair=sign_pair(4, ADD),
        run=Sampled(vote.bounds, ADD, released),
        original=of_plan(plan, vote.bounds),
        trials=600,
    )


def blocks_from_the_number_of_rows() -> Mutant:
    """As many blocks as a power of two allows, of eight rows or more."""
    vote = vote_on_sign(16)  # 16 blocks are far ahead enough for the test, and 8 just so
    plan: Any = StabilityRelease().plan(vote, LOOSE, ADD)

    def deal(rows: int, noise: Noise) -> Integers:
        blocks = 1 << ((rows // 8).bit_length() - 1)
        return noise.below(blocks, rows).astype(np.int64)

    return Mutant(
        name="as many blocks as there are rows for",
        breaks="One record fewer halves the number of blocks, and with it the lead.",
        mechanism="stability_release",
        guarantee=plan.guarantee,
        pair=Pair(np.ones((128, 2)), np.ones((127, 2)), ADD),
        run=_ballots(vote, deal),
        original=of_plan(plan, vote.bounds),
        trials=1500,
    )


def no_level() -> Mutant:
    """The lead is tested against the noise alone, as if one vote more were a distance of one."""
    vote = vote_on_sign(2)
    plan: Any = StabilityRelease().plan(vote, replace(LOOSE, epsilon=2.0), ADD)
    bolder = replace(plan, test=replace(plan.test, level=0))
    return Mutant(
        name="a lead of one vote counted as a distance of one",
        breaks="Where the answer may change the lead is up to two, and is released too often.",
        mechanism="stability_release",
        guarantee=plan.guarantee,
        pair=sign_pair(2, ADD),
        run=of_plan(bolder, vote.bounds),
        original=of_plan(plan, vote.bounds),
        trials=4000,
    )


MUTANTS: tuple[Broken, ...] = (
    blocks_by_position(),
    published_deal(),
    blocks_from_the_number_of_rows(),
    no_level(),
    move_for_range(),
    means_for_nothing(),
    two_draws_paid_as_one(),
    permute_and_flip("peeling", "columns drawn"),
    coefficients_without_bound(),
)

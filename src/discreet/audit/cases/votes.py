"""Answers of blocks of rows, tests of stability, and models chosen among private fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from discreet._types import Array
from discreet.audit.cases.base import Case, exact_case
from discreet.audit.cases.pairs import class_pair, far_pair, one_more, steep
from discreet.audit.statistical.pair import Pair
from discreet.geometry import Box, L2Ball, LinfBall
from discreet.mechanisms import (
    Mechanism,
    NoisyAggregate,
    OutputPerturbation,
    ProposeTestRelease,
    RepeatAndSelect,
    StabilityRelease,
    TrainAndChoose,
)
from discreet.privacy import AddRemoveOne, Budget, TrialLaw, Unit
from discreet.questions import (
    BlockAverage,
    BlockVote,
    LassoSupport,
    ModelCandidate,
    ModelChoice,
    ProposedMedian,
)
from discreet.questions.bounds import Bounds, Interval, LabelSet


def first_if_negative(X: Any, y: Any) -> list[int]:
    """Choose the first of two columns if an entry is below zero, and otherwise the second."""
    return [0 if X.min() < 0 else 1]


def vote_on_sign(blocks: int) -> BlockVote:
    """Ask blocks whether an entry is below zero: one record decides for its block."""
    return BlockVote(Bounds(LinfBall(1.0), 2, max_rows=2**16), first_if_negative, blocks)


def row_pair(rows: int, unit: Unit) -> Pair:
    """Rows that are all alike, and one that turns the vote of its block, or not."""
    return one_more(unit, np.ones((rows, 2)), [-1.0, -1.0], [1.0, 1.0])


def sign_pair(blocks: int, unit: Unit) -> Pair:
    """So many of them that no block is empty."""
    return row_pair(12 * blocks, unit)


def lasso_of_few(ceiling: float) -> LassoSupport:
    """Ask which columns a LASSO uses, on tables where it uses none for sure."""
    bounds = Bounds(LinfBall(1.0), 2, labels=Interval(-1.0, 1.0), max_rows=2**16)
    return LassoSupport(bounds, 1, 1e4, 1.0, ceiling, has_constant=False)


def widest_pair(rows: int, unit: Unit) -> Pair:
    """Entries at their bound, and one more of them: all that a LASSO of zeros has to withstand."""
    return one_more(unit, np.ones((rows, 2)), [1.0, 1.0], [0.0, 0.0], (0.0, 0.0, 0.0))


def stability_release(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """All blocks but one agree, and are just ahead enough: one record turns a vote.

    A LASSO's columns are just narrow enough: one record makes them wider.
    """
    test: Any = StabilityRelease().plan(vote_on_sign(1), budget, unit)
    blocks = test.test.level + test.test.margin
    yield Case("stability release, votes of blocks", StabilityRelease(), vote_on_sign(blocks),
               budget, sign_pair(blocks, unit), effort=6.0)  # fmt: skip
    lasso: Any = StabilityRelease().plan(lasso_of_few(9.0), budget, unit)
    withstood = lasso.test.margin * (1 if isinstance(unit, AddRemoveOne) else 2)
    yield Case("stability release, a LASSO", StabilityRelease(), lasso_of_few(withstood + 20.5),
               budget, widest_pair(20, unit))  # fmt: skip
    yield exact_case("stability release, votes", StabilityRelease(), vote_on_sign(9), budget,
                     row_pair(90, unit))  # fmt: skip
    yield from exact_lassos(unit, budget)


def exact_lassos(unit: Unit, budget: Budget) -> Iterator[Case]:
    """A target that one of three columns nearly is, and one record that goes against it."""
    X = np.sin(np.outer(np.arange(1.0, 121.0), [1.0, 2.3, 4.1]))
    y = 0.5 * X[:, 1] + 0.01 * np.cos(np.arange(120.0))
    pair = one_more(unit, X[:-1], X[-1], X[-1], (y[:-1], y[-1], -y[-1]))
    bounds = Bounds(LinfBall(1.0), 3, labels=Interval(-1, 1), max_rows=2**16)
    for threshold, kind in ((0.5, "Huber"), (None, "squares")):
        question = LassoSupport(
            bounds, 2, 5.0, 4.0, 150.0, threshold, has_constant=threshold is None
        )
        yield exact_case(f"stability release, LASSO, {kind}", StabilityRelease(), question, budget,
                         pair)  # fmt: skip


def least_entry(X: Any, y: Any) -> float:
    """Return the least entry of a block, which one record decides."""
    return float(X.min())


def first_entry(X: Any, y: Any) -> float:
    """Return the first entry of the first row of a block."""
    return float(X[0, 0])


def sign_of_first_row(X: Any, y: Any) -> list[int]:
    """Choose a column by the sign of the first row of a block."""
    return [0 if X[0, 0] < 0 else 1]


def least_on_an_axis(X: Any, y: Any) -> Array:
    """Return the least entry of a block as the first of several numbers, the others zero."""
    return np.append(X.min(), np.zeros(MANY_NUMBERS - 1))


MANY_NUMBERS = 40
"""So many that Gaussian noise is smaller than Laplace noise."""


def average_of_least(blocks: int, aggregate: str = "mean") -> BlockAverage:
    """Ask for the average, over blocks, of their least entry."""
    bounds = Bounds(LinfBall(1.0), 2, max_rows=2**16)
    return BlockAverage(bounds, least_entry, blocks, Box([-1.0], [1.0]), aggregate=aggregate)


def noisy_aggregate(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """One record moves the numbers of its block from one end of the region to the other."""
    yield Case("noisy aggregate, Laplace mean", NoisyAggregate(), average_of_least(1), pure,
               sign_pair(1, unit), effort=6.0)  # fmt: skip
    many = BlockAverage(Bounds(LinfBall(1.0), 2, max_rows=2**16), least_on_an_axis, 1, L2Ball(1.0),
                        MANY_NUMBERS)  # fmt: skip
    yield Case("noisy aggregate, Gaussian mean", NoisyAggregate(), many, budget,
               sign_pair(1, unit), effort=12.0)  # fmt: skip
    yield Case("noisy aggregate, winsorised mean", NoisyAggregate(),
               average_of_least(1, "winsorised"), pure, sign_pair(1, unit), is_tight=False,
               effort=12.0, remark="two draws and a mean, each of which shows a part")  # fmt: skip
    # Few blocks of many rows, so that none of them is ever empty.
    winsorised = average_of_least(3, "winsorised")
    for what, question, spent in (
        ("Laplace mean", average_of_least(3), pure),
        ("Gaussian mean", replace(many, blocks=3), budget),
        ("winsorised, pure", winsorised, pure),
        ("winsorised, with delta", winsorised, budget),
    ):
        yield exact_case(f"noisy aggregate, {what}", NoisyAggregate(), question, spent,
                         row_pair(90, unit))  # fmt: skip


PROPOSED = ProposedMedian(Bounds(Box([0.0], [1000.0]), 1, max_rows=2**16), 10.0, steps=1000)
"""A proposal of ten steps of a grid of a thousand."""


def proposed_pair(unit: Unit, records: int) -> Pair:
    """Medians ten steps apart; of the first so many records have to change, one fewer or more."""
    if isinstance(unit, AddRemoveOne):  # two crowds; with one record more the second has the median
        half = records // 2
        crowds = np.repeat([500.0, 510.0], [half, half])[:, None]
        return Pair(crowds, np.vstack([crowds, [[510.0]]]), unit)
    crowds = np.repeat([0.0, 10.0], [records, records])[:, None]
    moved = np.vstack([crowds[1:], [[1000.0]]])
    return Pair(crowds, moved, unit)


def propose_test_release(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Just as many records as the test asks for: one moves both its chance and the median."""
    plan: Any = ProposeTestRelease().plan(PROPOSED, budget, unit)
    pair = proposed_pair(unit, plan.noises[0].test.margin)
    yield Case("propose, test, release", ProposeTestRelease(), PROPOSED, budget, pair,
               effort=3.0)  # fmt: skip
    yield exact_case("propose, test, release", ProposeTestRelease(), PROPOSED, budget,
                     proposed_pair(unit, 28))  # fmt: skip


def choice_of_columns(ridge: float = 4000.0) -> ModelChoice:
    """Ask which of two columns predicts the class better, a model of each by itself."""
    bounds = Bounds(LinfBall(1.0), 2, labels=LabelSet([-1, 1]), max_rows=2**20)
    one = steep(ridge=ridge)
    return ModelChoice(bounds, (ModelCandidate(one), ModelCandidate(one, start=1)))


SECRET_PART = "the record is in one part of several, and nobody knows in which"


def train_and_choose(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """A row as far out as it may be, which is in the part of a model, or decides among them."""
    pair, learners = class_pair(unit, [1.0, 1.0]), (OutputPerturbation("laplace"),) * 2
    for is_shared, refits in ((False, False), (False, True), (True, False)):
        how = "shared" if is_shared else "fitted again" if refits else "split"
        yield Case(f"train and choose, {how}", TrainAndChoose(learners, is_shared, refits),
                   choice_of_columns(), pure, pair, is_tight=False, effort=20.0,
                   remark=SECRET_PART)  # fmt: skip
    noisy = (OutputPerturbation("gaussian"),) * 2
    for label, mechanism, spent in (
        ("split", TrainAndChoose(noisy), budget),
        ("split, pure, fitted again", TrainAndChoose(learners, refits=True), pure),
        ("shared", TrainAndChoose(noisy, is_shared=True), budget),
    ):
        yield exact_search(label, mechanism, unit, spent)


def exact_search(label: str, mechanism: Mechanism, unit: Unit, budget: Budget) -> Case:
    """Search with so much ridge that coefficients are zero but for noise, in whichever part."""
    pair = far_pair(unit, [1.0, 1.0], labels=(1.0, 1.0, -1.0))
    return exact_case(f"search, {label}", mechanism, choice_of_columns(1e6), budget, pair)


def repeat_and_select(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """The same row; it moves all models that were fitted, or all scores."""
    pair = class_pair(unit, [1.0, 1.0])
    for law, spent in (("laplace", pure), ("gaussian", budget)):
        mechanism = RepeatAndSelect((OutputPerturbation(law),) * 2, TrialLaw.with_mean(3))
        yield Case(f"repeat and select, {law}", mechanism, choice_of_columns(), spent, pair,
                   is_tight=False, effort=30.0, remark=SECRET_PART)  # fmt: skip
    noisy, quiet = ((OutputPerturbation(law),) * 2 for law in ("gaussian", "laplace"))
    yield exact_search("repeated", RepeatAndSelect(noisy), unit, budget)
    yield exact_search("repeated, pure", RepeatAndSelect(quiet, TrialLaw.with_mean(3, 0.0)), unit,
                       pure)  # fmt: skip

"""An answer or none: what the proof assumes of votes, and what the test promises."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import sparse

from discreet.audit.cases.votes import first_if_negative, vote_on_sign
from discreet.data import Bounds
from discreet.errors import CalibrationError, InputError, InputTypeError
from discreet.foreign.calls import NO_COLUMN
from discreet.geometry import LinfBall
from discreet.mechanisms import StabilityRelease
from discreet.mechanisms.ballot import Ballot, Workers, choosing, leader_of
from discreet.mechanisms.stability_release import StabilityTest
from discreet.noise import UNIT_RATE, RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import BlockVote, ColumnVotes
from support.opened import open_rows

BOUNDS = Bounds(LinfBall(1.0), 3, max_rows=1000)
LABELS = [(), (0,), (0, 2)]


def vote(procedure, blocks=4, **options):
    return BlockVote(BOUNDS, procedure, blocks, **options)


def test_one_vote_moves_the_lead_by_two_and_another_leads_only_at_two_or_less():
    """All votes of up to six blocks for three answers, and all that differ in one."""
    for blocks in range(1, 7):
        for votes in itertools.product(LABELS, repeat=blocks):
            leader, lead = leader_of(list(votes))
            for label in LABELS:  # of the last block; the others follow by symmetry
                other, after = leader_of([*votes[:-1], label])
                assert abs(lead - after) <= 2
                if other != leader:
                    assert max(lead, after) <= 2


def tail(rate, least):
    """Return the chance of noise of at least so much, in many digits."""
    with localcontext() as context:
        context.prec = 60
        each = (Decimal(rate) / UNIT_RATE * -1).exp()
        return each**least / (1 + each)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01, 0.4])
def test_the_margin_is_the_least_that_delta_allows(epsilon, delta):
    test = StabilityTest.of(Budget(epsilon, delta), 2, 2)
    assert tail(test.rate, test.margin) <= Decimal(delta)
    if test.margin > 1:
        assert tail(test.rate, test.margin - 1) > Decimal(delta) * Decimal("0.999999")
    assert test.epsilon <= epsilon


@pytest.mark.parametrize("budget", [Budget(1.0, 0.01), Budget(3.0, 1e-4)], ids=str)
def test_no_pair_of_leads_costs_more_than_is_booked(budget):
    """The exact law of what is released, over all neighbouring leads and answers."""
    test = StabilityTest.of(budget, 2, 2)

    def passing(lead):
        least = test.level + test.margin - lead
        chance = tail(test.rate, least) if least > 0 else 1 - tail(test.rate, 1 - least)
        return float(chance)

    worst = 0.0
    for lead, after in itertools.product(range(60), repeat=2):
        p, q = passing(lead), passing(after)
        factor = math.exp(test.epsilon)
        if abs(lead - after) <= 2:
            worst = max(worst, max(p - factor * q, 0) + max((1 - p) - factor * (1 - q), 0))
        if max(lead, after) <= 2:  # the answers may differ
            worst = max(worst, p + max((1 - p) - factor * (1 - q), 0))
    assert worst <= budget.delta


def choose_first(X, y):
    return [0]


def raise_if_large(X, y):
    if X.max() > 0.5:
        raise ValueError("a cell")
    return [1]


def leave(X, y):
    raise SystemExit(3)


@pytest.mark.parametrize(
    "said",
    [None, "column", [7], [-1], [0.5], [[0]], [True, False], len, float("nan"), [0, 1, 2]],
    ids=repr,
)
def test_what_is_no_choice_of_columns_is_the_fixed_answer(said):
    rows = np.zeros((3, 3))
    assert choosing(vote(lambda X, y: said, most=2))(rows, None) == NO_COLUMN


def test_places_and_masks_are_read_alike():
    rows = np.zeros((3, 3))
    for said in (
        [2, 0],
        (0, 2),
        np.array([0, 2, 2], dtype=np.uint8),
        np.array([True, False, True]),
    ):
        assert choosing(vote(lambda X, y, said=said: said))(rows, None) == (0, 2)
    # Of two columns the first has two features.
    wide = vote(lambda X, y: [1], widths=(2, 1))
    assert choosing(wide)(rows, None) == (0,)


def test_a_block_that_is_empty_or_fails_has_chosen_no_column():
    assert choosing(vote(choose_first))(np.zeros((0, 3)), None) == NO_COLUMN
    for procedure, rows, chosen in (
        (raise_if_large, np.ones((40, 3)), {NO_COLUMN}),
        (raise_if_large, np.zeros((40, 3)), {(1,)}),
        (leave, np.zeros((40, 3)), {NO_COLUMN}),
    ):
        assert set(ballots(rows, vote(procedure, blocks=2))) == chosen


def choose_widest(X, y):
    return [int(np.asarray(abs(X).sum(axis=0)).argmax())]


def ballots(X, asked, workers=None):
    ballot = Ballot.of(asked, open_rows(X, bounds=BOUNDS))
    return ballot.answers(RehearsalNoise(5), workers or Workers())


def test_one_record_more_changes_the_vote_of_one_block():
    generator = np.random.default_rng(1)
    X = generator.uniform(-1, 1, (300, 3))
    asked = vote(choose_widest, blocks=12)
    fewer, more = (ballots(rows, asked) for rows in (X[:-1], X))  # the others are dealt as before
    assert sum(one != other for one, other in zip(fewer, more, strict=True)) <= 1
    assert len(set(more)) > 1


def test_threads_processes_and_sparse_rows_give_the_same_votes():
    X = np.random.default_rng(2).uniform(-1, 1, (120, 3))
    asked = vote(choose_widest, blocks=6)
    reference = ballots(X, asked)
    assert ballots(X, asked, Workers(2)) == reference
    assert ballots(X, asked, Workers(2, "processes")) == reference
    assert ballots(sparse.csr_array(X), asked) == reference


def test_a_deal_is_made_anew_in_every_release():
    X = np.random.default_rng(3).uniform(-1, 1, (60, 3))
    ballot, noise = (
        Ballot.of(vote(choose_widest, 20), open_rows(X, bounds=BOUNDS)),
        RehearsalNoise(1),
    )
    assert ballot.answers(noise, Workers()) != ballot.answers(noise, Workers())


@pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=lambda unit: unit.name)
def test_many_that_agree_are_released_and_few_are_not(unit):
    for blocks, expected in ((60, [1.0, 1.0]), (6, [0.0])):
        plan = StabilityRelease().plan(vote_on_sign(blocks), Budget(1.0, 1e-9), unit)
        rows = open_rows(np.ones((12 * blocks, 2)), bounds=plan.question.bounds, unit=unit)
        assert plan.run(rows, RehearsalNoise(2)).tolist() == expected
        assert plan.guarantee.epsilon(1e-9) <= 1.0


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(CalibrationError, match="positive delta"):
        StabilityRelease().plan(vote_on_sign(9), Budget(1.0), AddRemoveOne())
    for make, says in (
        (lambda: vote("lasso"), "a function"),
        (lambda: vote(choose_first, blocks=0), "blocks"),
        (lambda: vote(choose_first, most=0), "most"),
        (lambda: ColumnVotes(vote(choose_first), 4), "size"),
        (lambda: Workers(0), "count"),
        (lambda: Workers(1, "ants"), "kind"),
    ):
        with pytest.raises((InputError, InputTypeError), match=says):
            make()
    assert first_if_negative(np.ones((1, 1)), None) == [1]

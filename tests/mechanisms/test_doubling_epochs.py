"""Epochs that double: one record enters one of them, and all cost what the dearest does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet import Rows, interact, release
from discreet.errors import InputError, InputTypeError, NotAccepted
from discreet.mechanisms.doubling_epochs import DoublingEpochs
from discreet.noise import RehearsalNoise
from discreet.privacy import Budget, Gaussian, ReplaceOne, ZeroOutOne
from discreet.questions import Stream, VectorSum
from support.batch_sums import BatchSums
from support.opened import open_rows
from support.silent import SilentNoise
from support.streams import BUDGET, PROBLEM, STREAM, records

STREAMED = Stream(PROBLEM, horizon=1000, batch=8)
DOUBLING = DoublingEpochs(BatchSums(), first=16)
UNIT = ReplaceOne()


def opened(X, y):
    return open_rows(X, y, bounds=STREAMED.bounds, unit="replace")


def test_epochs_double_until_the_horizon_is_reached():
    assert DOUBLING.lengths(16) == [16]
    assert DOUBLING.lengths(17) == [16, 32]
    assert DOUBLING.lengths(1000) == [16, 32, 64, 128, 256, 512]
    assert DOUBLING.name == "batch_sums"


@pytest.mark.parametrize("unit", [ReplaceOne(), ZeroOutOne()], ids=lambda unit: unit.name)
@pytest.mark.parametrize("budget", [BUDGET, Budget(0.1, 1e-12), Budget(8.0, 1e-3)], ids=str)
def test_all_epochs_cost_what_the_dearest_does_and_no_more_than_the_budget(budget, unit):
    plan = DOUBLING.plan(STREAMED, budget, unit)
    assert plan.guarantee.delta(budget.epsilon) <= budget.delta
    assert plan.guarantee.epsilon(budget.delta) >= 0.999 * budget.epsilon
    profiles = [epoch.guarantee.profile for epoch in plan.epochs]
    assert plan.guarantee.profile.ideal == Gaussian(max(one.ideal.mu for one in profiles))
    assert plan.guarantee.profile.distance == math.fsum(one.distance for one in profiles)
    assert "6 epochs of 16 records" in plan.reason


def test_a_record_enters_one_epoch_and_no_other_answer_depends_on_it():
    X, y = records(500)
    plan = DOUBLING.plan(STREAMED, BUDGET, UNIT)
    before = plan.run(opened(X, y), SilentNoise())
    ends = np.cumsum(DOUBLING.lengths(1000))
    for place in (0, 15, 16, 47, 48, 111, 300, 499):
        changed, labels = X.copy(), y.copy()
        changed[place], labels[place] = [0.0, 1.0, 0.0], -1.0
        after = plan.run(opened(changed, labels), SilentNoise())
        seen = 8 * (np.flatnonzero(np.any(after != before, axis=1)) + 1)
        epoch = int(np.searchsorted(ends, place, side="right"))
        end, length = ends[epoch], 16 * 2**epoch
        # An epoch is asked from its middle to the middle of the next one.
        assert np.all((seen > place) & (seen >= end - length / 2) & (seen < end + length))
        assert seen.size or place < end - length / 2


def test_an_epoch_is_asked_once_it_has_seen_as_many_as_the_one_before():
    X, y = opened(*records(112)).gather()
    plan = DOUBLING.plan(STREAMED, BUDGET, UNIT)
    session = plan.start(RehearsalNoise(3))
    answers = []
    for start in range(0, 112, 8):
        session.learn(X[start : start + 8], y[start : start + 8])
        answers.append(session.answer())
    assert np.array_equal(answers[1], answers[2])  # 24 records: the second epoch has seen 8
    assert not np.array_equal(answers[1], answers[3])  # 32: it has seen 16
    assert all(np.array_equal(answers[5], answers[k]) for k in (6, 7, 8))  # 72: the third, 24
    assert not np.array_equal(answers[5], answers[9])


def test_it_is_cut_into_blocks_anywhere_and_packed_at_any_time():
    X, y = opened(*records(400)).gather()
    plan = DOUBLING.plan(STREAMED, BUDGET, UNIT)
    whole = plan.start(RehearsalNoise(5))
    whole.learn(X, y)
    generator, noise = np.random.default_rng(3), RehearsalNoise(5)
    session, start = plan.start(noise), 0
    while start < 400:
        stop = min(400, start + int(generator.integers(1, 90)))
        session.learn(X[start:stop], y[start:stop])
        session, start = plan.unpack(session.pack(), noise), stop
    np.testing.assert_array_equal(session.answer(), whole.answer())
    assert session.n_seen == 400


def test_it_is_released_over_rows_and_lived_with():
    X, y = records(100)
    rows = Rows(X, y, bounds=STREAMED.bounds, unit="replace")
    made = release(DOUBLING, STREAMED, rows, budget=BUDGET)
    assert made.value.shape == (12, 4)
    assert "epochs" in made.reason
    live = interact(DOUBLING, STREAMED, budget=Budget(math.inf, 1e-6))
    live.learn(X, y)
    assert live.freeze().value.shape == (4,)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(NotAccepted, match="in the midst of a batch of 8; use a multiple"):
        DoublingEpochs(BatchSums(), first=12).plan(STREAMED, BUDGET, UNIT)
    with pytest.raises(NotAccepted, match="declared stream"):
        DOUBLING.plan(VectorSum(STREAM.bounds), BUDGET, UNIT)
    with pytest.raises(InputError, match="must not be nested"):
        DoublingEpochs(DOUBLING)
    with pytest.raises(InputError, match="first must be"):
        DoublingEpochs(BatchSums(), first=0)
    with pytest.raises(InputTypeError, match="inner"):
        DoublingEpochs("batch_sums")

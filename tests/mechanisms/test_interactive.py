"""What every interactive plan inherits: a transcript over rows, however they are cut up."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from discreet import Rows, release
from discreet.errors import InputError, NotAccepted, PrivacyError, SealedError
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, ReplaceOne, ZeroOutOne
from discreet.questions import Stream
from support.batch_sums import BatchSums
from support.opened import open_rows
from support.streams import BUDGET, PROBLEM, STREAM, records


def plan(stream=STREAM, unit="replace"):
    units = {"replace": ReplaceOne(), "zero_out": ZeroOutOne()}
    return BatchSums().plan(stream, BUDGET, units[unit])


def opened(X, y, stream=STREAM, **options):
    return open_rows(X, y, bounds=stream.bounds, unit="replace", **options)


@pytest.mark.parametrize("rows", [0, 5, 8, 100, 200])
def test_a_run_is_the_transcript_one_answer_for_each_whole_batch(rows):
    X, y = records(rows or 1)
    transcript = plan().run(opened(X, y), RehearsalNoise(1))
    assert transcript.shape == (len(X) // 8, 4)


@pytest.mark.parametrize("block_rows", [1, 7, 64])
def test_stretches_are_the_rows_in_order_whatever_the_blocks(block_rows):
    X, y = records(150)
    whole, labels = opened(X, y).gather()
    for size in (1, 13, 64, 1000):
        parts = list(opened(X, y, block_rows=block_rows).stretches(size))
        assert [len(part) for part, _ in parts[:-1]] == [size] * (len(parts) - 1)
        np.testing.assert_array_equal(np.concatenate([part for part, _ in parts]), whole)
        np.testing.assert_array_equal(np.concatenate([part for _, part in parts]), labels)


def test_a_session_is_cut_into_blocks_anywhere_and_packed_at_any_time():
    X, y = opened(*records(200)).gather()
    whole = plan().start(RehearsalNoise(5))
    whole.learn(X, y)
    generator = np.random.default_rng(3)
    made = plan()
    noise = RehearsalNoise(5)
    session, start = made.start(noise), 0
    while start < 200:
        stop = min(200, start + int(generator.integers(1, 30)))
        session.learn(X[start:stop], y[start:stop])
        assert session.n_seen == stop
        session, start = made.unpack(session.pack(), noise), stop
    np.testing.assert_array_equal(session.answer(), whole.answer())
    assert session.is_over
    assert whole.is_over


def test_a_session_refuses_more_than_its_horizon_and_to_be_looked_at():
    session = plan().start(RehearsalNoise(1))
    X, y = opened(*records(200)).gather()
    session.learn(X, y)
    with pytest.raises(PrivacyError, match="more records than the horizon"):
        session.learn(X[:1], y[:1])
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy, list, np.asarray):
        with pytest.raises(SealedError, match="state of an interaction is secret"):
            attempt(session)
    assert repr(session) == "<secret session: 200 of 200 records>"


def test_a_stream_is_released_over_rows_in_order_like_any_other_question():
    X, y = records(100)
    rows = Rows(X, y, bounds=STREAM.bounds, unit="zero_out")
    made = release(BatchSums(), STREAM, rows, budget=BUDGET)
    assert made.value.shape == (12, 4)
    assert made.guarantee.unit == ZeroOutOne()
    np.testing.assert_array_equal(BatchSums().coefficients(made.value), made.value[-1])


def test_zeroing_out_needs_half_the_noise_of_replacing():
    assert plan(unit="zero_out").grid.scale == pytest.approx(plan().grid.scale / 2, rel=1e-6)


def test_adding_and_removing_records_is_not_covered_by_streams():
    with pytest.raises(NotAccepted, match="does not cover the unit 'add_remove'; use 'replace'"):
        BatchSums().plan(STREAM, BUDGET, AddRemoveOne())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"horizon": 0}, "horizon must be"),
        ({"horizon": 2.5}, "horizon must be"),
        ({"batch": 0}, "batch must be"),
        ({"batch": 300}, "batch must not exceed the horizon; got 300 and 200"),
    ],
)
def test_a_stream_checks_its_declaration(change, message):
    with pytest.raises((InputError, TypeError), match=message):
        Stream(PROBLEM, **{"horizon": 200, **change})

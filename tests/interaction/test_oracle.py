"""An oracle in memory: what is cached, capped, frozen and refused; and its secrets."""

from __future__ import annotations

import copy
import math
import os
import pickle

import numpy as np
import pytest

from discreet.errors import (
    BudgetExceeded,
    InputError,
    InteractionEnded,
    PrivacyError,
    RehearsalWarning,
    SealedError,
)
from discreet.gate import consult
from discreet.kernels import BoundedKernel, Linear
from discreet.ledger import MemoryLedger, State
from discreet.mechanisms import BoundedUpdates, GaussianProcess
from discreet.noise import RehearsalNoise
from discreet.privacy import Budget
from support.oracles import BUDGET, LASTING, begin, grid_of_points, small_queries, small_rows

both = pytest.mark.parametrize("name", LASTING)


@both
def test_a_point_gets_the_same_answer_however_often_it_is_asked_about(name):
    oracle = begin(name)
    points = grid_of_points(6)
    told = oracle.ask(points)
    assert oracle.ask(points[::-1]) == told[::-1]
    assert oracle.ask([[-0.0, 0.0]]) == oracle.ask([[0.0, -0.0]])
    assert oracle.n_answers == 7


def test_after_the_declared_number_of_answers_it_is_frozen_and_answers_from_the_others():
    oracle = begin(max_answers=3)
    points = grid_of_points(5)
    told = oracle.ask(points)
    assert [one.status for one in told] == ["answered"] * 3 + ["frozen"] * 2
    assert (oracle.n_answers, oracle.status) == (3, "frozen")
    assert oracle.ask(points) == told
    assert len(oracle.look().value) == 3


def test_a_frozen_answer_is_the_mean_of_the_process_given_the_others():
    oracle = begin(max_answers=4)
    points = grid_of_points(5)
    told = np.array([one.value for one in oracle.ask(points)])
    kernel, jitter = oracle.question.kernel, oracle.declared.plan.precision.jitter
    gram = kernel.evaluate(points[:4], points[:4]) + jitter * np.eye(4)
    expected = kernel.evaluate(points[4:], points[:4]) @ np.linalg.solve(gram, told[:4])
    np.testing.assert_allclose(told[4:], expected, rtol=1e-6, atol=1e-9)


def test_updates_are_counted_and_then_exhausted():
    oracle = begin("many updates")
    statuses = [one.status for one in oracle.ask(grid_of_points(30))]
    assert statuses.count("updated") == 4
    assert oracle.status == "exhausted"
    last = len(statuses) - 1 - statuses[::-1].index("updated")
    assert set(statuses[last + 1 :]) == {"exhausted"}
    assert "exhausted" not in statuses[: last + 1]


def test_no_point_spoils_the_public_model():
    """Updates at points near the origin of the feature space would divide by nearly nothing."""
    question = small_queries(40, kernel=BoundedKernel(Linear(), 1.0))
    mechanism = BoundedUpdates(updates=30, threshold=1e-9)
    oracle = consult(mechanism, question, small_rows(question), budget=BUDGET)
    tiny = [[1e-160 * place, 0.0] for place in range(1, 11)]
    short = [[1e-4, 1e-3 * place] for place in range(10)]
    told = oracle.ask([*tiny, *short, *grid_of_points(15)])
    assert all(abs(one.value) < math.inf for one in told)
    assert oracle.status == "exhausted"
    assert all(abs(one.value) <= question.reach for one in told if one.status == "exhausted")


@both
def test_its_owner_can_freeze_it(name):
    oracle = begin(name)
    told = oracle.ask(grid_of_points(3))
    release = oracle.freeze()
    assert release.guarantee == oracle.guarantee
    np.testing.assert_array_equal(release.value[:, 2], [one.value for one in told])
    assert oracle.status == "frozen"
    later = oracle.ask(grid_of_points(6))
    assert later[:3] == told
    assert {one.status for one in later[3:]} <= {"frozen", "exhausted"}
    assert oracle.n_answers == 3


@pytest.mark.parametrize(
    "points", [[[0.1]], [[np.nan, 0.0]], [[0.0, np.inf]], [0.1, 0.2], [["a", "b"]], [[[0.0, 0.0]]]]
)
def test_points_that_are_none_are_refused_and_nothing_is_answered(points):
    oracle = begin()
    with pytest.raises((InputError, TypeError)):
        oracle.ask(points)
    assert oracle.n_answers == 0
    assert oracle.ask(np.empty((0, 2))) == []


def test_points_are_brought_within_the_declared_set():
    oracle = begin()
    (far,) = oracle.ask([[30.0, 40.0]])
    assert oracle.ask([[0.6, 0.8]])[0].value == pytest.approx(far.value, abs=1e-3)


def test_the_ledger_pays_once_before_rows_are_read():
    question = small_queries()
    ledger = MemoryLedger(Budget(1.2, 1e-6))
    oracle = consult(
        GaussianProcess(), question, small_rows(question), budget=BUDGET, ledger=ledger
    )
    assert [entry.state for entry in ledger.history()] == [State.RELEASED]
    oracle.ask(grid_of_points(9))
    with pytest.raises(BudgetExceeded):
        consult(GaussianProcess(), question, small_rows(question), budget=BUDGET, ledger=ledger)
    assert len(ledger.history()) == 1


def test_its_model_cannot_be_looked_at():
    oracle = begin()
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps, list, np.asarray):
        with pytest.raises(SealedError):
            attempt(oracle)
    assert "secret" not in repr(oracle)


def test_a_failure_is_one_sentence_and_ends_it(monkeypatch):
    oracle = begin()

    def fail(*_):
        raise ValueError("a row is 7654321.0625")

    monkeypatch.setattr("discreet.mechanisms.private_predictor.PrivatePredictor.predict", fail)
    with pytest.raises(InteractionEnded) as caught:
        oracle.ask(grid_of_points(1))
    assert "7654321" not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    monkeypatch.undo()
    with pytest.raises(InteractionEnded):
        oracle.ask(grid_of_points(1))


def test_a_point_that_spoils_a_batch_leaves_nothing_of_it(monkeypatch):
    oracle = begin()
    refused = grid_of_points(3)[2]
    extend = type(oracle.declared.plan.start()).extend

    def refuse(self, point):
        if np.array_equal(point, refused):
            raise InputError("no")
        return extend(self, point)

    monkeypatch.setattr("discreet.mechanisms.gaussian_process.PathTranscript.extend", refuse)
    with pytest.raises(InputError):
        oracle.ask(grid_of_points(3))
    assert oracle.n_answers == 0
    assert len(oracle.ask(grid_of_points(2))) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_must_not_go_on():
    oracle = begin()
    child = os.fork()
    if child == 0:
        try:
            oracle.ask(grid_of_points(1))
        except InteractionEnded:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(oracle.ask(grid_of_points(1))) == 1


def test_a_rehearsal_is_repeated_promises_nothing_and_is_not_stored(tmp_path):
    answers = []
    for _ in range(2):
        with pytest.warns(RehearsalWarning):
            oracle = begin(noise=RehearsalNoise(3))
        answers.append(oracle.ask(grid_of_points(4)))
    assert answers[0] == answers[1]
    assert not oracle.guarantee.is_private
    with pytest.raises(PrivacyError, match="rehearsal"):
        begin(noise=RehearsalNoise(3), store=tmp_path / "a.oracle")


def test_an_infinite_budget_answers_exactly():
    question = small_queries()
    oracle = consult(
        GaussianProcess(), question, small_rows(question), budget=Budget(math.inf, 1e-6)
    )
    one, other = (oracle.ask(grid_of_points(3)) for _ in range(2))
    assert one == other
    assert all(answer.scale == 0 for answer in one)

"""A round without a record: nobody can tell it from one whose record was zeroed out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from discreet import Budget, MemoryLedger, interact
from discreet.errors import InputError, InteractionEnded, PrivacyError, RehearsalWarning
from discreet.geometry import Box, L2Ball
from discreet.ledger import State
from discreet.losses import Logistic, Squared
from discreet.mechanisms import REGISTRY, InteractiveMechanism
from discreet.mechanisms.doubling_epochs import DoublingEpochs
from discreet.noise import RehearsalNoise
from discreet.online import Experts
from discreet.penalties import Indicator
from discreet.privacy import ZeroOutOne
from discreet.questions import Bounds, ExpertStream, Interval, LabelSet, Problem, Stream
from support.batch_sums import BatchSums
from support.learners import ALL, RECORDS, answer, labels, learn_each, make
from support.streams import BUDGET, STREAM, records

ZERO = ZeroOutOne()
BALL = Indicator(L2Ball(1.0))
TWO = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]))
NUMBERS = Bounds(L2Ball(1.0), 2, labels=Interval(-1, 1))
LOSSES = Bounds(Box([0.0, 0.0], [1.0, 1.0]), 2)


def streams(batch):
    yield Stream(Problem(Squared(1.0), NUMBERS, ridge=1.0, penalty=BALL), 40, batch)
    yield Stream(Problem(Logistic(), TWO, ridge=1.0, penalty=BALL), 40, batch)
    yield ExpertStream(LOSSES, 40, batch)


MECHANISMS = [one for one in REGISTRY if isinstance(one, InteractiveMechanism)]
MECHANISMS += [DoublingEpochs(one, first=4) for one in MECHANISMS]


@pytest.mark.parametrize(
    "mechanism", MECHANISMS, ids=lambda one: f"{one.name}, {type(one).__name__}"
)
@pytest.mark.parametrize("batch", [1, 4])
def test_an_empty_round_is_a_zeroed_record_to_the_last_bit(mechanism, batch):
    question = next(one for one in streams(batch) if mechanism.accepts(one, ZERO))
    plan = mechanism.plan(question, Budget(4.0, 1e-3), ZERO)
    generator = np.random.default_rng(1)
    X, y = generator.uniform(0, 0.7, (40, 2)), generator.choice([-1.0, 1.0], 40)
    empty = generator.random(40) < 0.4
    empty[[0, 39]] = True
    X[empty] = 0.0
    noises = RehearsalNoise(7), RehearsalNoise(7)
    zeroed, skipped = (plan.start(noise) for noise in noises)
    for place in range(40):
        label = None if question.bounds.labels is None else y[place : place + 1]
        zeroed.learn(X[place : place + 1], label)
        skipped.skip() if empty[place] else skipped.learn(X[place : place + 1], label)
        told = [np.asarray(one.answer()).tobytes() for one in (zeroed, skipped)]
        assert told[0] == told[1]
        assert zeroed.n_seen == skipped.n_seen == place + 1
    assert packed(zeroed) == packed(skipped)
    with pytest.raises(PrivacyError, match="more records than the horizon"):
        skipped.skip()


def packed(session):
    return {name: np.asarray(each).tobytes() for name, each in session.pack().items()}


def begin(unit="zero_out", **options):
    return interact(BatchSums(), STREAM, **{"budget": BUDGET, "unit": unit, **options})


def test_it_counts_as_a_round_and_is_paid_for_like_a_record():
    ledger = MemoryLedger(Budget(1.0, 1e-5), "zero_out")
    live = begin(ledger=ledger)
    live.skip()
    assert [entry.state for entry in ledger.history()] == [State.OPENED]
    live.learn(*records(190))
    for _ in range(9):
        live.skip()
    assert live.n_seen == 200
    assert live.is_over
    with pytest.raises(InputError, match="horizon of 200 records"):
        live.skip()
    assert live.n_seen == 200
    live.freeze()
    with pytest.raises(InteractionEnded, match="frozen"):
        live.skip()


def test_a_batch_of_empty_rounds_has_an_answer_of_its_own():
    live = begin()
    answers = [live.answer()]
    for _ in range(2):
        for _ in range(8):
            live.skip()
        answers.append(live.answer())
    assert len({each.tobytes() for each in answers}) == 3  # fresh noise each time


def test_replacing_a_record_knows_no_empty_rounds():
    ledger = MemoryLedger(Budget(1.0, 1e-5), "replace")
    live = begin("replace", ledger=ledger)
    with pytest.raises(PrivacyError, match="no round may be left empty under the unit 'replace'"):
        live.skip()
    assert live.n_seen == 0
    assert [entry.state for entry in ledger.history()] == [State.RESERVED]
    live.learn(*records(3))
    assert live.n_seen == 3


def test_a_failure_in_an_empty_round_is_the_same_sentence(monkeypatch):
    live = begin()
    live.learn(*records(3))
    monkeypatch.setattr("support.batch_sums.BatchSumsSession._skip", None)
    with pytest.raises(InteractionEnded, match="the private part stopped"):
        live.skip()
    assert live.is_over


# Learners.


@pytest.mark.parametrize("kind", ALL)
def test_a_learner_lets_rounds_pass_from_the_first_on(kind):
    given = {} if kind is Experts else {"fit_intercept": False}
    given |= {"unit": "zero_out", "rehearsal": 3}
    y = labels(kind)
    nothing = dict.fromkeys(RECORDS[0], -1.0 if kind is Experts else 0.0)  # the same for all
    zeroed = [nothing if place % 3 == 0 else one for place, one in enumerate(RECORDS)]
    expected = answer(learn_each(make(kind, **given), zeroed, y))
    model = make(kind, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RehearsalWarning)
        model.skip()
    for place, record in list(enumerate(RECORDS))[1:]:
        if place % 3 == 0:
            model.skip()
        else:
            learn_each(model, [record], None if y is None else [y[place]])
    assert answer(model) == expected
    assert model.n_seen == len(RECORDS)
    with pytest.raises(InputError, match="horizon"):
        model.skip()


@pytest.mark.parametrize("kind", ALL)
def test_a_learner_refuses_before_anything_is_paid(kind):
    ledger = MemoryLedger(Budget(3.0, 1e-5), "replace")
    model = make(kind, ledger=ledger)
    with pytest.raises(PrivacyError, match="no round may be left empty"):
        model.skip()
    assert not ledger.history()
    if kind is not Experts:
        ledger = MemoryLedger(Budget(3.0, 1e-5), "zero_out")
        model = make(kind, ledger=ledger, unit="zero_out", features=None)
        with pytest.raises(InputError, match="a first round that is empty"):
            model.skip()
        assert not ledger.history()

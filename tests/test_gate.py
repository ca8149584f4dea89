"""The gate: public plan, paid receipt, private run, public release."""

from __future__ import annotations

import json
import math
import os
import uuid

import numpy as np
import pytest

import discreet
from discreet.data import Bounds, LabelSet, Rows
from discreet.errors import (
    BudgetExceeded,
    EntropyError,
    InputError,
    InputTypeError,
    NotAccepted,
    RehearsalWarning,
)
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.ledger import MemoryLedger, State
from discreet.mechanisms import GaussianSum, LaplaceSum, PrivateCount
from discreet.noise import RehearsalNoise
from discreet.noise.noise import CHECKED_KEYS
from discreet.privacy import Budget
from discreet.questions import RowCount, VectorMean, VectorSum
from discreet.record import Release

BOUNDS = Bounds(L2Ball(1.0), 2)
QUESTION = VectorSum(BOUNDS)
BUDGET = Budget(1.0, 1e-6)


def rows(unit="add_remove"):
    return Rows([[0.3, 0.4], [0.1, -0.2]], bounds=BOUNDS, unit=unit)


def test_a_release_is_charged_opened_and_settled():
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    result = release(GaussianSum(), QUESTION, rows(), budget=BUDGET, ledger=ledger, purpose="test")
    (entry,) = ledger.history()
    assert (entry.state, entry.purpose) == (State.RELEASED, "test")
    assert entry.guarantee == result.guarantee
    assert result.receipt_number == 1
    assert result.is_private
    assert result.version == discreet.__version__


def test_system_noise_differs_from_release_to_release():
    values = {
        release(GaussianSum(), QUESTION, rows(), budget=BUDGET).value.tobytes() for _ in range(20)
    }
    assert len(values) == 20


def test_a_rehearsal_repeats_itself_and_says_that_it_is_not_private():
    results = []
    for _ in range(2):
        with pytest.warns(RehearsalWarning, match="not private"):
            results.append(
                release(GaussianSum(), QUESTION, rows(), budget=BUDGET, noise=RehearsalNoise(3))
            )
    np.testing.assert_array_equal(results[0].value, results[1].value)
    assert not results[0].is_private
    assert results[0].guarantee.epsilon(0.5) == math.inf
    assert not Release.from_json(results[0].to_json()).is_private
    assert "No privacy" in results[0].guarantee.sentence()


def test_a_failed_rehearsal_says_why():
    class Broken(RehearsalNoise):
        def gaussian(self, count, bits):
            raise ZeroDivisionError("a bug")

    with pytest.warns(RehearsalWarning), pytest.raises(ZeroDivisionError, match="a bug"):
        release(GaussianSum(), QUESTION, rows(), budget=BUDGET, noise=Broken(1))


@pytest.mark.parametrize(
    "entropy",
    [lambda size: b"", lambda size: bytes(size), lambda size: bytes(range(size % 256)).ljust(size)],
    ids=["short", "zeros", "repeating"],
)
def test_broken_entropy_stops_everything_before_it_is_paid(entropy, monkeypatch):
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    monkeypatch.setattr(os, "urandom", entropy)
    monkeypatch.setattr("discreet.data.dense.ArraySource.prepare", lambda *_: pytest.fail("read"))
    with pytest.raises(EntropyError):
        release(GaussianSum(), QUESTION, rows(), budget=BUDGET, ledger=ledger)
    assert ledger.history() == ()


def test_entropy_that_breaks_after_the_check_fails_without_an_answer(monkeypatch):
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    genuine, calls = os.urandom, []

    def failing(size):
        calls.append(size)
        if len(calls) > CHECKED_KEYS:
            raise OSError("no entropy")
        return genuine(size)

    monkeypatch.setattr("discreet.noise.words.os.urandom", failing)
    monkeypatch.setattr("discreet.ledger.memory.uuid.uuid4", lambda: uuid.UUID(int=len(calls)))
    with pytest.raises(EntropyError):
        release(GaussianSum(), QUESTION, rows(), budget=BUDGET, ledger=ledger)
    assert [entry.state for entry in ledger.history()] == [State.FAILED]


def test_an_interrupt_leaves_a_settled_charge(monkeypatch):
    ledger = MemoryLedger(Budget(2.0, 1e-5))

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.mechanisms.gaussian_sum.GaussianSumPlan.run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        release(GaussianSum(), QUESTION, rows(), budget=BUDGET, ledger=ledger)
    assert [entry.state for entry in ledger.history()] == [State.FAILED]


def test_a_question_about_other_bounds_is_refused_before_it_is_paid():
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    other = VectorSum(Bounds(L2Ball(5.0), 2))
    with pytest.raises(InputError, match="bounds"):
        release(GaussianSum(), other, rows(), budget=BUDGET, ledger=ledger)
    assert ledger.history() == ()


@pytest.mark.parametrize(
    "wrong",
    [{"noise": np.random.default_rng(0)}, {"ledger": 1.0}, {"budget": 1.0}],
    ids=["generator as noise", "number as ledger", "number as budget"],
)
def test_wrong_types_are_refused(wrong):
    with pytest.raises(InputTypeError, match="must be a"):
        release(GaussianSum(), QUESTION, rows(), **({"budget": BUDGET} | wrong))
    with pytest.raises(InputTypeError):
        release("gaussian", QUESTION, rows(), budget=BUDGET)
    with pytest.raises(InputTypeError):
        release(GaussianSum(), QUESTION, [[1.0, 2.0]], budget=BUDGET)


@pytest.mark.parametrize(
    ("mechanism", "question", "unit", "says"),
    [
        (GaussianSum(), RowCount(BOUNDS), "add_remove", "private_count"),
        (LaplaceSum(), RowCount(BOUNDS), "add_remove", "private_count"),
        (PrivateCount(), QUESTION, "add_remove", "gaussian_sum"),
        (PrivateCount(), RowCount(BOUNDS), "replace", "public"),
    ],
)
def test_a_mechanism_without_a_proof_says_what_to_use(mechanism, question, unit, says):
    with pytest.raises(NotAccepted, match=says):
        release(mechanism, question, rows(unit), budget=BUDGET)


def test_questions_check_themselves():
    with pytest.raises(InputError, match="intercept"):
        VectorMean(Bounds(L2Ball(1.0), 2, intercept=1.0))
    with pytest.raises(InputError, match="no labels"):
        RowCount(BOUNDS, label=1)
    with pytest.raises(InputTypeError, match="Bounds"):
        VectorSum(3)
    assert hash(VectorSum(BOUNDS)) == hash(VectorSum(Bounds(L2Ball(1.0), 2)))


def test_a_mean_is_close_when_there_are_many_rows():
    generator = np.random.default_rng(1)
    X = 0.3 + 0.1 * generator.standard_normal((20_000, 2))
    for unit in ("add_remove", "replace"):
        many = Rows(X, bounds=BOUNDS, unit=unit)
        for mechanism, budget in ((GaussianSum(), BUDGET), (LaplaceSum(), Budget(1.0))):
            with pytest.warns(RehearsalWarning):
                mean = release(
                    mechanism, VectorMean(BOUNDS), many, budget=budget, noise=RehearsalNoise(2)
                )
            assert np.abs(mean.value - X.mean(axis=0)).max() < 0.005


def test_a_mean_stays_in_its_set_however_much_noise_there_is():
    tiny = Budget(1e-3, 1e-9)
    for seed in range(20):
        with pytest.warns(RehearsalWarning):
            mean = release(
                GaussianSum(), VectorMean(BOUNDS), rows(), budget=tiny, noise=RehearsalNoise(seed)
            )
        assert np.linalg.norm(mean.value) <= 1 + 1e-9


def test_a_label_count_counts_the_label():
    bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([0, 1]))
    X, y = np.zeros((1000, 2)), np.array([1] * 300 + [0] * 700)
    counted = release(
        PrivateCount(), RowCount(bounds, 1), Rows(X, y, bounds=bounds), budget=Budget(math.inf)
    )
    assert counted.value == 300
    noisy = release(
        PrivateCount(), RowCount(bounds, 1), Rows(X, y, bounds=bounds), budget=Budget(1.0)
    )
    assert isinstance(noisy.value, int)
    assert abs(noisy.value - 300) < 40  # fails once in e**40 runs


def test_a_refused_charge_leaves_the_rows_closed(monkeypatch):
    monkeypatch.setattr("discreet.data.dense.ArraySource.prepare", lambda *_: pytest.fail("read"))
    with pytest.raises(BudgetExceeded):
        release(GaussianSum(), QUESTION, rows(), budget=BUDGET, ledger=MemoryLedger(Budget(0.1)))


@pytest.mark.parametrize(
    "broken",
    ["", "[]", "{}", '{"format": 2}', '{"format": true}', "not json", "[" * 9999, '{"a":1,"a":2}'],
)
def test_a_damaged_release_is_refused(broken):
    with pytest.raises((InputError, InputTypeError)):
        Release.from_json(broken)


def changed(**fields):
    document = json.loads(release(GaussianSum(), QUESTION, rows(), budget=BUDGET).to_json())
    return json.dumps(document | fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"more": 1},
        {"format": 3},
        {"receipt_number": -1},
        {"receipt_number": "1"},
        {"mechanism": 3},
        {"noise": None},
        {"value": [["a"]]},
        {"value_is_array": 1},
        {"facts": {}},
        {"facts": [{"what": "a", "words": "b"}]},
        {"facts": [{"what": "a", "words": "b", "source": "hearsay"}]},
        {"certificate": {"distance": 0.0}},
        {"certificate": {"distance": 2.0, "failure": 0.0, "tolerances": []}},
        {"certificate": {"distance": 0.0, "failure": 0.0, "tolerances": [{"what": "a"}]}},
        {"versions": {"numpy": 3}},
        {"versions": []},
    ],
    ids=repr,
)
def test_a_release_with_odd_fields_is_refused(fields):
    with pytest.raises((InputError, InputTypeError)):
        Release.from_json(changed(**fields))


def test_all_fields_survive():
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    result = release(GaussianSum(), QUESTION, rows(), budget=BUDGET, ledger=ledger, purpose="test")
    again = Release.from_json(result.to_json())
    assert again.to_json() == result.to_json()
    assert (again.ledger, again.purpose, again.entry) == (ledger.identity, "test", "")
    assert again.facts == result.facts != ()
    assert again.certificate == result.certificate
    assert again.certificate.distance == result.guarantee.profile.distance > 0
    assert [one.what for one in again.certificate.tolerances] == [
        "scale of the noise",
        "step of the grid of the noise",
    ]
    assert dict(again.versions)["numpy"] == np.__version__
    assert not again.is_rehearsal


def test_what_a_release_says_is_settled_before_rows_are_opened(monkeypatch):
    """Two tables with nothing in common but their bounds say the same of themselves."""
    said = []
    for X in ([[0.3, 0.4]], [[-9.0, math.nan]] * 50):
        table = Rows(X, bounds=BOUNDS)
        result = json.loads(release(GaussianSum(), QUESTION, table, budget=BUDGET).to_json())
        said.append({name: part for name, part in result.items() if name != "value"})
    assert said[0] == said[1]


def test_the_first_format_is_still_read():
    result = release(GaussianSum(), QUESTION, rows(), budget=BUDGET)
    document = json.loads(result.to_json())
    new = {"purpose", "facts", "noise", "certificate", "ledger", "entry", "versions"}
    first = {name: part for name, part in document.items() if name not in new} | {"format": 1}
    read = Release.from_json(json.dumps(first))
    np.testing.assert_array_equal(read.value, result.value)
    assert (read.guarantee, read.facts, read.noise) == (result.guarantee, (), "")
    with pytest.raises(InputTypeError, match="unknown"):
        Release.from_json(json.dumps(first | {"noise": "x"}))

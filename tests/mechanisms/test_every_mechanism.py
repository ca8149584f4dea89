"""What is true of every registered mechanism."""

from __future__ import annotations

import logging
import math
import pickle
import re
import traceback

import numpy as np
import pytest

from discreet.errors import (
    BudgetExceeded,
    CalibrationError,
    InputError,
    NotAccepted,
    RehearsalWarning,
    ReleaseFailed,
)
from discreet.gate import release
from discreet.geometry import Product
from discreet.ledger import MemoryLedger, State
from discreet.mechanisms import REGISTRY
from discreet.noise import RehearsalNoise, SystemNoise
from discreet.privacy import Budget, Guarantee, Profile
from discreet.privacy.unit import UNITS
from discreet.questions import Cap
from discreet.record import Release
from support.cases import ALL_CASES, KINDS, Case, Data, case_labelled, every
from support.cases.additive import AdditiveCase
from support.cases.staged import StagedCase
from support.checks import (
    check_exact_audit,
    check_sensitivity,
)

every_case, every_single_release = every(), every(AdditiveCase)

MOST_LOOKS = 60
"""Of a plan; a plain bisection takes about fifty for each of its calibrations."""

CANARY = 7654321.0625
CANARY_LABEL = 8765432.125


def test_every_registered_mechanism_has_a_worst_pair():
    assert {case.mechanism.name for case in ALL_CASES} == {mechanism.name for mechanism in REGISTRY}


@pytest.mark.parametrize("unit", UNITS.values(), ids=lambda unit: unit.name)
@pytest.mark.parametrize("name", [mechanism.name for mechanism in REGISTRY])
def test_every_mechanism_has_a_case_for_each_unit_that_it_accepts(name, unit):
    cases = [case for case in ALL_CASES if case.mechanism.name == name]
    if any(
        unit.name in case.mechanism.units and case.mechanism.accepts(case.question, unit)
        for case in cases
    ):
        assert any(case.unit == unit for case in cases)


@every_case
def test_a_unit_that_the_proof_does_not_name_is_refused(case):
    for unit in UNITS.values():
        if unit.name in case.mechanism.units:
            continue
        reason = f"does not cover the unit '{unit.name}'; use"
        if unit.protects_persons or case.unit.protects_persons:
            reason += "|does not cover several records of a person|protects (persons|records)"
        with pytest.raises((NotAccepted, InputError), match=reason):
            case.mechanism.plan(case.question, case.budget, unit)


def test_a_plan_that_declares_a_sensitivity_is_looked_into():
    """Or checks that are made for noise on totals would pass it over; every kind has its cases."""
    plain = [case for case in ALL_CASES if not isinstance(case, AdditiveCase | StagedCase)]
    declared = {case.mechanism.name for case in plain if hasattr(case.plan(), "sensitivity")}
    assert declared == {"bounded_updates", "net_updates"}  # each answer depends on others
    found = {type(case) for case in ALL_CASES} - {Case}
    assert set(KINDS.values()) <= found
    assert all(issubclass(kind, tuple(KINDS.values())) for kind in found)


def test_no_two_cases_have_the_same_label():
    assert len({case.label for case in ALL_CASES}) == len(ALL_CASES)


@every_case
def test_planning_and_refusing_read_no_row(case, monkeypatch):
    def fail(*_):
        raise AssertionError("rows were read")

    monkeypatch.setattr("discreet.data.dense.ArraySource.prepare", fail)
    case.mechanism.plan(case.question, case.budget, case.unit)
    data = case.worst_pair[0]
    rows = case.seal(data)
    ledger = MemoryLedger(Budget(0.5, 1e-9), case.unit)
    with pytest.raises(BudgetExceeded):
        release(case.mechanism, case.question, rows, budget=case.budget, ledger=ledger)
    assert ledger.history() == ()


@every_case
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 8.0])
def test_the_guarantee_stays_within_the_budget(case, epsilon):
    for delta in [0.0] if case.budget.delta == 0 else [1e-12, 1e-6, 1e-3]:
        guarantee = case.plan(Budget(epsilon, delta)).guarantee
        assert guarantee.delta(epsilon) <= delta
        assert guarantee.epsilon(delta) <= epsilon * (1 + 1e-12)
        assert guarantee.unit == case.unit


@every_case
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0, 100.0, 1000.0])
def test_a_plan_is_made_after_few_looks_at_profiles_or_refused(case, epsilon, monkeypatch):
    looks, delta = [], Profile.delta

    def counted(profile, epsilon):
        looks.append(epsilon)
        return delta(profile, epsilon)

    monkeypatch.setattr(Profile, "delta", counted)
    budget = Budget(epsilon, 0.0 if case.budget.delta == 0 else 3e-7)
    what_to_do = "use"
    try:
        case.plan(budget)
    except CalibrationError as refusal:
        what_to_do = str(refusal)
    assert re.search(r"\b[Uu]se\b|\bdeclare\b", what_to_do)
    assert len(looks) <= MOST_LOOKS


@every_case
def test_the_noise_is_no_larger_than_it_must_be(case):
    plan = case.plan()
    assert plan.guarantee.epsilon(case.budget.delta) >= 0.999 * case.budget.epsilon


@every_single_release
def test_without_noise_neighbours_stay_within_the_declared_sensitivity(case):
    plan = case.plan()
    generator = np.random.default_rng(2024)
    pairs = [case.worst_pair, *(case.random_pair(generator) for _ in range(100))]
    check_sensitivity(case, plan, pairs)


@every_single_release
def test_the_worst_pair_attains_the_declared_sensitivity(case):
    plan = case.plan()
    first, second = case.worst_pair
    apart = case.silent_total(plan, first) - case.silent_total(plan, second)
    assert case.distance(apart) >= case.attained * plan.sensitivity


@every_single_release
def test_the_true_profile_of_the_worst_pair_is_within_the_guarantee(case):
    check_exact_audit(case, case.plan())


@every_case
def test_an_infinite_budget_gives_the_exact_answer(case):
    data = case.worst_pair[1]
    rows = case.seal(data)
    exact = release(case.mechanism, case.question, rows, budget=Budget(math.inf, case.budget.delta))
    silent = case.silent_answer(case.plan(Budget(1e-3, case.budget.delta)), data)
    assert not exact.is_private
    assert exact.guarantee.epsilon(0.5) == math.inf
    np.testing.assert_allclose(exact.value, silent, rtol=1e-4, atol=1e-4)


@every_case
def test_engines_block_sizes_and_threads_give_the_same_release(case):
    generator = np.random.default_rng(7)
    data, _ = case.random_pair(generator)
    plan = case.plan()
    reference = plan.run(data.open(case), RehearsalNoise(3))
    error = case.solver_error(plan, data)
    options = [{"block_rows": 1}, {"block_rows": 7}, {"block_rows": 3, "threads": 2}]
    engines, bounds = [data], case.question.bounds
    # Parts of a product are clipped one by one, sparse rows to other last bits, by which rows of a
    # person are told apart.
    is_told_apart = isinstance(bounds.person, Cap) and isinstance(bounds.features, Product)
    if bounds.features.contains(np.zeros(bounds.n_features)) and not is_told_apart:
        engines.append(data.as_sparse())
    for engine in engines:
        for option in options:
            again = plan.run(engine.open(case, **option), RehearsalNoise(3))
            np.testing.assert_allclose(again, reference, rtol=0, atol=error)


@every(AdditiveCase | StagedCase)
def test_many_runs_release_what_a_run_does(case):
    # The audits of these cases make many runs at once; with the same seed one is as if alone.
    data, plan = case.worst_pair[1], case.plan()
    alone = np.asarray(plan.run(data.open(case), RehearsalNoise(4)))
    together = np.asarray(plan.run_many(data.open(case), RehearsalNoise(4), 1))
    assert together.shape == (1, *alone.shape)
    np.testing.assert_allclose(together[0], alone, rtol=0, atol=case.solver_error(plan, data))


@every_single_release
def test_many_runs_have_noise_of_their_own(case):
    # The noise of each is as large as that of single runs, and no two have the same.
    run_many, rows, noise = (
        case.watch(case.plan()),
        case.worst_pair[0].open(case),
        RehearsalNoise(5),
    )
    together = np.reshape(run_many(rows, RehearsalNoise(4), 40), (40, -1))
    alone = np.array([np.ravel(run_many(rows, noise, 1)) for _ in range(15)])
    is_countable = np.array_equal(alone, np.rint(alone))
    assert is_countable or len(np.unique(together, axis=0)) == 40
    spreads = np.sqrt([np.mean((many - many.mean(axis=0)) ** 2) for many in (together, alone)])
    assert 0.5 < spreads[0] / spreads[1] < 2  # fixed noise: four standard errors and more


@every_case
def test_release_and_guarantee_survive_json(case):
    with pytest.warns(RehearsalWarning):
        result = _release(case, noise=RehearsalNoise(1))
    real = _release(case)
    for one in (result, real):
        again = Release.from_json(one.to_json())
        np.testing.assert_array_equal(again.value, one.value)
        assert again.guarantee == one.guarantee
        assert again.is_private == one.is_private
        assert Guarantee.from_json(one.guarantee.to_json()) == one.guarantee
    assert not result.is_private
    assert real.is_private


@every_case
def test_a_receipt_is_paid_even_when_the_private_part_fails(case, monkeypatch):
    ledger = MemoryLedger(Budget(2.0, 1e-3), case.unit)
    _break_run(case, monkeypatch)
    with pytest.raises(ReleaseFailed):
        _release(case, ledger=ledger)
    assert [entry.state for entry in ledger.history()] == [State.FAILED]
    assert ledger.spent(1e-3) > 0


@every_case
def test_a_canary_never_leaves_the_private_part(case, monkeypatch, caplog, recwarn, capsys):
    caplog.set_level(logging.DEBUG)
    X = np.full((40, case.question.bounds.n_features), CANARY)
    y = None if case.question.bounds.labels is None else np.full(40, CANARY_LABEL)
    rows = case.seal(Data(X, y, np.arange(40) // 4 if case.unit.protects_persons else None))
    noise = SystemNoise()
    ledger = MemoryLedger(Budget(1.5, 1e-3), case.unit)
    result = release(
        case.mechanism, case.question, rows, budget=case.budget, ledger=ledger, noise=noise
    )
    told = [repr(rows), str(rows), repr(result.guarantee), result.guarantee.sentence()]
    told += [repr(ledger), repr(ledger.history()), repr(noise), repr(case.plan())]
    told += [result.to_json(), repr(result), pickle.dumps(result.to_json()).hex()]
    for attempt in (
        lambda: len(rows),
        lambda: list(rows),
        lambda: rows[0],
        lambda: pickle.dumps(rows),
        lambda: np.asarray(rows),
    ):
        told.append(_complaint(attempt))
    _break_run(case, monkeypatch)
    told.append(
        _complaint(lambda: release(case.mechanism, case.question, rows, budget=case.budget))
    )
    told.append(
        _complaint(
            lambda: release(  # refused: the budget has run out
                case.mechanism, case.question, rows, budget=case.budget, ledger=ledger
            )
        )
    )
    printed = capsys.readouterr()
    told += [caplog.text, printed.out, printed.err, *(str(w.message) for w in recwarn.list)]
    text = "\n".join(told)
    for canary in (CANARY, CANARY_LABEL):
        for spelling in (
            repr(canary),
            f"{canary:g}",
            str(int(canary)),
            np.float64(canary).tobytes().hex(),
        ):
            assert spelling not in text


@every_case
def test_no_noise_or_key_hangs_on_a_release(case):
    result = _release(case)
    fields = {"value", "guarantee", "mechanism", "receipt_number", "version", "reason", "purpose"}
    fields |= {"facts", "noise", "certificate", "ledger", "entry", "versions"}
    assert set(vars(result)) == fields


def _release(case, **options):
    data = case.worst_pair[1]
    rows = case.seal(data)
    return release(case.mechanism, case.question, rows, budget=case.budget, **options)


def _break_run(case, monkeypatch):
    def run(self, rows, noise):
        gathered = rows.gather()
        raise ValueError(f"cannot handle {CANARY!r} in {gathered!r}")

    monkeypatch.setattr(type(case.plan()), "run", run)


def _complaint(attempt):
    """Everything that an exception tells, its chain included."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any refusal will do
        attempt()
    error = caught.value
    assert error.__context__ is None
    assert error.__cause__ is None
    return "".join(traceback.format_exception(error)) + repr(error) + str(error.args)


def test_rows_that_are_not_numbers_count_as_a_fixed_row():
    case = case_labelled("gaussian sum, add_remove")
    plan = case.plan()
    broken = Data([[np.nan, 0.5, 0.1], [0.1, 0.2, 0.3], [np.inf, -np.inf, 1.0]])
    np.testing.assert_array_equal(
        case.silent_total(plan, broken), case.silent_total(plan, Data([[0.1, 0.2, 0.3]]))
    )

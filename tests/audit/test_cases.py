"""Every registered mechanism has worst pairs, and holds what it promises on them."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.audit import audit
from discreet.audit.cases import _MAKERS, NAMES, MechanismRun, cases, exact_cases, units_of
from discreet.errors import InputError
from discreet.mechanisms import REGISTRY

UNITS = [(name, unit) for name in NAMES for unit in units_of(name)]


def test_the_catalogue_lists_the_registered_mechanisms_and_no_others():
    assert set(_MAKERS) == set(NAMES) == {mechanism.name for mechanism in REGISTRY}


@pytest.mark.parametrize(("name", "unit"), UNITS)
def test_every_mechanism_has_a_pair_of_checked_neighbours_for_every_unit(name, unit):
    found = cases(name, unit, 1.0)
    assert found
    assert len({case.label for case in found}) == len(found)
    for case in found:
        assert case.pair.is_checked
        assert case.pair.unit.name == unit
        assert case.budget.epsilon == 1.0
        assert case.is_tight or case.remark
        assert unit in case.subject


def test_what_is_checked_exactly_is_not_attacked_unless_there_is_nothing_else():
    for name, unit in UNITS:
        attacked, exact = cases(name, unit, 1.0), exact_cases(name, unit)
        assert all(case.is_attacked for case in attacked)
        if any(case.is_attacked for case in exact):
            assert [case.label for case in exact] == [case.label for case in attacked]
        assert all(case.pair.is_checked and case.pair.unit.name == unit for case in exact)


@pytest.mark.parametrize(("name", "unit"), UNITS)
def test_a_small_audit_of_every_mechanism_finds_no_violation(name, unit):
    """The simplest case of each; all cases, with many trials, are the work of ``make audit``."""
    case = min(cases(name, unit, 1.0), key=lambda case: (case.budget.delta, case.effort))
    trials = 3000 if case.effort <= 3 else 600 if case.effort <= 10 else 100
    found = case.audit(trials=trials, confidence=0.99, seed=5)
    assert not found.violated, found.table()
    assert found.share < 1
    assert found.unit == unit
    assert found.is_pair_checked
    if case.is_tight and case.effort == 1 and case.budget.delta == 0:
        assert found.lower_bound > 0.6


def test_less_noise_than_planned_is_violated_on_the_same_pair():
    """The audit of an honest mechanism against a promise of a third of its epsilon."""
    case = cases("laplace_sum", "add_remove", 1.0)[0]
    smaller = cases("laplace_sum", "add_remove", 1 / 3)[0].plan().guarantee
    run = MechanismRun(case.plan(), case.question.bounds, case.pair.unit)
    assert audit(run, case.pair, smaller, trials=3000, seed=5).violated


def test_many_releases_differ_and_are_repeated_by_their_seed():
    case = cases("gaussian_sum", "replace", 1.0)[0]
    run = MechanismRun(case.plan(), case.question.bounds, case.pair.unit)
    one, again, other = (run.many(case.pair.first, 20, seed) for seed in (1, 1, 2))
    assert one.shape == (20, 1)
    assert np.unique(one).size == 20
    np.testing.assert_array_equal(one, again)
    assert not np.isin(one, other).any()


def test_unknown_mechanisms_and_epsilons_are_refused():
    with pytest.raises(InputError, match="mechanism must be one of"):
        cases("magic", "replace", 1.0)
    with pytest.raises(InputError, match="epsilon must be positive"):
        cases("gaussian_sum", "replace", -1.0)
    with pytest.raises(InputError, match="unit must be one of"):
        cases("gaussian_sum", "swap", 1.0)

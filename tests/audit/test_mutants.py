"""Every broken mechanism is caught, with room to spare, and no sound one is accused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audits.mutants import MUTANTS, SURVIVORS, BoundMutant, Mutant, sums
from audits.mutants.attacks import Nearness, SeenBefore
from audits.mutants.base import CONFIDENCE, power_of
from discreet.mechanisms import REGISTRY

BY_NAME = {mutant.name: mutant for mutant in MUTANTS}
SAMPLED = [mutant for mutant in MUTANTS if isinstance(mutant, Mutant)]
EXACT = [mutant for mutant in MUTANTS if isinstance(mutant, BoundMutant)]
POWER = 0.99


def named(mutants):
    return pytest.mark.parametrize("mutant", mutants, ids=lambda mutant: mutant.name)


@named(SAMPLED)
def test_a_mutant_is_caught(mutant):
    found = mutant.find(seed=0)
    assert found.violated
    assert found.found > found.claimed
    assert found.power >= POWER


@named(SAMPLED)
def test_its_original_is_not_accused(mutant):
    found = mutant.find_in_original(seed=0)
    assert not found.violated
    assert found.found <= found.claimed


@named(EXACT)
def test_what_is_too_rare_to_sample_is_caught_by_arithmetic(mutant):
    assert mutant.find().violated
    assert not mutant.find_in_original().violated


@named(SURVIVORS)
def test_what_only_looks_broken_is_not_accused(mutant):
    assert not mutant.find(seed=0).violated


def test_every_mechanism_has_a_mutant_that_is_sampled():
    assert {mechanism.name for mechanism in REGISTRY} <= {mutant.mechanism for mutant in SAMPLED}


def test_names_are_unique_and_say_what_is_wrong():
    assert len(BY_NAME) == len(MUTANTS)
    assert all(mutant.breaks.endswith(".") for mutant in (*MUTANTS, *SURVIVORS))


def test_false_alarms_are_rarer_than_one_in_a_million():
    audits = len(SAMPLED) * 2 + len(SURVIVORS)
    assert audits * (1 - CONFIDENCE) <= 1e-6


@pytest.mark.parametrize(
    ("number", "near"), [("5.9e-6", "Gaussian scale"), ("1.4e-7", "as in their tests")]
)
def test_the_printed_constants_fall_short_by_what_is_said(number, near):
    (mutant,) = (mutant for mutant in EXACT if near in mutant.name)
    assert f"delta = {number}" in mutant.breaks
    assert mutant.reached() == pytest.approx(float(number), rel=0.05)


# The chance to catch a mutant.


def test_the_power_is_no_more_than_what_happens():
    mutant = sums.deviation_for_scale()
    found = [mutant.audit(trials=1600, seed=seed) for seed in range(8)]
    caught = np.mean([result.violated for result in found])
    predicted = np.mean([power_of(result, mutant.guarantee) for result in found])
    assert 0.2 < caught < 1  # few enough trials for chance to matter
    assert predicted <= caught


def test_an_audit_that_finds_nothing_has_no_power():
    mutant = sums.deviation_for_scale()
    assert power_of(mutant.audit_original(trials=2000), mutant.guarantee) == 0.0


# The attacks.


def test_nearness_is_largest_at_the_point():
    score = Nearness([1.0, 2.0]).learn(None, None)
    assert score(np.array([[1.0, 2.0], [4.0, 6.0]])).tolist() == [0.0, -5.0]


def test_values_seen_before_speak_for_where_they_were_seen():
    first, second = np.array([[1.0], [1.0], [2.0]]), np.array([[2.0], [3.0], [3.0]])
    score = SeenBefore().learn(first, second)
    assert score(np.array([[1.0], [2.0], [3.0], [4.0]])).tolist() == [-2.0, 0.0, 2.0, 0.0]


@pytest.mark.parametrize(
    ("words", "trials"),
    [
        ("one byte", 1000),
        ("values off it", 1000),
        ("mask of the minimiser", 2000),
        ("mask of radial noise", 1000),
    ],
)
def test_the_standard_scores_alone_would_not_do(words, trials):
    # What further scores are for: bits, grids and repetitions look like noise otherwise.
    (mutant,) = (mutant for mutant in SAMPLED if words in mutant.name)
    assert not replace(mutant, scores=()).audit(trials=trials).violated
    assert mutant.audit(trials=trials).violated

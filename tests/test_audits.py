"""What ``make audit`` runs, small: trials, tables, verdicts, the page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audits import __main__ as program
from audits import adaptive_streams, draws, mechanisms, page, tightness
from audits.mutants import MUTANTS, SURVIVORS
from discreet.audit.cases import NAMES, cases, units_of
from discreet.privacy import ReplaceOne, ZeroOutOne


@pytest.fixture(scope="module")
def cell():
    (case,) = cases("laplace_sum", "add_remove", 1.0)
    return mechanisms.audit_one(case, seconds=0.2, confidence=0.999, seed=0)


@pytest.fixture(scope="module")
def exact():
    return tightness.logistic("add_remove", 1.0)


def attacked(broken):
    return broken, broken.find(), broken.find_in_original()


def test_every_mechanism_is_audited_in_every_unit_and_at_every_epsilon():
    told = {
        (case.mechanism.name, case.pair.unit.name, case.budget.epsilon)
        for case in mechanisms.all_cases()
    }
    assert told == {
        (name, unit, epsilon)
        for name in NAMES
        for unit in units_of(name)
        for epsilon in mechanisms.EPSILONS
    }


def test_a_smaller_epsilon_and_more_time_mean_more_trials():
    (small,), (large,) = (cases("gaussian_sum", "replace", epsilon) for epsilon in (0.1, 3.0))
    assert mechanisms.trials_for(small, 60) > mechanisms.trials_for(large, 60)
    assert mechanisms.trials_for(small, 60) > mechanisms.trials_for(small, 6)


def test_a_tight_cell_reaches_its_goal(cell):
    assert not cell.found.violated
    assert cell.reached >= mechanisms.GOAL
    assert cell.verdict == "not refuted; tight"


def test_a_violation_and_a_lack_of_trials_are_told_apart(cell):
    refuted = replace(cell, found=replace(cell.found, violated=True))
    assert refuted.verdict == "VIOLATED"
    weak = replace(cell, found=replace(cell.found, lower_bound=0.1))
    assert weak.verdict == "not refuted; too few trials"


@pytest.mark.parametrize("unit", mechanisms.UNITS)
def test_gaussian_objective_perturbation_is_tight_for_the_logistic_loss(unit):
    found = tightness.logistic(unit, 1.0, cells=200)
    assert not found.violated
    assert found.share_of_mu > 0.95


@pytest.mark.parametrize("unit", mechanisms.UNITS)
@pytest.mark.parametrize("draw", draws.DRAWS, ids=lambda draw: draw.name)
def test_exact_laws_of_draws_stay_within_epsilon_and_reach_most_of_it(draw, unit):
    found = draw.audit(unit, 1.0)
    assert 0.7 <= found.share <= 1 + draws.ROUNDING
    assert not found.violated
    assert draw.audit(unit, 1.0, factor=1.5).violated


def test_the_page_tells_everything(cell, exact):
    mutant, survivor = attacked(MUTANTS[0]), attacked(SURVIVORS[0])
    text = page.write([cell], [exact], [mutant, survivor], machine="a machine", seed=5)
    for told in ("laplace sum", "a machine", "rehearsals: 5", MUTANTS[0].name, SURVIVORS[0].name):
        assert told in text
    assert "1 of 1 deliberately broken mechanisms are caught" in text
    assert page.is_fine([cell], [exact], [mutant, survivor])


def test_whatever_is_not_as_claimed_is_not_fine(cell, exact):
    broken, found, original = attacked(MUTANTS[0])
    fine = [(broken, found, original)]
    refuted = replace(cell, found=replace(cell.found, violated=True))
    assert page.is_fine([cell], [exact], fine)
    assert not page.is_fine([refuted], [exact], fine)
    assert not page.is_fine([cell], [replace(exact, violated=True)], fine)
    drawn = draws.DRAWS[0].audit("replace", 1.0)
    assert page.is_fine([cell], [exact], fine, [drawn])
    for reached in (1.01, 0.5):
        assert not page.is_fine([cell], [exact], fine, [replace(drawn, reached=reached)])
    assert not page.is_fine([cell], [exact], [(broken, replace(found, violated=False), original)])
    assert not page.is_fine([cell], [exact], [(broken, found, replace(original, violated=True))])


def test_the_program_writes_the_page_and_the_picture(tmp_path, monkeypatch, exact):
    monkeypatch.setattr(program, "MUTANTS", MUTANTS[:1])
    monkeypatch.setattr(program, "SURVIVORS", ())
    monkeypatch.setattr(tightness, "all_cells", lambda: [exact])
    monkeypatch.setattr(draws, "all_draws", lambda: [draws.DRAWS[0].audit("replace", 1.0)])
    arguments = ["--only", "laplace_sum", "--seconds", "0.1", "--jobs", "1", "--seed", "1"]
    arguments += ["--output", str(tmp_path), "--store", str(tmp_path / "found")]
    assert program.main(arguments) == 0
    text = (tmp_path / "audit.md").read_text()
    assert text.count("| laplace sum |") == 6
    made = sum(case.mechanism.name == "laplace_sum" for case in mechanisms.all_cases())
    assert f"{len(mechanisms.all_cases()) - made} audits are still to be made" in text
    assert "gaussian sum (6)" in text
    assert (tmp_path / "audit.png").stat().st_size > 1000
    # What is known is not attacked again, and the page is the same.
    monkeypatch.setattr(mechanisms, "audit_one", lambda *_, **__: pytest.fail("attacked again"))
    assert program.main([*arguments, "--missing"]) == 0
    assert (tmp_path / "audit.md").read_text() == text


@pytest.mark.parametrize("name", ["private_ocp", "follow_the_leader"])
def test_an_adversary_who_adapts_to_fifty_answers_proves_no_more_than_is_claimed(name):
    # Fixed rehearsals. Twice the claimed loss would be seen nine times in ten.
    found = adaptive_streams.attack(name, adaptive_streams.BUDGET, ZeroOutOne(), trials=200)
    assert not found.violated
    assert found.power > 0.9
    assert found.lower_mu > 0.3 * found.claimed_mu


def test_an_adversary_who_adapts_finds_a_quarter_of_the_noise():
    unit = ReplaceOne()
    adversary = adaptive_streams.leader_of_steps(adaptive_streams.BUDGET, unit)
    schedule = adversary.plan.schedule
    loud = replace(adversary.plan, schedule=replace(schedule, mu=4 * schedule.mu))
    assert adaptive_streams.certify(replace(adversary, plan=loud), unit, trials=120).violated


def test_every_adversary_plays_in_both_units(monkeypatch):
    monkeypatch.setattr(adaptive_streams, "certify", lambda adversary, unit, **_: unit.name)
    told = adaptive_streams.attack_all([*adaptive_streams.ADVERSARIES, "laplace_sum"])
    assert told == ["replace", "zero_out"] * len(adaptive_streams.ADVERSARIES)
    adversary = adaptive_streams.followed_expert(adaptive_streams.BUDGET, ZeroOutOne())
    assert np.isfinite(adversary.many(np.zeros(1), 1, 0)).all()

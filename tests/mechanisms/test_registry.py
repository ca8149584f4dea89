"""The one list of mechanisms: what is on it, and who solves learning problems."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet.mechanisms
from discreet.errors import InputError
from discreet.mechanisms import LEARNERS, REGISTRY, Mechanism, mechanism_named
from discreet.questions import Problem
from support.cases import ALL_CASES

ROOM = Path(discreet.mechanisms.__file__).parent
PROBLEMS = [case for case in ALL_CASES if isinstance(case.question, Problem)]


def test_every_proof_note_has_a_mechanism_and_every_mechanism_a_note_and_a_file():
    names = [mechanism.name for mechanism in REGISTRY]
    assert len(set(names)) == len(names)
    assert set(names) == {note.stem for note in ROOM.glob("*.md")}
    for mechanism in REGISTRY:
        assert type(mechanism).__module__ == f"discreet.mechanisms.{mechanism.name}"


def test_every_exported_mechanism_is_registered():
    exported = [getattr(discreet.mechanisms, name) for name in discreet.mechanisms.__all__]
    kinds = {
        one
        for one in exported
        if isinstance(one, type) and issubclass(one, Mechanism) and not one.__abstractmethods__
    }
    assert kinds == {type(mechanism) for mechanism in REGISTRY}


@pytest.mark.parametrize("mechanism", REGISTRY, ids=lambda mechanism: mechanism.name)
def test_learners_are_those_that_solve_some_learning_problem(mechanism):
    solves = any(mechanism.accepts(case.question, case.unit) for case in PROBLEMS)
    assert solves == (mechanism.name in LEARNERS)


def test_mechanisms_are_found_by_name():
    for mechanism in REGISTRY:
        assert mechanism_named(mechanism.name) is mechanism
    with pytest.raises(InputError, match="name must be one of"):
        mechanism_named("magic")

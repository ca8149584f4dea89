"""What holds for every question: a public value without data, which some mechanism answers."""

from __future__ import annotations

import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.mechanisms import REGISTRY
from discreet.privacy.unit import UNITS
from discreet.questions import QUESTIONS, Bounds, Question, Softmax
from support.examples import ALL_QUESTIONS, QUESTION_EXAMPLES

every_question = pytest.mark.parametrize("question", ALL_QUESTIONS, ids=lambda q: type(q).__name__)


def test_every_question_is_listed_and_has_an_example():
    assert set(QUESTION_EXAMPLES) == set(QUESTIONS)
    assert all(isinstance(one, kind) for kind, some in QUESTION_EXAMPLES.items() for one in some)


@every_question
def test_it_is_a_frozen_value(question):
    assert is_dataclass(question)
    assert question == deepcopy(question) == pickle.loads(pickle.dumps(question))
    assert hash(question) == hash(deepcopy(question))
    assert repr(question).startswith(type(question).__name__)
    first = fields(question)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(question, first, None)


def parts(value):
    """Yield everything that a value is made of."""
    yield value
    if is_dataclass(value):
        for field in fields(value):
            yield from parts(getattr(value, field.name))
    elif isinstance(value, (tuple, list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from parts(part)


@every_question
def test_it_holds_declarations_and_no_data(question):
    assert isinstance(question, Question)
    assert isinstance(question.bounds, Bounds)
    assert all(isinstance(fact, str) for fact in question.assumed)
    assert not any(isinstance(part, np.ndarray) for part in parts(question))


@every_question
def test_its_fields_are_checked(question):
    with pytest.raises((InputError, TypeError)):
        replace(question, **{fields(question)[0].name: "nothing of the kind"})


@every_question
def test_some_mechanism_answers_it(question):
    if isinstance(question, Softmax):
        question = question.several  # asked as that, and learnt at once or one-vs-rest
    asked = [(one, unit) for one in REGISTRY for unit in UNITS.values() if unit.name in one.units]
    assert any(mechanism.accepts(question, unit) for mechanism, unit in asked)

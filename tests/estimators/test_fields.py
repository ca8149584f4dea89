"""Constructors are lists of fields, and every parameter has one text."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle

import pytest
from sklearn.base import clone

from discreet.estimators.fields import HEADING, with_fields
from discreet.estimators.parameter_texts import TEXTS
from discreet.estimators.registry import all_estimators, all_learners, all_oracles
from discreet.model_selection import PrivateRandomizedSearch, PrivateSearchCV

SEARCHES = (PrivateSearchCV, PrivateRandomizedSearch)
EVERYONE = tuple(dict.fromkeys((*all_estimators(), *all_learners(), *all_oracles(), *SEARCHES)))
every = pytest.mark.parametrize("kind", EVERYONE, ids=lambda kind: kind.__name__)


def entries(kind):
    """Return what the section Parameters says, each name or group of names by itself."""
    text = inspect.getdoc(kind)
    first = HEADING.search(text)
    section = text[first.end() : HEADING.search(text, first.end()).start()]
    found, name = {}, None
    for line in section.splitlines():
        if line and not line.startswith(" "):
            name = line
            found[name] = []
        elif line:
            found[name].append(line.strip())
    return {name: " ".join(lines) for name, lines in found.items()}


@every
def test_a_constructor_is_made_of_fields_and_keeps_what_it_is_given(kind):
    assert dataclasses.is_dataclass(kind)
    given = {name: object() for name in inspect.signature(kind).parameters}
    model = kind(**given)
    assert vars(model) == given
    assert model.get_params(deep=False) == given


@every
def test_only_the_first_parameters_are_given_by_place(kind):
    parameters = inspect.signature(kind).parameters.values()
    by_place = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert by_place == ["epsilon", "delta"] or "epsilon" not in by_place
    assert len(by_place) <= 3


@every
def test_a_model_can_be_copied_stored_and_shown(kind):
    model = kind(epsilon=0.5)
    for again in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert again.get_params() == model.get_params()
    assert repr(model) == f"{kind.__name__}(epsilon=0.5)"
    assert "epsilon" in model._repr_html_()
    assert model.set_params(delta=0.0).delta == 0.0


@every
def test_a_parameter_of_another_model_is_refused(kind):
    with pytest.raises(TypeError, match="unexpected keyword"):
        kind(no_such_parameter=1)


@every
def test_the_section_has_every_parameter_and_none_without_a_text(kind):
    found = entries(kind)
    names = [name for group in found for name in group.split(", ")]
    assert names == list(inspect.signature(kind).parameters)
    assert all(found.values())


def test_every_text_of_the_table_is_used():
    said = {text for kind in EVERYONE for text in entries(kind).values()}
    assert [name for name, text in TEXTS.items() if text not in said] == []


def test_a_class_may_say_what_a_parameter_means_to_it():
    @with_fields
    class Own:
        """Stand in for an estimator.

        Parameters
        ----------
        ledger
            Another thing here.

        Attributes
        ----------
        coef_
            Nothing.
        """

        unit: str = "replace"
        ledger: str | None = None

    assert entries(Own) == {"unit": TEXTS["unit"], "ledger": "Another thing here."}
    assert Own(unit="add_remove").unit == "add_remove"


def test_an_internal_keeps_its_sentence():
    @with_fields
    class Base:
        """A base with one parameter."""

        unit: str = "replace"

    assert Base.__doc__ == "A base with one parameter."

"""Docstrings of everything public are numpydoc's, complete, and true of the signature."""

from __future__ import annotations

import importlib
import inspect

import pytest

import discreet
from discreet import linear_model
from discreet.estimators.registry import all_estimators, all_learners, all_oracles
from support.docstrings import Callee, exported, faults, has_example, public, sections
from support.house_figures import internals_with_sections

WITHOUT_EXAMPLE = {
    "an interface; what implements it has examples": {
        "Answering",
        "Block",
        "DenseObjective",
        "InteractiveMechanism",
        "InteractivePlan",
        "QueryMechanism",
        "QueryPlan",
        "Objective",
        "PrivateEstimator",
        "Session",
        "Smooth",
        "StoredTable",
    },
    "raised when a machine, a disk or the private part fails": {
        "EntropyError",
        "InteractionEnded",
        "ReleaseFailed",
        "SourceChanged",
    },
    "draws with matplotlib, which not everybody has": {"draw"},
}
"""What is exported without an example, and why."""

EXEMPT = frozenset().union(*WITHOUT_EXAMPLE.values())


@pytest.mark.parametrize("room", discreet._ROOMS)
def test_every_room_says_what_is_public(room):
    module = importlib.import_module(f"discreet.{room}")
    assert len(set(module.__all__)) == len(module.__all__) > 0


@pytest.mark.parametrize("room", ["discreet", *discreet._ROOMS])
def test_every_public_callable_is_documented(room):
    here = [callee for callee in public() if callee.room == room]
    found = [
        f"{callee.package}.{callee.name}: {fault}" for callee in here for fault in faults(callee)
    ]
    assert found == []


def test_what_no_list_of_public_names_has_has_no_section_of_parameters():
    assert internals_with_sections() == []


def test_everything_exported_has_an_example_that_runs():
    without = {callee.name for callee in exported() if not has_example(callee)}
    assert without == EXEMPT


def test_every_estimator_says_where_its_method_comes_from():
    found = (*all_estimators(), *all_learners(), *all_oracles())
    headings = {each: {one.title for one in sections(inspect.getdoc(each))} for each in found}
    assert [each.__name__ for each in found if "References" not in headings[each]] == []


# The check itself


def fit(X, y=None, *, weight=1.0, **options):
    """Stand in for a public function."""


class Line:
    """Stand in for a public class."""

    def __init__(self, slope, start=0.0):
        self.slope, self.start = slope, start


SOUND = """Fit a line to points.

    The least squares of it.

    Parameters
    ----------
    X, y
        Points, and what was measured there.
    weight : float
        How much it counts.
    **options
        Nothing.

    Returns
    -------
    Line
        What was found.

    Examples
    --------
    >>> print("Sum" + chr(10) + "---")
    Sum
    ---
    """


def faults_of(text, value=fit, name="fit", package="discreet.toy"):
    value.__doc__ = text
    return faults(Callee(package, name, value))


def test_a_sound_docstring_has_no_fault():
    assert faults_of(SOUND) == []
    assert [section.title for section in sections(Callee("", "", fit).text)] == [
        "Parameters",
        "Returns",
        "Examples",
    ]


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        (SOUND, "", "there is no docstring"),
        ("points.", "points", "the first line does not end with a full stop"),
        ("to points.", "to points. Then stop.", "the first line is more than one sentence"),
        ("to points.", "to\n    points.", "the first sentence does not fit one line"),
        ("Fit a", "Returns a", "the first line does not begin with what is done or meant"),
        ("Fit", "This function fits", "the first line does not begin with what is done or meant"),
        ("Returns\n    -------", "Result\n    ------", "there is no section 'Result'"),
        ("    -------\n    Line", "    ---------\n    Line", "Returns is underlined by 9 dashes"),
        ("    -------\n    Line\n", "    Line\n", "Returns is not underlined"),
        ("    Line\n        What was found.\n", "", "Returns is empty"),
        ("    Returns\n", "    Yields\n    ------\n    x\n        One.\n\n    Returns\n",
         "sections are not in order: Parameters, Yields, Returns, Examples"),
        ("    weight : float\n        How much it counts.\n", "", "weight is not documented"),
        ("**options", "options", "**options is not documented"),
        ("X, y\n", "X, y, z\n", "z is no parameter"),
        ("X, y\n", "y, X\n",
         "parameters are not in the order of the signature: y, X, weight, **options"),
        ("        How much it counts.\n", "", "nothing is said of weight"),
        (">>> print", "print", "the examples do not run"),
        ('"---")', '"---")  # doctest: +SKIP', "an example is skipped"),
    ],
)  # fmt: skip
def test_a_fault_is_found(before, after, fault):
    assert before in SOUND
    assert fault in faults_of(SOUND.replace(before, after))


def test_few_parameters_of_a_function_need_no_section():
    assert faults_of("Fit a line.") == ["parameters are not documented: X, y, weight, **options"]
    few = lambda X, y: None  # noqa: E731
    assert faults_of("Fit a line.", few) == []
    assert faults_of("Fit a line.", few, name="Line.fit", package="discreet") == []
    assert faults_of("Fit a line.", few, package="discreet") == [
        "parameters are not documented: X, y"
    ]


def test_parameters_of_a_class_are_those_of_its_constructor():
    assert faults_of("A line.", Line) == ["parameters are not documented: slope, start"]


def test_an_estimator_documents_what_a_fit_leaves():
    found = Callee("discreet.linear_model", "Ridge", linear_model.Ridge)
    assert faults(found) == []
    text = found.text.replace("coef_, intercept_, ", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear_model.Ridge, "__doc__", text)
        assert faults(found) == [
            "the attribute coef_ is not documented",
            "the attribute intercept_ is not documented",
        ]

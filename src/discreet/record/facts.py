"""What a release says of itself beside its guarantee, all decided before rows are read."""

from __future__ import annotations

import importlib.metadata
import math
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache

import numpy as np
import scipy

from discreet import _checks
from discreet.errors import InputError
from discreet.privacy import Unit
from discreet.questions.bounds import MOST_ROWS, Bounds, Interval, Labels, LabelSet

MOST_LABELS = 20
"""So many labels are listed; of more, the number is told."""


class Origin(Enum):
    """Where a fact comes from.

    Examples
    --------
    >>> Origin.FOUND.value
    'assumed public: read from the data'
    """

    DECLARED = "declared by the caller"
    DEFAULT = "default of the library"  # nobody declared it, and no row decided it
    FOUND = "assumed public: read from the data"
    CHOSEN = "chosen by the library from what is declared"


@dataclass(frozen=True)
class Fact:
    """One thing that is public about the rows, and who says so.

    Parameters
    ----------
    what
        The name of the thing, such as ``"labels"``.
    words
        What holds of it, for people.
    source
        Who says so.

    Examples
    --------
    >>> Fact("labels", "numbers from 0 to 10", Origin.DECLARED).source.value
    'declared by the caller'
    """

    what: str
    words: str
    source: Origin

    def __post_init__(self) -> None:
        _checks.instance(str, what=self.what)
        _checks.instance(str, words=self.words)
        _checks.instance(Origin, source=self.source)


@dataclass(frozen=True)
class Tolerance:
    """A size, fixed by the plan, that stands between ideal and computed numbers.

    Parameters
    ----------
    what
        The name of the size, such as ``"step of the grid"``.
    value
        The size; zero or positive.

    Examples
    --------
    >>> Tolerance("step of the grid", 2.0**-30).value < 1e-9
    True
    """

    what: str
    value: float

    def __post_init__(self) -> None:
        _checks.instance(str, what=self.what)
        _checks.not_negative(value=self.value)
        object.__setattr__(self, "value", float(self.value))


@dataclass(frozen=True)
class Certificate:
    """How far the computed release can be from the one that the theorem speaks of.

    Both probabilities are inside of the guarantee already. A pure guarantee has room for neither:
    what it leaves out of account is said among its public facts.

    Parameters
    ----------
    distance
        The total variation between the computed and the ideal law, from zero to one.
    failure
        A chance that is added to delta, from zero to one.
    tolerances
        Sizes, fixed by the plan, that the distance was worked out from.

    Examples
    --------
    >>> Certificate(distance=2.0**-80).failure
    0.0
    """

    distance: float = 0.0
    failure: float = 0.0
    tolerances: tuple[Tolerance, ...] = ()

    def __post_init__(self) -> None:
        _checks.not_negative(distance=self.distance, failure=self.failure)
        for name in ("distance", "failure"):
            value = float(getattr(self, name))
            if value > 1:
                raise InputError(f"{name} is a probability; got {value}.")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "tolerances", tuple(self.tolerances))
        for tolerance in self.tolerances:
            _checks.instance(Tolerance, tolerance=tolerance)


def facts_about(
    bounds: Bounds, unit: Unit, assumed: Iterable[str] = (), known: Iterable[Fact] = ()
) -> tuple[Fact, ...]:
    """Return what is declared about rows, in words.

    Parameters
    ----------
    bounds
        What is declared.
    unit
        Who is protected; it decides whether the number of records is public.
    assumed
        What was read from the data and taken as public, in words.
    known
        Facts that are said better elsewhere; they replace those of their name.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.privacy import AddRemoveOne
    >>> for fact in facts_about(Bounds(L2Ball(1.0), 3, max_rows=1000), AddRemoveOne()):
    ...     print(f"{fact.what}: {fact.words}")
    features: points of Euclidean norm at most 1
    columns: 3
    records: at least one, at most 1,000 (...)
    """
    found = {fact.what: fact for fact in _declared_facts(bounds, unit)}
    known = tuple(known)
    unsaid = [fact for fact in assumed if fact not in {one.words for one in known}]
    for number, fact in enumerate(unsaid, start=1):
        name = "assumed" if number == 1 else f"assumed ({number})"
        found[name] = Fact(name, fact, Origin.FOUND)
    return tuple((found | {fact.what: fact for fact in known}).values())


def _declared_facts(bounds: Bounds, unit: Unit) -> Iterable[Fact]:
    yield Fact("features", bounds.features.words, Origin.DECLARED)
    yield Fact("columns", f"{bounds.n_features:,}", Origin.DECLARED)
    if bounds.labels is not None:
        yield Fact("labels", labels_in_words(bounds.labels), Origin.DECLARED)
    if bounds.intercept is not None:
        constant = f"a further column of the constant {number(bounds.intercept)}"
        yield Fact("intercept", constant, Origin.CHOSEN)
    if bounds.max_weight is not None:
        yield Fact("weights", f"from 0 to {number(bounds.max_weight)}", Origin.DECLARED)
    if bounds.person is not None:
        yield Fact(
            "persons", f"{bounds.person.words}; records without an id are not", Origin.CHOSEN
        )
    if unit.persons_are_public:
        yield Fact("number of persons", "it is public", Origin.FOUND)
    if unit.rows_are_public:
        yield Fact("records", "their number", Origin.FOUND)
    else:
        is_default = bounds.max_rows == MOST_ROWS
        yield limits_fact(bounds, Origin.DEFAULT if is_default else Origin.DECLARED)


def limits_fact(bounds: Bounds, source: Origin) -> Fact:
    """Return the fact of how many records there may be, where their number is private.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> limits_fact(Bounds(L2Ball(1.0), 3), Origin.DEFAULT).source.value
    'default of the library'
    """
    return Fact("records", limits_in_words(bounds), source)


def limits_in_words(bounds: Bounds) -> str:
    """Say how many records there may be, where their number is private.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> limits_in_words(Bounds(L2Ball(1.0), 3, max_rows=10))
    'at least one, at most 10 (of more, which are outside the promise, the first 10 are used...)'
    """
    most = f"{bounds.max_rows:,}"
    if bounds.person is not None:
        return f"at most {most} (more are outside the promise)"
    return (
        f"at least one, at most {most} (of more, which are outside the promise, the first {most} "
        "are used, and one is protected as two would be)"
    )


def labels_in_words(labels: Labels) -> str:
    """Say which labels are declared.

    Examples
    --------
    >>> labels_in_words(Interval(0, 10)), labels_in_words(LabelSet([-1, 1]))
    ('numbers from 0 to 10', 'one of -1, 1')
    """
    if isinstance(labels, Interval):
        return f"numbers from {number(labels.low)} to {number(labels.high)}"
    if isinstance(labels, LabelSet):
        return one_of([number(value) for value in labels.values])
    return repr(labels)


def one_of(names: list[str]) -> str:
    """Say that there are these choices.

    Examples
    --------
    >>> one_of(["no", "yes"])
    'one of no, yes'
    """
    if len(names) > MOST_LABELS:
        return f"one of {len(names):,} declared values"
    return f"one of {', '.join(names)}"


def number(value: float) -> str:
    """Write a declared number, to twelve digits.

    Examples
    --------
    >>> number(0.1), number(1e100), number(3.0)
    ('0.1', '1e+100', '3')
    """
    return f"{value:.12g}" if math.isfinite(value) else str(float(value))


@cache
def library_version() -> str:
    """Return the version of this library.

    Examples
    --------
    >>> library_version() == dict(all_versions())["discreet"]
    True
    """
    return importlib.metadata.version("discreet")


@cache
def all_versions() -> tuple[tuple[str, str], ...]:
    """Return the versions of this library and of what it computes with.

    Examples
    --------
    >>> [name for name, _ in all_versions()]
    ['discreet', 'python', 'numpy', 'scipy']
    """
    return (
        ("discreet", library_version()),
        ("python", platform.python_version()),
        ("numpy", np.__version__),
        ("scipy", scipy.__version__),
    )

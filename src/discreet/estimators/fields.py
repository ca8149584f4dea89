"""Constructors of estimators: a list of fields, each of which has one text.

An annotation of the class is a parameter, with its default; those of its bases are parameters too.
``epsilon`` and ``delta`` may be given by place, all others are given by name. What a fit leaves is
annotated with ``field(init=False)``; a parameter of a base that an estimator does not have, as a
``ClassVar``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, dataclass_transform

from discreet.errors import InputError
from discreet.estimators.parameter_texts import TEXTS, TOGETHER

Kind = TypeVar("Kind", bound=type)

INDENT = " " * 4
AS_IT_IS: dict[str, Any] = {"width": 96, "break_long_words": False, "break_on_hyphens": False}

HEADING = re.compile(r"^(?P<title>[A-Z]\w+)\n-{3,}\n", re.MULTILINE)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def with_fields(kind: Kind) -> Kind:
    """Make the constructor of a class from its fields, and the section Parameters of their texts.

    Parameters of the class itself are listed first, and then those of its bases, nearest first.

    Examples
    --------
    >>> @with_fields
    ... class Line:
    ...     slope: float = 1.0
    >>> @with_fields
    ... class Curve(Line):
    ...     bend: float = 0.0
    >>> vars(Curve(bend=2.0)), list(inspect.signature(Curve).parameters)
    ({'slope': 1.0, 'bend': 2.0}, ['bend', 'slope'])
    """
    made: Any = dataclass(eq=False, repr=False, match_args=False, kw_only=True)(kind)
    if "__init__" in vars(made):
        made.__init__.__signature__ = _nearest_first(made)
        names = list(inspect.signature(made).parameters)
        if made.__doc__ is not None:  # as it is where Python leaves docstrings out
            made.__doc__ = _describe(made, inspect.cleandoc(made.__doc__), names)
    return kind


def _nearest_first(kind: type) -> inspect.Signature:
    """Return the signature of a constructor whose own parameters come before those of bases."""
    nearest: dict[str, int] = {}
    for distance, base in enumerate(kind.__mro__):
        for name in inspect.get_annotations(base):
            nearest.setdefault(name, distance)
    signature = inspect.signature(kind.__init__)  # type: ignore[misc]
    parameters = sorted(
        signature.parameters.values(),
        key=lambda one: nearest.get(one.name, 0) if one.kind is one.KEYWORD_ONLY else -1,
    )
    return signature.replace(parameters=parameters)


def _describe(kind: type, text: str, names: Iterable[str]) -> str:
    """Return a docstring whose section Parameters is whole; one without sections as it is.

    What a docstring says of a parameter itself stands; of all others the table says it.
    """
    first = HEADING.search(text)
    if first is None:
        return text
    before, after, own = text[: first.start()], text[first.start() :], {}
    if first["title"] == "Parameters":
        following = HEADING.search(text, first.end())
        end = len(text) if following is None else following.start()
        own, after = _read_entries(text[first.end() : end]), text[end:]
    entries = dict.fromkeys(own.get(name) or _look_up(kind, name) for name in names)
    return f"{before}Parameters\n----------\n{''.join(entries)}\n{after}"


def _look_up(kind: type, parameter: str) -> str:
    """Return the entry of a parameter in the table: that of the nearest base, or of all."""
    name = TOGETHER.get(parameter, parameter)
    keys = (*(f"{base.__name__}.{name}" for base in kind.__mro__), name)
    text = next((TEXTS[key] for key in keys if key in TEXTS), "")
    return f"{name}\n{fill(text, initial_indent=INDENT, subsequent_indent=INDENT, **AS_IT_IS)}\n"


def _read_entries(section: str) -> dict[str, str]:
    """Return what a section says of each name; names that are described together share it."""
    found = {}
    for entry in re.split(r"^(?=\S)", section.rstrip() + "\n", flags=re.MULTILINE):
        for name in filter(None, entry.partition("\n")[0].split(", ")):
            found[name] = entry
    return found


Declarations = tuple[tuple[str, ...], ...]
"""Groups of parameters; of each, one has to be declared."""


class _Parameter(NamedTuple):
    """What a parameter declares, in words, and how it may be written."""

    meaning: str
    example: str


_PARAMETERS = {
    "columns": _Parameter(
        "what each column can hold",
        'columns={"age": Numeric(18, 100), "sex": Category(["f", "m"])}',
    ),
    "data_norm": _Parameter("the largest Euclidean norm of a row", "data_norm=5.0"),
    "entry_bound": _Parameter("the largest entry of a row", "entry_bound=1.0"),
    "data_range": _Parameter("the lowest and highest entry of a row", "data_range=(0, 1)"),
    "horizon": _Parameter("how many records there will be, at most", "horizon=100_000"),
    "experts": _Parameter("who is to be followed", 'experts=["mean", "last week", "model"]'),
    "loss_range": _Parameter("the least and the largest loss", "loss_range=(0, 1)"),
    "bounds": _Parameter("what the numbers of a block are clipped to", "bounds=(-1, 1)"),
    "classes": _Parameter("the classes", 'classes=["no", "yes"]'),
    "estimator": _Parameter("what is fitted", "estimator=LogisticRegression(data_norm=5.0)"),
    "param_grid": _Parameter("what is chosen among", 'param_grid={"C": [0.01, 0.1]}'),
    "param_distributions": _Parameter(
        "what candidates are drawn from", 'param_distributions={"C": [0.01, 0.1, 1.0]}'
    ),
    "procedure": _Parameter("what chooses columns on a block", "procedure=SelectKBest(k=5)"),
    "proposal": _Parameter("how far one record may move a median", "proposal=0.1"),
    "target_range": _Parameter("the lowest and highest target", "target_range=(0, 100)"),
}


class Declaring(Protocol):
    """An estimator that says which of its parameters have to be declared."""

    must_declare: ClassVar[Declarations]


def refuse_undeclared(model: Declaring) -> None:
    """Refuse a model of which something is not declared, and say what is missing, all at once.

    Examples
    --------
    >>> from discreet.linear_model import Ridge
    >>> refuse_undeclared(Ridge())
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: Ridge must be told columns (what each column can hold) or ...
    """
    missing = [
        ways for ways in model.must_declare if all(getattr(model, way) is None for way in ways)
    ]
    if not missing:
        return
    name = type(model).__name__
    wanted = ", and ".join(
        " or ".join(f"{way} ({_PARAMETERS[way].meaning})" for way in ways) for ways in missing
    )
    call = ", ".join(_PARAMETERS[ways[0]].example for ways in missing)
    raise InputError(
        f"{name} must be told {wanted}; it is not guessed, and not read from the rows. Declare it "
        f"from what you know, as in {name}({call})."
    )

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
from typing import Any, TypeVar, dataclass_transform

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

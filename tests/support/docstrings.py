"""What breaks the rules of docstrings: numpydoc sections of every public callable.

Public is what ``__all__`` of the library, of a room, or of a package in a room says, and of its
classes the methods without a leading underscore that are written in the library.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import discreet
from discreet.estimators import all_estimators
from discreet.estimators.registry import all_learners

ORDER = (
    *("Parameters", "Returns", "Yields", "Raises", "Warns"),
    *("Attributes", "See Also", "Notes", "References", "Examples"),
)
"""The sections there are, in their order."""

LISTS = ("Parameters", "Raises", "Warns", "Attributes")
"""Sections that say something of each of several names."""

FEW = 2
"""Functions outside of the first door, and methods, may leave out a section of so many parameters.

Classes may not, nor functions that ``import discreet`` gives.
"""

LEFT_BY_EVERY_FIT = frozenset(["release_", "privacy_", "n_features_in_", "feature_names_in_"])

STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


@dataclass(frozen=True)
class Callee:
    """A public class, function or method, and where it is found."""

    package: str
    name: str
    value: Any

    @property
    def room(self) -> str:
        """The room it is in; the library itself for what stands at its first door."""
        return self.package.removeprefix("discreet.").partition(".")[0]

    @property
    def is_class(self) -> bool:
        return inspect.isclass(self.value)

    @property
    def is_method(self) -> bool:
        return "." in self.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """What a caller passes, with the stars of what takes any number."""
        if self.is_class and not _has_own_constructor(self.value):
            return ()
        return tuple(
            STARS.get(parameter.kind, "") + name
            for name, parameter in inspect.signature(self.value).parameters.items()
            if name not in ("self", "cls")
        )

    @property
    def needs_parameters(self) -> bool:
        """Whether they have to be documented."""
        is_at_first_door = self.package == "discreet" and not self.is_method
        return bool(self.parameters) and (
            self.is_class or is_at_first_door or len(self.parameters) > FEW
        )

    @property
    def text(self) -> str:
        """The docstring; a method without one has that of the method that it overrides."""
        own = self.value.__doc__ if self.is_class else inspect.getdoc(self.value)
        return inspect.cleandoc(own or "")


@dataclass(frozen=True)
class Section:
    """A title with dashes below it, and the lines up to the next one."""

    title: str
    underline: str
    lines: tuple[str, ...]

    def entries(self) -> dict[str, str]:
        """Return names with what is said of each; names of one line share it."""
        found: dict[str, str] = {}
        heads: list[str] = []
        for line in self.lines:
            if line and not line.startswith(" "):
                heads = re.split(r",\s*", re.split(r"\s:(?:\s|$)", line)[0])
                found |= dict.fromkeys(heads, "")
            else:
                found |= {head: found[head] + line.strip() for head in heads}
        return found


def packages() -> list[str]:
    """Return the library, its rooms, and what else inside of a room has a list of public names."""
    found = ["discreet"]
    for room in discreet._ROOMS:
        module = importlib.import_module(f"discreet.{room}")
        inside = pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}.")
        listed = [
            each.name for each in inside if hasattr(importlib.import_module(each.name), "__all__")
        ]
        found += [module.__name__, *listed]
    return found


@cache
def exported() -> tuple[Callee, ...]:
    """Return classes and functions in a list, each where it is found first."""
    found: dict[int, Callee] = {}
    for package in packages():
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or _is_function(value):
                found.setdefault(id(value), Callee(package, name, value))
    return tuple(found.values())


@cache
def public() -> tuple[Callee, ...]:
    """Return what is exported, each class with its methods; what is inherited comes once."""
    found: dict[int, Callee] = {}
    for callee in exported():
        found[id(callee.value)] = callee
        for method in _methods(callee):
            found.setdefault(id(getattr(method.value, "__func__", method.value)), method)
    return tuple(found.values())


def public_places() -> set[str]:
    """Return where everything public is written."""
    written = (inspect.unwrap(getattr(each.value, "__func__", each.value)) for each in public())
    return {f"{each.__module__}.{each.__qualname__}" for each in written}


def _methods(owner: Callee) -> Iterator[Callee]:
    """Yield the public methods of a class that are written in the library."""
    for name in dir(owner.value) if owner.is_class else ():
        held = inspect.getattr_static(owner.value, name)
        written = getattr(held, "__func__", held)
        if name.startswith("_") or not _is_function(written):
            continue
        if inspect.unwrap(written).__module__.startswith("discreet"):
            yield Callee(owner.package, f"{owner.name}.{name}", getattr(owner.value, name))


def sections(text: str) -> list[Section]:
    """Return the numpydoc sections of a docstring."""
    lines = text.splitlines()
    starts = [
        place
        for place, (_, below) in enumerate(pairwise(lines))
        if re.fullmatch(r"-{3,}", below) and not _is_in_doctest(lines, place)
    ]
    return [
        Section(lines[start], lines[start + 1], tuple(lines[start + 2 : end]))
        for start, end in pairwise([*starts, len(lines)])
    ]


def has_example(callee: Callee) -> bool:
    """Say whether there are examples that doctest runs."""
    return any(
        section.title == "Examples" and any(">>> " in line for line in section.lines)
        for section in sections(callee.text)
    )


def faults(callee: Callee) -> list[str]:
    """Return what is wrong with the docstring of a callable, one sentence each."""
    if not callee.text:
        return ["there is no docstring"]
    here = sections(callee.text)
    by_title = {section.title: section for section in here}
    found = [*_in_first_line(callee.text), *_in_layout(callee.text, here)]
    found += _in_parameters(callee, by_title.get("Parameters"))
    for title in LISTS:
        entries = by_title[title].entries() if title in by_title else {}
        found += [f"nothing is said of {name}" for name, words in entries.items() if not words]
    if "Examples" in by_title and not has_example(callee):
        found.append("the examples do not run")
    if "+SKIP" in callee.text:
        found.append("an example is skipped")
    if callee.value in (*all_estimators(), *all_learners()):
        found += _in_attributes(callee.value, by_title.get("Attributes"))
    return found


def _in_first_line(text: str) -> Iterator[str]:
    first, *rest = text.splitlines()
    if not first.endswith("."):
        yield "the first line does not end with a full stop"
    if re.search(r"[.!?] [A-Z]", first):
        yield "the first line is more than one sentence"
    if rest and rest[0]:
        yield "the first sentence does not fit one line"
    if re.match(r"(This|The) (function|method|class)\b|[a-z]|Returns\b|Yields\b", first):
        yield "the first line does not begin with what is done or meant"


def _in_layout(text: str, here: list[Section]) -> Iterator[str]:
    for section in here:
        if section.title not in ORDER:
            yield f"there is no section {section.title!r}"
        if len(section.underline) != len(section.title):
            yield f"{section.title} is underlined by {len(section.underline)} dashes"
        if not any(section.lines):
            yield f"{section.title} is empty"
    known = [section.title for section in here if section.title in ORDER]
    if known != sorted(set(known), key=ORDER.index):
        yield f"sections are not in order: {', '.join(known)}"
    for line in text.splitlines():
        if line.rstrip(":") in ORDER and line not in known:
            yield f"{line} is not underlined"


def _in_parameters(callee: Callee, section: Section | None) -> Iterator[str]:
    expected = callee.parameters
    if section is None:
        if callee.needs_parameters:
            yield f"parameters are not documented: {', '.join(expected)}"
        return
    documented = tuple(section.entries())
    for name in expected:
        if name not in documented:
            yield f"{name} is not documented"
    for name in documented:
        if name not in expected:
            yield f"{name} is no parameter"
    if set(documented) == set(expected) and documented != expected:
        yield f"parameters are not in the order of the signature: {', '.join(documented)}"


def _in_attributes(kind: Any, section: Section | None) -> Iterator[str]:
    documented = set() if section is None else set(section.entries())
    for name in sorted((kind.learns | LEFT_BY_EVERY_FIT) - documented):
        yield f"the attribute {name} is not documented"


def _is_function(value: Any) -> bool:
    """Say whether it is a function, whatever is wrapped around it."""
    return callable(value) and inspect.isfunction(inspect.unwrap(value))


def _has_own_constructor(kind: type) -> bool:
    """Say whether a class is made by what is written here, and not by a base from elsewhere."""
    makers = (kind.__init__, kind.__new__)  # type: ignore[misc]
    homes = {(getattr(maker, "__module__", None) or "").partition(".")[0] for maker in makers}
    return kind.__module__.partition(".")[0] in homes or hasattr(kind, "_fields")


def _is_in_doctest(lines: list[str], place: int) -> bool:
    """Say whether a line belongs to an example: what is typed, or what is printed below it."""
    while place >= 0 and lines[place].strip():
        if lines[place].lstrip().startswith(">>>"):
            return True
        place -= 1
    return False

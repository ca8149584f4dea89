"""What breaks the rules of docstrings: numpydoc sections of every public callable.

Public is what ``__all__`` of the library, of a room, or of a package in a room says, and of its
classes the methods without a leading underscore that are written here.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import discreet
from discreet.estimators.base import PrivateEstimator

ORDER = (
    *("Parameters", "Returns", "Yields", "Raises", "Warns"),
    *("Attributes", "See Also", "Notes", "References", "Examples"),
)
"""The sections there are, in their order."""

FEW = 2
"""Functions and methods of so many parameters may do without a section of them."""

LEFT_BY_EVERY_FIT = frozenset(["release_", "privacy_", "n_features_in_", "feature_names_in_"])


@dataclass(frozen=True)
class Callee:
    """A public class, function or method, and the name that it is found under."""

    name: str
    value: Any

    @property
    def is_class(self) -> bool:
        return inspect.isclass(self.value)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that a caller passes, with the stars of those that take any number."""
        if self.is_class and not _has_own_constructor(self.value):
            return ()
        stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        return tuple(
            stars.get(parameter.kind, "") + name
            for name, parameter in inspect.signature(self.value).parameters.items()
            if name not in ("self", "cls") and not name.startswith("_")
        )

    @property
    def text(self) -> str:
        """The docstring; a method without one has that of the method that it overrides."""
        own = self.value.__doc__ or ""
        return inspect.cleandoc(own) if self.is_class else inspect.cleandoc(own or _inherited(self))


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
                heads = re.split(r",\s*", re.split(r"\s+:(\s|$)", line)[0])
                found |= dict.fromkeys(heads, "")
            else:
                found |= {head: found[head] + line.strip() for head in heads}
        return found


def packages() -> Iterator[str]:
    """Yield the library, its rooms, and the packages and modules of rooms that have a list."""
    yield "discreet"
    for room in discreet._ROOMS:
        module = importlib.import_module(f"discreet.{room}")
        yield module.__name__
        inside = pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}.")
        for found in inside:
            if hasattr(importlib.import_module(found.name), "__all__"):
                yield found.name


def exported() -> dict[str, Callee]:
    """Return classes and functions in a list, each under the first name that it is found by."""
    found: dict[int, Callee] = {}
    for package in packages():
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or _is_function(value):
                found.setdefault(id(value), Callee(f"{package}.{name}", value))
    return {callee.name: callee for callee in found.values()}


def methods(owner: Callee) -> Iterator[Callee]:
    """Yield the public methods of a class that are written in the library."""
    for name in dir(owner.value) if owner.is_class else ():
        held = inspect.getattr_static(owner.value, name)
        written = getattr(held, "__func__", held)
        if not name.startswith("_") and _is_function(written):
            if inspect.unwrap(written).__module__.startswith("discreet"):
                yield Callee(f"{owner.name}.{name}", getattr(owner.value, name))


def sections(text: str) -> list[Section]:
    """Return the numpydoc sections of a docstring."""
    lines = text.splitlines()
    starts = [
        place
        for place in range(len(lines) - 1)
        if re.fullmatch(r"-{3,}", lines[place + 1]) and not _is_in_doctest(lines, place)
    ]
    return [
        Section(lines[start], lines[start + 1], tuple(lines[start + 2 : end]))
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=False)
    ]


def faults(callee: Callee, needs_example: bool) -> list[str]:
    """Return what is wrong with the docstring of a callable, one sentence each."""
    if not callee.text:
        return ["there is no docstring"]
    here = sections(callee.text)
    found = [*_in_first_line(callee.text), *_in_layout(callee.text, here)]
    by_title = {section.title: section for section in here}
    found += _in_parameters(callee, by_title.get("Parameters"))
    for title in ("Parameters", "Attributes", "Raises", "Warns"):
        if title in by_title:
            entries = by_title[title].entries()
            found += [f"nothing is said of {name}" for name, words in entries.items() if not words]
    examples = "\n".join(by_title["Examples"].lines) if "Examples" in by_title else ""
    if "Examples" in by_title and ">>> " not in examples:
        found.append("the examples do not run")
    if "+SKIP" in examples:
        found.append("an example is skipped")
    if needs_example and not examples:
        found.append("there is no example")
    if callee.is_class and issubclass(callee.value, PrivateEstimator):
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
    if re.match(r"(This|The) (function|method|class)\b|[a-z]\w* ", first):
        yield "the first line does not begin with what is done or meant"


def _in_layout(text: str, here: list[Section]) -> Iterator[str]:
    titles = [section.title for section in here]
    for section in here:
        if section.title not in ORDER:
            yield f"there is no section {section.title!r}"
        elif len(section.underline) != len(section.title):
            yield f"{section.title} is underlined by {len(section.underline)} dashes"
        if not any(section.lines):
            yield f"{section.title} is empty"
    known = [title for title in titles if title in ORDER]
    if known != sorted(set(known), key=ORDER.index):
        yield f"sections are not in order: {', '.join(known)}"
    loose = [line for line in text.splitlines() if line.rstrip(":") in ORDER]
    for title in set(loose) - set(titles):
        yield f"{title} is not underlined"


def _in_parameters(callee: Callee, section: Section | None) -> Iterator[str]:
    expected = callee.parameters
    if section is None:
        at_the_door = callee.is_class or callee.name.rpartition(".")[0] == "discreet"
        if expected and (at_the_door or len(expected) > FEW):
            yield f"Parameters are not documented: {', '.join(expected)}"
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


def _in_attributes(kind: type[PrivateEstimator], section: Section | None) -> Iterator[str]:
    documented = set() if section is None else set(section.entries())
    for name in sorted((kind.learns | LEFT_BY_EVERY_FIT) - documented):
        yield f"the attribute {name} is not documented"


def _is_function(value: Any) -> bool:
    """Say whether it is a function, whatever is wrapped around it."""
    return callable(value) and inspect.isfunction(inspect.unwrap(value))


def _has_own_constructor(kind: type) -> bool:
    """Say whether a class is made by what is written here, and not by a base from elsewhere."""
    made_by: tuple[Callable[..., Any], ...] = (kind.__init__, kind.__new__)  # type: ignore[misc]
    modules = [getattr(maker, "__module__", None) or "" for maker in made_by]
    return any(name.startswith("discreet") for name in modules) or hasattr(kind, "_fields")


def _inherited(callee: Callee) -> str:
    """Return the docstring of the nearest method of this name that has one."""
    return inspect.getdoc(callee.value) or ""


def _is_in_doctest(lines: list[str], place: int) -> bool:
    """Say whether a line belongs to an example: what is typed, or what is printed below it."""
    while place >= 0 and lines[place].strip():
        if lines[place].lstrip().startswith(">>>"):
            return True
        place -= 1
    return False

"""One page for each public room, with every public name in it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from proof_notes import PACKAGE
from sphinx.pycode import ModuleAnalyzer

import discreet
from discreet.mechanisms import REGISTRY

BORROWING = ("data", "gate")
"""Rooms that offer names of others too, which are described where they are made."""

MECHANISMS = {type(mechanism): mechanism.name for mechanism in REGISTRY}

REFERENCES = re.compile(r"^\*\*References\.\*\* (.+?)(?:\n\n|\Z)", flags=re.DOTALL | re.MULTILINE)
FOREIGN = re.compile(r":(?:ref|term):`([^<`]+?)(?: <[^>`]*>)?`")


def find_lists() -> Iterator[str]:
    """Yield what has a list of public names: rooms, then what lies inside of them."""
    rooms = [name for name in discreet._ROOMS if name != "compat"]
    yield from sorted(["compat.diffprivlib", *rooms], key=lambda name: name in BORROWING)
    for room in discreet._ROOMS:
        module = import_module(f"discreet.{room}")
        for found in walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
            is_private = any(part.startswith("_") for part in found.name.split("."))
            if not is_private and found.name != "discreet.compat.diffprivlib":
                yield found.name.removeprefix("discreet.")


def is_shared(thing: Any) -> bool:
    """Say whether a thing is the same wherever it is found: a class or a function."""
    return inspect.isclass(thing) or inspect.isroutine(thing)


@cache
def public_names() -> dict[str, tuple[str, ...]]:
    """Return rooms with the public names that each describes; every name is described once."""
    seen: set[int] = set()
    found: dict[str, tuple[str, ...]] = {}
    for room in find_lists():
        module = import_module(f"discreet.{room}")
        things = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
        own = [
            name
            for name, thing in things.items()
            if id(thing) not in seen and not inspect.ismodule(thing)
        ]
        seen.update(id(thing) for thing in things.values() if is_shared(thing))
        if own:
            found[room] = tuple(own)
    return found


@cache
def described_as() -> dict[int, str]:
    """Return under which name a class or function is described, by its identity."""
    return {
        id(thing): f"discreet.{room}.{name}"
        for room, names in public_names().items()
        for name in names
        if is_shared(thing := getattr(import_module(f"discreet.{room}"), name))
    }


def describe(room: str, names: tuple[str, ...]) -> str:
    """Return the page of a room: what it is, and a table of the names no other page has."""
    module = import_module(f"discreet.{room}")
    table = "\n".join(f"   {name}" for name in names)
    return (
        f"{module.__name__}\n{'=' * len(module.__name__)}\n\n"
        f".. module:: {module.__name__}\n\n{inspect.getdoc(module)}\n\n"
        f".. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{table}\n"
    )


def write_pages(app: Any, config: Any) -> None:
    """Write the pages that autosummary then fills."""
    folder = Path(app.srcdir) / "generated" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    for room, names in public_names().items():
        (folder / f"{room}.rst").write_text(describe(room, names))
    listed = "\n".join(f"   {room}" for room in sorted(public_names()))
    (folder / "index.rst").write_text(
        "API reference\n=============\n\nEvery public name, room by room.\n\n"
        f".. toctree::\n   :maxdepth: 1\n\n{listed}\n"
    )


def mend_docstring(
    app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Add what is said elsewhere: of a constant in its module, of a mechanism in its proof note.

    Links to pages of scikit-learn become words.
    """
    if what == "data":
        lines[:] = describe_constant(name, thing)
    if what == "class" and thing in MECHANISMS:
        lines += cite(MECHANISMS[thing])
    lines[:] = [FOREIGN.sub(r"\1", line) for line in lines]


def cite(mechanism: str) -> list[str]:
    """Return the references of a proof note, and a link to it."""
    found = REFERENCES.search((PACKAGE / "mechanisms" / f"{mechanism}.md").read_text())
    papers = [] if found is None else found.group(1).replace("`", "``").splitlines()
    proof = f"Claim, proof and worst pair: :doc:`/generated/proofs/{mechanism}`."
    return ["", ".. rubric:: References", "", *papers, "", proof, ""]


def describe_constant(name: str, value: Any) -> list[str]:
    """Return the string below a constant, in whichever module of its room it is made."""
    room, _, short = name.rpartition(".")
    top = ".".join(room.split(".")[:2])
    for module in [name for name in sys.modules if name == room or name.startswith(top)]:
        if getattr(sys.modules[module], short, None) is value:
            said = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", short))
            if said:
                return said
    return []


def leave_out_foreign_members(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what a class has from a base written elsewhere: exceptions, scikit-learn's own."""
    written = inspect.unwrap(getattr(member, "fget", None) or getattr(member, "__func__", member))
    home = getattr(written, "__module__", None) or ""
    return None if home.partition(".")[0] in ("", "discreet") else True


def find_elsewhere(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Resolve a public name that is written as users import it, or without its room."""
    if node.get("refdomain") != "py":
        return None
    first, *rest = node["reftarget"].removeprefix("discreet.").split(".")
    homes = {home for home in described_as().values() if home.endswith(f".{first}")}
    home = described_as().get(id(getattr(discreet, first, None)))
    if home is None and len(homes) == 1:
        (home,) = homes
    if home is None:
        return None
    return env.get_domain("py").resolve_xref(
        env, node["refdoc"], app.builder, node["reftype"], ".".join([home, *rest]), node, content
    )


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", write_pages)
    app.connect("autodoc-process-docstring", mend_docstring)
    app.connect("autodoc-skip-member", leave_out_foreign_members)
    app.connect("missing-reference", find_elsewhere)
    return {"parallel_read_safe": True}

"""One page for each public room, with every public name in it."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import discreet

BORROWING = ("data", "gate")
"""Rooms that offer names of others too, which are described where they are made."""

FOREIGN = re.compile(r":(?:ref|term):`([^<`]+?)(?: <[^>`]*>)?`")


def find_rooms() -> list[str]:
    """Return the public modules at the top that say what they offer."""
    names = [found.name for found in iter_modules(discreet.__path__) if found.name[0] != "_"]
    return [
        "compat.diffprivlib" if name == "compat" else name
        for name in names
        if getattr(import_module(f"discreet.{name}"), "__all__", ())
    ]


def describe(room: str, seen: set[int]) -> str:
    """Return the page of a room: what it is, and a table of the names no other page has."""
    module = import_module(f"discreet.{room}")
    listed = [name for name in module.__all__ if name[0] != "_"]
    own = [name for name in listed if id(getattr(module, name)) not in seen]
    seen.update(id(getattr(module, name)) for name in own)
    table = "\n".join(f"   {name}" for name in own)
    return (
        f"{module.__name__}\n{'=' * len(module.__name__)}\n\n{inspect.getdoc(module)}\n\n"
        f".. currentmodule:: {module.__name__}\n\n"
        f".. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{table}\n"
    )


def leave_out_foreign_links(
    app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Turn links of inherited docstrings to pages of scikit-learn into their words."""
    lines[:] = [FOREIGN.sub(r"\1", line) for line in lines]


def write_pages(app: Any, config: Any) -> None:
    """Write the pages that autosummary then fills."""
    folder = Path(app.srcdir) / "generated" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    rooms = find_rooms()
    seen: set[int] = set()
    for room in sorted(rooms, key=lambda name: name in BORROWING):
        (folder / f"{room}.rst").write_text(describe(room, seen))
    listed = "\n".join(f"   {room}" for room in rooms)
    (folder / "index.rst").write_text(
        "API reference\n=============\n\nEvery public name, room by room.\n\n"
        f".. toctree::\n   :maxdepth: 1\n\n{listed}\n"
    )


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", write_pages)
    app.connect("autodoc-process-docstring", leave_out_foreign_links)
    return {"parallel_read_safe": True}

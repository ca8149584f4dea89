"""One page for each public room, with every public name in it."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import discreet


def find_rooms() -> list[str]:
    """Return the public modules at the top that say what they offer."""
    names = [found.name for found in iter_modules(discreet.__path__) if found.name[0] != "_"]
    return [name for name in names if getattr(import_module(f"discreet.{name}"), "__all__", ())]


def describe(room: str) -> str:
    """Return the page of a room: what it is, and a table of its names."""
    module = import_module(f"discreet.{room}" if room else "discreet")
    summary = inspect.getdoc(module) or ""
    listed = [name for name in module.__all__ if not inspect.ismodule(getattr(module, name))]
    table = "\n".join(f"   {name}" for name in listed if not name.startswith("_"))
    return (
        f"{module.__name__}\n{'=' * len(module.__name__)}\n\n{summary}\n\n"
        f".. currentmodule:: {module.__name__}\n\n"
        f".. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{table}\n"
    )


def write_pages(app: Any) -> None:
    """Write the pages that autosummary then fills."""
    folder = Path(app.srcdir) / "generated" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    rooms = find_rooms()
    (folder / "discreet.rst").write_text(describe(""))
    for room in rooms:
        (folder / f"{room}.rst").write_text(describe(room))
    listed = "\n".join(f"   {room}" for room in ("discreet", *rooms))
    (folder / "index.rst").write_text(
        "API reference\n=============\n\nEvery public name, room by room.\n\n"
        f".. toctree::\n   :maxdepth: 1\n\n{listed}\n"
    )


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_pages, priority=100)
    return {"parallel_read_safe": True}

"""What breaks the rules of names: one breach a line, beginning with what is to be changed.

A room is what stands right below ``discreet``: a package with all that is in it, or a module.
"""

from __future__ import annotations

import ast
import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from support.private_modules import is_trespass

SOURCE = Path(__file__).parents[2] / "src" / "discreet"

COMMON = {"base", "registry", "__init__", "__main__"}
"""Names of modules that every room may have."""

MIRRORS = {"cli", "compat"}
"""Rooms that repeat names of others on purpose: one file a command; diffprivlib's own names."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


VERBS = _words("""
    feed need embed seed exceed proceed succeed speed shed bleed breed heed put set cut let
    hit split spread read run quit shut cast cost come bound
""")
"""What looks like a participle and is a verb, or a noun, as it stands."""

PARTICIPLES = _words("""
    begun bent bought born broken brought built burnt caught chosen dealt done drawn driven
    dug fallen fed felt forgotten fought found frozen given gone got grown heard held hidden
    hung kept known laid learnt led left lent lit lost made meant met paid proven said seen
    sent shaken shone shown shot slept slid sold sought spelt spent spoken spun stolen stood
    struck stuck sung sunk sworn swept swung taken taught thought thrown told torn
    understood went woken worn wound woven written wrote
""")
"""Participles, and a few pasts, that do not end in -ed."""

PARTICLES = _words("""
    about again apart as aside at away back by down for from in into of off on out over
    through to up with
""")
"""What may follow a participle without making it the adjective of a noun."""

CALLED_BY_USERS = {"spent", "used"}
"""Names of ledgers that stay."""


def modules() -> Iterator[tuple[str, Path]]:
    """Yield the room and the path of every module."""
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).parts[0].removesuffix(".py"), path


def several_rooms(named: Iterable[tuple[str, str]], but: set[str]) -> list[str]:
    """Return names, of pairs of a name and a room, that occur in more than one room."""
    rooms = defaultdict(set)
    for name, room in named:
        rooms[name].add(room)
    found = {name: sorted(here - but) for name, here in rooms.items()}
    return [f"{name}: {', '.join(here)}" for name, here in sorted(found.items()) if len(here) > 1]


def module_names() -> list[str]:
    """Return names of modules and packages of more than one room.

    Theory may repeat those of mechanisms: bounds on the excess risk of each. The auditor's
    cases may repeat any: what they attack.
    """
    named = {
        (path.stem, room)
        for room, path in modules()
        if path.stem not in COMMON and path.parent.name != "cases"
    }
    named |= {(path.parent.name, room) for room, path in modules() if path.stem == "__init__"}
    proved = {(name, "theory") for name, room in named if room == "mechanisms"}
    return several_rooms(named - proved, MIRRORS)


def class_names() -> list[str]:
    """Return names of classes of more than one room.

    Diffprivlib's own names do not count, nor do learners of streams that are named as the models of
    tables are.
    """
    named = (
        (node.name, room)
        for room, path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    return several_rooms(named, {"compat", "online"})


def hidden_modules() -> list[str]:
    """Return modules that their package hides behind something else of the same name."""
    found = []
    for init in sorted(SOURCE.rglob("__init__.py")):
        name = ".".join(init.parent.relative_to(SOURCE.parent).parts)
        package = importlib.import_module(name)
        inside = {path.stem for path in init.parent.glob("*.py") if path.stem not in COMMON}
        inside |= {path.parent.name for path in init.parent.glob("*/__init__.py")}
        for module in sorted(inside):
            importlib.import_module(f"{name}.{module}")
            if not isinstance(getattr(package, module), ModuleType):
                found.append(f"{name}.{module}")
    return found


def namesakes() -> list[str]:
    """Return functions with the name of their own module, but for commands."""
    return [
        f"{path.relative_to(SOURCE)}: {node.name}"
        for room, path in modules()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name == path.stem and room != "cli"
    ]


def is_participle(name: str) -> bool:
    """Say whether a function is named by a participle that no noun follows.

    ``_told`` and ``passed_on`` are; ``found_format`` and ``unit_named`` are values, ``feed`` is a
    verb.
    """
    first, *rest = name.strip("_").split("_")
    is_past = first in PARTICIPLES or (first.endswith("ed") and len(first) > 3)
    return is_past and first not in VERBS and (not rest or rest[0] in PARTICLES)


def participles() -> list[str]:
    """Return functions named by a bare participle, but for properties and what users call."""
    return [
        f"{path.relative_to(SOURCE)}: {node.name}"
        for _, path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name not in CALLED_BY_USERS
        and is_participle(node.name)
        and not any(_makes_a_property(decorator) for decorator in node.decorator_list)
    ]


def _makes_a_property(decorator: ast.expr) -> bool:
    text = ast.unparse(decorator)
    return text.endswith(("property", ".setter", ".deleter"))


def private_imports() -> list[str]:
    """Return imports of another room's private module, also those inside of functions."""
    found = []
    for _, path in modules():
        importer = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                whole = [f"{node.module}.{alias.name}" for alias in node.names]
                names = [name for name in whole if _is_module(name)] or [str(node.module)]
            found += [
                f"{importer} imports {name}"
                for name in names
                if name.startswith("discreet.") and is_trespass(importer, name)
            ]
    return found


def _is_module(name: str) -> bool:
    path = SOURCE.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()

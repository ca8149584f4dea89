"""A contract for import-linter: nobody imports a private module of another room.

A room is a package right below ``discreet``; a module of it is private if its name, or that of a
package around it inside the room, begins with an underscore. Modules such as ``discreet._checks``
belong to no room and serve all. ``pyproject.toml`` names the contract.
"""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


def room_keeping(module: str) -> str | None:
    """Return the room that keeps a module to itself; None for a module that is for everybody."""
    top, *inside = module.split(".")
    is_private = any(name.startswith("_") and not name.endswith("__") for name in inside[1:])
    return f"{top}.{inside[0]}" if is_private else None


def is_trespass(importer: str, imported: str) -> bool:
    """Say whether an import reaches for a private module of another room."""
    room = room_keeping(imported)
    return room is not None and importer != room and not importer.startswith(f"{room}.")


class PrivateModules(Contract):
    """Keeps private modules inside of their rooms."""

    type_name = "private_modules"

    package = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Go through every direct import of a private module of the package."""
        found = sorted(
            (importer, imported)
            for imported in graph.modules
            if imported.startswith(f"{self.package}.")
            for importer in graph.find_modules_that_directly_import(imported)
            if is_trespass(importer, imported)
        )
        return ContractCheck(kept=not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print who imports what."""
        for importer, imported in check.metadata["found"]:
            output.print_error(
                f"{importer} imports {imported}, private to {room_keeping(imported)}."
            )

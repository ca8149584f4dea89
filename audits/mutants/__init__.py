"""Deliberately broken mechanisms: an audit that misses one of them is worth nothing.

Each says what is wrong with it and what it claims, and has a sound counterpart that the same attack
must leave alone. A file of this package with a tuple ``MUTANTS`` is found by being here. Run
``python -m audits.mutants`` for the table.
"""

import importlib
import pkgutil

from audits.mutants.base import BoundMutant, Broken, Finding, Mutant

_FILES = [
    importlib.import_module(f"{__name__}.{found.name}")
    for found in pkgutil.iter_modules(__path__)
    if found.name != "__main__"
]

MUTANTS: tuple[Broken, ...] = tuple(
    broken for file in _FILES for broken in getattr(file, "MUTANTS", ())
)

SURVIVORS: tuple[Mutant, ...] = tuple(
    mutant for file in _FILES for mutant in getattr(file, "SURVIVORS", ())
)
"""What looks broken and is not: ``breaks`` has the proof."""

__all__ = ["MUTANTS", "SURVIVORS", "BoundMutant", "Broken", "Finding", "Mutant"]

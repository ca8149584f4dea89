"""Names of a package that are imported when they are first asked for.

Lazy imports by a module's ``__getattr__`` (PEP 562). A package that uses them writes its names
twice: in a block under ``TYPE_CHECKING``, for type checkers and editors, and as a table of homes.
``tests/test_imports.py`` sees to it that the two agree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], rooms: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Examples
    --------
    >>> find, names = lazy_names("discreet", {"Budget": "privacy"}, rooms=["svm"])
    >>> find("Budget").__module__
    'discreet.privacy.calibration'
    >>> names()
    ['Budget', 'svm']
    """
    listed = sorted([*homes, *rooms])

    def find(name: str) -> Any:
        if name not in listed:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if name == "__version__":
            from importlib.metadata import version  # slow to import

            return version(package)
        if name not in homes:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)  # found at once from now on
        return value

    return find, lambda: list(listed)

"""Silence that belongs to a thread: what is warned of there is not shown, kept or raised.

A warning may quote a value, or tell that there was one; and where a filter makes an error of it,
one record would decide whether a release fails. Python keeps filters for the whole process, and
``catch_warnings`` of any thread exchanges them at any time, so they cannot be relied on and are
left alone. Instead the module ``warnings`` is given, once, a class whose ``filters`` are another
list for threads in here: one that ignores everything. Whoever warns, in C or in Python, asks for
that attribute each time.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

IGNORE_ALL = ("ignore", None, Warning, None, 0)

_here = threading.local()


class _Hushed(list[Any]):
    """A list of filters that ignores everything where C reads it.

    Python code, such as ``catch_warnings`` of a library in here, finds and changes the true one.
    """

    def __init__(self, true: list[Any]) -> None:
        super().__init__([IGNORE_ALL])
        self.true = true


def _delegate(name: str) -> Callable[..., Any]:
    def method(self: _Hushed, *arguments: Any) -> Any:
        return getattr(self.true, name)(*arguments)

    return method


for _name in (
    *("__getitem__", "__setitem__", "__delitem__", "__iter__", "__len__", "__contains__"),
    *("__eq__", "__repr__", "append", "clear", "copy", "extend", "index", "insert", "pop"),
    "remove",
):
    setattr(_Hushed, _name, _delegate(_name))


class _Warnings(ModuleType):
    """The module of warnings, whose filters depend on who asks for them."""

    @property
    def filters(self) -> list[Any]:
        """The true filters; in a quiet thread, what stands for them."""
        true: list[Any] = self.__dict__["filters"]
        if not getattr(_here, "depth", 0):
            return true
        if not _here.hushed or _here.hushed[-1].true is not true:
            _here.hushed.append(_Hushed(true))  # kept: C does not hold on to what it reads
        hushed: _Hushed = _here.hushed[-1]
        return hushed

    @filters.setter
    def filters(self, filters: list[Any]) -> None:
        self.__dict__["filters"] = filters.true if isinstance(filters, _Hushed) else filters

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        """Be packed as modules are: by name. Packers know modules by their very class."""
        return importlib.import_module, (self.__name__,)


def _install() -> None:
    module = sys.modules["warnings"]
    if not isinstance(module, _Warnings):
        kind = type(module)
        is_plain = kind is ModuleType
        module.__class__ = _Warnings if is_plain else type("module", (_Warnings, kind), {})


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let nothing be warned of by this thread, nor by NumPy; other threads notice nothing.

    Examples
    --------
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error")
    ...     with quiet():
    ...         warnings.warn("a value")
    ...         float(np.float64(1e300) * 1e300)
    inf
    """
    _install()
    if not getattr(_here, "depth", 0):
        _here.depth, _here.hushed = 0, []
    _here.depth += 1
    try:
        with np.errstate(all="ignore"), _ignore_in_context():
            yield
    finally:
        _here.depth -= 1


def _ignore_in_context() -> contextlib.AbstractContextManager[Any]:
    """Return filters of the context, where Python (from 3.14 on) is told to keep such."""
    if not getattr(sys.flags, "context_aware_warnings", False):
        return contextlib.nullcontext()
    return warnings.catch_warnings(action="ignore")

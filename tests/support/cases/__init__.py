"""The one list of cases: every mechanism with its worst pairs, for all universal checks.

A family of cases is one file of this package with a tuple ``CASES``; it is found by being here. Its
class says which checks apply to a case:

- :class:`~support.cases.base.Case`: planning reads no row, budgets are kept, engines agree, ...;
- :class:`~support.cases.additive.AdditiveCase`: one release, noise added to one total;
- :class:`~support.cases.staged.StagedCase`: several releases, each with noise of its own.
"""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from support.cases.base import Case, Data

__all__ = ["ALL_CASES", "Case", "Data", "case_labelled", "cases_of", "every"]

_FAMILIES = [
    importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)
]

ALL_CASES = tuple(case for family in _FAMILIES for case in getattr(family, "CASES", ()))

_BY_LABEL = {case.label: case for case in ALL_CASES}


def cases_of(kind: type[Case]) -> list[Case]:
    """Return the cases of a class, or of one derived from it."""
    return [case for case in ALL_CASES if isinstance(case, kind)]


def case_labelled(label: str) -> Case:
    """Return the one case of this label."""
    return _BY_LABEL[label]


def every(kind=Case):
    """Run a test for every case of a class, or of one of several."""
    return pytest.mark.parametrize("case", cases_of(kind), ids=lambda case: case.label)

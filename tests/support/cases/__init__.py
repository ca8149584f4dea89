"""The cases of the auditor's list, as the universal checks of mechanisms take them.

What there is to check stands in ``discreet.audit.cases``. Here is how a plan is looked into: a file
of this package has classes of cases, and ``KINDS`` says which mechanism they are of, or which
question to it. They are found by being here; a mechanism that none is of is a plain case.

- :class:`~support.cases.base.Case`: planning reads no row, budgets are kept, engines agree, ...;
- :class:`~support.cases.additive.AdditiveCase`: one release, noise added to one total;
- :class:`~support.cases.staged.StagedCase`: several releases, each with noise of its own.
"""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from discreet.audit.cases import NAMES, exact_cases, units_of
from support.cases.base import Case, Data

__all__ = ["ALL_CASES", "KINDS", "Case", "Data", "case_labelled", "cases_of", "every"]

_FAMILIES = [
    importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)
]

KINDS = {key: kind for family in _FAMILIES for key, kind in vars(family).get("KINDS", {}).items()}
"""Classes of cases by the name of a mechanism, or by that and the kind of a question."""


def _of(stated):
    name = stated.mechanism.name
    kind = KINDS.get((name, type(stated.question)), KINDS.get(name, Case))
    return kind.of(stated)


ALL_CASES = tuple(
    _of(stated) for name in NAMES for unit in units_of(name) for stated in exact_cases(name, unit)
)

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

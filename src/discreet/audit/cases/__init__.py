"""The one list of cases: every registered mechanism with neighbours that it can tell apart well.

A family of mechanisms is one file of this package, and is found by being here. In it a function
that bears the name of a mechanism makes the cases of that mechanism, for a unit, a budget with
delta and a pure one. The auditor attacks some by sampling; the universal tests of mechanisms check
the others, which may have more columns, without sampling, or the former where there are no others.
Cases of persons are made of those of records (``persons.py``).
"""

from __future__ import annotations

import importlib
import pkgutil

from discreet import _checks
from discreet.audit.cases.base import Case as Case
from discreet.audit.cases.base import Maker
from discreet.audit.cases.base import MechanismRun as MechanismRun
from discreet.audit.cases.persons import of_persons
from discreet.mechanisms import REGISTRY, mechanism_named
from discreet.privacy import Budget, Unit, unit_named

__all__ = ["NAMES", "cases", "exact_cases", "units_of"]

NAMES = tuple(mechanism.name for mechanism in REGISTRY)
"""Every registered mechanism."""

_FAMILIES = [
    importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)
]
_MAKERS: dict[str, Maker] = {
    name: vars(family)[name] for family in _FAMILIES for name in NAMES if name in vars(family)
}


def units_of(name: str) -> tuple[str, ...]:
    """Return the names of the units in which a registered mechanism is audited.

    Examples
    --------
    >>> units_of("gaussian_sum")
    ('add_remove', 'replace', 'add_remove_person', 'replace_person')
    """
    return mechanism_named(name).units


def cases(name: str, unit: str | Unit, epsilon: float, delta: float = 1e-6) -> tuple[Case, ...]:
    """Return what there is to attack of a registered mechanism.

    Parameters
    ----------
    name
        That of the mechanism.
    unit
        What two neighbouring tables differ in, or its name.
    epsilon, delta
        What is claimed; mechanisms that are pure claim epsilon alone.

    Examples
    --------
    >>> [case.label for case in cases("output_perturbation", "replace", 1.0)]
    ['output perturbation, gaussian', 'output perturbation, laplace', 'output perturbation, radial']
    """
    return tuple(case for case in _all_cases(name, unit, epsilon, delta) if case.is_attacked)


def exact_cases(name: str, unit: str | Unit) -> tuple[Case, ...]:
    """Return what the universal tests check of a registered mechanism, of an epsilon of one.

    Parameters
    ----------
    name
        That of the mechanism.
    unit
        What two neighbouring tables differ in, or its name.

    Examples
    --------
    >>> [case.label for case in exact_cases("laplace_sum", "replace")]
    ['laplace sum', 'laplace mean of a box']
    """
    found = _all_cases(name, unit, 1.0, 1e-6)
    return tuple(case for case in found if not case.is_attacked) or found


def _all_cases(name: str, unit: str | Unit, epsilon: float, delta: float) -> tuple[Case, ...]:
    _checks.one_of(NAMES, mechanism=name)
    _checks.epsilon(epsilon=epsilon)
    protected = unit_named(unit)
    found = _MAKERS[name](protected.of_records, Budget(epsilon, delta), Budget(epsilon))
    if not protected.protects_persons:
        return tuple(found)
    made = tuple(found)
    kinds = (
        [case for case in made if case.is_attacked],
        [case for case in made if not case.is_attacked],
    )
    return tuple(case for kind in kinds for case in of_persons(kind, protected))

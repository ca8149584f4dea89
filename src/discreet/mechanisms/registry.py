"""Every mechanism of the library, once; and those that fit linear models, by name.

Audits, privacy cards, the command line, estimators and the universal tests read this list. It is
made of the mechanisms that the package lists.
"""

from __future__ import annotations

from importlib import import_module

from discreet import _checks
from discreet.mechanisms import _MECHANISMS
from discreet.mechanisms.base import Mechanism

REGISTRY: tuple[Mechanism, ...] = tuple(
    getattr(import_module(f"discreet.mechanisms.{home}"), name)()
    for name, home in _MECHANISMS.items()
)
"""Every mechanism; the universal checks run over all of them."""

LEARNERS = tuple(mechanism.name for mechanism in REGISTRY if mechanism.solves_problems)
"""Names of the mechanisms that solve a :class:`~discreet.questions.Problem`, so linear models."""

_BY_NAME = {mechanism.name: mechanism for mechanism in REGISTRY}


def mechanism_named(name: str) -> Mechanism:
    """Return the mechanism of this name, with its default arguments.

    Parameters
    ----------
    name
        That of the proof note, such as ``"gaussian_sum"``.

    Examples
    --------
    >>> mechanism_named("objective_perturbation")
    ObjectivePerturbation(law=None, settles_later=False)
    >>> sorted(set(LEARNERS) - {mechanism.name for mechanism in REGISTRY})
    []
    """
    _checks.one_of(tuple(_BY_NAME), name=name)
    return _BY_NAME[name]

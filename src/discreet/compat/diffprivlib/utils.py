"""diffprivlib's ``utils``, so that code written against it imports: errors, warnings, budgets."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from sklearn import utils

from discreet.compat.diffprivlib.exceptions import (
    BudgetError,
    DiffprivlibCompatibilityWarning,
    PrivacyLeakWarning,
)
from discreet.compat.diffprivlib.spent import Spent as Budget
from discreet.errors import InputError

__all__ = [
    "Budget",
    "BudgetError",
    "DiffprivlibCompatibilityWarning",
    "PrivacyLeakWarning",
    "check_random_state",
    "warn_unused_args",
]


def check_random_state(seed: Any, secure: bool = False) -> Any:
    """Return a generator for splitting tables and the like; no noise of a model is drawn from it.

    Examples
    --------
    >>> type(check_random_state(42)).__name__
    'RandomState'
    >>> check_random_state(None, secure=True)
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: secure must be False: ...
    """
    if secure:
        raise InputError(
            "secure must be False: noise comes from the operating system inside of the models, and "
            "is not handed out."
        )
    return utils.check_random_state(seed)


def warn_unused_args(args: str | Iterable[str]) -> None:
    """Warn of each argument that has no effect.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     warn_unused_args(["solver", "dual"])
    >>> len(said)
    2
    """
    for name in [args] if isinstance(args, str) else args:
        warnings.warn(
            f"{name} has no effect here; leave it out.",
            DiffprivlibCompatibilityWarning,
            stacklevel=2,
        )

"""diffprivlib's errors and warnings, by their names."""

from __future__ import annotations

from discreet.errors import BudgetExceeded


class BudgetError(BudgetExceeded, ValueError):
    """The accountant cannot pay; nothing was charged, learnt from rows or released.

    Examples
    --------
    >>> issubclass(BudgetError, ValueError)
    True
    """


class DiffprivlibCompatibilityWarning(RuntimeWarning):
    """Something that diffprivlib takes has no effect here.

    Examples
    --------
    >>> issubclass(DiffprivlibCompatibilityWarning, RuntimeWarning)
    True
    """


class PrivacyLeakWarning(RuntimeWarning):
    """Never given here: where diffprivlib measures a bound from the data, this library refuses.

    Examples
    --------
    >>> issubclass(PrivacyLeakWarning, RuntimeWarning)
    True
    """

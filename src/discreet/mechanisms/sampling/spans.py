"""How far log chances of each of several draws may move within one budget."""

from __future__ import annotations

import math
from functools import cache

from discreet.privacy import (
    BoundedRange,
    Budget,
    Minimum,
    Profile,
    Pure,
    ZeroConcentrated,
    calibrate,
)


def span_of_columns(budget: Budget, columns: int) -> tuple[float, Profile, str]:
    """Return the range of log ratios of each column, and the profile of all of them."""
    if columns == 1:
        return budget.epsilon, BoundedRange(budget.epsilon), "one draw is pure; delta is not used"
    span = math.nextafter(budget.epsilon / columns, 0.0) * (1 - 2.0**-50)
    if budget.delta > 0 and _concentrated(span, columns).delta(budget.epsilon) < budget.delta:
        wide = _widest(budget, columns)
        reason = f"{columns} draws cost less as zCDP than as pure epsilon"
        return wide, _concentrated(wide, columns), reason
    profile = Minimum([Pure(budget.epsilon), _concentrated(span, columns)])
    return span, profile, f"{columns} draws share a pure epsilon"


@cache
def _widest(budget: Budget, columns: int) -> float:
    """Return the widest range of each column at which all of them together meet the budget."""
    return 1 / calibrate(lambda noise: _concentrated(1 / noise, columns), budget)


def _concentrated(span: float, columns: int) -> Profile:
    return ZeroConcentrated(columns * BoundedRange(span).rho)

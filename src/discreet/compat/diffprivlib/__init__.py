"""The names of diffprivlib's convex models: change the import, keep the code.

What behaves otherwise, and why, is listed in ``docs/from_diffprivlib.md``.
"""

from discreet.compat.diffprivlib import models
from discreet.compat.diffprivlib.accountant import BudgetAccountant, Spent
from discreet.compat.diffprivlib.complaints import (
    BudgetError,
    DiffprivlibCompatibilityWarning,
    PrivacyLeakWarning,
)
from discreet.compat.diffprivlib.models import LinearRegression, LogisticRegression

__all__ = [
    "BudgetAccountant",
    "BudgetError",
    "DiffprivlibCompatibilityWarning",
    "LinearRegression",
    "LogisticRegression",
    "PrivacyLeakWarning",
    "Spent",
    "models",
]

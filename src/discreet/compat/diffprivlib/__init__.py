"""The names of diffprivlib's convex models: change the import, keep the code.

What behaves otherwise, and why, is listed in ``docs/from_diffprivlib.md``.
"""

from discreet.compat.diffprivlib import models, utils
from discreet.compat.diffprivlib.accountant import BudgetAccountant
from discreet.compat.diffprivlib.exceptions import (
    BudgetError,
    DiffprivlibCompatibilityWarning,
    PrivacyLeakWarning,
)
from discreet.compat.diffprivlib.models import LinearRegression, LogisticRegression
from discreet.compat.diffprivlib.spent import Spent

__all__ = [
    "BudgetAccountant",
    "BudgetError",
    "DiffprivlibCompatibilityWarning",
    "LinearRegression",
    "LogisticRegression",
    "PrivacyLeakWarning",
    "Spent",
    "models",
    "utils",
]

"""The convex models of diffprivlib, fitted by this library."""

from discreet.compat.diffprivlib.models.linear_regression import LinearRegression
from discreet.compat.diffprivlib.models.logistic_regression import LogisticRegression

__all__ = ["LinearRegression", "LogisticRegression"]

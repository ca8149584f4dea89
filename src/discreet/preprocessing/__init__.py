"""Public maps from a user's columns to bounded features, made from declarations alone."""

from discreet.preprocessing.bounded_scaler import BoundedScaler, Folded
from discreet.preprocessing.columns import Category, Column, Numeric
from discreet.preprocessing.short_forms import declare, declare_columns

__all__ = [
    "BoundedScaler",
    "Category",
    "Column",
    "Folded",
    "Numeric",
    "declare",
    "declare_columns",
]

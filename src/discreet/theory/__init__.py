"""What privacy costs: upper and lower bounds on excess risk, each with its theorem."""

from discreet.theory.bound import Bound, Need
from discreet.theory.bounds_table import Estimate, Table, best_upper, bounds_for, lower
from discreet.theory.gradient_descent import steps
from discreet.theory.registry import CATALOGUE, markdown
from discreet.theory.setting import Setting

__all__ = [
    "CATALOGUE",
    "Bound",
    "Estimate",
    "Need",
    "Setting",
    "Table",
    "best_upper",
    "bounds_for",
    "lower",
    "markdown",
    "steps",
]

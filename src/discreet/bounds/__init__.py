"""What privacy costs: upper and lower bounds on excess risk, each with its theorem."""

from discreet.bounds.bound import Bound, Need
from discreet.bounds.catalogue import CATALOGUE, markdown
from discreet.bounds.gradient_descent import steps
from discreet.bounds.setting import Setting
from discreet.bounds.table import Estimate, Table, best_upper, bounds_for, lower

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

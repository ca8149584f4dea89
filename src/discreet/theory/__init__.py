"""What privacy costs: upper and lower bounds on excess risk, each with its theorem."""

from discreet.theory.bound import Bound, Need
from discreet.theory.bounds_table import BoundsTable, Estimate, best_lower, best_upper, bounds_for
from discreet.theory.registry import CATALOGUE, catalogue_in_markdown
from discreet.theory.selection_bounds import (
    blocks_needed,
    lead_needed,
    selection_error,
    stability_needed,
    vote_chance,
)
from discreet.theory.setting import Setting
from discreet.theory.upper_bounds import steps

__all__ = [
    "CATALOGUE",
    "Bound",
    "BoundsTable",
    "Estimate",
    "Need",
    "Setting",
    "best_lower",
    "best_upper",
    "blocks_needed",
    "bounds_for",
    "catalogue_in_markdown",
    "lead_needed",
    "selection_error",
    "stability_needed",
    "steps",
    "vote_chance",
]

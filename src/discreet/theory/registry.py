"""Every bound, by name.

The catalogue of theorems, and its table in Markdown.
"""

from __future__ import annotations

from types import MappingProxyType

from discreet.theory.bound import Bound
from discreet.theory.lower_bounds import LOWER_BOUNDS
from discreet.theory.perturbation import OBJECTIVE_PERTURBATION, OUTPUT_PERTURBATION
from discreet.theory.simplex_sampling import FRANK_WOLFE, SIMPLEX
from discreet.theory.table_one import TABLE_ONE
from discreet.theory.upper_bounds import EXPONENTIAL, GRADIENT_DESCENT, SUFFICIENT_STATISTICS, ZERO

_ALL = (
    ZERO,
    *EXPONENTIAL,
    *GRADIENT_DESCENT,
    *OUTPUT_PERTURBATION,
    *OBJECTIVE_PERTURBATION,
    *SUFFICIENT_STATISTICS,
    *SIMPLEX,
    *FRANK_WOLFE,
    *LOWER_BOUNDS,
    *TABLE_ONE,
)

CATALOGUE: MappingProxyType[str, Bound] = MappingProxyType({bound.name: bound for bound in _ALL})
"""Bounds by name; those with constants first."""


def catalogue_in_markdown() -> str:
    """Return the table of ``docs/theory.md``.

    Examples
    --------
    >>> print(catalogue_in_markdown().splitlines()[2])
    | zero | upper | pure | t (n G - Lam t/2), t = min(B, nG/Lam) | yes | BST14 Table I ...
    """
    lines = [
        "| bound | kind | privacy | value (sum form) | constant | theorem | needs |",
        "|---|---|---|---|---|---|---|",
    ]
    for bound in CATALOGUE.values():
        needed = "; ".join(need.words for need in bound.needs)
        constant = "rate only" if bound.is_rate_only else "yes"
        cells = (bound.name, bound.kind, bound.privacy, bound.formula, constant, bound.theorem)
        lines.append(f"| {' | '.join(cells)} | {needed} |")
    return "\n".join(lines)

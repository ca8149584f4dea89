"""Claimed epsilons beside certified ones, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.audit.statistical.audit_result import AuditResult


def draw(results: Sequence[AuditResult], path: str | Path) -> None:
    """Save a picture with a line for each audit: certified against claimed.

    A bar is what is certain of epsilon whatever the mechanism; a hollow mark is what holds if the
    privacy loss is Gaussian; a line across is the claim.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'discreet[plot]'.") from None
    figure = Figure(figsize=(8, 1.2 + 0.34 * len(results)), layout="constrained")
    axes = figure.add_subplot()
    for place, found in enumerate(results):
        colour = "tab:red" if found.violated else "tab:blue"
        axes.barh(place, found.lower_bound, height=0.5, color=colour, alpha=0.8)
        if found.delta > 0:
            axes.plot(found.lower_bound_if_gaussian, place, "o", mfc="none", color=colour)
        axes.plot([found.claimed] * 2, [place - 0.4, place + 0.4], color="black", lw=2)
    axes.set_yticks(range(len(results)), [found.subject for found in results])
    axes.set_ylim(len(results) - 0.4, -0.6)
    axes.set_xlim(left=0)
    sure = min(found.confidence for found in results)
    axes.set_xlabel(
        f"epsilon: claimed (line), certified with confidence {100 * sure:.6g} % (bar), "
        "if Gaussian (circle)"
    )
    figure.savefig(Path(path), dpi=80)

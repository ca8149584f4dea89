"""How a budget was used up, as a picture."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from discreet._page import GREY, INK, LINES, PALE, PLAIN, PRIVATE
from discreet.cli.console import one_line
from discreet.cli.new_files import new_file
from discreet.errors import InputError
from discreet.ledger import Entry, Ledger, State

MOST_NAMED = 8
"""Charges whose purpose is written below; of more, only numbers and dates of some are."""

LONGEST_PURPOSE = 16


def draw(ledger: Ledger, path: Path) -> None:
    """Draw what could still be released after each charge, and what each charge cost."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise InputError("pictures need matplotlib: pip install 'discreet[plot]'.") from None
    figure = Figure(figsize=(8, 5.4), facecolor="white")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    figure.subplots_adjust(left=0.11, right=0.97, top=0.83, bottom=0.19, hspace=0.12)
    history = ledger.history()
    _draw_left(above, ledger, len(history))
    _draw_charges(below, history)
    for axes in (above, below):
        axes.grid(axis="y", color=PALE, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(colors=GREY, length=0, labelsize=9)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(GREY)
    declared = ledger.declared
    figure.text(0.03, 0.945, ledger.allowance().sentence(), color=INK, fontsize=13, weight="bold")
    about = f"{declared.name}: protects {declared.protects}; delta {declared.delta:g}"
    figure.text(0.03, 0.895, _plain(textwrap.shorten(about, 110)), color=GREY, fontsize=9.5)
    with new_file(path, force=True) as temporary:
        try:
            figure.savefig(temporary, dpi=150)
        except ValueError:
            raise InputError(f"{path}: pictures are .png, .svg or .pdf.") from None


def _draw_left(axes: Any, ledger: Ledger, charges: int) -> None:
    """Draw a staircase for each part: the epsilon that one more release could have had."""
    budget = ledger.budget.epsilon
    axes.axhline(budget, color=PLAIN, linewidth=1.4, linestyle=(0, (5, 3)))
    places = [0.0, *(number - 0.3 for number in range(1, charges + 1)), max(charges, 1) + 1.0]
    lines = ledger.allowances()
    for number, (name, left) in enumerate(lines.items()):
        colour = LINES[number % len(LINES)]
        heights = [budget, *left, left[-1] if left else budget]
        axes.step(places, heights, where="post", label=_plain(name), color=colour, linewidth=2.2)
        if len(lines) == 1:
            axes.fill_between(places, heights, step="post", color=colour, alpha=0.12, linewidth=0)
    if ledger.declared.parts:
        axes.legend(loc="lower left", frameon=False, fontsize=9)
    axes.set_ylim(0, 1.12 * budget)
    axes.annotate(
        f"the budget, {budget:g}",
        (1.0, budget),
        xycoords=axes.get_yaxis_transform(),
        xytext=(0, 4),
        textcoords="offset points",
        ha="right",
        color=PLAIN,
        fontsize=9,
    )
    axes.set_ylabel("epsilon that may\nstill be released", color=INK, fontsize=10)


def _draw_charges(axes: Any, history: tuple[Entry, ...]) -> None:
    numbers = [entry.number for entry in history]
    colours = [PALE if entry.state is State.REFUNDED else PRIVATE for entry in history]
    costs = [entry.guarantee.epsilon() for entry in history]
    axes.bar(numbers, costs, color=colours, edgecolor=GREY, linewidth=0.4, width=0.6)
    axes.set_ylabel("epsilon\nof each", color=INK, fontsize=10)
    axes.set_ylim(bottom=0, top=None if history else 1)
    axes.set_xlim(0.4, max(len(numbers), 1) + 0.6)
    step = -(-len(history) // MOST_NAMED)
    shown = history[:: step or 1]
    labels = [_label(entry, with_purpose=step == 1) for entry in shown]
    axes.set_xticks([entry.number for entry in shown], labels)
    what = "date and purpose" if step == 1 else "date"
    axes.set_xlabel(f"charges, with {what}; pale: refunded", color=GREY, fontsize=9)


def _label(entry: Entry, *, with_purpose: bool) -> str:
    date = f"{entry.number}\n{entry.time:%Y-%m-%d}"
    if not with_purpose:
        return date
    purpose = one_line(entry.purpose)
    lines = textwrap.wrap(purpose, LONGEST_PURPOSE, max_lines=2, placeholder="…")
    return "\n".join([date, *map(_plain, lines)])


def _plain(text: str) -> str:
    """Return text of somebody else on one line, in which matplotlib finds no mathematics."""
    return one_line(text).replace("$", r"\$")

"""The picture of a prediction: the score against epsilon."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet._page import GREY, INK, LINES, PALE
from discreet.errors import InputError
from discreet.privacy.guarantee import in_three_digits as up

if TYPE_CHECKING:
    from discreet.planning.prediction import Prediction

NARROWEST = 0.04
"""Differences that look large must be."""

SUFFIXES = (".png", ".svg", ".pdf")


def check_suffix(path: Path) -> None:
    """Refuse a kind of picture that cannot be drawn.

    Examples
    --------
    >>> check_suffix(Path("plan.doc"))
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: plan.doc: a plot is a .png, .svg, .pdf file; ...
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"{path}: a plot is a {', '.join(SUFFIXES)} file; got {path.suffix or 'no suffix'}."
        )


def save_plot(prediction: Prediction, path: Path) -> None:
    """Draw a line for each number of rows and mechanism, with a band from low to high."""
    check_suffix(path)
    try:
        from matplotlib.figure import Figure  # optional, and slow to import
        from matplotlib.ticker import NullLocator
    except ImportError:
        raise InputError("a plot needs matplotlib: pip install 'discreet[plot]'.") from None

    lines = dict.fromkeys((cell.n, cell.mechanism) for cell in prediction)
    epsilons = sorted({cell.epsilon for cell in prediction})
    figure = Figure(figsize=(8, 5), dpi=150, facecolor="white")
    axes = figure.add_axes((0.10, 0.14, 0.86, 0.66))
    axes.set_xscale("log")
    for number, (n, mechanism) in enumerate(lines):
        colour = LINES[number % len(LINES)]
        drawn = sorted(
            (cell.epsilon, cell.low, cell.high)
            for cell in prediction
            if (cell.n, cell.mechanism) == (n, mechanism)
            and cell.low is not None
            and cell.high is not None
        )
        if not drawn:
            continue
        places, low, high = (list(part) for part in zip(*drawn, strict=True))
        means = [sum(ends) / 2 for ends in zip(low, high, strict=True)]
        axes.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
        label = f"{n:,} {prediction.facts.counted}, {mechanism}"
        axes.plot(places, means, color=colour, linewidth=2, marker="o", label=label)
    for n in dict.fromkeys(n for n, _ in lines):
        best = max(cell.without_privacy for cell in prediction if cell.n == n)
        axes.axhline(best, color=GREY, linewidth=1.2, linestyle=(0, (5, 3)))
    bottom, top = axes.get_ylim()
    if top - bottom < NARROWEST:
        axes.set_ylim((bottom + top - NARROWEST) / 2, (bottom + top + NARROWEST) / 2)
    axes.set_xticks(epsilons, [up(epsilon) for epsilon in epsilons])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(
        f"epsilon, at delta = {prediction.facts.delta:g}  (smaller is more private)",
        color=INK,
        fontsize=11,
    )
    axes.set_ylabel(f"predicted {prediction.facts.score}", color=INK, fontsize=11)
    axes.grid(axis="y", color=PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=GREY, length=0, labelsize=10)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GREY)
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    figure.text(0.03, 0.93, "What privacy is predicted to cost", color=INK, fontsize=15)
    figure.text(
        0.03,
        0.87,
        "Synthetic data of the declared shape, not yours. Dashed: without privacy. "
        "Band: from correlated to unrelated columns.",
        color=GREY,
        fontsize=9.5,
    )
    figure.savefig(path)

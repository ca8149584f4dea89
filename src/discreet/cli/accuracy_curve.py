"""What privacy costs: the accuracy of repeated fits at several epsilons, and its picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet._page import GREY, INK, PALE, PLAIN, PRIVATE
from discreet.privacy.guarantee import in_three_digits as up


@dataclass(frozen=True)
class Spread:
    """The median of some fits, and the band that four out of five lie in."""

    low: float
    median: float
    high: float


@dataclass(frozen=True, eq=False)
class AccuracyCurve:
    """Test accuracies, one row of fits for each epsilon, and what to compare them with.

    Examples
    --------
    >>> curve = AccuracyCurve((0.1, 1.0), [[0.6, 0.7, 0.8], [0.8, 0.8, 0.8]], 0.81, 0.6, 100, 1e-6)
    >>> curve.spreads[1].median
    0.8
    """

    epsilons: Sequence[float]
    accuracies: Sequence[Sequence[float]]
    without_privacy: float
    majority: float
    patients: int
    delta: float

    @property
    def spreads(self) -> list[Spread]:
        """The spread of the fits at each epsilon."""
        return [spread(fits) for fits in self.accuracies]


def spread(fits: Sequence[float]) -> Spread:
    """Return the 10 %, 50 % and 90 % points.

    Examples
    --------
    >>> spread([0.5, 0.6, 0.7]).median
    0.6
    """
    low, median, high = np.quantile(fits, [0.1, 0.5, 0.9]).tolist()
    return Spread(low, median, high)


def save_plot(curve: AccuracyCurve, path: Path) -> None:
    """Draw the curve into a PNG file; raises ImportError where matplotlib is not installed."""
    from matplotlib.figure import Figure  # optional, and slow to import
    from matplotlib.ticker import MaxNLocator, NullLocator, PercentFormatter

    figure = Figure(figsize=(8, 5), dpi=150, facecolor="white")
    axes = figure.add_axes((0.10, 0.14, 0.69, 0.66))
    epsilons, spreads = list(curve.epsilons), curve.spreads
    axes.set_xscale("log")
    axes.fill_between(
        epsilons,
        [spread.low for spread in spreads],
        [spread.high for spread in spreads],
        color=PRIVATE,
        alpha=0.18,
        linewidth=0,
    )
    for epsilon, fits in zip(epsilons, curve.accuracies, strict=True):
        axes.scatter([epsilon] * len(fits), fits, s=9, color=PRIVATE, alpha=0.35, linewidths=0)
    medians = [spread.median for spread in spreads]
    axes.plot(epsilons, medians, color=PRIVATE, linewidth=2.2, marker="o", markersize=6, zorder=3)
    axes.axhline(curve.without_privacy, color=PLAIN, linewidth=1.6, linestyle=(0, (5, 3)))
    axes.axhline(curve.majority, color=GREY, linewidth=1.4, linestyle=(0, (1, 2)))

    def label(height: float, text: str, colour: str, *, align: str) -> None:
        axes.annotate(
            text,
            (1.0, height),
            xycoords=axes.get_yaxis_transform(),
            xytext=(8, 0),
            textcoords="offset points",
            va=align,
            color=colour,
            fontsize=10,
        )

    label(
        curve.without_privacy,
        f"without privacy\n{curve.without_privacy:.1%}",
        PLAIN,
        align="bottom",
    )
    label(
        medians[-1], f"private, epsilon {up(epsilons[-1])}\n{medians[-1]:.1%}", PRIVATE, align="top"
    )
    label(curve.majority, f"same answer for all\n{curve.majority:.1%}", GREY, align="center")

    axes.set_xticks(epsilons, [up(epsilon) for epsilon in epsilons])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlabel(
        f"epsilon, at delta = {curve.delta:g}  (smaller is more private)",
        color=INK,
        fontsize=11,
        labelpad=8,
    )
    axes.set_ylabel("test accuracy", color=INK, fontsize=11, labelpad=8)
    axes.grid(axis="y", color=PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=GREY, length=0, labelsize=10)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GREY)

    figure.text(0.03, 0.93, "What privacy costs", color=INK, fontsize=15, weight="bold")
    figure.text(
        0.03,
        0.875,
        f"{curve.patients:,} synthetic patients: who is back in hospital within 90 days? "
        f"Line: median of {len(curve.accuracies[0])} fits; band: 10-90%.",
        color=GREY,
        fontsize=9.5,
    )
    figure.savefig(path, format="png")

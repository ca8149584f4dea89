"""One PNG file for each figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator, PercentFormatter

from reproductions import lower_bound, perturbation, regret, support_recovery, trace

INK, GREY, PALE = "#22313a", "#6b7780", "#e4e8ea"
COLOURS = {
    "output": "#b5482a",
    "objective": "#0b7a75",
    "printed": "#c9a227",
    "plain": INK,
    "Objective-Gauss": "#0b7a75",
    "Output-Gauss": "#3f6fb5",
    "Objective": "#c9a227",
    "Output": "#b5482a",
    "Sampling": "#7a3b8f",
}
NAMES = {
    "output": "output perturbation",
    "objective": "objective perturbation",
    "printed": "objective, noise as printed\n(not proved private: n lambda < 2/epsilon)",
    "plain": "without privacy",
}
TITLES = {
    "separable": "separable: no point within 0.03",
    "unseparable": "unseparable: a fifth flipped within 0.1",
}


def errors_by_epsilon(
    curves: Mapping[str, Sequence[perturbation.Errors]], path: Path, note: str
) -> None:
    """Draw test error against epsilon, one panel a data set."""
    figure, panels = _panels(1, len(curves))
    for axes, (name, curve) in zip(panels, curves.items(), strict=True):
        _error_panel(axes, curve, [point.setting.epsilon for point in curve])
        axes.set_xscale("log")
        _plain_ticks(axes, [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0])
        axes.set_xlabel("epsilon (pure, replace one)")
        axes.set_title(TITLES[name], color=INK, fontsize=11, loc="left")
        for method in ("output", "objective"):
            printed = perturbation.PRINTED[name][method]
            at = perturbation.epsilon_reaching(curve, method, printed)
            axes.plot(at, printed, "*", color=COLOURS[method], markersize=15, mec="white", zorder=5)
            axes.annotate(
                f"paper: {printed}\nreached at {at:.3f}",
                (at, printed),
                xytext=(10, 6) if method == "output" else (-10, -8),
                ha="left" if method == "output" else "right",
                va="bottom" if method == "output" else "top",
                textcoords="offset points",
                color=COLOURS[method],
                fontsize=8.5,
            )
    panels[0].set_ylabel("test error")
    panels[0].legend(frameon=False, fontsize=8.5, loc="upper right")
    _finish(figure, path, "Test error against epsilon (Chaudhuri and Monteleoni 2008)", note)


def errors_by_rows(
    curves: Mapping[tuple[float, str], Sequence[perturbation.Errors]], path: Path, note: str
) -> None:
    """Draw learning curves, one panel an epsilon and data set."""
    epsilons = sorted({epsilon for epsilon, _ in curves})
    figure, panels = _panels(len(epsilons), len(curves) // len(epsilons))
    for axes, ((epsilon, name), curve) in zip(panels, curves.items(), strict=True):
        _error_panel(axes, curve, [point.setting.rows for point in curve])
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.set_title(f"epsilon {epsilon:g}, {name}", color=INK, fontsize=11, loc="left")
        axes.set_xlabel("rows trained on")
        axes.set_ylabel("test error")
    panels[0].legend(frameon=False, fontsize=8.5, loc="lower left")
    _finish(figure, path, "Learning curves (Chaudhuri and Monteleoni 2008)", note)


def accuracy_by_width(
    exact: Mapping[str, Mapping[int, np.ndarray]],
    run: Mapping[str, Mapping[int, np.ndarray]],
    path: Path,
    *,
    plain: float,
    title: str,
    note: str,
    blank: str = "nine",
) -> None:
    """Draw accuracy against the number of columns: lines by the identity, circles by running."""
    figure, (axes,) = _panels(1, 1)
    axes.axhline(plain, color=INK, linewidth=1.2, linestyle=(0, (5, 3)), label="without privacy")
    for shift, name in enumerate(exact):
        colour = COLOURS[name]
        widths = list(exact[name])
        axes.plot(
            widths, [np.mean(exact[name][w]) for w in widths], color=colour, linewidth=1.8,
            label=name,
        )  # fmt: skip
        found = {w: values for w, values in run[name].items() if values.size}
        axes.errorbar(
            [w * 1.06 ** (shift - 1.5) for w in found],
            [values.mean() for values in found.values()],
            yerr=[values.std(ddof=1) for values in found.values()],
            color=colour, fmt="o", markersize=5, capsize=3, linewidth=1.2,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlabel(f"columns p, all but {blank} of them zeros")
    axes.set_ylabel("test accuracy")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.legend(frameon=False, fontsize=9, loc="lower left")
    _finish(figure, path, title, note)


def excess_against_theorem(found: Sequence[trace.Excess], path: Path, note: str) -> None:
    """Draw the measured mean excess against the theorem's, and the ratio below."""
    figure = Figure(figsize=(7.5, 6.5), dpi=150, facecolor="white")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    figure.subplots_adjust(left=0.11, right=0.97, top=0.85, bottom=0.09, hspace=0.08)
    span = np.array([min(e.mean for e in found) * 0.7, max(e.mean for e in found) * 1.4])
    top.plot(span, span, color=GREY, linewidth=1, linestyle=(0, (5, 3)), label="theorem 4.3")
    for is_even, colour, label in (
        (True, "#0b7a75", "even design"),
        (False, "#b5482a", "design weak in one direction"),
    ):
        some = [e for e in found if e.setting.is_even == is_even]
        x, y = [e.mean for e in some], np.array([e.measured.mean() for e in some])
        bar = np.array([1.96 * e.deviation / math.sqrt(e.measured.size) for e in some])
        options = {"color": colour, "fmt": "o", "markersize": 5, "capsize": 3}
        top.errorbar(x, y, yerr=bar, label=label, **options)
        bottom.errorbar(x, y / x, yerr=bar / x, **options)
    top.set_xscale("log")
    top.set_yscale("log")
    bottom.axhline(1.0, color=GREY, linewidth=1, linestyle=(0, (5, 3)))
    bottom.set_ylabel("ratio")
    bottom.set_xlabel("(sigma² / 2) tr((X'X + ridge I)⁻¹)")
    top.set_ylabel("mean of J(private) - min J")
    top.legend(frameon=False, fontsize=9, loc="upper left")
    for axes in (top, bottom):
        _tidy(axes)
    _finish(figure, path, "Excess of constrained least squares (Thakurta 2013)", note)


def _error_panel(axes: Axes, curve: Sequence[perturbation.Errors], places: Sequence[float]) -> None:
    axes.plot(places, [point.mean("plain") for point in curve], color=COLOURS["plain"],
              linewidth=1.2, linestyle=(0, (5, 3)), label=NAMES["plain"])  # fmt: skip
    bad = [
        point.setting.epsilon < perturbation.least_covered_epsilon(point.setting.rows)
        for point in curve
    ]
    if any(bad):
        values = [p.mean("printed") if b else math.nan for p, b in zip(curve, bad, strict=True)]
        axes.plot(places, values, color=COLOURS["printed"], linewidth=1.4, marker="x",
                  markersize=5, linestyle=(0, (1, 1)), label=NAMES["printed"])  # fmt: skip
    for method in ("output", "objective"):
        mean = np.array([point.mean(method) for point in curve])
        spread = np.array([point.between_draws(method) for point in curve])
        error = np.array([point.between_folds(method) for point in curve])
        low, high = np.maximum(mean - spread, 0), mean + spread
        axes.fill_between(places, low, high, color=COLOURS[method], alpha=0.13, linewidth=0)
        axes.errorbar(places, mean, yerr=error, color=COLOURS[method], linewidth=1.8, marker="o",
                      markersize=4, capsize=3, label=NAMES[method])  # fmt: skip
    axes.set_ylim(-0.01, 0.65)


QUARTER_NAMES = {
    (False, False): "approximate, convex",
    (False, True): "approximate, strongly convex",
    (True, False): "pure, convex",
    (True, True): "pure, strongly convex",
}
LOOKS = {
    "noisy gradient": ("#c9a227", "o"),
    "objective perturbation": ("#0b7a75", "s"),
    "output perturbation": ("#3f6fb5", "^"),
    "exponential sampling": ("#b5482a", "D"),
    "localization": ("#b5482a", "D"),
}


def excess_by_size(
    curves: Mapping[tuple[tuple[bool, bool], str], Sequence[lower_bound.Curve]],
    path: Path,
    note: str,
) -> None:
    """Draw excess risk against p, n and epsilon on logarithmic axes, one row a quarter."""
    figure = Figure(figsize=(14, 15), dpi=130, facecolor="white")
    grid = figure.subplots(4, 3)
    figure.subplots_adjust(left=0.07, right=0.98, top=0.92, bottom=0.05, hspace=0.38, wspace=0.2)
    for axes, ((quarter, axis), lines) in zip(grid.flat, curves.items(), strict=True):
        _tidy(axes)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for line in lines:
            _size_line(axes, line)
        axes.set_title(QUARTER_NAMES[quarter], color=INK, fontsize=10, loc="left")
        _plain_ticks(axes, sorted({size for line in lines for size in line.sizes}))
        axes.set_xlabel(axis, color=GREY)
        axes.legend(fontsize=7.5, frameon=False)
    _finish(figure, path, "Excess risk on the instances of the lower bounds", note)


def _size_line(axes: Axes, line: lower_bound.Curve) -> None:
    colour, marker = LOOKS[line.name]
    told = f"{line.name}: slope {line.slope:.2f} (table {line.predicted:g})"
    axes.plot(line.sizes, line.excesses, color=colour, marker=marker, markersize=5, label=told)
    axes.plot(line.sizes, line.least, color=GREY, linewidth=1, linestyle=(0, (1, 2)))


def excess_by_rows(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float], float]], path: Path, note: str
) -> None:
    """Draw what rounding a kink costs against the number of rows."""
    figure, (axes,) = _panels(1, 1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for (name, (rows, excesses, slope)), colour in zip(
        lines.items(), ("#b5482a", "#c9a227", "#0b7a75"), strict=True
    ):
        told = f"{name}: slope {slope:.2f}"
        axes.plot(rows, excesses, color=colour, marker="o", markersize=5, label=told)
    axes.set_xlabel("rows", color=GREY)
    axes.set_ylabel("excess of the sum of hinges", color=GREY)
    axes.legend(frameon=False, fontsize=9)
    _finish(figure, path, "What it costs to round off a kink", note)


REGRET_COLOURS = (
    "#c9a227",
    "#0b7a75",
    "#3f6fb5",
    "#7a3b8f",
    "#b5482a",
    "#22313a",
    "#6b7780",
    "#5a8f29",
)


def regret_by_size(panels: Mapping[str, Sequence[regret.Curve]], path: Path, note: str) -> None:
    """Draw regret on logarithmic axes, one panel for each kind of size."""
    figure, axes_of = _panels(1, len(panels))
    for axes, (kind, curves) in zip(axes_of, panels.items(), strict=True):
        axes.set_xscale("log")
        axes.set_yscale("log")
        for curve, colour in zip(curves, REGRET_COLOURS, strict=False):
            told = f"{curve.name}: slope {curve.slope:.2f}"
            axes.plot(
                curve.sizes, curve.regrets, color=colour, marker="o", markersize=4, label=told
            )
        axes.set_xlabel(kind, color=GREY)
        axes.legend(frameon=False, fontsize=8)
    axes_of[0].set_ylabel("regret", color=GREY)
    _finish(figure, path, "Regret of private online learners", note)


def recovery_by_rows(
    shares: Mapping[support_recovery.Setting, support_recovery.Shares], path: Path, note: str
) -> None:
    """Draw how often all columns are found against rows, one panel a size and width."""
    kinds = sorted({(setting.size, setting.width) for setting in shares})
    figure, panels = _panels(min(2, len(kinds)), math.ceil(len(kinds) / 2))
    for axes, (size, width) in zip(panels, kinds, strict=False):
        some = {
            at.rows: found for at, found in shares.items() if (at.size, at.width) == (size, width)
        }
        for name, colour in zip(support_recovery.METHODS, REGRET_COLOURS[1:], strict=False):
            line = [found[name] for _, found in sorted(some.items())]
            axes.plot(sorted(some), line, color=colour, marker="o", markersize=4, label=name)
        printed = support_recovery.printed_rows(size)
        axes.axvline(printed, color=INK, linewidth=1.2, linestyle=(0, (5, 3)),
                     label="the printed test, at the earliest")  # fmt: skip
        axes.set_xscale("log")
        _plain_ticks(axes, [*sorted(some), printed])
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_title(f"{size} of {width:,} columns", color=INK, fontsize=11, loc="left")
        axes.set_xlabel("rows", color=GREY)
    panels[0].set_ylabel("all columns found", color=GREY)
    panels[0].legend(frameon=False, fontsize=8)
    _finish(figure, path, "Support recovery (Thakurta 2013, chapter 6)", note)


def _panels(rows: int, columns: int) -> tuple[Figure, list[Axes]]:
    width = 8.5 if columns == 1 else 1.5 + 5 * columns
    figure = Figure(figsize=(width, 1.4 + 3.6 * rows), dpi=150, facecolor="white")
    grid = figure.subplots(rows, columns, squeeze=False, sharey=columns > 1)
    height = 1.4 + 3.6 * rows
    figure.subplots_adjust(left=0.09, right=0.98, wspace=0.1, hspace=0.3,
                           top=1 - 1.0 / height, bottom=0.6 / height)  # fmt: skip
    panels = list(grid.flat)
    for axes in panels:
        _tidy(axes)
    return figure, panels


def _tidy(axes: Axes) -> None:
    axes.grid(color=PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", colors=GREY, length=0, labelsize=9)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GREY)


def _plain_ticks(axes: Axes, places: Sequence[float]) -> None:
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.xaxis.set_minor_locator(NullLocator())


def _finish(figure: Figure, path: Path, title: str, note: str) -> None:
    height = figure.get_size_inches()[1]
    figure.text(0.02, 1 - 0.32 / height, title, color=INK, fontsize=13, weight="bold")
    figure.text(0.02, 1 - 0.58 / height, note, color=GREY, fontsize=9)
    figure.savefig(path, format="png")

"""Pictures of curves with their bands; they need matplotlib (extra ``plot``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.metrics.two_classes import Curve

BLUE, GREY = "#2a6f97", "#8a8a8a"


def plot_curve(curve: Curve, x_label: str, y_label: str, axes: Any = None) -> Any:
    """Draw a curve, a box or bar for what each point is sure of, and the diagonal."""
    if axes is None:
        try:
            from matplotlib.figure import Figure  # optional, and slow to import
        except ModuleNotFoundError:
            raise InputError("a plot needs matplotlib: pip install 'discreet[plot]'.") from None
        axes = Figure(figsize=(5, 5), layout="constrained").subplots()
    order = np.lexsort((curve.y, curve.x))
    x, y = curve.x[order], curve.y[order]
    bars = {"yerr": _around(y, curve.y_limits[order])}
    if curve.x_limits is not None:
        bars["xerr"] = _around(x, curve.x_limits[order])
    axes.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
    axes.errorbar(x, y, **bars, color=BLUE, ecolor=BLUE, elinewidth=1, capsize=2, marker="o",
                  markersize=3)  # fmt: skip
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=x_label, ylabel=y_label)
    axes.set_title(f"bars hold together with a chance of {100 * curve.level:g} %", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _around(values: Any, limits: Any) -> Any:
    return np.maximum(np.stack([values - limits[:, 0], limits[:, 1] - values]), 0.0)

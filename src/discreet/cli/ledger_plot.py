"""How a budget was used up, as a picture."""

from __future__ import annotations

from pathlib import Path

from discreet.cli.new_files import new_file
from discreet.errors import InputError
from discreet.ledger import Ledger

BLUE, RED, GREY = "#2a6f97", "#b5403a", "#8a8a8a"


def draw(ledger: Ledger, path: Path) -> None:
    """Draw the share of the budget that was used after each charge, and what each charge cost."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise InputError("pictures need matplotlib: pip install 'discreet[plot]'.") from None
    figure = Figure(figsize=(8, 5), layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    history = ledger.history()
    numbers = [entry.number for entry in history]
    steps, end = [0.5, *(number - 0.4 for number in numbers)], len(numbers) + 0.6
    for name, shares in ledger.use().items():
        label = name or "used"
        used = [0.0, *shares]
        above.step([*steps, end], [*used, used[-1]], where="post", label=label, linewidth=2)
    above.axhline(1.0, color=RED, linestyle="--", label="the budget")
    above.set_ylim(0, 1.1)
    above.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    above.set_ylabel("share of the budget used")
    above.legend(loc="upper left", bbox_to_anchor=(0, 0.92), frameon=False)
    declared = ledger.declared
    above.set_title(
        f"{declared.name}: epsilon {declared.epsilon:g} at delta {declared.delta:g}, "
        f"protects {declared.protects}",
        loc="left",
        fontsize=11,
    )
    colours = [GREY if entry.state.value == "refunded" else BLUE for entry in history]
    below.bar(numbers, [entry.guarantee.epsilon() for entry in history], color=colours)
    below.set_ylabel("epsilon of each")
    below.set_xlabel("charge (grey: refunded)")
    below.set_xlim(0.5, end)
    below.xaxis.get_major_locator().set_params(integer=True)
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    with new_file(path, force=True) as temporary:
        try:
            figure.savefig(temporary, dpi=150)
        except ValueError:
            raise InputError(f"{path}: pictures are .png, .svg or .pdf.") from None

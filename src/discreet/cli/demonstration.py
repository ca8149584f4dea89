"""``make demo``: a private model of hospital patients, what it promises, and what that costs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from discreet._progress import WIDTH, Progress, bar, can_show
from discreet.additive import AdditiveClassifier, ColumnShape
from discreet.additive.pictures import draw_shapes
from discreet.cli.accuracy_curve import AccuracyCurve, Spread, save_plot, spread
from discreet.datasets import HospitalTable, hospital
from discreet.errors import BudgetExceeded, InputError
from discreet.ledger import AbstractLedger, MemoryLedger
from discreet.model_selection import split_rows
from discreet.preprocessing import Category, Column, Numeric
from discreet.privacy import Budget
from discreet.privacy.guarantee import down_to_three_digits as down
from discreet.privacy.guarantee import in_three_digits as up

PATIENTS = 20_000
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0)
REPEATS = 11
SHAPES, COST = "discreet-demo.png", "discreet-demo-cost.png"
TOTAL = Budget(1.0, 1e-6)


def main(
    patients: int = PATIENTS,
    epsilons: Sequence[float] = EPSILONS,
    repeats: int = REPEATS,
    folder: Path | None = None,
) -> None:
    """Run the demonstration; pictures go to ``folder``, or to where one stands."""
    table = hospital(patients)
    X_train, X_test, y_train, y_test = split_rows(table.X, table.y, test=0.25, key="demo")
    train = HospitalTable(table.columns, X_train, y_train)
    test = HospitalTable(table.columns, X_test, y_test)
    ledger, folder = MemoryLedger(TOTAL), folder or Path.cwd()
    _introduce(table)
    shapes = _fit_once(train, test, ledger)
    _draw(lambda path: save_shapes(shapes, path), folder / SHAPES)
    curve = _measure(train, test, epsilons, repeats)
    _draw(lambda path: save_plot(curve, path), folder / COST)
    _ask_too_much(train, ledger)


def _introduce(table: HospitalTable) -> None:
    print_title("Discreet: who will be back in hospital within 90 days?")
    say(
        f"A synthetic table of {len(table.y):,} patients. A clinician declares, without looking, "
        "what each column may hold. Whatever lies outside is clipped; values may be missing."
    )
    print()
    for name, column in table.columns.items():
        print(f"    {name:<15} {_declaration(column)}")


def _declaration(column: Column) -> str:
    match column:
        case Numeric(low=low, high=high):
            return f"{low:g} to {high:g}"
        case Category(levels=levels):
            return ", ".join(map(str, levels))
        case _:
            return str(column)


def _fit_once(
    train: HospitalTable, test: HospitalTable, ledger: AbstractLedger
) -> dict[str, ColumnShape]:
    print_title("1. A private model  (epsilon = 0.5)")
    say(
        "Epsilon is what a result may tell about any one patient: near 0 almost nothing, and the "
        "larger it is, the more. Delta is a tiny chance on top of that. "
        "The owner of the table allows a total of epsilon = 1 at delta = 1e-6. Half of it buys a "
        f"model of {len(train.y):,} of the patients, which adds up a curve for each column:"
    )
    model = make_model(train, 0.5, ledger=ledger).fit(train.X, train.y)
    score = model.score(test.X, test.y)
    print(f"\n    right about {score:.1%} of the {len(test.y):,} patients it has not seen\n")
    say(model.privacy_.sentence())
    left = ledger.remaining()
    print(f"\n    budget left  {bar(left / TOTAL.epsilon)}  epsilon {down(left)} of 1\n")
    say(
        "This is what it learnt: how much each column speaks for coming back, where least and "
        "where most. All of it was released, with its noise, so it may be shown to anybody:"
    )
    print(f"\n    {'column':<15} {'least':<20} most")
    found = zip(train.columns, model.shapes_.values(), strict=True)
    shapes = dict(sorted(found, key=lambda item: -item[1].importance))
    for name, shape in shapes.items():
        least, most, _ = shape.extremes()
        print(f"    {name:<15} {least:<20} {most}")
    print()
    return shapes


def _measure(
    train: HospitalTable, test: HospitalTable, epsilons: Sequence[float], repeats: int
) -> AccuracyCurve:
    print_title("2. What privacy costs")
    say(
        f"The same model, {repeats} fits at each epsilon, each with fresh noise. Every one of them "
        "would spend budget: this is possible only because nobody in the table exists. With real "
        "patients you would fit once."
    )

    def accuracy(epsilon: float) -> float:
        return float(make_model(train, epsilon).fit(train.X, train.y).score(test.X, test.y))

    without_privacy = accuracy(math.inf)
    majority = float(max(test.y.mean(), 1 - test.y.mean()))
    start = math.floor(20 * majority - 1) / 20  # the scale ends at multiples of 5%
    stop = math.ceil(20 * without_privacy + 0.2) / 20
    scale = f"{start:<15.0%}{stop:>15.0%}"
    print(f"\n    {'epsilon':>7}   {'median':>7}   {'10-90% of fits':<15}   {scale}", flush=True)
    accuracies = []
    with Progress(len(epsilons) * repeats, "fits") as progress:
        for epsilon in epsilons:
            fits = []
            for _ in range(repeats):
                fits.append(accuracy(epsilon))
                progress.step()
            accuracies.append(fits)
            row = spread(fits)
            drawn = draw_strip(row, start=start, stop=stop, marks=(majority, without_privacy))
            progress.line(
                f"    {up(epsilon):>7}   {row.median:>7.1%}   {row.low:.1%} to {row.high:<7.1%}"
                f"   {drawn.rstrip()}"
            )
    print(
        f"    {'none':>7}   {without_privacy:>7.1%}   no noise: the right-hand mark\n"
        f"    {'guess':>7}   {majority:>7.1%}   the same answer for all: the left-hand mark\n"
    )
    patients = len(train.y) + len(test.y)
    return AccuracyCurve(tuple(epsilons), accuracies, without_privacy, majority, patients, DELTA)


def _draw(save: Callable[[Path], None], path: Path) -> None:
    try:
        save(path)
    except (ImportError, InputError):
        say(
            "The plot is skipped, because matplotlib is not installed here. To get it: "
            "pip install 'discreet[plot]'"
        )
    except OSError as error:
        say(f"The plot is skipped, because it cannot be written here: {error.strerror}.")
    else:
        print(f"    plot saved:\n    {path}")


def save_shapes(shapes: Mapping[str, ColumnShape], path: Path) -> None:
    """Draw what a model learnt of columns into a PNG file."""
    adds = "adds to the score of coming back (epsilon = 0.5)"
    draw_shapes(shapes, adds, None).savefig(path, format="png", dpi=110)


def _ask_too_much(train: HospitalTable, ledger: AbstractLedger) -> None:
    print_title("3. One model too many  (epsilon = 0.6)")
    try:
        make_model(train, 0.6, ledger=ledger).fit(train.X, train.y)
    except BudgetExceeded as refusal:
        say(f"Refused: {refusal}")
    print()
    say(
        "The accuracies above are true numbers without noise, shown only because nobody in the "
        "table exists; on real patients they would need a budget of their own. Next: README.md, "
        "and a table of yours."
    )


DELTA = 1e-7


def make_model(
    table: HospitalTable, epsilon: float, *, ledger: AbstractLedger | None = None
) -> AdditiveClassifier:
    """Return a private classifier for rows of the table, not yet fitted."""
    columns = list(table.columns.values())
    return AdditiveClassifier(
        epsilon=epsilon, delta=DELTA, columns=columns, classes=[False, True], ledger=ledger
    )


STRIP = 30


def print_title(text: str) -> None:
    """Print a heading."""
    rule = "─" if can_show("─") else "-"
    print(f"\n{text}\n{rule * WIDTH}", flush=True)


def say(text: str) -> None:
    """Print a paragraph."""
    print(textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  "), flush=True)


def draw_strip(spread: Spread, *, start: float, stop: float, marks: tuple[float, ...]) -> str:
    """Draw a band, its middle, and marks to compare it with, on a scale from start to stop.

    Examples
    --------
    >>> len(draw_strip(Spread(0.6, 0.65, 0.7), start=0.5, stop=0.8, marks=(0.75,)))
    30
    """

    def place(value: float) -> int:
        return min(STRIP - 1, max(0, round((value - start) / (stop - start) * (STRIP - 1))))

    line, dot, mark = ("━", "●", "┊") if can_show("━●┊") else ("=", "O", ":")
    cells = [" "] * STRIP
    for value in marks:
        cells[place(value)] = mark
    for cell in range(place(spread.low), place(spread.high) + 1):
        cells[cell] = line
    cells[place(spread.median)] = dot
    return "".join(cells)

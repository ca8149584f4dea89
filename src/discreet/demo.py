"""``make demo``: a private mean, what it promises, and a ledger that says no."""

from __future__ import annotations

import sys

import numpy as np

from discreet.data import Rows
from discreet.datasets import Table, hospital
from discreet.errors import BudgetExceeded
from discreet.ledger import Ledger, MemoryLedger
from discreet.mechanisms import GaussianSum, PrivateCount
from discreet.privacy import Budget
from discreet.question import RowCount, VectorMean
from discreet.release import Release, release

WIDTH = 78
BAR = 30


def main() -> None:
    """Run the demonstration."""
    table = hospital()
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    rows = Rows(table.values, bounds=table.bounds)
    _title("Discreet: a private look at a hospital")
    _say(
        f"A made-up table of hospital patients, {len(table.names)} measurements each. Its "
        "owner allows a total privacy budget of epsilon = 1 at delta = 1e-6."
    )

    _title("1. How many patients?  (epsilon = 0.1)")
    count = release(PrivateCount(), RowCount(table.bounds), rows, budget=Budget(0.1), ledger=ledger)
    print(f"  released {count.value:>8,}      true {len(table.values):>8,}\n")
    _say(count.guarantee.sentence())
    _meter(ledger)

    _title("2. The mean of every measurement  (epsilon = 0.6)")
    means = release(
        GaussianSum(), VectorMean(table.bounds), rows, budget=Budget(0.6, 1e-7), ledger=ledger
    )
    _compare(table, means)
    _say(means.guarantee.sentence())
    _meter(ledger)

    _title("3. One question too many  (epsilon = 0.9)")
    try:
        release(
            GaussianSum(), VectorMean(table.bounds), rows, budget=Budget(0.9, 1e-7), ledger=ledger
        )
    except BudgetExceeded as refusal:
        _say(f"Refused: {refusal}")
    print()
    _say(
        "The true values are shown here only because nobody in the table exists. "
        "Next: read README.md, and try discreet.release on rows of your own."
    )


def _compare(table: Table, means: Release) -> None:
    true = table.values.mean(axis=0)
    print(f"  {'measurement':<12} {'released':>10} {'true':>10} {'off by':>9}   of declared range")
    widths = np.subtract(table.ranges.upper, table.ranges.lower)
    for i, name in enumerate(table.names):
        error = abs(means.value[i] - true[i])
        share = error / widths[i]
        print(
            f"  {name:<12} {means.value[i]:>10.2f} {true[i]:>10.2f} {error:>9.2f}   {share:>8.2%}"
        )
    print()


def _meter(ledger: Ledger) -> None:
    left = ledger.remaining(delta=1e-7)
    full = round(BAR * min(1.0, left))
    filled, empty = ("█", "░") if _is_unicode() else ("#", ".")
    print(f"\n  budget left  [{filled * full}{empty * (BAR - full)}]  epsilon {left:.3f} of 1\n")


def _is_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().startswith("utf")


def _title(text: str) -> None:
    rule = "─" if _is_unicode() else "-"
    print(f"\n{text}\n{rule * WIDTH}")


def _say(text: str) -> None:
    line = " "
    for word in text.split():
        if len(line) + 1 + len(word) > WIDTH:
            print(line)
            line = " "
        line += f" {word}"
    print(line)


if __name__ == "__main__":
    main()

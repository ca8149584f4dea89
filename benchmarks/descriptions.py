"""How often the intervals of private descriptions cover: ``make descriptions``.

Each table is the population; its rows, clipped to the declared ranges, have exact statistics. Rows
are drawn from it with replacement and described, add/remove; an interval covers if it holds the
statistic of the population, or, for counts of rows, that of the rows drawn. Averages are over
all declared columns and draws.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tables
from discreet import describe
from discreet.preprocessing import Category
from discreet.statistics import Description

DATA = Path(__file__).parents[2] / "shared" / "data"
NAMES = (
    "adult", "bank", "credit_default", "german_credit", "compas", "heart", "elec2", "codrna",
)  # fmt: skip
NUMBERS = ("california_housing", "diamonds")
SHOWN = ("rows", "missing", "missing share", "count", "share", "mean", "std", "25 %", "50 %",
         "75 %")  # fmt: skip


def exact(frame: pd.DataFrame, columns: dict[str, Any]) -> dict[tuple[str, str, str], float]:
    """Return statistics of rows without noise, by column, statistic and level."""
    found: dict[tuple[str, str, str], float] = {}
    for name, column in columns.items():
        found[name, "rows", ""] = len(frame)
        if isinstance(column, Category):
            counts = frame[name].value_counts()
            known = [counts.get(level, 0) for level in column.levels]
            levels = [*map(str, column.levels), "anything else"]
            for level, count in zip(levels, [*known, len(frame) - sum(known)], strict=True):
                found[name, "count", level] = count
                found[name, "share", level] = count / len(frame)
            continue
        values = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=float)
        known = np.clip(values[~np.isnan(values)], column.low, column.high)
        found[name, "missing", ""] = values.size - known.size
        found[name, "missing share", ""] = 1 - known.size / values.size
        if known.size:
            found[name, "mean", ""], found[name, "std", ""] = known.mean(), known.std()
            for q in (25, 50, 75):
                found[name, f"{q} %", ""] = np.percentile(known, q, method="inverted_cdf")
    return found


def compare(
    found: Description, population: dict[Any, float], drawn: dict[Any, float]
) -> dict[str, list[tuple[bool, float, float]]]:
    """Return, by statistic, whether intervals cover, their half widths, and errors, in ranges."""
    told = defaultdict(list)
    for line in found.table.to_dict("records"):
        key = line["column"], line["statistic"], line["level"]
        if key not in population:
            continue
        is_of_rows = key[1] in ("rows", "missing", "count")
        truth = drawn[key] if is_of_rows else population[key]
        declared = found.declared[key[0]]
        unit = declared.high - declared.low if key[1] in SHOWN[5:] else 1.0
        slack = 1e-9 * max(abs(truth), 1.0)
        covers = line["low"] - slack <= truth <= line["high"] + slack
        half, error = (line["high"] - line["low"]) / 2, abs(line["value"] - truth)
        told[key[1]].append((covers, half / unit, error / unit))
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--tables", nargs="*", default=[*NAMES, *NUMBERS])
    parser.add_argument("--rows", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--epsilon", type=float, nargs="*", default=[0.1, 0.3, 1.0])
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--draws", type=int, default=40)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| table | rows | epsilon | " + " | ".join(SHOWN) + " |")
    print("|---" * (3 + len(SHOWN)) + "|")
    everything: dict[str, list[tuple[bool, float, float]]] = defaultdict(list)
    seeds = iter(range(10**9))
    for name in options.tables:
        folder = options.data / name
        table = tables.numbers(folder)[0] if name in NUMBERS else tables.classes(folder)
        if not isinstance(table.X, pd.DataFrame):
            raise SystemExit(f"{name} has no named columns")
        population = exact(table.X, table.columns)
        for count in options.rows:
            for epsilon in options.epsilon:
                told = defaultdict(list)
                for _ in range(options.draws):
                    seed = next(seeds)
                    chosen = np.random.default_rng(seed).integers(len(table.X), size=count)
                    rows = table.X.iloc[chosen].reset_index(drop=True)
                    found = describe(
                        rows, columns=table.columns, epsilon=epsilon, delta=options.delta,
                        rehearsal=seed,
                    )  # fmt: skip
                    each = compare(found, population, exact(rows, table.columns))
                    for key, lines in each.items():
                        told[key] += lines
                        everything[key] += lines
                print(f"| {name} | {count:,} | {epsilon:g} | " + told_line(told), flush=True)
    print("| all | | | " + told_line(everything))


def told_line(told: dict[str, list[tuple[bool, float, float]]]) -> str:
    """Return how often intervals cover, statistic by statistic."""
    cells = (f"{np.mean([one[0] for one in told[key]]):.3f}" if told[key] else "" for key in SHOWN)
    return " | ".join(cells) + " |"


if __name__ == "__main__":
    main()

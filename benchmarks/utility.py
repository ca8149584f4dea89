"""Accuracy, AUC and log loss of the defaults on real tables, against peers that were tuned.

Run with ``make utility`` beside a folder of data sets (``--data``; by default ``../shared/data``);
see ``tables.py`` for what is in it. Nothing of ours is tuned: ``LinearClassifier`` has its defaults
but for budget (delta = 1e-9, a record added or removed) and declared columns or norm; a second run
is told roughly how many rows there are. Peers are measured by ``peers/tune_peers.py``; of
``LinearRegressor`` there is R2. Noise is that of rehearsals, so that figures can be had again.
``--resume`` goes on after a run that was stopped, ``--report`` only prints what is there, and
``--page`` puts it into a page.
"""

from __future__ import annotations

import argparse
import math
import warnings
from pathlib import Path

from cells import OUTPUT, Cell, Cells, Measured, write_lines
from comparison import (
    EVERY_EPSILON,
    HINTED,
    OURS,
    REGRESSOR,
    SCORES,
    Comparison,
    insert,
    summarise,
)
from probability_scores import score_model
from sklearn.exceptions import ConvergenceWarning

import tables
from discreet import LinearClassifier, LinearRegressor
from discreet.errors import RehearsalWarning

HERE = Path(__file__).parent
DELTA = 1e-9
FEW = 30_000
"""Rows up to which a second run is told their number; above that it changes nothing."""


def measure_classes(name: str, folder: Path, cells: Cells, fits: int) -> None:
    """Fit and score a table of two classes with every epsilon."""
    table = tables.capped_classes(folder / name)
    train, test = table.part(table.train), table.part(table.test)
    y, truth = table.y[table.train], table.y[table.test]
    print(f"{name}, {len(table.train):,} rows: AUC", end="", flush=True)
    models = {OURS: None, HINTED: roughly(len(table.train))}
    for model, expected_rows in models.items() if len(table.train) <= FEW else [(OURS, None)]:
        for epsilon in EVERY_EPSILON:

            def fit(
                seed: int, epsilon: float = epsilon, expected_rows: int | None = expected_rows
            ) -> list[float]:
                model = LinearClassifier(
                    epsilon,
                    DELTA,
                    data_norm=table.data_norm,
                    columns=table.columns,
                    expected_rows=expected_rows,
                    classes=[False, True],
                    rehearsal=seed,
                )
                return list(score_model(model.fit(train, y), test, truth)[: len(SCORES)])

            count = fits if math.isfinite(epsilon) else 1
            found = Measured.of(cells.fill(Cell(name, model, epsilon), count, fit)[:, 1])
            print(f"  {found.mean:.4f} ±{found.error:.4f}", end="", flush=True)
        print("  (told how many rows)" if expected_rows else "", flush=True)


def roughly(rows: int) -> int:
    """Round to one digit, as who declares ``expected_rows`` may."""
    return int(float(f"{rows:.0e}"))


def measure_numbers(name: str, folder: Path, cells: Cells, fits: int) -> None:
    """Fit and score a table with a numeric target."""
    table, interval = tables.numbers(folder / name)
    train, test = table.part(table.train), table.part(table.test)
    y, truth = table.y[table.train], table.y[table.test]
    print(f"{name}, {len(table.train):,} rows: R2", end="", flush=True)
    for epsilon in tables.EPSILONS:

        def fit(seed: int, epsilon: float = epsilon) -> tuple[float]:
            model = LinearRegressor(
                epsilon, DELTA, columns=table.columns, target_range=interval, rehearsal=seed
            )
            return (model.fit(train, y).score(test, truth),)

        found = Measured.of(cells.fill(Cell(name, REGRESSOR, epsilon), fits, fit)[:, 0])
        print(f"  {found.mean:.4f} ±{found.error:.4f}", end="", flush=True)
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data")
    parser.add_argument("--fits", type=int, default=10)
    parser.add_argument("--only", nargs="*", help="some of the tables")
    parser.add_argument("--results", type=Path, default=OUTPUT / "utility.jsonl")
    parser.add_argument("--resume", action="store_true", help="keep the cells that are there")
    parser.add_argument("--report", action="store_true", help="fit nothing")
    parser.add_argument("--page", type=Path, help="put the tables between its marks")
    parser.add_argument("--summary", type=Path, help="write means and errors to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RehearsalWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)  # without noise, of separable classes
    if not (options.resume or options.report):
        options.results.unlink(missing_ok=True)
    cells = Cells(options.results)
    chosen = options.only or (*tables.CLASSES, *tables.NUMBERS)
    for name in [] if options.report else chosen:
        if not (options.data / name).is_dir():
            print(f"{name}: not in {options.data.name}, left out", flush=True)
        elif name in tables.NUMBERS:
            measure_numbers(name, options.data, cells, options.fits)
        else:
            measure_classes(name, options.data, cells, options.fits)
    files = (HERE / name for name in ("peers/utility.json", "goals.json", "earlier.json"))
    told = Comparison(cells, *files).page()
    print("\n" + told)
    if options.page:
        insert(options.page, told)
    if options.summary:
        write_lines(options.summary, summarise(cells))


if __name__ == "__main__":
    main()

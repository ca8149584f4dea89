"""Additive models beside linear ones and private boosting: AUC and log loss, or R2.

Run with ``make utility`` beside a folder of data sets (``--data``; by default
``../shared/data``). At most 20,000 rows to learn from and 10,000 for testing; delta is the power of
ten below one over the rows squared, a record is added or removed, noise is that of rehearsals.
``--widths 3 10`` declares ranges so many times as wide; ``--ways`` measures replaced records,
weights (a half or one, by coin), no delta and several classes. Nothing of ours is tuned.
``make peers-ebm`` measures the peer, whose figures are those of its better setting on the test
part. ``--resume`` goes on after a run that was stopped, ``--report`` only prints what is there, and
``--page`` puts it into a page.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import several_classes
from cells import OUTPUT, Cell, Cells, Measured
from comparison import insert
from probability_scores import score_chances, score_model
from sklearn.metrics import r2_score

import tables

HERE = Path(__file__).parent
CLASSES = (
    "adult", "credit_default", "elec2", "covtype", "german_credit", "kddcup04_bio", "compas",
    "codrna", "heart", "bank", "acs_income", "kddcup99_10pct", "criteo_sample", "avazu_sample",
    "bemtpl97_claims",
)  # fmt: skip
TABLES = CLASSES + tables.NUMBERS
MOST_ROWS, MOST_TESTED = 20_000, 10_000
SMALL, MORE = 6_000, 4
"""Tables of fewer rows are fitted so many times as often."""

KINDS = ("Linear", "Additive")
WAYS = ("replace", "weights", "pure")
WORDS_OF_WAYS = {
    "replace": "a record replaced", "weights": "weights", "pure": "no delta",
    "several": "several classes",
}  # fmt: skip
WAYS_MEASURED = ("adult", "credit_default", "elec2", "bank", "california_housing", "diamonds")
SEVERAL = ("covtype", "wine, quality", "diamonds, cut", "california, ocean", "abalone, rings")
WAYS_EPSILONS = (0.3, 1.0, 3.0)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to learn from and for testing; ``interval`` is that of a target, None with classes."""

    train: Any
    y: np.ndarray
    test: Any
    truth: np.ndarray
    columns: dict[str, Any]
    interval: tuple[float, float] | None

    @property
    def delta(self) -> float:
        """The power of ten below one over the rows squared."""
        return float(10.0 ** math.floor(-2 * math.log10(len(self.y))))

    @property
    def size(self) -> str:
        """How many rows, and columns of numbers and categories."""
        numbers = sum(isinstance(kind, tables.Numeric) for kind in self.columns.values())
        return f"{len(self.y):,}, {numbers} + {len(self.columns) - numbers}"


def load(folder: Path, width: float = 1.0) -> Table:
    """Return a table whose ranges are so many times as wide as the data."""
    if folder.name in tables.NUMBERS:
        table, interval = tables.numbers(folder)
    else:
        table, interval = tables.classes(folder, grouped=True), None
    table = table.cap(MOST_ROWS, MOST_TESTED)
    columns = {
        name: _widen(kind, width) if isinstance(kind, tables.Numeric) else kind
        for name, kind in table.columns.items()
    }
    return Table(
        table.part(table.train), table.y[table.train],
        table.part(table.test), table.y[table.test], columns, interval,
    )  # fmt: skip


def _widen(kind: Any, width: float) -> Any:
    reach = (width - 1) / 2 * (kind.high - kind.low)
    return tables.Numeric(kind.low - reach, kind.high + reach)


def score(model: Any, table: Table) -> list[float]:
    """Return AUC and log loss on the test part, or R2."""
    if table.interval is not None:
        return [float(r2_score(table.truth, model.predict(table.test)))]
    scores = score_chances(model.classes_, model.predict_proba(table.test), table.truth)
    return [scores.auc, scores.log_loss]


def fit_ours(kind: str, table: Table, epsilon: float, seed: int, way: str = "") -> list[float]:
    """Fit one of our models with its defaults; return its scores and processor seconds."""
    import discreet

    told: dict[str, Any] = (
        {"classes": [False, True]} if table.interval is None else {"target_range": table.interval}
    )
    if way == "replace":
        told["unit"] = "replace"
    weights = None
    if way == "weights":
        told["max_weight"] = 1.0
        weights = np.random.default_rng(seed).choice([0.5, 1.0], size=len(table.y))
    suffix = "Classifier" if table.interval is None else "Regressor"
    model = getattr(discreet, kind + suffix)(
        epsilon,
        0.0 if way == "pure" else table.delta,
        columns=table.columns,
        rehearsal=seed,
        **told,
    )
    start = time.process_time()
    model.fit(table.train, table.y, sample_weight=weights)
    return [*score(model, table), time.process_time() - start]


def fit_several(kind: str, name: str, folder: Path, epsilon: float, seed: int) -> list[float]:
    """Fit three classes or more; return accuracy, AUC, log loss, Brier score and seconds."""
    import discreet

    table = several_classes.load(name, folder).cap(MOST_ROWS, MOST_TESTED)
    model = getattr(discreet, kind + "Classifier")(
        epsilon, 1e-9, columns=table.columns, classes=np.unique(table.y), rehearsal=seed
    )
    start = time.process_time()
    model.fit(table.part(table.train), table.y[table.train])
    seconds = time.process_time() - start
    return [*score_model(model, table.part(table.test), table.y[table.test]), seconds]


def measure(name: str, folder: Path, cells: Cells, fits: int, width: float) -> None:
    """Fit both of ours on one table, with every epsilon."""
    table = load(folder / name, width)
    count = fits * (MORE if len(table.y) < SMALL else 1)
    for epsilon in tables.EPSILONS:
        said = []
        for kind in ("Linear", "Additive"):
            cell = Cell(name, kind, epsilon, f"{width:g}")
            found = cells.fill(cell, count, lambda s, k=kind, e=epsilon: fit_ours(k, table, e, s))
            said.append(f"{found[:, 0].mean():.4f}")
        print(f"{name} x {width:g} at {epsilon:g}: linear, additive {', '.join(said)}", flush=True)


def measure_ways(folder: Path, cells: Cells, fits: int) -> None:
    """Fit both of ours in every other way, and tables of several classes."""
    for name in WAYS_MEASURED:
        table = load(folder / name)
        for way, epsilon, kind in product(WAYS, WAYS_EPSILONS, KINDS):
            fit = partial(fit_ours, kind, table, epsilon, way=way)
            found = cells.fill(Cell(name, kind, epsilon, way), fits, fit)
            print(f"{name}, {way} at {epsilon:g}: {kind} {found[:, 0].mean():.4f}", flush=True)
    for name, epsilon, kind in product(SEVERAL, WAYS_EPSILONS, KINDS):
        fit = partial(fit_several, kind, name, folder, epsilon)
        found = cells.fill(Cell(name, kind, epsilon, "several"), fits, fit)
        print(f"{name} at {epsilon:g}: {kind} {found[:, 0].mean():.4f}", flush=True)


def page(cells: Cells, peers: dict[str, Any], folder: Path) -> str:
    """Return what was measured as Markdown."""
    lines = [*_scores(cells, peers, folder, CLASSES, 0, "AUC"), ""]
    lines += [*_scores(cells, peers, folder, CLASSES, 1, "log loss"), ""]
    lines += [*_scores(cells, peers, folder, tables.NUMBERS, 0, "R2"), ""]
    return "\n".join([*lines, *_widths(cells), "", *_ways(cells)]) + "\n"


def _scores(
    cells: Cells, peers: dict[str, Any], folder: Path, names: tuple[str, ...], place: int, what: str
) -> Iterator[str]:
    yield f"**{what}**: linear / additive (difference ± error) / DP-EBM\n"
    yield "| table (rows, numbers + categories) | 0.1 | 0.3 | 1 | 3 | EBM / boosting, not private |"
    yield "|---|---|---|---|---|---|"
    for name in names:
        parts = []
        for epsilon in tables.EPSILONS:
            found = [cells.found.get(Cell(name, kind, epsilon, "1")) for kind in
                     ("Linear", "Additive")]  # fmt: skip
            if not all(found):
                break
            ours = [np.array(one)[:, place] for one in found]
            change = Measured.of(ours[1] - ours[0])
            theirs = peers.get(name, {}).get(f"{epsilon:g}")
            parts.append(
                f"{ours[0].mean():.3f} / **{ours[1].mean():.3f}** ({change.mean:+.3f} ± "
                f"{change.error:.3f}) / {f'{theirs[place][0]:.3f}' if theirs else '-'}"
            )
        else:
            ceiling = [peers.get(name, {}).get(peer) for peer in ("EBM", "boosting")]
            last = " / ".join(f"{one[place]:.3f}" if one else "-" for one in ceiling)
            yield f"| {name} ({load(folder / name).size}) | {' | '.join(parts)} | {last} |"


def _widths(cells: Cells) -> Iterator[str]:
    yield "**Ranges wider than the data** (AUC or R2 at width 1, 3, 10: linear / additive)\n"
    yield "| table, epsilon | 1 | 3 | 10 |"
    yield "|---|---|---|---|"
    for name in TABLES:
        for epsilon in tables.EPSILONS:
            rows = [
                [cells.found.get(Cell(name, kind, epsilon, width)) for kind in
                 ("Linear", "Additive")] for width in ("1", "3", "10")
            ]  # fmt: skip
            if all(one for row in rows for one in row):
                said = (" / ".join(f"{np.mean([fit[0] for fit in one]):.3f}" for one in row)
                        for row in rows)  # fmt: skip
                yield f"| {name}, {epsilon:g} | {' | '.join(said)} |"


def _ways(cells: Cells) -> Iterator[str]:
    yield "**Other ways** (AUC, R2, or accuracy of several classes: linear / additive ± error)\n"
    yield f"| table, way | {' | '.join(f'{epsilon:g}' for epsilon in WAYS_EPSILONS)} |"
    yield "|---" * (1 + len(WAYS_EPSILONS)) + "|"
    several = [(name, "several") for name in SEVERAL]
    for name, way in [*product(WAYS_MEASURED, WAYS), *several]:
        said = []
        for epsilon in WAYS_EPSILONS:
            found = [cells.found.get(Cell(name, kind, epsilon, way)) for kind in KINDS]
            if not all(found):
                break
            linear, ours = (Measured.of(fit[0] for fit in one) for one in found)
            said.append(f"{linear.mean:.3f} / **{ours.mean:.3f}** ± {ours.error:.3f}")
        else:
            yield f"| {name}, {WORDS_OF_WAYS[way]} | {' | '.join(said)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data")
    parser.add_argument("--fits", type=int, default=4)
    parser.add_argument("--widths", type=float, nargs="*", default=[1.0])
    parser.add_argument("--ways", action="store_true", help="replaced records, weights and so on")
    parser.add_argument("--only", nargs="*", help="some of the tables")
    parser.add_argument("--results", type=Path, default=OUTPUT / "additive.jsonl")
    parser.add_argument("--resume", action="store_true", help="keep the cells that are there")
    parser.add_argument("--report", action="store_true", help="fit nothing")
    parser.add_argument("--page", type=Path, help="put the tables between its marks")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not (options.resume or options.report):
        options.results.unlink(missing_ok=True)
    cells = Cells(options.results)
    for width in [] if options.report else options.widths:
        for name in options.only or TABLES:
            if (options.data / name).is_dir():
                measure(name, options.data, cells, options.fits, width)
    if options.ways and not options.report:
        measure_ways(options.data, cells, options.fits)
    file = HERE / "peers" / "ebm.json"
    told = page(cells, json.loads(file.read_text()) if file.exists() else {}, options.data)
    print("\n" + told)
    if options.page:
        insert(options.page, told)


if __name__ == "__main__":
    main()

"""Is tuning worth its budget? PrivateSearchCV against defaults, and against the best choice.

Run with ``python benchmarks/tuning.py FOLDER``, a folder of data sets as ``tables.py`` describes
it. Candidates of ``LinearClassifier`` are all combinations of a penalty, a margin, and ranges of
numbers: the 1 % and 99 % quantiles, a stand-in for good knowledge, and five times as wide; with
``--only-ranges`` the ranges alone.
Everything is within epsilon 1 and delta 1e-9, a record added or removed. Compared are the defaults
with wide ranges and with good ones; the search; and the candidate that would have been best on the
rows kept for testing, each fitted to all rows with the whole budget, which nobody can know
privately. Scores are accuracies. Noise is that of rehearsals.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.model_selection import ParameterGrid

import tables
from discreet.errors import DiscreetError
from discreet.linear_model import LinearClassifier
from discreet.model_selection import PrivateSearchCV
from discreet.preprocessing import Column, Numeric

NAMES = (
    "adult", "bank", "credit_default", "compas", "german_credit", "heart", "codrna", "covtype",
    "acs_income", "elec2",
)  # fmt: skip
ROWS = (1000, 5000, 20_000)
TESTED = 10_000
EPSILON, DELTA = 1.0, 1e-9
WIDE = 5.0
METHODS = ("auto", "split")


def widen(columns: dict[str, Column], factor: float) -> dict[str, Column]:
    """Return columns whose ranges are so many times as wide, about their middle."""
    return {
        name: Numeric(one.middle - factor * one.half, one.middle + factor * one.half)
        if isinstance(one, Numeric)
        else one
        for name, one in columns.items()
    }


def grid_of(columns: dict[str, Column], *, only_ranges: bool) -> dict[str, list]:
    """Return what is chosen among; wide ranges, and no other parameter, come first: the default."""
    ranges = {"columns": [widen(columns, WIDE), columns]}
    return ranges if only_ranges else ranges | {"C": [None, 0.1], "margin": [None, 0.0]}


class Study:
    """One table, with so many rows to learn from."""

    def __init__(self, table: tables.Declared, rows: int, *, only_ranges: bool) -> None:
        self.table = table.cap(rows, TESTED)
        self.grid = grid_of(table.columns, only_ranges=only_ranges)
        self.rows = len(self.table.train)
        self.X, self.y = self.table.part(self.table.train), self.table.y[self.table.train]

    def model(self, seed: int | None = None, **options: object) -> LinearClassifier:
        return LinearClassifier(
            EPSILON,
            DELTA,
            classes=[False, True],
            expected_rows=self.rows,
            rehearsal=seed,
            **options,
        )

    def score(self, model: object) -> float:
        """Return the accuracy on the rows kept for testing."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = model.fit(self.X, self.y)
            rows = self.table.test
            return float((fitted.predict(self.table.part(rows)) == self.table.y[rows]).mean())

    def search(self, seed: int, method: str) -> float:
        """Return the accuracy of the model that a private search finds."""
        start = self.model(columns=self.grid["columns"][0])
        options = {"expected_rows": self.rows, "rehearsal": seed}
        return self.score(
            PrivateSearchCV(
                start, self.grid, epsilon=EPSILON, delta=DELTA, method=method, **options
            )
        )

    def measure(self, seeds: int) -> dict[str, float]:
        """Return the mean accuracy of every way to choose."""
        found, settings = defaultdict(list), list(ParameterGrid(self.grid))
        candidates = np.array(
            [[self.score(self.model(seed, **one)) for one in settings] for seed in range(seeds)]
        ).mean(axis=0)
        for name, columns in zip(("wide", "good"), self.grid["columns"], strict=True):
            plain = dict.fromkeys(self.grid) | {"columns": columns}
            found[name] = [candidates[settings.index(plain)]]
        found["oracle"] = [candidates.max()]
        for method, seed in product(METHODS, range(seeds)):
            found[method].append(self.search(seed, method))
        return {name: float(np.mean(scores)) for name, scores in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", nargs="+", default=NAMES)
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only-ranges", action="store_true", help="two candidates, not eight")
    given = parser.parse_args()
    head = ("wide", "good", *METHODS, "oracle")
    print("table n " + " ".join(head), flush=True)
    gains = defaultdict(list)
    for rows in given.rows:
        for name in given.names:
            table = tables.classes(given.folder / name)
            if len(table.train) < rows and rows != min(given.rows):
                continue
            try:
                found = Study(table, rows, only_ranges=given.only_ranges).measure(given.seeds)
            except DiscreetError as error:
                print(f"{name} {rows}: {error}", flush=True)
                continue
            scores = " ".join(f"{found[one]:.4f}" for one in head)
            print(f"{name} {min(rows, len(table.train))} {scores}", flush=True)
            for one in head:
                gains[rows, one].append(found[one] - found["wide"])
        means = " ".join(f"{np.mean(gains[rows, one]):+.4f}" for one in head)
        print(f"mean gain over wide defaults, {rows} rows: {means}", flush=True)


if __name__ == "__main__":
    main()

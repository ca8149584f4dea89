"""What ranges that are too wide cost, and what finding them privately is worth.

Run with ``python benchmarks/wide_ranges.py --data FOLDER``. Ranges of numeric columns are the 1 %
and 99 % quantiles, a stand-in for what a user would declare, and made too wide by a factor about
their middle. ``LinearClassifier`` is fitted with these ranges as they are, and with them as public
bounds, within which a part of the budget finds the range; the rehearsal noise is the same for both.
Records are added or removed; delta is 1e-9, or zero with ``--pure``. Share, quantiles and stretch
were chosen on adult and credit_default at epsilon 0.1 and 1; bank was looked at once, afterwards.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

import tables
from discreet.linear_model import LinearClassifier
from discreet.preprocessing import Column, Numeric

NAMES = ("adult", "bank", "credit_default")
EPSILONS = (0.1, 0.3, 1.0, 3.0)
FACTORS = (1, 2, 5, 20)


def widen(column: Column, factor: float, *, is_found: bool) -> Column:
    """Return a column with a range that is too wide, to be used as it is or to be found within."""
    if not isinstance(column, Numeric):
        return column
    ends = column.middle - factor * column.half, column.middle + factor * column.half
    return Numeric(None, None, public_bounds=ends) if is_found else Numeric(*ends)


def score(table: tables.Declared, columns: dict[str, Column], **options: float) -> float:
    """Return the AUC of one fit on the rows kept for testing."""
    model = LinearClassifier(
        columns=columns, classes=[False, True], expected_rows=len(table.train), **options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table.part(table.train), table.y[table.train])
    return roc_auc_score(table.y[table.test], model.decision_function(table.part(table.test)))


def compare(table: tables.Declared, factor: float, draws: int, **options: float) -> np.ndarray:
    """Return the AUC with ranges as they are, and with ranges that are found, of each draw."""
    scores = [
        [
            score(
                table,
                {name: widen(one, factor, is_found=found) for name, one in table.columns.items()},
                rehearsal=draw,
                **options,
            )
            for found in (False, True)
        ]
        for draw in range(draws)
    ]
    return np.array(scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--names", nargs="+", default=NAMES)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--pure", action="store_true")
    given = parser.parse_args()
    delta = 0.0 if given.pure else 1e-9
    for name in given.names:
        table = tables.classes(given.data / name, grouped=given.pure)
        for epsilon, factor in product(EPSILONS, FACTORS):
            scores = compare(table, factor, given.draws, epsilon=epsilon, delta=delta)
            gained = scores[:, 1] - scores[:, 0]
            error = gained.std(ddof=1) / len(gained) ** 0.5
            print(
                f"{name}  epsilon {epsilon:g}  {factor}x too wide: AUC {scores[:, 0].mean():.4f}, "
                f"found {gained.mean():+.4f} +- {error:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

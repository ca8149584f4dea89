"""The same rows in an array, in files and with Dask, cut up at random: one model.

python tests/support/engines.py 1000
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from discreet.data import Bounds, Interval, LabelSet, Rows, dask_rows, parquet_rows
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.losses import MarginLogistic, Squared
from discreet.mechanisms import (
    NoisyGradient,
    ObjectivePerturbation,
    OutputPerturbation,
    PrivateStandardisation,
    SufficientStatistics,
)
from discreet.noise import RehearsalNoise
from discreet.privacy import Budget
from discreet.questions.problem import Problem
from discreet.record import Release

ENGINES = ("array", "threads", "files", "dask array", "dask frame")


@dataclass(frozen=True)
class Comparison:
    """How far two models of the same rows are apart, and how far they may be."""

    what: str
    is_same_guarantee: bool
    apart: float
    bound: float

    @property
    def is_right(self) -> bool:
        """Whether nothing depended on the engine."""
        return self.is_same_guarantee and self.apart <= self.bound


def compare(seed: int, folder: Path) -> Comparison:
    """Draw rows, a mechanism, an engine and how it cuts them; fit an array, and that."""
    generator = np.random.default_rng(seed)
    count, width = int(generator.integers(2, 1500)), int(generator.integers(1, 12))
    X = generator.standard_normal((count, width)) * generator.choice([0.3, 1.0, 3.0])
    X[generator.random(X.shape) < 0.01] = np.nan
    y = np.sign(X[:, 0] + generator.standard_normal(count))
    weights = 3 * generator.random(count) if generator.random() < 0.3 else None
    mechanism = [
        ObjectivePerturbation(),
        OutputPerturbation(),
        PrivateStandardisation(),
        SufficientStatistics(),
        NoisyGradient(steps=6),
        NoisyGradient(steps=15, rate=0.2),
    ][generator.integers(6)]
    is_squared = isinstance(mechanism, SufficientStatistics)
    bounds = Bounds(
        L2Ball(2.0),
        width,
        labels=Interval(-1, 1) if is_squared else LabelSet([-1, 1]),
        intercept=1.0,
        max_weight=None if weights is None else 2.0,
        max_rows=2**11,
    )
    problem = Problem(Squared(1.0) if is_squared else MarginLogistic(), bounds, ridge=5.0)

    def fitted(rows: Rows) -> Release:
        noise = RehearsalNoise(seed)
        return release(mechanism, problem, rows, budget=Budget(1.0, 1e-6), noise=noise)

    plain = fitted(Rows(X, y, weights=weights, bounds=bounds))
    engine = ENGINES[generator.integers(len(ENGINES))]
    size = int(generator.choice([1, 7, 64, 1000, 2**13]))
    with patch(
        "discreet.mechanisms.minimising.rows_objective.ROUGH_ROWS",
        int(generator.choice([50, 8192])),
    ):
        other = _on(engine, X, y, weights, generator, folder, bounds, size, fitted)
    return Comparison(
        f"seed {seed}: {mechanism.name} on {engine}, {count} x {width}, blocks of {size}",
        plain.guarantee.to_json() == other.guarantee.to_json(),
        float(np.linalg.norm(plain.value - other.value)),
        _bound(plain),
    )


def _on(
    engine: str,
    X: Any,
    y: Any,
    weights: Any,
    generator: np.random.Generator,
    folder: Path,
    bounds: Bounds,
    size: int,
    fitted: Any,
) -> Release:
    """Fit with an engine that cuts rows up at random."""
    cuts = sorted(generator.integers(0, len(X) + 1, size=generator.integers(0, 12)).tolist())
    ends = [0, *cuts, len(X)]
    options = {"bounds": bounds, "block_rows": size}
    if engine in ("array", "threads"):
        threads = 1 if engine == "array" else 3
        return fitted(Rows(X, y, weights=weights, threads=threads, **options))
    if engine == "files":
        source = _files(X, y, weights, generator, folder, ends)
        pieces = int(generator.choice([17, 64, 500]))
        with (
            patch("discreet.data.stored.stream.PIECE_NUMBERS", 1),
            patch("discreet.data.stored.stream.rows_of_width", lambda width: pieces),
        ):
            return fitted(Rows(source, **options))
    scheduler = str(generator.choice(["synchronous", "threads"]))
    cached = int(generator.choice([0, 2**28]))
    with (
        dask.config.set(scheduler=scheduler),
        patch("discreet.data.stored.partitions.CACHED_BYTES", cached),
    ):
        lengths = tuple(np.diff(ends).tolist())
        if engine == "dask array":
            rows = da.from_array(X, chunks=(lengths, X.shape[1]))
            beside = [None if one is None else da.from_array(one) for one in (y, weights)]
        else:
            parts = [slice(*pair) for pair in pairwise(ends)]
            rows = _frame([pd.DataFrame(X[part], columns=_names(X)) for part in parts])
            beside = [
                None if one is None else _frame([pd.Series(one[part]) for part in parts])
                for one in (y, weights)
            ]
        return fitted(Rows(dask_rows(rows, beside[0], weights=beside[1]), **options))


def _names(X: Any) -> list[str]:
    return [f"x{j}" for j in range(X.shape[1])]


def _frame(parts: list[Any]) -> Any:
    made = [dask.delayed(part, pure=False) for part in parts]
    return dd.from_delayed(made, meta=parts[0].iloc[:0], verify_meta=False)


def _files(
    X: Any, y: Any, weights: Any, generator: np.random.Generator, folder: Path, ends: list[int]
) -> Any:
    place = Path(tempfile.mkdtemp(dir=folder))
    for number, (start, stop) in enumerate(pairwise(ends)):
        columns = {name: X[start:stop, j] for j, name in enumerate(_names(X))}
        columns["y"] = y[start:stop]
        if weights is not None:
            columns["w"] = weights[start:stop]
        group = int(generator.integers(1, 300))
        parquet.write_table(pa.table(columns), place / f"{number:03}.parquet", row_group_size=group)
    cached = int(generator.choice([0, 2**28]))
    weight = None if weights is None else "w"
    return parquet_rows(place, _names(X), target="y", weight=weight, cached_bytes=cached)


def _bound(plain: Release) -> float:
    """Return how far rounding may move the released coefficients.

    Minimisers are each within the certified distance of the ideal one, and rounded to a grid. A
    sum that is rounded to a grid before noise may fall to the next point of it, in every step.
    """
    values = {one.what: one.value for one in plain.certificate.tolerances}
    near = [value for what, value in values.items() if what.startswith("distance of the computed")]
    grids = [value for what, value in values.items() if what.startswith("step of the grid")]
    size = 1 + float(np.linalg.norm(plain.value))
    return 2 * sum(near) + 30 * sum(grids) + 1e-12 * size


def main(times: int) -> int:
    """Compare so many times; return how often something was wrong."""
    warnings.simplefilter("ignore")
    wrong, worst, seen = 0, 0.0, dict.fromkeys(ENGINES, 0)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(times):
            found = compare(seed, Path(folder))
            worst = max(worst, found.apart)
            seen[next(name for name in reversed(ENGINES) if f"on {name}," in found.what)] += 1
            if not found.is_right:
                wrong += 1
                print(found)
    shares = ", ".join(f"{count} {name}" for name, count in seen.items())
    print(f"{times} fits ({shares}): {wrong} wrong; at most {worst:.1e} apart.")
    return wrong


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])) > 0)
